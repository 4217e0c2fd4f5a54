"""Few labels: variants of methods to compare, and when to prefer a model that learns from unlabelled rows.

Cross-validation on ten labels is unreliable. Therefore a linear model of the labelled rows alone is part of every
comparison. It is the result unless another model is clearly better, or is no worse and neighbouring rows tend to share
a label.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import registry
from .._estimators import Variant
from .._gate import carrying, sparse
from ..registry import Method
from ._candidate_model import build
from ._choice import make_candidate
from ._evaluation import TunedCandidate, gain_in_words
from ._plan import Candidate, Plan

_FEW_LABELS = 500  # labels up to which parameters follow from the data
_COST = 10.0  # of a mistake on a labelled row, where rows have a variance of 1
_CLEARLY = 1.28  # standard errors: by chance in one of ten cases
_WELL = 0.5  # of what labels in another order lose at the edges of a graph, above which they follow neighbours
_SOME_ROWS, _NEIGHBORS, _SPREAD, _ORDERS = 1_000, 10, 0.99, 20


def has_few_labels(plan: Plan) -> bool:
    """Whether labels are so few that parameters which follow from the data are better than what they would choose."""
    return plan.options.unlabelled_label is not None and plan.problem.n_labelled <= _FEW_LABELS


# --- what is compared -------------------------------------------------------------------------------------------------


def with_variants(candidates: list[Candidate], plan: Plan) -> list[Candidate]:
    """The candidates with other forms of their methods behind them, the one of the labelled rows alone in second place:
    that of any method, whether it is a candidate or not."""
    methods = [candidate.method for candidate in candidates]
    able = registry.methods(plan.task, plan.problem.needs)
    alone = [_variant(method, form, plan) for method in able for form in method.advice.variants if form.labelled_only]
    others = [_variant(method, form, plan) for method in methods for form in method.advice.variants]
    first, *rest = candidates
    return [first, *_some(alone)[:1], *rest, *(form for form in _some(others) if not form.labelled_only)]


def _some(variants: list[Candidate | None]) -> list[Candidate]:
    return [variant for variant in variants if variant is not None]


def _variant(method: Method, form: Variant, plan: Plan) -> Candidate | None:
    """The method in another form, unless that does not suit the data or what the user has settled."""
    fixed, kernel = plan.options.fixed.keys(), plan.options.kernel
    if not form.when(plan.problem) or form.params.keys() & fixed or not fixed <= method.defaults.keys():
        return None
    made = make_candidate(method, plan)
    params = {**made.params, **form.params} | ({} if kernel is None else {"kernel": kernel})
    made = replace(made, params=params, fixed=tuple(form.params), note=form.note, labelled_only=form.labelled_only)
    if not form.labelled_only or "alpha" in fixed:
        return made
    variance = _variance(_prepared(made, plan, _sample(plan))) if params["kernel"] == "linear" else 1.0
    alpha = float(f"{variance / (2 * _COST):.3g}")
    return replace(made, params=params | {"alpha": alpha}, fixed=(*made.fixed, "alpha"))


def _sample(plan: Plan) -> NDArray[np.intp]:
    """Some of the rows in order, those with a label first among them."""
    unlabelled = carrying(np.asarray(plan.data.y), plan.data.no_class)
    order = np.random.default_rng(plan.options.random_state).permutation(len(unlabelled))
    return np.sort(order[np.argsort(unlabelled[order], kind="stable")][:_SOME_ROWS])


def _prepared(candidate: Candidate, plan: Plan, rows: NDArray[np.intp]) -> Any:
    """Some rows as the learner of a candidate gets them."""
    X = plan.data.X[rows]
    for _, step in getattr(build(candidate, plan), "steps", ())[:-1]:
        X = step.fit(X).transform(X)
    return X


def _variance(X: Any) -> float:
    """The mean squared distance of rows from their mean; 1 if they do not differ."""
    squares = X.multiply(X).sum() if sparse.issparse(X) else np.einsum("ij,ij", X, X)
    total = float(squares) / X.shape[0] - float(np.sum(np.asarray(X.mean(axis=0)) ** 2))
    return total if total > 0 else 1.0


# --- which of them is the answer --------------------------------------------------------------------------------------


def choose(results: list[TunedCandidate], plan: Plan) -> tuple[TunedCandidate, list[str]]:
    """The model of the labelled rows alone or the best of the others, and why."""
    best = max(results, key=lambda result: result.score)
    alone = next((result for result in results if result.candidate.labelled_only), None)
    others = [result for result in results if not result.candidate.labelled_only]
    if alone is None or not others:
        return best, [f"Method: {best.candidate.name}, the best of them."] if len(results) > 1 else []
    other = max(others, key=lambda result: result.score)
    gain, error = _gain(other, alone, plan)
    follow = _spreads(other.candidate) and _follow_neighbors(other.candidate, plan)
    measured = gain_in_words(other.candidate.name, alone.candidate.name, gain, error)
    if gain >= (0.0 if follow else _CLEARLY * error):
        why = "neighbouring rows tend to share a label, and " if follow else ""
        return other, [f"Unlabelled rows are used, because {why}{measured}."]
    why = "" if follow else "clearly "
    return alone, [
        f"Only labelled rows are used, because unlabelled rows do not make the model {why}better: {measured}."
    ]


def _spreads(candidate: Candidate) -> bool:
    """Whether a candidate compares rows by their neighbours, as methods do unless they are told a kernel or a width."""
    return not {"kernel", "gamma"} & candidate.params.keys()


def _follow_neighbors(candidate: Candidate, plan: Plan) -> bool:
    rows = _sample(plan)
    return follows_neighbors(_prepared(candidate, plan, rows), _codes(plan)[rows]) > _WELL


def _gain(other: TunedCandidate, alone: TunedCandidate, plan: Plan) -> tuple[float, float]:
    """The gain of a model over another, and its standard error: by the labelled rows on which they differ and one more,
    so that a few rows do not decide by chance; by folds where the criterion does not count mistakes."""
    if plan.criterion not in ("error", "balanced_error") or alone.mistakes is None or other.mistakes is None:
        return other.gain_over(alone)
    measured = np.flatnonzero(np.isfinite(alone.mistakes))
    codes = _codes(plan)[measured]
    shares = np.ones(len(codes)) / len(codes)
    if plan.criterion == "balanced_error":
        counts = np.bincount(codes)
        shares = 1.0 / (np.count_nonzero(counts) * counts[codes])
    difference = shares * (alone.mistakes[measured] - other.mistakes[measured])
    return float(difference.sum()), float(np.sqrt(np.sum(difference**2) + shares.max() ** 2))


def _codes(plan: Plan) -> NDArray[np.intp]:
    """The classes of rows as numbers, -1 for those without a label."""
    y = np.asarray(plan.data.y)
    unlabelled = carrying(y, plan.data.no_class)
    codes = np.full(len(y), -1, dtype=np.intp)
    codes[~unlabelled] = np.unique(y[~unlabelled], return_inverse=True)[1]
    return codes


def follows_neighbors(X: Any, codes: NDArray[np.intp], seed: int = 0) -> float:
    r"""Return how much better labels spread along a graph of neighbours than the same labels in random order.

    Labels spread by :math:`(I - 0.99\, D^{-1/2} W D^{-1/2})^{-1}`, with W the neighbours of each row. With the share
    of edges between rows of one class, corrected for chance (Cohen's kappa), 1 means that no edge is cut, and 0 that as
    many are as by labels in another order.
    """
    from sklearn.neighbors import kneighbors_graph

    n_rows, labelled = X.shape[0], np.flatnonzero(codes >= 0)
    W = kneighbors_graph(X, min(_NEIGHBORS, n_rows - 1))
    W = W.maximum(W.T)
    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    spread = np.linalg.inv(np.eye(n_rows) - _SPREAD * W.toarray() / np.outer(root, root))[:, labelled]
    given, (here, there) = codes[labelled], W.nonzero()
    counts = np.bincount(given)

    def kappa(given: NDArray[np.intp]) -> float:
        found = np.argmax(spread @ (np.eye(len(counts))[given] / np.maximum(counts, 1)), axis=1)
        chance = float(np.sum((np.bincount(found) / n_rows) ** 2))
        return (float(np.mean(found[here] == found[there])) - chance) / (1 - chance) if chance < 1 else 0.0

    rng = np.random.default_rng(seed)
    by_chance = float(np.mean([kappa(rng.permutation(given)) for _ in range(_ORDERS)]))
    return (kappa(given) - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
