"""Ranges of values worth trying for a parameter, and the coordinate in which a search walks through them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from .._dataclasses import dataclass


class Range:
    """Base class. A value has a coordinate between 0 and 1, in which equal steps mean changes of equal weight.

    ``when``, if given, names parameters of the estimator and the values they must have for this one to matter; a search
    leaves it alone otherwise.
    """

    when: Mapping[str, Any] | None

    @property
    def n_values(self) -> int | None:
        """Number of values; None when they are not counted."""
        return None

    def at(self, place: float) -> Any:
        """The value at a coordinate; what lies outside 0 to 1 is the nearest end."""
        raise NotImplementedError

    def places(self) -> list[float]:
        """The coordinates of all values, where they are counted."""
        raise NotImplementedError

    def place(self, value: Any) -> float:
        """The coordinate of a value of the range."""
        raise NotImplementedError

    def __contains__(self, value: Any) -> bool:
        raise NotImplementedError

    def _arguments(self) -> list[str]:
        """The arguments that it is made of, as code, without ``when``."""
        raise NotImplementedError

    def __repr__(self) -> str:
        when = [] if self.when is None else [f"when={dict(self.when)!r}"]
        return f"{type(self).__name__}({', '.join([*self._arguments(), *when])})"


@dataclass(frozen=True, repr=False)
class _Between(Range):
    """Base class of ranges of numbers."""

    low: float
    high: float
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, hash=False)

    _scale: ClassVar[tuple[Callable[[float], float], Callable[[float], float]]] = (float, float)  # there and back
    _ends_above: ClassVar[float] = -math.inf

    def __post_init__(self) -> None:
        who, least = type(self).__name__, self._ends_above
        rule = "a finite number" if least == -math.inf else f"a number above {least:g}"
        for name in ("low", "high"):
            end = getattr(self, name)
            if not _is_number(end) or not end > least:
                raise ValueError(f"{who}: {name} must be {rule}, got {end!r}.")
        if not self.low < self.high:
            raise ValueError(f"{who}: high must be above low={self.low!r}, got {self.high!r}.")

    def at(self, place: float) -> float:
        low, high = map(self._scale[0], (self.low, self.high))
        return self._readable(self._scale[1](low + (high - low) * min(max(place, 0.0), 1.0)))

    def place(self, value: Any) -> float:
        low, high, here = map(self._scale[0], (self.low, self.high, value))
        return (here - low) / (high - low)

    def _readable(self, value: float) -> float:
        """To six digits, or more where the ends are so close that they are needed."""
        close = (self.high - self.low) / max(abs(self.low), abs(self.high))
        digits = 6 + max(0, int(-math.log10(close)))
        return float(min(max(float(f"{value:.{digits}g}"), self.low), self.high))

    def __contains__(self, value: Any) -> bool:
        return _is_number(value) and self.low <= value <= self.high

    def _arguments(self) -> list[str]:
        return [repr(self.low), repr(self.high)]


class Log(_Between):
    """Numbers between two positive ends, on a logarithmic scale: for penalties, step sizes, kernel widths.

    Parameters
    ----------
    low, high : float
        The ends, above 0; both belong to the range.
    when : dict, optional
        Values of other parameters without which this one has no effect.

    Examples
    --------
    >>> from thresher.tuning import Log
    >>> Log(1e-6, 1e-2)
    Log(1e-06, 0.01)
    >>> Log(1e-6, 1e-2).at(0.5)
    0.0001
    """

    _scale = (math.log, math.exp)
    _ends_above = 0.0


class Uniform(_Between):
    """Numbers between two ends, uniformly: for fractions and quantiles.

    Parameters
    ----------
    low, high : float
        The ends; both belong to the range.
    when : dict, optional
        Values of other parameters without which this one has no effect.

    Examples
    --------
    >>> from thresher.tuning import Uniform
    >>> Uniform(0.0, 1.0, when={"loss": "pinball"}).at(0.25)
    0.25
    """


@dataclass(frozen=True, repr=False)
class Whole(_Between):
    """Whole numbers between two ends: for counts, degrees, sizes of batches.

    Parameters
    ----------
    low, high : int
        The ends; both belong to the range.
    log : bool, default=False
        Whether a doubling weighs the same everywhere, instead of a step of one. Needs ends of at least 1.
    when : dict, optional
        Values of other parameters without which this one has no effect.

    Examples
    --------
    >>> from thresher.tuning import Whole
    >>> [Whole(1, 100, log=True).at(place) for place in (0, 0.5, 1)]
    [1, 7, 100]
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            if not isinstance(end, Integral) or isinstance(end, bool):
                raise ValueError(f"Whole: {name} must be an integer, got {end!r}.")
        if not isinstance(self.log, bool):
            raise ValueError(f"Whole: log must be True or False, got {self.log!r}.")
        if self.log and self.low < 1:
            raise ValueError(f"Whole: low must be an integer of at least 1 with log=True, got {self.low!r}.")
        super().__post_init__()

    @property
    def n_values(self) -> int:
        return int(self.high) - int(self.low) + 1

    def places(self) -> list[float]:
        return [self.place(value) for value in range(int(self.low), int(self.high) + 1)]

    def at(self, place: float) -> int:
        if self.log:
            low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)  # every number is the middle of its share
            value = round(math.exp(low + (high - low) * place))
        else:
            value = math.floor(self.low + self.n_values * place)
        return int(min(max(value, self.low), self.high))

    def place(self, value: Any) -> float:
        if self.log:
            low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
            return (math.log(value) - low) / (high - low)
        return (int(value) - int(self.low) + 0.5) / self.n_values

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and super().__contains__(value)

    def _arguments(self) -> list[str]:
        return [*super()._arguments(), *(["log=True"] if self.log else [])]


