"""Advice about a method, declared by its class: the problems it is good for, and how to begin a search for parameters.

``auto``, the wizard, the command line and the chart of methods read these declarations and nothing else, so that all of
them offer a method as soon as its class declares an :class:`Advice`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .._dataclasses import dataclass

MOST_COMPARED = 20_000  # rows that a method may compare with one another: 3 GB of numbers
MOST_VALUES = 20_000_000  # numbers of a table that methods which need all of them at once are tried on
KINDS = ("", "additive", "pairs", "landmarks", "curved landmarks", "kernel")
"""Features that a method may learn from, cheap ones first: the columns themselves, splines of each column (and products
of two), features of a kernel by landmarks (of the columns or of splines), and comparisons of all pairs of rows."""
_WIDE = 1000  # features from which on dense rows are treated like text


@dataclass(frozen=True)
class LearningProblem:
    """The facts about data and options on which the choice of methods is based."""

    task: str  # "classification", "regression" or "clustering"
    n_rows: int = 0
    n_features: int = 0
    n_classes: int = 0
    n_labelled: int = 0  # rows with a label, where others have none
    is_sparse: bool = False
    is_text: bool = False  # all columns hold words
    is_imbalanced: bool = False  # a class is rare
    wants_sparsity: bool = False  # a model of few features is requested
    kernel: str | None = None  # that the user named
    needs: frozenset[str] = frozenset()  # structure to use: "groups", "tasks", "outliers" or "unlabelled"
    aim: str = ""  # a property that data do not show, such as "curved"; the wizard and the chart of methods ask for it
    kind: str = ""  # the features that a method is to learn from, one of KINDS

    @property
    def is_wide(self) -> bool:
        return self.is_sparse or self.n_features >= _WIDE

    @property
    def is_linear(self) -> bool:
        """Whether the user asks for a linear learner, with or without a map before it."""
        return self.kernel in ("linear", "nystroem", "nystroem-linear")

    @property
    def is_table(self) -> bool:
        """Whether rows are dense, and few enough numbers in all to be learned from at once."""
        return not (self.is_wide or self.is_text) and self.n_rows * self.n_features <= MOST_VALUES

    @property
    def form(self) -> str:
        return "sparse" if self.is_sparse else "wide"


@dataclass(frozen=True)
class GoodFor:
    """One kind of problem for which a method is worth trying.

    Attributes
    ----------
    rank : int
        The order among methods for the same problem; the smallest is tried first.
    why : str
        The reason, as it continues "because". ``{p}`` is the problem, ``{they}`` the methods that are tried ("it",
        "both" or "all"), ``{s}`` the ending of their verb, ``{first}`` this method among them.
    when : callable
        Whether a :class:`LearningProblem` is of this kind.
    aim : str
        The aim of the problem; by default none, and `when` alone decides.
    settings : str
        Parameters to choose for the aim, as the chart of methods shows them.
    kind : str
        The features that it should learn from, one of ``KINDS``; by default the columns themselves.
    """

    rank: int
    why: str = ""
    when: Callable[[LearningProblem], bool] = lambda p: True
    aim: str = ""
    settings: str = ""
    kind: str = ""

    def holds(self, problem: LearningProblem) -> bool:
        return (self.aim, self.kind) == (problem.aim, problem.kind) and self.when(problem)

    def describe(self, problem: LearningProblem, n_methods: int) -> str:
        """The reason for trying `n_methods` methods, this one first."""
        they, s, first = ("it", "s", "it") if n_methods == 1 else ("both" if n_methods == 2 else "all", "", "the first")
        return self.why.format(p=problem, they=they, s=s, first=first)


class Power(NamedTuple):
    """The power of the target's unit that a parameter of a regressor grows with, for squared and for other losses."""

    squared: int = 0
    other: int = 0


class Variant(NamedTuple):
    """Another form of a method for few labels: the parameters that make it, a note that follows the name of the method,
    when it is worth a try, and whether it learns from the labelled rows alone."""

    params: Mapping[str, Any]
    note: str
    when: Callable[[LearningProblem], bool] = lambda p: True
    labelled_only: bool = False


class Advice:
    """All that a class declares about its use.

    Parameters
    ----------
    *good_for : GoodFor
        The first that holds for a problem counts.
    start : callable
        Better parameters than the defaults to begin a search with, given a :class:`LearningProblem`.
    settled : tuple of str
        Parameters of `start` that are not tuned.
    powers : dict of str to Power
        Parameters of a regressor with a choice of losses that depend on the unit of the target.
    variants : tuple of Variant
        For methods that learn from unlabelled rows: other forms that are compared with them, too.
    """

    def __init__(
        self,
        *good_for: GoodFor,
        start: Callable[[LearningProblem], dict[str, Any]] = lambda p: {},
        settled: tuple[str, ...] = (),
        powers: Mapping[str, Power] = MappingProxyType({"alpha": Power(other=-1)}),
        variants: tuple[Variant, ...] = (),
    ) -> None:
        self.good_for, self.start, self.settled = good_for, start, settled
        self.powers, self.variants = powers, variants

    def best(self, problem: LearningProblem) -> GoodFor | None:
        return next((good for good in self.good_for if good.holds(problem)), None)


def advice_of(cls: type[Any]) -> Advice:
    """The advice that a class itself declares; a subclass does not inherit it."""
    return vars(cls).get("_advice", Advice())
