"""Steps of sparse K-means over rows on other machines, by queries to them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .. import _engine, _gate
from .._dataclasses import dataclass
from .._engine import Round, ShardFacts, Sums, add
from .._gate import check_params
from .._kernels import Array, unit_rows
from ._lloyd import dense, fill_sizes, sum_rows
from ._sums import ClusterSums, check_number, refuse_few, warn_of_empty
from ._sweep import Data, Objective, Swept

_CANDIDATES = ("gains", "labels", "rows", "row_weights")


@dataclass(frozen=True)
class Sweep:
    """Asks for :class:`ClusterSums` at these centres."""

    centres: Array
    objective: Objective

    def answer(self, X: Any, y: Any, weight: Array | None) -> Sums:
        data, swept = self._swept(X, weight)
        cost, n_rows = np.array(swept.value), np.array(float(data.n_rows))
        return {"sums": swept.sums, "weights": swept.weights, "cost": cost, "n_rows": n_rows}

    def _swept(self, X: Any, weight: Array | None) -> tuple[Data, Swept]:
        matrix, weight = present(X, weight, self.centres.shape[1], cosine=self.objective.cosine)
        data = Data.of(matrix, self.centres, weight, cosine=self.objective.cosine)
        return data, self.objective.sweep(data, self.centres)


@dataclass(frozen=True)
class Fill(Sweep):
    """Asks for rows that gain most by a centre of their own, as many as there are clusters, and for the sums of the
    others: so that rows change their cluster without being subtracted from anything.

    No more are needed: a row is passed over only where it is the last of its cluster, which then keeps it.
    """

    penalised: Objective
    """The cost of a centre of its own for a row."""

    def answer(self, X: Any, y: Any, weight: Array | None) -> Sums:
        data, swept = self._swept(X, weight)
        n_clusters, weights = len(self.centres), np.ones(data.n_rows) if data.weight is None else data.weight
        gains = (self.objective.assign(data, self.centres)[1] - self.penalised.alone(data)) * weights
        best = np.argsort(-gains, kind="stable")[:n_clusters]
        best = best[gains[best] > 0]
        rows = dense(data.matrix[best]) * weights[best, None]
        others = weights.copy()
        others[best] = 0.0
        sums, sum_weights = sum_rows(replace(data, weight=others), swept.labels, n_clusters)
        sizes = np.bincount(swept.labels, minlength=n_clusters).astype(np.float64)
        found = {"gains": gains[best], "labels": swept.labels[best] * 1.0, "rows": rows, "row_weights": weights[best]}
        missing = n_clusters - len(best)  # made up by rows that gain nothing and weigh nothing
        padded = {name: np.pad(a, ((0, missing), (0, 0))[: a.ndim]) for name, a in found.items()}
        return {"sums": sums, "weights": sum_weights, "sizes": sizes, **padded}

    def add(self, total: Sums | None, more: Sums) -> Sums:
        """The best of both, the earlier of equals; rows that are no longer among them join their cluster's sum."""
        if total is None:
            return more
        both = {name: np.concatenate([total[name], more[name]]) for name in _CANDIDATES}
        summed = add(*({name: a for name, a in each.items() if name not in _CANDIDATES} for each in (total, more)))
        order = np.argsort(-both["gains"], kind="stable")
        kept, left = order[: len(self.centres)], order[len(self.centres) :]
        _join(summed, both["labels"][left], both["rows"][left], both["row_weights"][left])
        return {**summed, **{name: a[kept] for name, a in both.items()}}


def filled(found: Sums) -> tuple[Array, Array] | None:
    """Sums and weights of clusters when those without rows are given some; None when no row gains by that."""
    before = found["labels"].astype(np.int32)
    labels = fill_sizes(before, found["gains"], found["sizes"])
    if np.array_equal(labels, before):
        return None
    summed = {name: found[name].copy() for name in ("sums", "weights")}
    _join(summed, labels, found["rows"], found["row_weights"])
    return summed["sums"], summed["weights"]


def _join(summed: Sums, labels: Any, rows: Array, weights: Array) -> None:
    places = labels.astype(np.intp)
    np.add.at(summed["sums"], places, rows)
    np.add.at(summed["weights"], places, weights)


def present(X: Any, weight: Any, width: int, *, cosine: bool) -> tuple[Any, Array | None]:
    """Rows of weight above 0 through the gate, as wide as the model, and their weights."""
    if X.shape[0] == 0:  # which the gate refuses
        return np.empty((0, width)), None
    matrix = _gate.as_matrix(_gate.widened(X, width), "SparseKMeans")
    if matrix.shape[1] != width:
        raise ValueError(f"X has {matrix.shape[1]} features, but SparseKMeans is expecting {width} features as input.")
    weight = _gate.check_weights(weight, matrix.shape[0], "SparseKMeans")
    if weight is not None and not (weight > 0).all():
        matrix, weight = matrix[weight > 0], weight[weight > 0]
    return unit_rows(matrix) if cosine and matrix.shape[0] else matrix, weight


