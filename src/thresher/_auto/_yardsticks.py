"""Reference models of other kinds on the same folds, which show how good the result is and are never returned."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import clone
from .._gate import carrying, sparse
from ..preprocessing import prepared
from ._candidate_model import encoded
from ._compared_rows import make_scoring
from ._evaluation import Clock, TunedCandidate, quietly
from ._plan import Plan

_MOST_COLUMNS = 500  # of sparse rows, which boosted trees need as an array
_FEW_ROWS = 500  # on which the time of the whole is foreseen
_BOOSTED = "gradient-boosted trees"
_CLEARLY = 2.0  # standard errors by which a yardstick must be better to be named first


def measure_yardsticks(best: TunedCandidate, plan: Plan, clock: Clock) -> list[dict[str, Any]]:
    """The name and the score of every yardstick for which there is time, and how much better it is than the model."""
    if (
        plan.task == "clustering"
        or not plan.folds
        or plan.options.needs - {"groups", "unlabelled"}
        or plan.options.sparsity
    ):
        return []
    plan = encoded(plan) if plan.data.is_text else plan
    found = []
    for name, learner in _learners(plan).items():
        clock.tell(f"measuring {name}, for comparison")
        scores = _fold_scores(learner, plan, clock)
        if len(scores):
            found.append({"name": name, "score": float(np.mean(scores)), **_difference(scores, best)})
    return found


def _difference(scores: NDArray[np.float64], best: TunedCandidate) -> dict[str, Any]:
    """The gain over the model on the same folds, its standard error, and whether it is clearly more than 0."""
    difference = scores - best.fold_scores
    error = float(np.std(difference, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
    gain = float(np.mean(difference))
    return {"gain": gain, "standard_error": error, "is_better": gain > _CLEARLY * error}


def _learners(plan: Plan) -> dict[str, Any]:
    from sklearn import dummy, ensemble, linear_model

    data, seed = plan.data, plan.options.random_state
    weights = plan.class_weight
    labelled = " of the labelled rows" if plan.options.unlabelled_label is not None else ""
    trees: Any
    if plan.task == "regression":
        learners: dict[str, Any] = {"the mean": dummy.DummyRegressor(), "ridge regression": linear_model.Ridge()}
        trees = ensemble.HistGradientBoostingRegressor(random_state=seed)
    else:
        logistic: Any = linear_model.LogisticRegression(max_iter=300, class_weight=weights)
        if data.is_sparse:  # the same loss by steps, which take seconds also for many classes and words
            logistic = linear_model.SGDClassifier(loss="log_loss", alpha=1e-5, class_weight=weights, random_state=seed)
        constant, guess = "the most frequent class", dummy.DummyClassifier()
        if plan.costs:
            answer = max(plan.costs, key=lambda label: plan.costs[label] * data.classes[str(label)])
            constant, guess = f"always {answer!r}", dummy.DummyClassifier(strategy="constant", constant=answer)
        learners = {constant: guess, f"logistic regression{labelled}": logistic}
        trees = ensemble.HistGradientBoostingClassifier(class_weight=weights, random_state=seed)
    if not data.is_sparse or data.X.shape[1] <= _MOST_COLUMNS:
        learners[f"{_BOOSTED}{labelled}"] = trees
    return learners


def _fold_scores(learner: Any, plan: Plan, clock: Clock) -> NDArray[np.float64]:
    """Scores on the folds; none where there is no time for them, or the learner cannot learn from the rows."""
    if clock.left <= 0:
        return np.empty(0)
    folds, scoring, scores = plan.folds, make_scoring(plan), []
    y = np.asarray(plan.data.y)
    try:
        with quietly(), _one_thread():
            if np.isfinite(clock.left) and _seconds(learner, plan) * len(folds) > clock.left / 2:
                return np.empty(0)
            for train, test in folds:
                fitted, steps = _fit(learner, plan, train)
                scores.append(scoring(fitted, _transformed(steps, learner, plan.data.X[test]), y[test]))
    except (ValueError, FloatingPointError, MemoryError):
        return np.empty(0)
    return np.array(scores)


def _one_thread() -> Any:
    """Limit threads to those of the compared models: on a busy machine, more would wait for one another."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _seconds(learner: Any, plan: Plan) -> float:
    """The time of one fold, by the time that a part of its rows takes."""
    begin, train = time.monotonic(), plan.folds[0][0]
    part = train[:: max(1, len(train) // _FEW_ROWS)]
    _fit(learner, plan, part)
    return (time.monotonic() - begin) * len(train) / len(part)


def _fit(learner: Any, plan: Plan, rows: NDArray[np.intp]) -> tuple[Any, list[Any]]:
    """The learner and the steps before it, fitted to those of the rows that have a label."""
    data, options = plan.data, plan.options
    y = np.asarray(data.y)
    if options.unlabelled_label is not None:
        rows = rows[~carrying(y[rows], data.no_class)]
    model = prepared(clone(learner), data.X, scale=options.scale, categories=options.categories)
    steps = [step for _, step in getattr(model, "steps", ())[:-1]]
    X = data.X[rows]
    for step in steps:
        X = step.fit(X).transform(X)
    return clone(learner).fit(_readable(X, learner), y[rows]), steps


def _transformed(steps: list[Any], learner: Any, X: Any) -> Any:
    for step in steps:
        X = step.transform(X)
    return _readable(X, learner)


def _readable(X: Any, learner: Any) -> Any:
    """Sparse rows as scikit-learn takes them: with short indices, and as an array for trees."""
    if not sparse.issparse(X):
        return X
    if type(learner).__name__.startswith("HistGradientBoosting"):
        return X.toarray()
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def describe_better(yardsticks: list[dict[str, Any]], plan: Plan) -> list[str]:
    """A sentence on each yardstick that is better than the model by more than two standard errors."""
    return [
        f"{each['name'].capitalize()} would do clearly better: {plan.score_text(each['score'])} on the same rows"
        + (", but they do not explain their predictions." if each["name"].startswith(_BOOSTED) else ".")
        for each in yardsticks
        if each["is_better"]
    ]


def describe_yardsticks(yardsticks: list[dict[str, Any]], plan: Plan) -> list[str]:
    """A sentence with the scores of all yardsticks."""
    scores = [(each["name"], each["score"]) for each in yardsticks]
    return [plan.scores_text("For comparison only", scores)] if scores else []
