"""Tasks and rounds of rows: labels read as codes, and orders in which every round holds one row of each task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._gate import Array
from ._target import Coupling, Target

Codes = NDArray[np.int64]
Labels = np.ndarray[Any, Any]

ALONE, UNNAMED = -2.0, -1.0  # as in core/matrix_pass.hpp: a row that is a round; rows whose round has no id
_LARGEST = 2**53  # whole numbers up to here are exact in the state


class TaskTarget(NamedTuple):
    """Targets of a batch, with the task and the round of each row."""

    y: Array
    classes: Labels | None
    tasks: Labels
    """All tasks known with this batch, in the order of their appearance."""
    codes: Codes | None
    rounds: Array
    present: NDArray[np.bool_]

    @property
    def n_outputs(self) -> int:
        return len(self.tasks)

    def take(self, part: Codes) -> TaskTarget:
        """The targets of some of the rows."""
        codes = None if self.codes is None else self.codes[part]
        return self._replace(y=self.y[part], codes=codes, rounds=self.rounds[part], present=self.present[part])

    def of_rows(self) -> Codes:
        """The task of every row."""
        return np.zeros(len(self.y), dtype=np.int64) if self.codes is None else self.codes

    def groups(self) -> Array:
        return Target(self.y, self.classes).groups()

    def coupled(self) -> Coupling:
        """Targets, tasks and rounds as the core takes them."""
        signs = self.y if self.classes is None else 2 * self.y - 1
        return Coupling(signs, self.n_outputs, self.codes, self.rounds)


def read_tasks(tasks: Any, known: Labels, present: NDArray[np.bool_], who: str) -> tuple[Labels, Codes | None]:
    """All tasks so far and the code of every row. A row that is not ``present`` makes no task known."""
    if tasks is None:
        if known.tolist() not in ([], [0]):
            raise ValueError(
                f"{who}: tasks must be given, one per row, because the model was trained on {len(known)} tasks."
            )
        return np.zeros(1, dtype=np.int64), None
    labels = _readable(tasks, len(present), who)
    if not (len(known) or present.any()):
        present = np.ones(len(present), dtype=bool)  # a batch of absent rows still shows which tasks there are
    if len(known) and known.dtype.kind != labels.dtype.kind:
        raise ValueError(f"{who}: tasks must be {_kind(known)} as before, got {labels.dtype}.")
    distinct, place = np.unique(labels, return_inverse=True)
    seen = np.full(len(distinct), len(labels))
    np.minimum.at(seen, place[present], np.flatnonzero(present))
    code_of = {label: code for code, label in enumerate(known.tolist())}
    fresh = [k for k in np.argsort(seen, kind="stable") if seen[k] < len(labels) and distinct[k].item() not in code_of]
    for k in fresh:
        code_of[distinct[k].item()] = len(code_of)
    together = np.concatenate([known, distinct[fresh]]) if len(known) else distinct[fresh]
    codes = np.array([code_of.get(label, 0) for label in distinct.tolist()], dtype=np.int64)
    return together, codes[place]


def encode_tasks(tasks: Any, known: Labels, n_rows: int, who: str) -> Codes | None:
    """The code of every row, for a model that learns nothing new from it. The only task need not be named."""
    if tasks is None and len(known) == 1:
        return None
    together, codes = read_tasks(tasks, known, np.ones(n_rows, dtype=bool), who)
    if len(together) > len(known):
        raise ValueError(f"{who}: tasks must be among those of training, got {together[len(known)].item()!r}.")
    return codes


def _readable(tasks: Any, n_rows: int, who: str) -> Labels:
    labels = np.asarray(tasks)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"{who}: tasks must be one label per row, got an array of shape {labels.shape}.")
    _gate.check_length(labels, n_rows, "tasks", who)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    if labels.dtype.kind == "f" and np.all(np.floor(labels) == labels) and np.all(np.abs(labels) < _LARGEST):
        labels = labels.astype(np.int64)
    if labels.dtype.kind == "b" or (labels.dtype.kind in "iu" and labels.dtype.itemsize <= 8):
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iU":
        raise ValueError(f"{who}: tasks must be whole numbers or text, got {labels.dtype}.")
    return labels


def _kind(labels: Labels) -> str:
    return "text" if labels.dtype.kind == "U" else "whole numbers"


def read_rounds(round_ids: Any, n_rows: int, has_tasks: bool, who: str) -> Array:
    """The id of each row's round, in the core's form."""
    if round_ids is None:
        return np.full(n_rows, UNNAMED if has_tasks else ALONE)
    ids = np.asarray(round_ids)
    whole = ids.dtype.kind in "iu" or (ids.dtype.kind == "f" and bool(np.all(np.floor(ids) == ids)))
    if ids.ndim != 1 or not whole or ids.min(initial=0) < 0 or ids.max(initial=0) > _LARGEST:
        raise ValueError(f"{who}: round_ids must be whole numbers of at least 0, one per row, got {round_ids!r:.60}.")
    _gate.check_length(ids, n_rows, "round_ids", who)
    return ids.astype(np.float64)


def check_rounds(target: TaskTarget, open_id: float, in_open: NDArray[np.bool_], who: str) -> None:
    """Refuse a task that comes twice in a round with an id. ``in_open`` tells the tasks of the open round."""
    at = np.flatnonzero(target.present)
    if not len(at):
        return
    ids, tasks = target.rounds[at], target.of_rows()[at]
    run = np.cumsum(np.append(ids[0] != open_id, ids[1:] != ids[:-1]))
    pairs = run * target.n_outputs + tasks
    order = np.argsort(pairs, kind="stable")
    again = order[1:][pairs[order][1:] == pairs[order][:-1]]
    goes_on = np.flatnonzero((run == 0) & np.isin(tasks, np.flatnonzero(in_open)))
    if len(again) or len(goes_on):
        first = int(np.concatenate([again, goes_on]).min())
        raise ValueError(
            f"{who}: round_ids must name a task once in a round, got task {target.tasks[tasks[first]].item()!r} again "
            f"in row {at[first]}."
        )


def round_orders(
    target: TaskTarget, n_passes: int, n_rounds: int | None, rng: np.random.Generator | None
) -> Iterator[Iterator[Codes]]:
    """Passes over rounds, until ``n_passes`` passes or ``n_rounds`` rounds are made.

    Rounds with ids keep their rows and come in random order. Otherwise every task's rows are shuffled and dealt out,
    one to each round; a task that has no more is absent. The largest task comes first in every round, so that its next
    row opens the next one. Without a generator the rounds are those of the rows as they stand.
    """
    left = n_rounds
    while n_passes > 0 if left is None else left > 0:
        order, begins = _rounds_as_they_stand(target) if rng is None else _shuffled_rounds(target, rng)
        if left is not None:
            order = order[: begins[left]] if left < len(begins) else order
            left -= len(begins)
        else:
            n_passes -= 1
            order = np.append(order, np.flatnonzero(~target.present))  # nothing is learned from these, but all are seen
        yield iter([order])


def _shuffled_rounds(target: TaskTarget, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """An order of the rows, and where its rounds begin."""
    rows = np.flatnonzero(target.present)
    if target.rounds[0] >= 0:
        return _permuted_runs(rows, target.rounds[rows], rng)
    return _dealt_out(rows[rng.permutation(len(rows))], target.of_rows())


def _permuted_runs(rows: Codes, ids: Array, rng: np.random.Generator) -> tuple[Codes, Codes]:
    runs = np.split(rows, np.flatnonzero(ids[1:] != ids[:-1]) + 1)
    chosen = [runs[k] for k in rng.permutation(len(runs))]
    return np.concatenate(chosen), np.append(0, np.cumsum([len(run) for run in chosen])[:-1])


def _dealt_out(shuffled: Codes, tasks: Codes) -> tuple[Codes, Codes]:
    by_task = shuffled[np.argsort(tasks[shuffled], kind="stable")]
    counts = np.bincount(tasks[by_task])
    turn = np.arange(len(by_task)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.argsort(np.argsort(-counts, kind="stable"))  # the largest task has place 0
    order = np.lexsort((place[tasks[by_task]], turn))
    return by_task[order], np.flatnonzero(np.diff(turn[order], prepend=-1))


def _rounds_as_they_stand(target: TaskTarget) -> tuple[Codes, Codes]:
    rows, tasks = np.flatnonzero(target.present), target.of_rows()
    begins: list[int] = []
    held: set[int] = set()
    last = None
    for place, i in enumerate(rows.tolist()):
        if not begins or target.rounds[i] != last or int(tasks[i]) in held:
            begins.append(place)
            held.clear()
        held.add(int(tasks[i]))
        last = target.rounds[i]
    return rows, np.array(begins, dtype=np.int64)
