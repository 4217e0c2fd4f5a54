"""A weighted sum of a few compared models, if it is better than the best of them; weights from out-of-fold
predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._ensembles import ModelSumClassifier, ModelSumRegressor
from .._estimators import clone
from ..streams import Stream
from ._candidate_model import of_learner
from ._compared_rows import make_scoring
from ._evaluation import Clock, TunedCandidate, fold_answers, gain_in_words
from ._plan import Plan

Array = NDArray[np.float64]

_LEAST_SHARE = 0.05  # of the sum; models below are left out
_CLEARLY = 1.0  # standard errors by which a sum must be better than one model
_DECISIONS = frozenset({"probability", "threshold", "cost"})  # parameters of one model that a sum cannot follow


def combine(
    best: TunedCandidate, others: list[TunedCandidate], plan: Plan, clock: Clock
) -> tuple[TunedCandidate, list[str]]:
    """The sum of the best model and some of the others if it is clearly better, else the best one; and why."""
    pool = [best, *(other for other in others if other.candidate.name != best.candidate.name)]
    if len(pool) == 1 or not may_be_a_sum(plan):
        return best, []
    if plan.options.one_model:
        return best, ["The answer is one model, as requested."]
    n_rows, n_all = plan.data.X.shape[0], plan.data.facts.n_rows
    if sum((each.answers is None) * each.seconds(n_rows) + each.seconds_to_finish(n_all) for each in pool) > clock.left:
        return best, []
    clock.tell(f"combining {len(pool)} models on {n_rows:,} rows")
    answers = np.stack([fold_answers(each, plan) for each in pool])
    if not np.isfinite(answers).all():
        return best, []
    judge = _Judge(plan)
    fold_scores = judge.fold_scores(answers)
    weights = judge.weights(answers)
    made = _sum_of(pool, weights, fold_scores, plan)
    gain, error = made.gain_over(best)
    shares = judge.shares(weights, answers)
    named = [
        f"{each.candidate.name} ({100 * share:.0f} %)" for each, share in zip(pool, shares, strict=True) if share > 0
    ]
    if len(named) == 1:
        return best, ["The answer is one model, because the others would have almost no weight in a sum."]
    measured = gain_in_words(" + ".join(named), best.name, gain, error)
    if gain > _CLEARLY * error:
        return made, [f"The answer is a sum of models, because {measured}; one_model=True asks for a single model."]
    return best, [f"The answer is one model, because a sum of several is not clearly better: {measured}."]


def may_be_a_sum(plan: Plan) -> bool:
    """Whether a sum of models is possible: rows are in memory, and no option requires a single model."""
    options = plan.options
    asked = options.method is not None or options.needs or options.sparsity or _DECISIONS & options.fixed.keys()
    return not asked and not isinstance(plan.data.rest, Stream)


def _sum_of(pool: list[TunedCandidate], weights: Array, fold_scores: Array, plan: Plan) -> TunedCandidate:
    """The sum as a result of the contest; in the name of its first model, of which it has the candidate."""
    parts = [(each, weight) for each, weight in zip(pool, weights.tolist(), strict=True) if weight > 0]
    models = [(each.candidate.name, _without_probabilities(each.model)) for each, _ in parts]
    factors = [weight for _, weight in parts]
    if plan.task == "regression":
        model: Any = ModelSumRegressor(models, factors)
    else:
        model = ModelSumClassifier(models, factors, class_weight=plan.class_weight, probability=plan.probability)
    first = pool[0]
    return replace(first, model=model, fold_scores=fold_scores, parts=tuple(each for each, _ in parts))


def _without_probabilities(model: Any) -> Any:
    """The model without probabilities of its own: those of the sum are read from the sum of scores."""
    named = of_learner(model, {"probability": "none"})
    return clone(model).set_params(**named) if named.keys() <= model.get_params().keys() else clone(model)


class _Judge:
    """The rows to score of all folds, and the scores of weighted sums of predictions on them."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._scoring = plan, make_scoring(plan)
        self._rows = np.concatenate([test for _, test in plan.folds])
        self._fold = np.concatenate([np.full(len(test), k) for k, (_, test) in enumerate(plan.folds)])
        self._y = np.asarray(plan.data.y)[self._rows]
        self._classes, self._codes = np.unique(self._y, return_inverse=True)
        if plan.weighs_classes:
            counts = np.bincount(self._codes)
            self._count = (1.0 / counts)[self._codes]
        else:
            self._count = np.ones(len(self._y))
        if plan.data.weight is not None:
            self._count = self._count * plan.data.weight[self._rows]

    def weights(self, answers: Array, some: Any = slice(None)) -> Array:
        """Return the weight of each model, found on some of the rows; models with small weights are left out."""
        weights, kept = np.zeros(len(answers)), np.arange(len(answers))
        while True:
            weights[:] = 0.0
            weights[kept] = self._solve(answers[kept][:, some], some)
            shares = self.shares(weights, answers)
            if (shares[kept] >= _LEAST_SHARE).all() or len(kept) == 1:
                return weights
            kept = kept[shares[kept] >= _LEAST_SHARE]

    def _solve(self, answers: Array, some: Any) -> Array:
        if self._plan.task == "regression":
            return value_weights(answers[:, :, 0], self._y[some].astype(np.float64), self._count[some])
        return score_weights(answers, self._codes[some], self._count[some])

    def shares(self, weights: Array, answers: Array) -> Array:
        """The share of each model in the sum, by the usual size of its scores; of values, by the weights alone."""
        sizes = np.ones(len(answers)) if self._plan.task == "regression" else np.sqrt(np.mean(answers**2, axis=(1, 2)))
        return np.asarray(weights * sizes / max(float(weights @ sizes), np.finfo(float).tiny))

    def fold_scores(self, answers: Array) -> Array:
        """The scores of the sum on the folds, each with weights that were found without the rows of the fold."""
        scores = []
        for k, (_, test) in enumerate(self._plan.folds):
            here = self._fold == k
            weights = self.weights(answers, ~np.isin(self._rows, test))
            sums = np.tensordot(weights, answers[:, here], axes=1)
            given = _Given(sums[:, 0] if sums.shape[1] == 1 else sums, self._classes, self._plan.task)
            scores.append(self._scoring(given, test, self._y[here]))
        return np.array(scores, dtype=np.float64)


