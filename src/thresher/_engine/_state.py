"""The learned state of a model: named arrays that Python owns and the core mutates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Array

Settle = Callable[[Sequence["State"]], None]
Rebuild = Callable[["State"], None]

# Kept for every learner, and no part of what it learns.
_COUNTS = ("tally", "n_mistakes", "n_wrong", "score_bins", "score_clock", "score_drift")
_BLOCK = 1 << 14
_MOST = 2.0**53  # beyond it, adding 1 changes nothing


@dataclass(frozen=True)
class Field:
    """One array of the state: its name, axes, first value and merge rule.

    ``axes`` names the axes of the array for one output: ``"weight"`` (one entry per feature, the constant last),
    ``"group"``, ``"selected"``, any other name, two names for a matrix, or ``""`` for one number. A square starts as a
    multiple of the identity. ``"model"`` is one number for a whole model instead of one per output; a state may hold
    the outputs of several models, one after the other. ``"shared"`` comes first where there is one array for all of
    them.

    ``merge`` is ``"sum"`` (changes add up), ``"mean"`` (changes are averaged), ``"precision"`` (a variance or
    covariance: inverses add up), ``"weighted"`` (a mean weighed by the inverse of the field named ``by``) or
    ``"derived"`` (kept from the start; ``rebuild`` makes it true).

    ``beside`` names the field whose entries alternate with this one's in memory, because they are always read together.

    ``lazy`` says that the state may be behind: ``"steps"`` that weights are owed, to be made with the parameters of
    their time, or ``"rows"`` that wait for their mini-batch to be complete.

    ``domain`` is what its numbers may be: ``"count"`` (whole, from 0 to 2**53), ``"non-negative"`` or
    ``"any"``. Without it, they are above 0 (on a square, those of the diagonal) if the first value is, and at least 0
    if they are sums over rows and not over features. ``at_most`` names the field, of one number for each output, that
    none of them exceeds.
    """

    name: str
    axes: str
    initial: float
    merge: str
    by: str = ""
    beside: str = ""
    lazy: str = ""
    domain: str = ""
    at_most: str = ""

    def fault(self, arrays: Mapping[str, Array]) -> str:
        """Describe what is wrong with its numbers, for example those read from a file; empty if they are valid."""
        values = arrays[self.name]
        low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
        if not (np.isfinite(low) and np.isfinite(high)):
            return "finite numbers"
        if self.domain == "count" and (low < 0 or high > _MOST or (np.floor(values) != values).any()):
            return "whole numbers from 0 to 2**53"
        if self.domain == "non-negative" and low < 0:
            return "numbers of at least 0"
        if self.at_most and (values > arrays[self.at_most]).any():
            return f"numbers up to {self.at_most}"
        if self.domain:
            return ""
        if (
            values.size
            and self.initial > 0
            and (np.diagonal(values, axis1=-2, axis2=-1) if self.is_square else values).min() <= 0
        ):
            return "numbers above 0"
        if self.merge == "sum" and "weight" not in self.axes.split() and low < 0:
            return "counts and sums of at least 0"
        return ""

    @property
    def is_square(self) -> bool:
        """Whether it is a matrix over one axis twice, as a covariance is."""
        first, _, second = self.axes.partition(" ")
        return first == second

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(sizes[axis] for axis in self.axes.split() if axis not in ("model", "shared")) or (1,)

    @property
    def may_be_rounded(self) -> bool:
        """Whether it holds learned numbers for each weight. A matrix over all pairs of weights does not count, because
        rounding could make it indefinite."""
        return self.merge != "derived" and self.domain != "count" and self.axes.split().count("weight") == 1

    def whole_shape(self, n_outputs: int, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of the array over all outputs."""
        n = 1 if self.axes.startswith("shared") else sizes.get("model", 1) if self.axes == "model" else n_outputs
        return (n, *self.shape(sizes))

    def block(self, n_outputs: int, sizes: Mapping[str, int]) -> Array:
        """Fresh values for every output."""
        shape = self.whole_shape(n_outputs, sizes)
        if self.initial == 0:
            return np.zeros(shape)  # pages that are never touched stay unmapped
        if self.is_square:
            return np.broadcast_to(self.initial * np.eye(shape[1]), shape).copy()
        return np.full(shape, self.initial)


