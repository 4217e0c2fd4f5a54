"""Parameters, declared once: default, rule, range for tuning, and a line of documentation.

A class attribute ``alpha: float = param(...)`` is all an estimator says of a parameter. Its constructor and signature,
the "Parameters" of its docstring, the rules that errors quote, the search space and the names in model files are made
of these declarations. Classes inherit them; a subclass that declares a name again says only what differs.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, dataclass_transform

from .._dataclasses import dataclass
from .._gate import Range, Rule
from ._docstring import complete

_OPEN: Any = object()


@dataclass(frozen=True, eq=False)
class Param:
    """A declaration. What a subclass leaves open is taken from the class that it extends."""

    default: Any
    rule: Rule
    doc: str
    search: Range | None
    kw_only: bool
    file: str | None
    """The name in model files, if it is not that of the attribute: it stays when the attribute is renamed."""


@functools.cache
def _filled(declared: Param, inherited: Param | None) -> Param:
    """Return a declaration with its gaps filled; classes that inherit both share it."""
    usual: dict[str, Any] = {"search": None, "kw_only": True, "file": None}
    usual = usual if inherited is None else vars(inherited)
    filled = {name: usual[name] if value is _OPEN else value for name, value in vars(declared).items()}
    return Param(**filled)


def param(
    *,
    default: Any,
    rule: Rule = _OPEN,
    doc: str = _OPEN,
    search: Range | None = _OPEN,
    kw_only: bool = _OPEN,
    file: str | None = _OPEN,
) -> Any:
    """Declare a parameter of an estimator.

    Parameters
    ----------
    default : object
        Its value if none is given.
    rule : Rule
        The values it may have, from :mod:`thresher._gate`.
    doc : str
        What it does, for the docstring: a sentence or a few, with the papers' letter.
    search : Range, optional
        The values worth tuning; None for a parameter that is not tuned.
    kw_only : bool
        False for the one or two parameters that may be given by position.
    file : str, optional
        Its permanent name in model files, after a rename.
    """
    return Param(default, rule, doc, search, kw_only, file)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(param,))
class Declared:
    """Base class of everything that has parameters."""

    _params: ClassVar[dict[str, Param]] = {}
    _by_position: ClassVar[tuple[str, ...]] = ()  # their order, where it is not that in which classes introduce them
    _param_rules: ClassVar[dict[str, Rule]] = {}
    _search_space: ClassVar[dict[str, Range]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._params = _collect(cls)
        cls._param_rules = {name: p.rule for name, p in cls._params.items()}
        if "_search_space" not in vars(cls):  # a property of classes whose parameters decide what is tuned
            cls._search_space = {name: p.search for name, p in cls._params.items() if p.search is not None}
        setattr(cls, "__init__", _constructor(cls._params, cls.__qualname__))  # noqa: B010
        complete(cls)

    @classmethod
    def _file_names(cls) -> dict[str, str]:
        """The permanent name of each parameter, for model files."""
        return {name: p.file or name for name, p in cls._params.items()}


def _collect(cls: Any) -> dict[str, Param]:
    """All declarations of a class: what it introduces, then what its bases do; positional ones before others."""
    cls._declared = {name: value for name, value in vars(cls).items() if isinstance(value, Param)}
    for name in cls._declared:
        delattr(cls, name)
    params: dict[str, Param] = {}
    for base in reversed(cls.__mro__):  # the nearest class wins, and leaves open what it takes from the next
        for name, declared in vars(base).get("_declared", {}).items():
            if name not in params and (declared.rule is _OPEN or declared.doc is _OPEN):
                where = f"{cls.__name__}.{name}"
                raise TypeError(f"{where} must declare a rule and a line of documentation, because no base class does.")
            params[name] = _filled(declared, params.get(name))
    places = {name: i for i, base in enumerate(cls.__mro__) for name in vars(base).get("_declared", {})}
    first = {name: i - len(cls._by_position) for i, name in enumerate(cls._by_position)}
    order = sorted(params, key=lambda name: (params[name].kw_only, first.get(name, places[name])))
    return {name: params[name] for name in order}


def _constructor(params: dict[str, Param], owner: str) -> Any:
    """``__init__`` with a signature of its own, which stores its arguments."""
    defaults = {f"_{name}": p.default for name, p in params.items()}
    by_position = [f"{name}=_{name}" for name, p in params.items() if not p.kw_only]
    by_name = [f"{name}=_{name}" for name, p in params.items() if p.kw_only]
    signature = ", ".join(["self", *by_position, *(["*", *by_name] if by_name else [])])
    body = "; ".join(f"self.{name} = {name}" for name in params) or "pass"
    exec(f"def __init__({signature}): {body}", defaults)
    made = defaults["__init__"]
    made.__qualname__ = f"{owner}.__init__"
    return made