@dataclass(frozen=True)
class _Given:
    """Predictions for some rows, to be scored like those of a model."""

    sums: Array
    classes_: NDArray[Any]
    task: str

    def decision_function(self, X: Any) -> Array:
        return self.sums

    def predict(self, X: Any) -> NDArray[Any]:
        if self.task == "regression":
            return self.sums
        winner = (self.sums > 0).astype(np.intp) if self.sums.ndim == 1 else self.sums.argmax(axis=1)
        return np.asarray(self.classes_[winner])


def value_weights(values: Array, y: Array, count: Array) -> Array:
    """Weights of at least 0 that add up to 1, for which the sum of the models' values has the least squared error.

        argmin_w  sum_i v_i (sum_k w_k (f_k(x_i) - y_i))^2    over  w >= 0, sum_k w_k = 1

    The error of t w is t^2 that of w. So the non-negative least squares of the residuals and one more row, which asks
    for a sum of 1, have the direction of the solution, whatever the row weighs.
    """
    from scipy.optimize import nnls

    residuals = ((values - y) * np.sqrt(count / count.sum())).T
    unit = max(float(np.linalg.norm(residuals, axis=0).min()), np.finfo(float).tiny)
    rows = np.vstack([residuals / unit, np.ones(len(values))])
    found, _ = nnls(rows, np.append(np.zeros(len(y)), 1.0))
    return np.asarray(found / found.sum())


def score_weights(scores: Array, codes: NDArray[np.intp], count: Array) -> Array:
    """Weights of at least 0 for which the sum of the models' scores has the least logistic loss.

        argmin_{w >= 0}  sum_i v_i (log sum_c exp(s_ic) - s_i,y_i),    s = sum_k w_k s_k

    `scores` has the shape (n_models, n_rows, n_outputs); with two classes the one output is the score of the second,
    and that of the first is 0.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    if scores.shape[2] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
    unit = np.maximum(np.sqrt(np.mean(scores**2, axis=(1, 2))), np.finfo(float).tiny)
    scores, share = scores / unit[:, None, None], count / count.sum()
    own = scores[:, np.arange(len(codes)), codes]

    def loss(w: Array) -> tuple[float, Array]:
        sums = np.tensordot(w, scores, axes=1)
        norm = logsumexp(sums, axis=1)
        chances = np.exp(sums - norm[:, None]) * share[:, None]
        return float(share @ (norm - w @ own)), np.tensordot(scores, chances, axes=2) - own @ share

    begin = np.full(len(scores), 1 / len(scores))
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(scores))
    return np.asarray(found.x / unit)
