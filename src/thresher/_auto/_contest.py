"""A budget of evaluations over several candidates: half of it to compare them, the rest for the best one.

All of them are measured on the same folds of the rows by the same score.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import clone
from .._gate import Choice, Range, carrying
from ..preprocessing import split_tasks
from ._candidate_model import KERNEL_FEATURES, build, is_worth_a_kernel, of_learner, space_of, with_kernel
from ._plan import Candidate, Folds, Plan, has_kernel
from ._task import has_stand_ins, stand_ins

_EQUAL = 1e-9  # scores that differ by no more are the same
_MOST_CLUSTERS = 10
_LEAST = 6  # evaluations without which a comparison says nothing


@dataclass(frozen=True)
class TunedCandidate:
    """The best result of a search for a candidate."""

    candidate: Candidate
    model: Any  # with the best parameters, not fitted
    params: dict[str, Any]  # those that were tuned
    fold_scores: NDArray[np.float64]  # greater is better
    history: list[dict[str, Any]]

    @property
    def score(self) -> float:
        return float(np.mean(self.fold_scores))


# --- one candidate ----------------------------------------------------------------------------------------------------


def tune(
    candidate: Candidate,
    plan: Plan,
    n_evaluations: int,
    max_seconds: float | None,
    start: Any = None,
    counts: list[int] | None = None,
    only_counts: bool = False,
) -> TunedCandidate:
    """The best parameters of a candidate, from those of the model `start` on: those that it declares, with `counts` the
    number of clusters as well, or with `only_counts` nothing but that."""
    from ..tuning import CoupledAnnealingSearchCV

    options = plan.options
    model = build(candidate, plan) if start is None else start
    space: dict[str, Range] = {} if counts is None else of_learner(model, {"n_clusters": Choice(counts)})
    space |= {} if only_counts else space_of(model, candidate, plan)
    if not space:
        return _measured(candidate, model, plan)
    search = CoupledAnnealingSearchCV(
        model,
        space,
        search="random" if only_counts else options.search,
        n_evaluations=n_evaluations,
        max_seconds=max_seconds,
        scoring=make_scoring(plan),
        cv=plan.folds,
        n_jobs=options.n_jobs,
        refit=False,
        random_state=options.random_state if start is None else options.random_state + 1,
        progress=options.progress,
    )
    _fit(search, model, plan)
    scores = np.array([search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(len(plan.folds))])
    if not np.isfinite(scores).all():
        clone(model).fit(plan.data.X, plan.data.y)  # may know a better reason
        raise ValueError(f"auto: no parameters were found with which {candidate.name} can be measured on every fold.")
    best = search.best_params_
    history = [{**entry, "candidate": candidate.name} for entry in search.history_]
    return TunedCandidate(candidate, clone(model).set_params(**best), dict(best), scores.astype(np.float64), history)


def _fit(search: Any, model: Any, plan: Plan) -> None:
    """Run a search without warnings of poor parameters, which it is there to find."""
    from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

    X, y = plan.data.X, plan.data.y
    with warnings.catch_warnings():
        for expected in (ConvergenceWarning, FitFailedWarning, RuntimeWarning):
            warnings.simplefilter("ignore", expected)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")  # classes that a fold lacks, and such
        try:
            search.fit(X, y)
            return
        except ValueError as failure:
            if "fits failed" not in str(failure):
                raise
            reason = str(failure).strip().splitlines()[-1].partition(": ")[2]
        clone(model).fit(X, y)  # says why, in one sentence
    raise ValueError(reason)  # all rows would do, but not those of a fold


def _measured(candidate: Candidate, model: Any, plan: Plan) -> TunedCandidate:
    """One cross-validation of a method that has nothing to tune."""
    X, y = plan.data.X, plan.data.y
    begin = time.perf_counter()
    scores, measure = [], make_scoring(plan)
    for train, test in plan.folds:
        fitted = clone(model).fit(X[train], None if y is None else y[train])
        scores.append(measure(fitted, X[test], None if y is None else y[test]))
    seconds = time.perf_counter() - begin
    entry = {"evaluation": 0, "stage": plan.options.search, "params": {}, "score": float(np.mean(scores))}
    entry |= {"n_used": None, "seconds": seconds, "error": None, "candidate": candidate.name}
    return TunedCandidate(candidate, model, {}, np.array(scores), [entry])


# --- several ----------------------------------------------------------------------------------------------------------


def compare(candidates: list[Candidate], plan: Plan) -> tuple[TunedCandidate, list[str], list[dict[str, Any]]]:
    """The best candidate with tuned parameters, the reasons, and all evaluations in order."""
    begin = time.monotonic()
    options = plan.options
    contest = line_up(candidates, plan)
    n_compared = max(1, min(len(contest), options.n_evaluations // (2 * _LEAST)))
    results, best, reasons = _first_round(contest[:n_compared], plan)
    rest = options.n_evaluations - sum(len(result.history) for result in results)
    seconds = None if options.max_seconds is None else options.max_seconds - (time.monotonic() - begin)
    if best is None or (best.params and rest > 0 and (seconds is None or seconds > 0)):
        candidate, model = (contest[0], None) if best is None else (best.candidate, best.model)
        last = tune(candidate, plan, rest, seconds, model)
        results.append(last)
        if best is None:
            best = last
        elif last.score > best.score:
            best = replace(last, params=best.params | last.params)
    history = [entry for result in results for entry in result.history]
    numbered = [{**entry, "evaluation": number} for number, entry in enumerate(history)]
    return best, _left_out(contest[n_compared:]) + reasons, numbered


def _first_round(contest: list[Candidate], plan: Plan) -> tuple[list[TunedCandidate], TunedCandidate | None, list[str]]:
    """The results of the first half of the budget, the best of them and why; nothing if there is one candidate only."""
    share = plan.options.n_evaluations // (2 * len(contest)) if len(contest) > 1 else 0
    results, reasons = _round(contest, plan, share) if share else ([], [])
    if plan.task == "clustering" and "n_clusters" not in contest[0].params:
        best, why = _counted(contest[0], plan)
        return [best], best, [*reasons, why]
    if not results:
        return [], None, reasons
    best, more = _winner(results, plan.score_text)
    return results, best, reasons + more


def _round(contest: list[Candidate], plan: Plan, share: int) -> tuple[list[TunedCandidate], list[str]]:
    """Every candidate with the same share of the budget; those that cannot learn from the rows drop out."""
    limit = plan.options.max_seconds
    seconds = None if limit is None else limit * share / plan.options.n_evaluations
    results: list[TunedCandidate] = []
    reasons = []
    for place, candidate in enumerate(contest):
        try:
            results.append(tune(candidate, plan, share, seconds))
        except ValueError as refusal:
            if place == len(contest) - 1 and not results:
                raise
            reasons.append(f"{candidate.name} dropped out: {refusal}")
    return results, reasons


def _counted(candidate: Candidate, plan: Plan) -> tuple[TunedCandidate, str]:
    """The number of clusters that keeps rows apart best, with everything else at its start; a kernel has no good start,
    and its width is searched with the number."""
    n_evaluations, seconds = plan.options.n_evaluations, plan.options.max_seconds
    share = max(1, 2 * n_evaluations // 3)
    counts = list(range(2, max(3, min(_MOST_CLUSTERS, plan.data.X.shape[0] // 4)) + 1))[:share]
    by_kernel = has_kernel(candidate.method)
    share = max(len(counts), 2 * n_evaluations // 3) if by_kernel else len(counts)
    result = tune(candidate, plan, share, seconds, counts=counts, only_counts=not by_kernel)
    best: dict[int, float] = {}
    for entry in result.history:
        n = next((value for name, value in entry["params"].items() if name.endswith("n_clusters")), None)
        if n is not None and entry["score"] is not None:
            best[n] = max(best.get(n, -np.inf), entry["score"])
    scores = ", ".join(f"{n} clusters {best[n]:.3g}" for n in sorted(best) if np.isfinite(best[n]))
    measure = f"{plan.criterion} and sparsity" if plan.options.sparsity else plan.criterion
    return _fewest(result, best), f"Number of clusters by {measure}: {scores}."


def _fewest(result: TunedCandidate, best: dict[int, float]) -> TunedCandidate:
    """With fewer clusters, if those are as good."""
    name = next((name for name in result.params if name.endswith("n_clusters")), None)
    equal = [n for n, score in best.items() if score >= result.score - _EQUAL]
    if name is None or len(result.params) > 1 or not equal or min(equal) >= result.params[name]:
        return result
    fewest = {name: min(equal)}
    return replace(result, model=clone(result.model).set_params(**fewest), params=fewest)


def line_up(candidates: list[Candidate], plan: Plan) -> list[Candidate]:
    """Linear and curved candidates, in the order in which they deserve the budget."""
    options = plan.options
    if options.kernel == "linear" or options.needs & {"groups", "tasks"} or has_kernel(candidates[0].method):
        return candidates  # groups and tasks are about columns, not about features of a map
    if options.kernel is not None:
        return [with_kernel(candidate, options, options.kernel) for candidate in candidates]
    if options.outlier_label is not None and plan.data.is_narrow(KERNEL_FEATURES):
        return [with_kernel(candidate, options) for candidate in candidates]  # a straight boundary surrounds no class
    if not is_worth_a_kernel(plan):
        return candidates
    return [candidates[0], with_kernel(candidates[0], options), *candidates[1:]]


def _left_out(candidates: list[Candidate]) -> list[str]:
    if not candidates:
        return []
    names = " and ".join(candidate.name for candidate in candidates)
    return [f"With so few evaluations, {names} {'was' if len(candidates) == 1 else 'were'} not compared."]


def _winner(results: list[TunedCandidate], score_text: Callable[[float], str]) -> tuple[TunedCandidate, list[str]]:
    """The best linear candidate, or a curved one that beats it by more than one standard error."""
    scores = ", ".join(f"{result.candidate.name} {score_text(result.score)}" for result in results)
    reasons = [f"In cross-validation: {scores}."] if len(results) > 1 else []
    straight = [result for result in results if result.candidate.kernel is None]
    best = max(straight or results, key=lambda result: (result.score, bool(result.candidate.note)))  # plainer of equals
    for curved in (result for result in results if straight and result.candidate.kernel is not None):
        difference = curved.fold_scores - best.fold_scores
        error = float(np.std(difference, ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else 0.0
        gain = float(np.mean(difference))
        measured = f"against {best.candidate.name} they gain {gain:.3g}, with a standard error of {error:.2g}"
        if gain > error:
            return curved, [*reasons, f"Boundaries: curved, because {measured}."]
        reasons.append(f"Boundaries: straight, because curved ones are not clearly better: {measured}.")
    if len(straight) > 1:
        reasons.append(f"Method: {best.candidate.name}, the best of them.")
    return best, reasons


_MANY_ROWS = 20_000  # from which on three folds are enough
_FEW_ROWS, _MOST_REPEATS = 2_000, 3  # small data are divided into folds several times, as chance weighs more there


def make_folds(plan: Plan) -> Folds:
    """The same parts of the rows for all models: each is measured on rows that it has not learned from.

    Unlabelled rows are in every part to learn from and in none to score, as with ``LabelledKFold``; rows of no class in
    none to learn from and in every one to score, as with ``NoveltyKFold``. Rows to score belong to tasks that are
    learned from.
    """
    data, cv = plan.data, plan.options.cv
    y = data.y if plan.task != "clustering" else None
    apart = np.zeros(data.X.shape[0], dtype=bool) if y is None else carrying(y, data.no_class)
    is_unlabelled = plan.options.unlabelled_label is not None
    if cv is not None and not isinstance(cv, Integral):
        from sklearn.model_selection import check_cv

        rows = np.zeros((len(apart), 1))  # splitters only count them
        folds = list(check_cv(cv, y, classifier=plan.task == "classification").split(rows, y))
        folds = [(learn, test[~apart[test]]) for learn, test in folds] if is_unlabelled else folds
    else:
        known, others = np.flatnonzero(~apart), np.flatnonzero(apart)
        parts = _parts(len(known), None if y is None else y[known], plan)
        folds = [(known[learn], known[test]) for learn, test in parts]
        if is_unlabelled:
            folds = [(np.union1d(learn, others), test) for learn, test in folds]
        else:
            folds = [(learn, np.union1d(test, others)) for learn, test in folds]
    if plan.options.task_column is None:
        return folds
    tasks = split_tasks(data.X, plan.options.task_column, "auto").tasks
    return [(learn, test[np.isin(tasks[test], tasks[learn])]) for learn, test in folds]


def _parts(n_rows: int, y: NDArray[Any] | None, plan: Plan) -> Folds:
    """Folds of rows that all have a class, or of any where there are none."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    if n_rows < 4:
        raise ValueError(f"auto: at least 4 rows are needed to compare models, got {n_rows}.")
    cv, seed = plan.options.cv, plan.options.random_state
    n_folds = int(cv) if cv is not None else 3 if n_rows > _MANY_ROWS else min(5, n_rows // 2)
    n_repeats = max(1, min(_MOST_REPEATS, _FEW_ROWS // n_rows)) if cv is None else 1
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"auto: cv must be at least 2 and at most the number of rows ({n_rows}), got {n_folds}.")
    rows = np.zeros((n_rows, 1))
    if plan.task != "classification":
        return list(RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed).split(rows))
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    second = int(np.sort(np.bincount(codes))[-2])  # every part must hold two classes
    least = 2 if cv is None else max(2, n_folds)
    if second < least:
        raise ValueError(f"auto: two classes must have at least {least} rows each, got only {second} of one.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is rarer than there are folds
        split = RepeatedStratifiedKFold(n_splits=min(n_folds, second), n_repeats=n_repeats, random_state=seed)
        return list(split.split(rows, codes))


def make_scoring(plan: Plan) -> Any:
    """The scorer that the search maximises."""
    from ..tuning import criterion, sparsity_scorer

    data, options = plan.data, plan.options
    if plan.criterion == "balanced_error" and has_stand_ins(data, options):
        made = stand_ins(data, options.random_state)
        return partial(_score_with_stand_ins, rows=made, label=options.outlier_label)
    measure: Any = criterion(plan.criterion)
    if not options.sparsity:
        return measure
    if plan.criterion == "mse" and data.y is not None:
        unit = float(np.var(data.y)) or 1.0  # so that it compares with a share of features
        measure = partial(_score_in_units, scorer=measure, unit=unit)
    return sparsity_scorer(measure, options.sparsity)


def _score_with_stand_ins(model: Any, X: Any, y: Any, rows: Any, label: Any) -> float:
    """The balanced error of the classes and, as one more of them, of rows that stand in for outliers."""
    predicted = model.predict(X)
    errors = [np.mean(predicted[y == value] != value) for value in np.unique(y)]
    return -float(np.mean([*errors, np.mean(model.predict(rows) != label)]))


def _score_in_units(model: Any, X: Any, y: Any, scorer: Any, unit: float) -> float:
    return float(scorer(model, X, y)) / unit
