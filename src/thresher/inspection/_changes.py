"""The smallest change of a few columns that changes the prediction of a classifier for one row."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import check_is_fitted, task_of
from .._gate import Rule, Table, Text, at_least, checked, written_date
from ._column_values import Array, ColumnValues, as_model_takes, as_table, known_values, with_all_values, with_values
from ._features import last_step

_POINTS = 65  # values of a column that are tried at first
_REFINED = 6  # rounds that each cut the distance to the border to a 64th
_MOST_COLUMNS = 300
_MOST_CLASSES = 5
_MOST_NAMED = 10  # columns, in an error
_MOST_PLANS = 3  # that are tried, if a model's columns do not act one by one
_MOST_TOGETHER = {2: 30, 3: 12}  # columns that are combined, those that can gain most


@dataclass(frozen=True)
class Change:
    """New values of a few columns, and the resulting prediction; see :func:`smallest_change`.

    Attributes
    ----------
    columns : dict
        Column -> (old value, new value); dates in ISO 8601.
    before, after : object
        The predictions for the row and for the changed row.
    size : float
        The sum of the changes: for a number, in units of the distance between the 10 % and 90 % quantiles of its
        column; 1 for a category.
    row : Table
        The changed row.
    """

    columns: dict[str, tuple[Any, Any]]
    before: Any
    after: Any
    size: float
    row: Table


class _Moves(NamedTuple):
    """Other values of a column, the cheapest first, with what they add to the lead of the other class."""

    column: ColumnValues
    values: Any
    costs: Array
    gains: Array
    best: Array  # the largest gain up to each place


@checked(
    max_columns=Rule("1, 2 or 3", lambda v: at_least(1).holds(v) and v <= 3, type="{1, 2, 3}"),
    keep=Rule("a list of columns", lambda v: isinstance(v, Collection) and not isinstance(v, str), type="list of str"),
)
def smallest_change(
    model: Any, row: Any, data: Any = None, *, max_columns: int = 3, keep: Collection[str] = ()
) -> Change | None:
    """Find the smallest change of as few columns as possible that changes the prediction of a classifier.

    Numbers stay within the range of the data, integers stay integers, and categories change to other known ones. One
    column is tried first, then two, then three. For linear models, the smallest change is exact. For additive models,
    it is found on a grid of 65 values per column and then refined in one column. For other models, changes of one
    column are tried on the same grid; a change of several columns is the best of those tried, and is verified to change
    the prediction.

    Parameters
    ----------
    model : estimator or pipeline
        A fitted classifier with ``decision_function``.
    row : Table, data frame or array-like of shape (n_columns,) or (1, n_columns)
        One row, as the model takes it.
    data : Table, data frame or array-like of shape (n_rows, n_columns), optional
        Rows that define the ranges of columns; without them, the ranges are those that the steps of the model have
        seen.
    max_columns : {1, 2, 3}, default=3
        How many columns may change.
    keep : list of str
        Columns that must not change, such as a person's age.

    Returns
    -------
    Change or None
        None if there is no such change.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.inspection import smallest_change
    >>> from thresher.online import AROWClassifier
    >>> X = np.random.default_rng(0).uniform(size=(1000, 3))
    >>> model = AROWClassifier(random_state=0).fit(X, X[:, 0] + X[:, 1] > 1)
    >>> change = smallest_change(model, [0.3, 0.4, 0.5], X)
    >>> [(name, now) for name, (now, then) in change.columns.items()], bool(change.after)
    ([('x1', 0.3)], True)
    """
    model = getattr(model, "best_estimator_", model)
    learner = last_step(model)
    check_is_fitted(learner)
    if task_of(learner) != "classification" or not hasattr(model, "decision_function"):
        raise ValueError(f"smallest_change: model must be a classifier with scores, got {type(learner).__name__}.")
    one = as_table(model, row, "smallest_change")
    if len(one) != 1:
        raise ValueError(f"smallest_change: row must be one row, got {len(one)}.")
    unknown = next((name for name in keep if name not in one.columns), None)
    if unknown is not None:
        raise ValueError(
            f"smallest_change: keep must name columns of the row, got {unknown!r}; the columns are "
            f"{', '.join(one.columns[:_MOST_NAMED])}{', ...' if len(one.columns) > _MOST_NAMED else ''}."
        )
    known = None if data is None else as_table(model, data, "smallest_change")
    columns = [column for column in known_values(model, known, _POINTS) if column.name in one.columns]
    if not columns and known is None:
        raise ValueError(
            "smallest_change: data must be given, because the model does not store the range of its columns."
        )
    columns = [column for column in columns if column.name not in keep and _is_there(one, column)]
    search = _Search(model, one, _strongest(model, one, columns))
    for n in range(1, max_columns + 1):
        changes = [change for other in search.others() if (change := search.cheapest(other, n)) is not None]
        if changes:
            return min(changes, key=lambda change: change.size)
    return None


def _is_there(row: Table, column: ColumnValues) -> bool:
    """Whether a value can be compared with others: it is not missing, nor of another kind."""
    value = row[column.name]
    if column.is_text or isinstance(value, Text):
        return column.is_text and isinstance(value, Text)
    return bool(np.isfinite(value[0])) and len(column.grid) > 1


def _strongest(model: Any, row: Table, columns: list[ColumnValues]) -> list[ColumnValues]:
    """If there are very many columns, those whose ends change the scores most."""
    if len(columns) <= _MOST_COLUMNS:
        return columns
    spread = []
    for column in columns:
        some = [column.grid[0], column.grid[-1]]
        scores = model.decision_function(as_model_takes(model, with_values(row, column.name, some)))
        spread.append(float(np.ptp(scores, axis=0).max()))
    order = np.argsort(-np.array(spread), kind="stable")[:_MOST_COLUMNS]
    return [columns[j] for j in np.sort(order)]


class _Search:
    """Changes of one row, for one class after the other."""

    def __init__(self, model: Any, row: Table, columns: list[ColumnValues]) -> None:
        self.model, self.row, self.columns = model, row, columns
        self.answer = self._predict(row)[0]
        self._scores = [self._score(with_values(row, column.name, column.grid)) for column in columns]
        self._base = self._score(row)[0]

    def _predict(self, rows: Table) -> list[Any]:
        return list(np.asarray(self.model.predict(as_model_takes(self.model, rows))).tolist())

    def _score(self, rows: Table) -> Array:
        return np.asarray(self.model.decision_function(as_model_takes(self.model, rows)), dtype=np.float64)

    def others(self) -> list[Any]:
        """Other classes, those with the highest scores."""
        classes = last_step(self.model).classes_.tolist()
        if self._base.ndim == 0:
            return [label for label in classes if label != self.answer]
        order = np.argsort(-self._base, kind="stable").tolist()
        return [classes[k] for k in order if classes[k] != self.answer][:_MOST_CLASSES]

    def _lead(self, other: Any) -> Callable[[Array], Array]:
        """Return how far the scores favour another class, which is predicted if the result is above 0."""
        learner = last_step(self.model)
        classes = learner.classes_.tolist()
        if self._base.ndim == 0:
            border = float(getattr(learner, "threshold_", 0.0))
            sign = 1.0 if other == classes[1] else -1.0
            return lambda scores: sign * (scores - border)
        now = classes.index(self.answer) if self.answer in classes else int(np.argmax(self._base))
        return lambda scores: scores[..., classes.index(other)] - scores[..., now]

    def cheapest(self, other: Any, n: int) -> Change | None:
        """The smallest change of `n` columns that leads to another class."""
        lead = self._lead(other)
        begin = float(lead(self._base))
        need = -begin
        moves = [self._moves(c, lead(s) - begin) for c, s in zip(self.columns, self._scores, strict=True)]
        moves = [move for move in moves if len(move.costs) and move.best[-1] > 0]
        if n > 1:
            moves = sorted(moves, key=lambda move: -move.best[-1])[: _MOST_TOGETHER[n]]
        sets = [each for each in combinations(moves, n) if sum(move.best[-1] for move in each) > need]
        enough = [(*each[k + 1 :], *each[: k + 1]) for each in sets for k in range(n)]  # each once as the last
        plans = [(plan, each) for each in enough if (plan := _cheapest_together(each, need)) is not None]
        for (_, places), together in sorted(plans, key=lambda pair: pair[0][0])[:_MOST_PLANS]:
            change = self._refined(lead, together, places)
            if change is not None:
                return change
        return None

    def _moves(self, column: ColumnValues, gains: Array) -> _Moves:
        now = self._value(column.name)
        if column.is_text:
            kept = [k for k, value in enumerate(column.grid) if value != now]
            values: Any = [column.grid[k] for k in kept]
            costs = np.ones(len(kept))
        else:
            kept = np.flatnonzero(column.grid != now).tolist()
            values = column.grid[kept]
            costs = np.abs(values - now) / _unit(column)
        order = np.lexsort((-gains[kept], costs))
        values = [values[k] for k in order] if column.is_text else values[order]
        sorted_gains = gains[kept][order]
        return _Moves(column, values, costs[order], sorted_gains, np.maximum.accumulate(sorted_gains))

    def _value(self, name: str) -> Any:
        value = self.row[name][0]
        return value if isinstance(value, str) else float(value)

    def _refined(
        self, lead: Callable[[Array], Array], together: tuple[_Moves, ...], places: tuple[int, ...]
    ) -> Change | None:
        """Move the last number back towards its old value as far as the prediction stays changed."""
        values = {move.column.name: move.values[k] for move, k in zip(together, places, strict=True)}
        last = together[-1].column
        if not last.is_text:
            values[last.name] = self._nearest(lead, values, last)
        changed = with_all_values(self.row, {name: [value] for name, value in values.items()}, 1)
        after = self._predict(changed)[0]
        if after == self.answer:
            return None
        size = sum(self._cost(move.column, values[move.column.name]) for move in together)
        plain = {name: value if isinstance(value, str) else float(value) for name, value in values.items()}
        columns = {name: (self._value(name), value) for name, value in plain.items()}
        dates = set(self.row.dates).intersection(columns)
        columns |= {
            name: (written_date(float(a)), written_date(float(b))) for name in dates for a, b in [columns[name]]
        }
        return Change(columns, self.answer, after, float(size), changed)

    def _nearest(self, lead: Callable[[Array], Array], values: dict[str, Any], column: ColumnValues) -> float:
        """The value nearest to that of the row with which the other class still leads; a whole one of whole numbers."""
        near, then = self._value(column.name), float(values[column.name])
        for _ in range(_REFINED):
            grid = np.linspace(near, then, _POINTS)
            if column.is_whole:
                grid = np.unique(np.rint(grid))[:: 1 if then > near else -1]
            same = {other: [value] * len(grid) for other, value in values.items() if other != column.name}
            leads = lead(self._score(with_all_values(self.row, {**same, column.name: grid}, len(grid))))
            first = int(np.argmax(leads > 0))
            if not leads[first] > 0:
                break
            near, then = float(grid[max(first - 1, 0)]), float(grid[first])
        return then

    def _cost(self, column: ColumnValues, value: Any) -> float:
        return 1.0 if column.is_text else abs(float(value) - self._value(column.name)) / _unit(column)


def _unit(column: ColumnValues) -> float:
    """The distance between the 10 % and 90 % quantiles, or else between the ends."""
    q: NDArray[Any] = column.quantiles
    outer = max(len(q) // 10, 1) if len(q) > 2 else 0
    usual = float(q[len(q) - 1 - outer] - q[outer])
    return usual if usual > 0 else float(column.grid[-1] - column.grid[0])


def _cost_between(move: _Moves, place: NDArray[np.intp], need: Array) -> Array:
    """The cost of a gain that one value does not reach and the next one exceeds, on a straight line between them."""
    costs = move.costs[place]
    if move.column.is_text or move.column.is_whole:
        return costs
    low = np.where(place > 0, move.best[place - 1], 0.0)
    before = np.where(low > 0, move.costs[np.searchsorted(move.best, low)], 0.0)
    share = np.clip((need - low) / (move.best[place] - low), 0.0, 1.0)
    return np.asarray(before + share * (costs - before))


def _cheapest_together(together: tuple[_Moves, ...], need: float) -> tuple[float, tuple[int, ...]] | None:
    """The places of the moves that together gain more than is needed at the lowest cost."""
    *others, last = together
    costs, gains = np.zeros(1), np.zeros(1)
    for move in others:  # all combinations of the others
        costs = (costs[:, None] + move.costs).ravel()
        gains = (gains[:, None] + move.gains).ravel()
    place = np.searchsorted(last.best, need - gains, side="right")  # the first whose gain suffices
    enough = np.flatnonzero(place < len(last.best))
    if not len(enough):
        return None
    totals = costs[enough] + _cost_between(last, place[enough], (need - gains)[enough])
    k = int(enough[np.argmin(totals)])
    ends = np.unravel_index(k, [len(move.costs) for move in others]) if others else ()
    return float(totals.min()), (*map(int, ends), int(place[k]))
