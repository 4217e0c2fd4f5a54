"""The units in which rows and targets are learned: columns are centred and scaled as they come, targets are, too.

All that is measured is in the state. It becomes the scale of rows to come after 1, 2, 4, 8, ... rows and stays as it is
in between; so any chunking of the rows gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, add_moments, measure_lengths, measure_rows, scale_rows
from .._dataclasses import dataclass
from .._gate import Array
from ._lesson import OtherForm
from ._moments import joined
from ._shard_rounds import Sums
from ._state import Field, State, added
from ._target import Target

if TYPE_CHECKING:
    from ._learner import Learner

_MEASURED = 1 << 12  # rows that the unit of sparse rows is measured on; after them, columns are sampled
_SAMPLED = 8  # of later rows, one in this many is measured: the deviation of a column is known by then
LENGTHS_OF = (float(_MEASURED), float(_SAMPLED))  # the same, for the core
_BYTES = 1 << 21  # of scaled rows at a time: they stay in cache while all outputs learn from them
_FEW = 8  # rows at which deviations are assumed to be twice as large as measured
_FAR = 5.0  # deviations: what lies farther from the mean decides a class as if it lay there
_SETTLED = 64  # rows that fixed units are measured on, at least
COMES_SCALED = 2.0  # in place of 1 in is_scaled: by a step before the learner, so that units are those of the rows
_TARGETS = ("target_shift", "target_scale")
_SAME = 1e-12  # a deviation this small beside the mean is rounding, not variation


@dataclass(frozen=True, kw_only=True)
class MeasuredUnits:
    """Units that a learner measures while it learns.

    Parameters
    ----------
    scales : bool, default=False
        Whether dense rows are centred and scaled.
    scales_target : bool, default=False
        Whether targets are, too.
    holds : bool, default=False
        Whether the units of a column stay once it has varied, so that what was learned in them stays true.
    """

    scales: bool = False
    scales_target: bool = False
    holds: bool = False

    def unit_fields(self) -> list[Field]:
        """The arrays in which a state keeps units."""
        sizes = ("unit_count", "unit", "is_scaled", "n_measured")
        target = [Field(name, "shared", 0.0, "derived") for name in ("target_mean", "target_m2", "target_shift")]
        columns = ("column_mean", "column_m2", "column_count", *self._units)
        return [
            Field("unit_sum", "shared", 0.0, "derived"),
            *(Field(name, "shared", 0.0, "derived", domain="non-negative") for name in sizes),
            *((*target, Field("target_scale", "shared", 1.0, "derived")) if self.scales_target else ()),
            *(Field(name, "shared column", 0.0, "derived") for name in columns),
        ]

    @property
    def _units(self) -> tuple[str, ...]:
        """Return the units of columns that the state keeps."""
        return ("shift", "inverse", "reach") if self.holds else ("shift", "inverse")

    # --- measures -----------------------------------------------------------------------------------------------------

    def begin(self, state: State, rows: Rows, part: NDArray[np.int64] | None = None) -> None:
        """Decide by the first rows whether columns are scaled, and allocate the statistics of the columns.

        The first row of a stream is learned from in its own units: later ones may not undo a step in others.
        """
        if not state.arrays["tally"][:, 0].any():
            is_scaled = self.scales and rows.columns is None
            state.arrays["is_scaled"][0, 0] = max(one(state, "is_scaled"), 1.0) if is_scaled else 0.0
        if one(state, "is_scaled") and state.sizes["column"] < rows.n_features:
            state.grow(state.sizes["weight"], column=rows.n_features)
        self._keep_units(state)
        if part is not None and len(part) and not one(state, "unit"):
            square = _square(rows, int(part[0]), counts=bool(one(state, "is_scaled")))
            state.arrays["unit"][0, 0] = rounded(np.log(square)) if 0 < square < np.inf else 0.0

    def meet(self, learner: Learner, state: State, y: Array) -> None:
        """Until targets have been seen to vary, take their units from the first that differs: a step in any others
        would never be undone."""
        if one(state, "target_m2") > 0 or (not learner.intercept and one(state, "target_mean") != 0) or not len(y):
            return
        if learner.intercept and one(state, "n_measured") == 0:
            state.arrays["target_shift"][0, 0] = y[0]
        sizes = np.abs(y - one(state, "target_shift"))
        state.arrays["target_scale"][0, 0] = sizes[(sizes > 0).argmax()] or 1.0

    @staticmethod
    def sample(state: State, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows, of the last ones learned from, that are measured."""
        n_seen = int(state.arrays["tally"][:, 0].max())
        early = min(max(_MEASURED - (n_seen - len(part)), 0), len(part))
        if early == len(part):
            return part
        later = part[early:]
        later = later[-(n_seen - len(later)) % _SAMPLED :: _SAMPLED]
        return np.concatenate([part[:early], later]) if early else later

    def measure(self, state: State, rows: Rows, target: Target, part: NDArray[np.int64]) -> None:
        """Add rows to the statistics of columns, lengths and targets."""
        n_before = one(state, "n_measured")
        if one(state, "is_scaled"):
            mean, m2, count = (state.arrays[f"column_{name}"][0] for name in ("mean", "m2", "count"))
            measure_rows(rows, np.ascontiguousarray(part), n_before, mean, m2, count)
        elif n_before < _MEASURED:
            first = np.ascontiguousarray(part[: int(_MEASURED - n_before)])
            measure_lengths(rows, first, *(state.arrays[name][0] for name in ("unit_sum", "unit_count")))
        if self.scales_target:
            n, missing = np.full(1, n_before), np.zeros(1)
            mean, m2 = state.arrays["target_mean"][0], state.arrays["target_m2"][0]
            add_moments(
                Rows.dense(np.asarray(target.y[part], dtype=np.float64).reshape(-1, 1), False), n, mean, m2, missing
            )
        state.arrays["n_measured"][0, 0] = n_before + len(part)

    def measure_more(self, state: State, moments: Sums) -> None:
        """The same for dense rows that are elsewhere, of which :func:`moments_of` are known."""
        n, names = state.arrays["n_measured"][0], ("mean", "m2", "count")
        known = {"n": n, **{name: state.arrays[f"column_{name}"][0] for name in names}}
        for name, value in joined(known, moments).items():
            (n if name == "n" else state.arrays[f"column_{name}"][0])[...] = value

    def freeze(self, learner: Learner, state: State) -> None:
        """Take what was measured so far as the scale of the rows that come."""
        n = one(state, "n_measured")
        if n == 0:
            return
        unit = one(state, "unit_sum") / max(one(state, "unit_count"), 1.0)
        if one(state, "is_scaled"):
            self._freeze_columns(state, n, learner.intercept != 0)
            self._keep_units(state)
            unit = np.log(max(float(state.arrays["column_count"].sum()) / n, 1.0))
        state.arrays["unit"][0, 0] = rounded(unit)
        if self.scales_target:
            deviation = np.sqrt(one(state, "target_m2") / n)
            state.arrays["target_shift"][0, 0] = one(state, "target_mean") if learner.intercept else 0.0
            if learner.intercept == 0:
                deviation = np.sqrt(deviation**2 + one(state, "target_mean") ** 2)
            state.arrays["target_scale"][0, 0] = deviation if deviation > 0 else 1.0
        if "row_sum" in state.arrays:
            self._centre(state)

    def _centre(self, state: State) -> None:
        """Bring sums over all rows so far to new units, in which rows and targets have a mean of 0."""
        sums = state.arrays["row_sum"]  # that of the targets last
        if one(state, "is_scaled"):
            sums[:, :-1] = 0.0
        if self.scales_target:
            sums[:, -1] = 0.0

    def _freeze_columns(self, state: State, n: float, centred: bool) -> None:
        mean, m2, count = (state.arrays[f"column_{name}"][0] for name in ("mean", "m2", "count"))
        squares = m2 if centred else m2 + n * mean**2
        varies = (count > 0) & (squares > n * (_SAME * mean) ** 2)
        inverse = np.sqrt(np.divide(count, squares, out=np.zeros_like(squares), where=varies))
        inverse = np.where(np.isfinite(inverse), inverse / (1 + _FEW / n), 0.0)
        shift = mean if centred else np.zeros_like(mean)
        held = self.holds & (state.arrays["inverse"][0] > 0) & (state.arrays["tally"][:, 0].max() >= _SETTLED)
        for name, now in (("shift", shift), ("inverse", inverse)):
            state.arrays[name][0] = np.where(held, state.arrays[name][0], now)
        if self.holds:
            before, unit = state.arrays["shift"][0], state.arrays["inverse"][0]
            deviation = np.divide(unit, inverse, out=np.zeros_like(unit), where=inverse > 0)
            state.arrays["reach"][0] = _FAR * deviation + np.abs(shift - before) * unit

    def _keep_units(self, state: State) -> None:
        """Keep the units of columns that are already scaled; extreme values are extreme in these units, too."""
        if one(state, "is_scaled") == COMES_SCALED:
            for name, value in zip(self._units, (0.0, 1.0, _FAR), strict=False):
                state.arrays[name][...] = value

    # --- learning -----------------------------------------------------------------------------------------------------

    def chunk(self, state: State, rows: Rows) -> int:
        """Return the number of rows that all outputs learn from before the next ones."""
        return max(1, min(4096, _BYTES // (8 * rows.n_features))) if one(state, "is_scaled") else 4096

    def scaled(
        self, state: State, rows: Rows, part: NDArray[np.int64] | None = None, room: Array | None = None
    ) -> Rows:
        """Rows in the units in which they are learned, in ``room`` if there is some."""
        return self.units(state).scaled(rows, part, room)

    def units(self, state: State) -> ColumnUnits:
        shift, inverse, *reach = (state.arrays[name][0] for name in self._units)
        return ColumnUnits(shift, inverse, reach[0] if reach else np.inf if self.scales_target else _FAR)

    def as_read(self, state: State, rows: Rows, part: NDArray[np.int64], is_far: NDArray[np.uint8]) -> OtherForm:
        """Rows that lie too far out to be learned from as they are: predictions take them as they are."""
        at = np.full(len(part), -1, dtype=np.int64)
        far = np.flatnonzero(is_far)
        at[far] = np.arange(len(far))
        whole = self.units(state)._replace(reach=np.inf).scaled(rows, part[far])
        return OtherForm(whole.values.reshape(-1), at)

    def targets(self, state: State, y: Array) -> Array:
        return (y - one(state, "target_shift")) / one(state, "target_scale") if self.scales_target else y

    # --- reading ------------------------------------------------------------------------------------------------------

    def in_users_units(self, weights: Array, state: State, intercept: float) -> Array:
        """Weights for rows and targets as they come."""
        weights = weights.copy()
        if one(state, "is_scaled"):
            width = min(weights.shape[1] - 1, state.sizes["column"])
            weights[:, :width] *= state.arrays["inverse"][0, :width]
            if intercept:
                weights[:, -1] -= weights[:, :width] @ state.arrays["shift"][0, :width] / intercept
        if self.scales_target:
            weights *= one(state, "target_scale")
            if intercept:
                weights[:, -1] += one(state, "target_shift") / intercept
        return weights

    def in_learned_units(self, weights: Array, state: State, intercept: float) -> Array:
        """Weights that :meth:`in_users_units` turns into these."""
        weights = weights.copy()
        if self.scales_target:
            if intercept:
                weights[:, -1] -= one(state, "target_shift") / intercept
            weights /= one(state, "target_scale")
        if one(state, "is_scaled"):
            width = min(weights.shape[1] - 1, state.sizes["column"])
            if intercept:
                weights[:, -1] += weights[:, :width] @ state.arrays["shift"][0, :width] / intercept
            weights[:, :width] /= state.arrays["inverse"][0, :width]
        return weights

    def in_target_units(self, scores: Array, state: State) -> Array:
        """Scores for targets as they come."""
        if not self.scales_target:
            return scores
        return scores * one(state, "target_scale") + one(state, "target_shift")

    def merge_units(self, merged: State, start: State, states: Sequence[State]) -> None:
        """Moments of all rows, those of the start once; the order of the shards leaves no trace."""
        counts = [s.arrays["n_measured"] for s in (start, *states)]
        total = np.maximum(added(counts[0], counts[1:]), 0.0)
        for name in ("unit_sum", "unit_count"):
            begun, *reached = (s.arrays[name] for s in (start, *states))
            merged.arrays[name][...] = added(begun, reached)
        merged.arrays["is_scaled"][...] = max(one(s, "is_scaled") for s in states)
        pairs = [("column_mean", "column_m2")] if one(merged, "is_scaled") else []
        for mean, m2 in [*pairs, *([("target_mean", "target_m2")] if self.scales_target else [])]:
            width = merged.arrays[mean].shape[1]
            each = [(s.arrays["n_measured"], padded(s, mean, width), padded(s, m2, width)) for s in (start, *states)]
            about = np.min([a for _, a, _ in each[1:]], axis=0)
            sums = [n * (a - about) for n, a, _ in each]
            squares = [q + n * (a - about) ** 2 for n, a, q in each]
            first, second = added(sums[0], sums[1:]), added(squares[0], squares[1:])
            merged.arrays[mean][...] = about + np.divide(first, total, out=np.zeros_like(first), where=total > 0)
            square = np.divide(first**2, total, out=np.zeros_like(first), where=total > 0)
            merged.arrays[m2][...] = np.maximum(second - square, 0.0)
        if pairs:
            width = merged.sizes["column"]
            stored = [padded(s, "column_count", width) for s in (start, *states)]
            merged.arrays["column_count"][...] = np.maximum(added(stored[0], stored[1:]), 0.0)
        merged.arrays["n_measured"][...] = total
        rows = np.array([one(s, "n_measured") for s in states])
        share = rows / np.sort(rows).sum() if rows.any() else np.full(len(states), 1 / len(states))
        for name in ("unit", *(_TARGETS if self.scales_target else ())):
            _average(merged, states, name, share[:, None])
        if pairs:  # until the next milestone, the scales that the weights of the shards belong to
            knows = np.array([padded(s, "inverse", width)[0] > 0 for s in states])
            for name in self._units:
                _average(merged, states, name, np.where(knows.any(axis=0), knows, True) * share[:, None])


class ColumnUnits(NamedTuple):
    """The units in which dense rows are learned."""

    shift: Array
    inverse: Array
    reach: Array | float
    """In these units, how far from 0 a value may lie; what lies farther is learned from as if it lay there."""

    def scaled(
        self,
        rows: Rows,
        part: NDArray[np.int64] | None = None,
        room: Array | None = None,
        is_far: NDArray[np.uint8] | None = None,
    ) -> Rows:
        """Some rows, or all of them, in ``room`` if there is some; ``is_far`` receives which of them lie beyond a
        ``reach`` that all columns share."""
        part = np.arange(rows.n_rows) if part is None else np.ascontiguousarray(part)
        scaled = np.empty((len(part), rows.n_features)) if room is None else room[: len(part)]
        far = self.reach if isinstance(self.reach, float) else np.inf
        scale_rows(rows, part, self.shift, self.inverse, far, scaled.reshape(-1), is_far)
        if not isinstance(self.reach, float):
            np.clip(scaled, -self.reach, self.reach, out=scaled)
        return Rows.dense(scaled, False)


def _average(merged: State, states: Sequence[State], name: str, share: Array) -> None:
    """The mean over shards of numbers that all outputs share, in which each column may have shares of its own."""
    width = merged.arrays[name].shape[1]
    total = np.sort(share, axis=0).sum(axis=0)
    weights = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
    parts = [w * padded(s, name, width) for w, s in zip(weights, states, strict=True)]
    merged.arrays[name][...] = added(np.zeros_like(parts[0]), parts)


def rounded(log: float) -> float:
    """A unit whose logarithm is given, to a quarter of a power of two: the last digits leave no trace."""
    return float(2.0 ** (np.round(4 * log / np.log(2)) / 4))


def one(state: State, name: str) -> float:
    """A number that all outputs share."""
    return float(state.arrays[name][0, 0])


def padded(state: State, name: str, width: int) -> Array:
    """An array of columns, with zeros for those that the state has not met."""
    array = state.arrays[name]
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def _square(rows: Rows, i: int, *, counts: bool) -> float:
    """The squared length of a row; with ``counts``, each value other than 0 is a 1: columns that are to be scaled."""
    stored = rows.values[i] if rows.columns is None else rows.values[rows.starts[i] : rows.starts[i + 1]]
    values = np.asarray(stored != 0 if counts else stored, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # of a row that is checked later
        return float(np.add.reduce(values * values))
