"""Our dataclasses are those of the standard library, made in less time."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from typing import Any, ClassVar

import pytest

from thresher._dataclasses import dataclass as ours

KINDS = [{}, {"frozen": True}, {"frozen": True, "eq": False}, {"frozen": True, "repr": False}, {"kw_only": True}]


def classes(make: Any, **options: Any) -> tuple[type, type, type]:
    @make(**options)
    class Base:
        """With what fields may be."""

        known: ClassVar[int] = 3
        a: int
        b: list[int] = field(default_factory=list, hash=False)
        c: float = field(default=1.5, compare=False, repr=False)
        d: str = field(default="d", kw_only=True)

    @make(**options)
    class Derived(Base):
        """With another field, and another default."""

        a: int = 7
        e: tuple[int, ...] = field(default=(1,), init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "e", (self.a, self.a))

    class Open(Derived):
        pass

    return Base, Derived, Open


def outcome(do: Any) -> Any:
    try:
        return str(do())
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_they_do_what_those_of_the_standard_library_do(options):
    def attempts(make: Any) -> list[Any]:
        found: list[Any] = []
        for cls in classes(make, **options):
            one, same = cls(a=1, d="x"), cls(a=1, d="x", c=9.0)
            found += [
                outcome(lambda cls=cls: vars(cls(1))),
                outcome(lambda cls=cls: vars(cls())),
                outcome(lambda cls=cls: cls(a=1, nobody=1)),
                inspect.signature(cls),
                cls.__doc__,
                getattr(cls, "__match_args__", None),
                [(each.name, each.type) for each in dataclasses.fields(cls)],
                dataclasses.asdict(one),
                vars(dataclasses.replace(one, a=5)),
                vars(copy.deepcopy(one)),
                one == same,
                one == cls(a=2),
                one == 1,
                one.b is same.b,
                options.get("repr", True) and repr(one),
                outcome(lambda one=one: setattr(one, "a", 3)),
                outcome(lambda one=one: setattr(one, "other", 3)),
                outcome(lambda one=one: delattr(one, "a")),
                outcome(lambda one=one, same=same: hash(one) == hash(same)),
                outcome(lambda one=one: hash(one) == hash(dataclasses.replace(one, b=[5]))),
            ]
        return [str(each) for each in found]

    assert attempts(ours) == attempts(dataclasses.dataclass)


def test_methods_of_a_class_stay():
    @ours(frozen=True)
    class Own:
        a: int

        def __init__(self) -> None:
            object.__setattr__(self, "a", 3)

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

    assert (repr(Own()), Own() == 1, Own().a, hash(Own())) == ("mine", True, 3, hash((3,)))


@ours(frozen=True)
class Nested:
    a: Any = None


def test_an_object_that_holds_itself_can_be_shown_and_one_can_be_pickled():
    inside: list[Any] = []
    inside.append(Nested(inside))
    assert repr(inside[0]) == "Nested(a=[...])"
    assert pickle.loads(pickle.dumps(Nested((1, 2)))) == Nested((1, 2))