class StepsInRounds:
    """Mixin by which :class:`SparseKMeans` learns in sums: a round is a step of ``fit`` over all rows."""

    _prefers_sums: ClassVar[bool] = True

    def _n_rounds(self: Any) -> int:
        return self.max_iter

    def _begin(self: Any, facts: ShardFacts) -> None:
        """Take the starts, and learn from no row: what passes over shards have in common."""
        check_params(self, self._param_rules)
        centres = _start(self, facts)
        _gate.commit_features(self, _like(facts), centres.shape[1])
        self._commit(centres, ClusterSums(np.zeros_like(centres), np.zeros(len(centres)), 0.0, 0), 0)
        self._grown = True

    def _forget_rows(self: Any) -> None:
        """Rounds over other rows than before begin at the centres, and not at what they come from."""
        self.objective_history_ = np.empty(0)

    def _round(self: Any, facts: ShardFacts) -> Round:
        check_params(self, self._param_rules)
        if self.solver != "exact":
            raise ValueError(f"SparseKMeans: solver must be 'exact' to learn in rounds, got {self.solver!r}.")
        return _step(self, facts)


def _step(model: Any, facts: ShardFacts) -> Round:
    objective: Objective = model._objective()
    history = getattr(model, "objective_history_", np.empty(0))
    if len(history):
        centres, known = _where_it_stands(model, facts)
        sweep = Sweep(centres, objective)
    else:
        sweep = Sweep(_start(model, facts), replace(objective, alpha=0.0))
        known = as_sums((yield sweep))
        check_number(known, model.n_clusters)
    sums, weights = known.sums, known.weights
    if not (weights > 0).all():
        sums, weights = filled((yield Fill(sweep.centres, sweep.objective, objective))) or (sums, weights)
    moved = objective.best_centres(sums, weights)
    reached = as_sums((yield Sweep(moved, objective)))
    before = history[-1] if len(history) else np.inf
    if reached.cost >= before:  # nothing is left to gain but rounding errors
        return _ended(model)
    settled = len(history) > 0 and _is_same(reached, known)
    _commit(model, moved, reached, np.append(history, reached.cost), _like(facts))
    gained_little = before - reached.cost <= model.tol * reached.cost
    if settled or (gained_little and (reached.weights > 0).all()):  # a next step fills empty ones
        return _ended(model)
    return False


def as_sums(found: Sums) -> ClusterSums:
    return ClusterSums(found["sums"], found["weights"], float(found["cost"]), int(found["n_rows"]))


def _start(model: Any, facts: ShardFacts) -> Array:
    """Centres to begin with: those that the model has from a stream, those given, or rows of the sample."""
    if hasattr(model, "cluster_centers_"):
        return _where_it_stands(model, facts)[0]
    if not isinstance(model.init, str):
        return model._start(np.empty((0, facts.n_features)), None, None)
    if facts.sample is None:
        raise ValueError(f"SparseKMeans: init must be an array where there is no sample of rows, got {model.init!r}.")
    rows, _ = present(facts.sample[0], None, facts.n_features, cosine=model.metric == "cosine")
    refuse_few("SparseKMeans", model.n_clusters, rows.shape[0], "rows that starts are drawn from")
    seeded = deepcopy(model.random_state) if model.random_state is not None else 0  # a driver that begins again
    return model._start(rows, None, _engine.generator(seeded))


def _where_it_stands(model: Any, facts: ShardFacts) -> tuple[Array, ClusterSums]:
    """Centres and what they come from, as wide as rows are by now."""
    model._check_same()
    new = ((0, 0), (0, max(0, facts.n_features - model.n_features_in_)))
    return np.pad(model._centres, new), model._summed(new)


def _is_same(a: ClusterSums, b: ClusterSums) -> bool:
    """Whether no row has changed its cluster: sums are made of the same rows in the same order."""
    return np.array_equal(a.weights, b.weights) and np.array_equal(a.sums, b.sums)


def _like(facts: ShardFacts) -> Any:
    """Rows that tell the names of features, if they have any."""
    return None if facts.sample is None else facts.sample[0]


def _commit(model: Any, centres: Array, reached: ClusterSums, history: Array, like: Any) -> None:
    if centres.shape[1] != getattr(model, "n_features_in_", None):
        _gate.commit_features(model, like, centres.shape[1])
    model._commit(centres, reached, len(history))
    model.objective_history_ = history
    model._grown = True  # sparse rows of different widths are what shards hold
    model.__dict__.pop("labels_", None)


def _ended(model: Any) -> bool:
    warn_of_empty(int(np.count_nonzero(model.cluster_weights_)), model.n_clusters, model.alpha)
    return True