@dataclass(frozen=True, repr=False)
class Choice(Range):
    """One of several values of any kind. Neighbours in the list are neighbours to the search: give an order if there is
    one.

    Parameters
    ----------
    options : sequence
        The values, all different.
    when : dict, optional
        Values of other parameters without which this one has no effect.

    Examples
    --------
    >>> from thresher.tuning import Choice
    >>> Choice(["hinge", "logistic"]).at(0.9)
    'logistic'
    """

    options: Sequence[Any] = field(hash=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        if isinstance(self.options, (str, bytes)) or not isinstance(self.options, (Sequence, np.ndarray)):
            raise ValueError(f"Choice: options must be a list of values, got {self.options!r}.")
        options = tuple(v.item() if isinstance(v, np.generic) else v for v in self.options)
        if not options:
            raise ValueError("Choice: options must hold at least one value, got none.")
        for i, option in enumerate(options):
            if any(is_same(option, other) for other in options[:i]):
                raise ValueError(f"Choice: options must all be different, got {option!r} twice.")
        object.__setattr__(self, "options", options)

    @property
    def n_values(self) -> int:
        return len(self.options)

    def places(self) -> list[float]:
        return [self.place(option) for option in self.options]

    def at(self, place: float) -> Any:
        return self.options[min(max(math.floor(place * len(self.options)), 0), len(self.options) - 1)]

    def place(self, value: Any) -> float:
        return (self._index(value) + 0.5) / len(self.options)

    def __contains__(self, value: Any) -> bool:
        return any(is_same(option, value) for option in self.options)

    def _index(self, value: Any) -> int:
        return next(i for i, option in enumerate(self.options) if is_same(option, value))

    def _arguments(self) -> list[str]:
        return [repr(list(self.options))]


def as_space(space: Any, who: str) -> dict[str, Range]:
    """Ranges by name, from what a user may write: ranges, lists of options, SciPy's uniform, loguniform and randint."""
    if not isinstance(space, Mapping) or not space:
        raise ValueError(f"{who}: space must be a dict of parameter names to ranges, not empty, got {space!r}.")
    ranges = {}
    for name, value in space.items():
        if not isinstance(name, str):
            raise ValueError(f"{who}: space must have names of parameters as keys, got {name!r}.")
        ranges[name] = _as_range(value, name, who)
    return ranges


def _as_range(value: Any, name: str, who: str) -> Range:
    if isinstance(value, Range):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return Choice(list(value))
    kind = getattr(getattr(value, "dist", None), "name", None)
    if kind in ("loguniform", "reciprocal", "uniform"):
        low, high = map(float, value.support())
        return Uniform(low, high) if kind == "uniform" else Log(low, high)
    if kind == "randint":
        low, high = value.support()
        return Whole(int(low), int(high))
    raise ValueError(
        f"{who}: space[{name!r}] must be Log, Uniform, Whole, Choice, a list of options or one of SciPy's uniform, "
        f"loguniform and randint, got {value!r}."
    )


def search_space(estimator: Any) -> dict[str, Range]:
    """The ranges that an estimator, or the steps inside it, declare for their own parameters.

    Parameters
    ----------
    estimator : estimator
        Of this library, or a pipeline or other composition of such; a step's parameters come as ``step__parameter``.

    Returns
    -------
    dict of str to Range
        Empty when nothing is declared. Ranges that have no effect at the estimator's present parameters are left out.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> from thresher.online import AROWClassifier
    >>> from thresher.tuning import search_space
    >>> search_space(make_pipeline(MaxAbsScaler(), AROWClassifier()))
    {'arowclassifier__r': Log(0.001, 1000.0)}
    """
    space = _own_space(estimator, "")
    for name, part in estimator.get_params(deep=True).items():
        if hasattr(part, "get_params") and not isinstance(part, type):
            space |= _own_space(part, f"{name}__")
    return space


def _own_space(estimator: Any, prefix: str) -> dict[str, Range]:
    declared: Mapping[str, Range] = getattr(estimator, "_search_space", {})
    return {
        f"{prefix}{name}": span
        for name, span in declared.items()
        if all(_is_one_of(getattr(estimator, k, None), v) for k, v in (span.when or {}).items())
    }


def _is_one_of(value: Any, wanted: Any) -> bool:
    return any(is_same(value, one) for one in (wanted if isinstance(wanted, tuple) else (wanted,)))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and math.isfinite(value)


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are of one type and equal."""
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except ValueError:  # comparing arrays gives no single truth value
        return False