def _pairs(shape: tuple[int, ...], first: float, second: float) -> Array:
    """Two fresh values beside each other, in one sweep over memory, or in none if they are 0."""
    if first == 0 == second:
        return np.zeros((*shape, 2))
    return np.full(shape, complex(first, second)).view(np.float64).reshape(*shape, 2)


class State:
    """Arrays of shape ``(n_outputs, *axes)``, one per field.

    Parameters
    ----------
    fields : sequence of Field
    n_outputs : int
    sizes : mapping of str to int
        Length of every axis that a field names.
    arrays : mapping of str to ndarray, optional
        Values; fresh ones when not given.
    """

    def __init__(
        self,
        fields: Iterable[Field],
        n_outputs: int,
        sizes: Mapping[str, int],
        arrays: Mapping[str, Array] | None = None,
    ) -> None:
        self.fields = tuple(fields)
        self.is_lazy = any(field.lazy == "steps" for field in self.fields)  # whether weights may owe steps
        self.n_outputs = n_outputs
        self.kept: dict[str, Any] = {}  # values derived from it, each with what shows that they are still valid
        self.replace(sizes, arrays)

    def replace(self, sizes: Mapping[str, int], arrays: Mapping[str, Array] | None) -> None:
        """Replace the arrays, by arrays of other sizes if necessary."""
        self.sizes = dict(sizes)
        self._buffers = self._allocate(self.sizes, self.fields, fill=arrays is None)
        if arrays is not None:
            for name, buffer in self._buffers.items():
                if np.shape(arrays[name]) != buffer.shape:
                    raise ValueError(
                        f"state array {name} must have shape {buffer.shape}, got {np.shape(arrays[name])}."
                    )
                buffer[...] = arrays[name]
        self._open()

    def _allocate(self, sizes: Mapping[str, int], fields: Iterable[Field], *, fill: bool = True) -> dict[str, Array]:
        """Fresh arrays, or arrays of no values yet; the columns of one block for fields that lie beside each other."""
        fresh: dict[str, Array] = {}
        for f in fields:
            shape = f.whole_shape(self.n_outputs, sizes)
            if f.beside:
                first = next(other.initial for other in self.fields if other.name == f.beside)
                block = _pairs(shape, first, f.initial) if fill else np.empty((*shape, 2))
                fresh[f.beside], fresh[f.name] = block[..., 0], block[..., 1]
            else:
                fresh[f.name] = f.block(self.n_outputs, sizes) if fill else np.empty(shape)
        return fresh

    def _open(self) -> None:
        windows = {f.name: (slice(None), *map(slice, f.shape(self.sizes))) for f in self.fields}  # what is in use
        arrays = {name: self._buffers[name][window] for name, window in windows.items()}
        self.arrays = MappingProxyType(arrays)  # written to, never replaced
        # What one pass may write to: for each output its arrays, flat.
        self.views = [
            {name: a[k * len(a) // self.n_outputs].reshape(-1) for name, a in self.arrays.items()}
            for k in range(self.n_outputs)
        ]

    def view(self, k: int) -> dict[str, Array]:
        """Flat views of output ``k``, by name."""
        return self.views[k]

    def is_shorter(self, sizes: Mapping[str, int]) -> bool:
        """Whether :meth:`grow` would make it longer."""
        for axis, n in sizes.items():  # noqa: SIM110  (asked once per batch: a generator would cost more than the answer)
            if n > self.sizes[axis]:
                return True
        return False

    def is_behind(self, lazy: str) -> bool:
        """Whether a field that is lazy in this way may have pending updates."""
        if lazy == "steps":
            return self.is_lazy
        return any(f.lazy == lazy and self.arrays[f.name].any() for f in self.fields)

    def grow(self, n_weights: int, **others: int) -> None:
        """Make room for features that appear later; the weight of the constant stays last. Other axes grow at the end.

        Vectors, and matrices with one row per weight, keep spare room, so growing a little with every batch costs
        O(new features) on average.
        """
        self._lengthen({axis: n for axis, n in others.items() if n > self.sizes[axis]})
        old = self.sizes.get("weight", n_weights)
        if n_weights <= old:
            return
        sizes, buffers = {**self.sizes, "weight": n_weights}, dict(self._buffers)
        by_weight = [f for f in self.fields if "weight" in f.axes.split()]
        vectors = [f for f in by_weight if f.axes.startswith("weight") and f.axes.split().count("weight") == 1]
        if any(buffers[f.name].shape[1] < n_weights for f in vectors):
            roomy = self._allocate({**sizes, "weight": max(n_weights, 2 * old)}, vectors)
            for name, buffer in roomy.items():
                buffer[:, :old] = buffers[name][:, :old]
            buffers.update(roomy)
        for f in by_weight:
            if f in vectors:
                buffer = buffers[f.name]
                buffer[:, n_weights - 1] = buffer[:, old - 1]
                buffer[:, old - 1 : n_weights - 1] = f.initial
            else:
                buffers[f.name] = self._widened(f, sizes)
        self.sizes, self._buffers = sizes, buffers
        self._open()

    def _widened(self, field: Field, sizes: Mapping[str, int]) -> Array:
        """A matrix with fresh entries before that of the constant, along every axis of weights."""
        wider = field.block(self.n_outputs, sizes)
        features = np.r_[: self.sizes["weight"] - 1, sizes["weight"] - 1]
        kept = [features if axis == "weight" else np.arange(sizes[axis]) for axis in field.axes.split()]
        wider[np.ix_(np.arange(self.n_outputs), *kept)] = self._buffers[field.name]
        return wider

    def _lengthen(self, longer: Mapping[str, int]) -> None:
        """Give axes other than the weights more entries, at their end."""
        if not longer:
            return
        sizes, buffers = {**self.sizes, **longer}, dict(self._buffers)
        for f in self.fields:
            if not longer.keys().isdisjoint(f.axes.split()):
                grown, old = f.block(self.n_outputs, sizes), self.arrays[f.name]
                grown[tuple(map(slice, old.shape))] = old
                buffers[f.name] = grown
        self.sizes, self._buffers = sizes, buffers
        self._open()

    def blank(self, n_weights: int) -> State:
        """A state of the same kind before the first row, of that many weights."""
        return State(self.fields, self.n_outputs, {**self.sizes, "weight": n_weights})

    def round(self) -> None:
        """Round what was learned for each weight to float32, in place. Only zeros become zero."""
        rounded: dict[str, NDArray[np.float32]] = {}
        with np.errstate(over="ignore", under="ignore"):
            for f in self.fields:
                if f.may_be_rounded:
                    exact = self.arrays[f.name]
                    single: NDArray[np.float32] = exact.astype(np.float32)
                    lost = (single == 0) & (exact != 0)
                    single[lost] = np.copysign(np.finfo(np.float32).tiny, exact[lost])
                    rounded[f.name] = single
        if not all(np.isfinite(values).all() for values in rounded.values()):
            raise OverflowError("the model holds numbers above 3.4e38, which float32 cannot represent")
        for name, values in rounded.items():
            self.arrays[name][...] = values

    def as_float32(self) -> dict[str, NDArray[Any]]:
        """The arrays, in float32 where :meth:`round` rounded them and they have not changed since."""
        found: dict[str, NDArray[Any]] = dict(self.arrays)
        with np.errstate(over="ignore", under="ignore"):
            for f in self.fields:
                single = self.arrays[f.name].astype(np.float32) if f.may_be_rounded else None
                if single is not None and np.array_equal(single, self.arrays[f.name]):
                    found[f.name] = single
        return found

    def copy(self) -> State:
        return State(self.fields, self.n_outputs, self.sizes, self.arrays)

    def remember(self, touched: Mapping[str, NDArray[Any]]) -> Memory:
        """Keep what a batch may change, to restore it if the batch is rejected.

        ``touched`` names the entries along an axis that may change, some more than once, the constant in any case; all
        of those of other axes are kept.
        """
        return Memory(self, touched)

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {name: np.ascontiguousarray(a) for name, a in self.arrays.items()}
        return State, (self.fields, self.n_outputs, self.sizes, arrays)


class Memory:
    """A copy of what a batch may change of a state: O(values of the batch), however many weights there are.

    Settling changes all weights, so :meth:`widen` must come before it. Growth is undone, too.
    """

    def __init__(self, state: State, touched: Mapping[str, NDArray[Any]]) -> None:
        self._state = state
        self._sizes, self._buffers = dict(state.sizes), dict(state._buffers)
        self._all: dict[str, Array] = {}
        self._lock = Lock()
        self._kept: list[tuple[str, Any, Array]] = []
        few = {axis: at for axis, at in touched.items() if len(at) < self._sizes[axis]}  # else, all are copied as fast
        places: dict[str, Any] = {axis: at[at < self._sizes[axis]] for axis, at in few.items()}
        if "weight" in places:
            constant = self._sizes["weight"] - 1
            places["weight"] = np.append(places["weight"][places["weight"] < constant], constant)
        for f in state.fields:
            first = f.axes.partition(" ")[0]
            square = f.axes.count(first) > 1  # a covariance changes beyond the rows of a batch
            where = (slice(None), places[first]) if first in places and not square else ...
            self._kept.append((f.name, where, state.arrays[f.name][where].copy()))

    def widen(self) -> None:
        """Keep the whole state, for updates that change more than the columns of the batch. Thread-safe."""
        with self._lock:
            if not self._all:
                partly = {name for name, at, _ in self._kept if at is not ...}
                axes = {f.name: f.axes.partition(" ")[0] for f in self._state.fields if f.name in partly}
                self._all = {name: self._buffers[name][:, : self._sizes[axis]].copy() for name, axis in axes.items()}

    def put_back(self) -> None:
        state = self._state
        state.sizes, state._buffers = self._sizes, self._buffers
        state._open()
        for name, values in self._all.items():
            state.arrays[name][...] = values
        for name, where, values in self._kept:
            state.arrays[name][where] = values


def merge(
    start: State,
    states: Sequence[State],
    weights: Sequence[float],
    *,
    again: bool = False,
    settle: Settle | None = None,
    rebuild: Rebuild | None = None,
) -> State:
    """Reduce the states that several shards reached from one common ``start``.

    What the shards share at the start is counted once: sums and precisions add up *changes*, so the same function
    serves the first round and every later one. Terms are added in the order of their size, so the order of the shards
    leaves no trace.

    Parameters
    ----------
    start : State
        Where every shard began.
    states : sequence of State
        Where they arrived. One state alone is returned as it is.
    weights : sequence of float
        The share of each in averages, for example its number of rows.
    again : bool, default=False
        Whether the start has learned from these rows before. Then the shards report the same change several times,
        and would overshoot if it were added up: a mean that has a variance goes to where the shards took it, weighed by
        the precision that each gained, and sums that weights are made of change by the average.
    settle : callable, optional
        Gets all states, the start first, and brings them to a common form: folds scales, catches up clocks, aligns
        selections.
    rebuild : callable, optional
        Gets the merged state and recomputes what is derived from the rest, or prunes it. Both work in place, on copies.
    """
    if len(states) == 1:
        return states[0].copy()
    together = _of_one_size((start, *states))
    if settle is not None:
        settle(together)
    share = np.asarray(weights, dtype=float) / np.sum(np.sort(np.asarray(weights, dtype=float)))
    merged = together[0].copy()
    averages = again and not any(f.merge in ("mean", "weighted") for f in start.fields)
    for f in start.fields:
        rule = "mean" if f.merge == "sum" and averages and f.name not in _COUNTS else f.merge
        if rule != "derived":
            _merge_field(f, _RULES[rule], together, merged.arrays[f.name], share, again)
        if rule != f.merge and not f.axes:
            np.rint(merged.arrays[f.name], out=merged.arrays[f.name])  # a clock, which counts whole steps
    if {"lag", "coef"} <= merged.arrays.keys():
        _merge_late_mean(together, merged)
    if rebuild is not None:
        rebuild(merged)
    return merged


def _merge_late_mean(states: Sequence[State], merged: State) -> None:
    """Let what the start had lived through lag by the step that weights took in common, not by those of all shards.

    A lag gathers the mass so far times each change of a weight (core/late_mean.hpp). Lags add up, and the mass of the
    start with them, once for every shard.
    """
    before, *after = (s.arrays["coef"] for s in states)
    mass = states[0].arrays["mass"].reshape(-1, *[1] * (before.ndim - 1))
    lag = merged.arrays["lag"]
    lag += mass * ((merged.arrays["coef"] - before) - _total([w - before for w in after]))


def _of_one_size(states: Sequence[State]) -> list[State]:
    """Copies with room for the features, tasks and so on that only some of them met."""
    longest = {axis: max(s.sizes[axis] for s in states) for axis in states[0].sizes}
    copies = [s.copy() for s in states]
    for s in copies:
        s.grow(longest.get("weight", 0), **{axis: n for axis, n in longest.items() if axis != "weight"})
    return copies


def _merge_field(
    field: Field, rule: Callable[..., Array], states: Sequence[State], out: Array, share: Array, again: bool
) -> None:
    """Merge one array of the states; the first state is the start."""
    for part in _parts(states[0], field):
        first, *each = (_flat(field, s.arrays[field.name][part]) for s in states)
        prior, *spread = (_flat(field, s.arrays[field.by][part]) for s in states) if field.by else (first, *each)
        out[part] = rule(first, each, prior, spread, share, again).reshape(out[part].shape)


def _flat(field: Field, values: Array) -> Array:
    """One vector for each output of a field whose two axes differ: its entries are merged one by one."""
    return values.reshape(len(values), -1) if " " in field.axes and not field.is_square else values


def _parts(state: State, field: Field) -> Iterator[Any]:
    """Parts of an array that fit the cache and can be merged one by one."""
    shape = state.arrays[field.name].shape
    if len(shape) > 2 or (field.by and state.arrays[field.by].ndim > 2):
        yield ...
        return
    rows = max(1, _BLOCK // max(1, shape[1]))
    for k in range(0, shape[0], rows):
        for begin in range(0, shape[1], _BLOCK):
            yield slice(k, k + rows), slice(begin, begin + _BLOCK)


def added(first: Array, each: Sequence[Array]) -> Array:
    """The sum of what several reached from one start, which counts once; their order leaves no trace."""
    return first + _total([a - first for a in each])


def _sum(first: Array, each: Sequence[Array], *_: Any) -> Array:
    return added(first, each)


def _mean(first: Array, each: Sequence[Array], _prior: Any, _spread: Any, share: Array, _again: bool) -> Array:
    return first + _total([w * (a - first) for w, a in zip(share, each, strict=True)])


def _precision(first: Array, each: Sequence[Array], *_: Any) -> Array:
    return _invert(_joint_precision(first, each))


def _weighted(
    first: Array, each: Sequence[Array], prior: Array, spread: Sequence[Array], _share: Array, again: bool
) -> Array:
    if again and prior.ndim == 2:
        return first + by_gain(1.0 / prior, [1.0 / v for v in spread], [a - first for a in each])
    pulled = _apply(_invert(prior), first)
    changes = _total([_apply(_invert(v), a) - pulled for v, a in zip(spread, each, strict=True)])
    return _apply(_invert(_joint_precision(prior, spread)), pulled + changes)


_RULES = {"sum": _sum, "mean": _mean, "precision": _precision, "weighted": _weighted}


def _total(terms: Sequence[Array]) -> Array:
    """Their sum, with the same bits in any order."""
    side_by_side = np.stack(terms, axis=-1)
    side_by_side.sort(axis=-1)
    total: Array = side_by_side[..., 0].copy()
    for k in range(1, len(terms)):
        total += side_by_side[..., k]
    return total


def by_gain(prior: Array, precisions: Sequence[Array], moves: Sequence[Array]) -> Array:
    """The mean of moves, weighed by the precision that each has gained; 0 where none has."""
    gains = [np.maximum(precision - prior, 0.0) for precision in precisions]
    gained = _total(gains)
    moved = _total([gain * move for gain, move in zip(gains, moves, strict=True)])
    return np.divide(moved, gained, out=np.zeros_like(moved), where=gained > 0)


def _joint_precision(first: Array, each: Sequence[Array]) -> Array:
    prior = _invert(first)
    return prior + _total([_invert(a) - prior for a in each])


def _invert(spread: Array) -> Array:
    """The inverse of variances (n_outputs, n) or covariances (n_outputs, n, n)."""
    if spread.ndim == 2:
        return 1.0 / spread
    inverse: Array = np.linalg.inv(spread).astype(np.float64)
    return 0.5 * (inverse + np.swapaxes(inverse, 1, 2))


def _apply(spread: Array, vector: Array) -> Array:
    return spread * vector if spread.ndim == 2 else np.einsum("kij,kj->ki", spread, vector)
