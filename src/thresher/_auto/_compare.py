"""A budget of evaluations over several candidates: half of it to compare them, the rest for the best one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

from .._spaces import Choice, Range
from ..tuning import CoupledAnnealingSearchCV, criterion, sparsity_scorer
from ._data import Material
from ._model import build, cluster_counts, is_worth_a_kernel, of_learner, space_of, with_kernel
from ._wishes import Candidate, Wishes

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

_EXPECTED = (ConvergenceWarning, FitFailedWarning, RuntimeWarning)  # poor parameters are what a search is there to find
_LEAST = 6  # evaluations without which a comparison says nothing
_MANY_ROWS = 20_000  # from which on three folds are enough
_FEW_ROWS, _MOST_REPEATS = 2_000, 3  # small data are divided into folds several times, as chance weighs more there


@dataclass(frozen=True)
class Plan:
    """What is wanted, how models are measured and how long to search.

    Attributes
    ----------
    task, criterion : str
    wishes : Wishes
    folds : list of (train, test)
        The same parts of the rows for all models.
    search : str
        Kind of search.
    n_evaluations, max_seconds, n_jobs, progress
        As given.
    """

    task: str
    criterion: str
    wishes: Wishes
    folds: Folds
    search: str
    n_evaluations: int
    max_seconds: float | None
    n_jobs: int | None
    progress: bool

    def says(self, score: float) -> str:
        """A score in words; errors are positive numbers to people."""
        if self.wishes.sparsity:
            return f"{score:.4g} ({self.criterion} and sparsity, greater is better)"
        sign = -1 if self.criterion in ("error", "balanced_error", "mse") else 1
        return f"{self.criterion} {sign * score:.4g}"


@dataclass(frozen=True)
class Found:
    """The best that a search found for a candidate.

    Attributes
    ----------
    candidate : Candidate
    model : estimator or StreamingPipeline
        With the best parameters, not fitted.
    params : dict
        The parameters that were tuned.
    fold_scores : ndarray of shape (n_folds,)
        Greater is better.
    history : list of dict
    """

    candidate: Candidate
    model: Any
    params: dict[str, Any]
    fold_scores: NDArray[np.float64]
    history: list[dict[str, Any]]

    @property
    def score(self) -> float:
        return float(np.mean(self.fold_scores))


# --- how it is measured -----------------------------------------------------------------------------------------------


def make_folds(material: Material, task: str, cv: Any, seed: int) -> Folds:
    """The same parts of the rows for all models: each is measured on rows that it has not learned from."""
    X, y = material.X, material.y if task != "clustering" else None
    n_rows = X.shape[0]
    if n_rows < 4:
        raise ValueError(f"auto: at least 4 rows are needed to compare models, got {n_rows}.")
    n_folds = 3 if n_rows > _MANY_ROWS else min(5, n_rows // 2)
    rows = np.zeros((n_rows, 1))  # splitters only count them
    if cv is not None and not isinstance(cv, int):
        return list(check_cv(cv, y, classifier=task == "classification").split(rows, y))
    n_repeats = max(1, min(_MOST_REPEATS, _FEW_ROWS // n_rows)) if cv is None else 1
    n_folds = n_folds if cv is None else cv
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"auto: cv must be at least 2 and at most the number of rows ({n_rows}), got {n_folds}.")
    if task != "classification":
        return list(RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed).split(rows))
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    second = int(np.sort(np.bincount(codes))[-2])  # every part must hold two classes
    if second < 2 or (cv is not None and second < n_folds):
        raise ValueError(f"auto: two classes must have at least {max(2, cv or 0)} rows each, got only {second} of one.")
    n_folds = min(n_folds, second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class that is rarer than there are folds
        split = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
        return list(split.split(rows, codes))


def of_known_tasks(folds: Folds, tasks: NDArray[Any]) -> Folds:
    """Folds without rows to predict whose task is in no row to learn from."""
    return [(learn, test[np.isin(tasks[test], tasks[learn])]) for learn, test in folds]


def make_scoring(plan: Plan, material: Material) -> Any:
    """What the search maximises."""
    measure: Any = _silhouette if plan.criterion == "silhouette" else criterion(plan.criterion)
    if not plan.wishes.sparsity:
        return measure
    if plan.criterion == "mse" and material.y is not None:
        measure = _InUnits(measure, float(np.var(material.y)) or 1.0)  # so that it compares with a share of features
    return sparsity_scorer(measure, plan.wishes.sparsity)


def _silhouette(model: Any, X: Any, y: Any = None) -> float:
    """How well clusters are apart, in the space where they were found."""
    if hasattr(model, "steps"):
        return criterion("silhouette")(model[-1], model.transform(X))
    return criterion("silhouette")(model, X)


class _InUnits:
    """A score divided by a number."""

    def __init__(self, scorer: Any, unit: float) -> None:
        self.scorer = scorer
        self.unit = unit

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return float(self.scorer(model, X, y)) / self.unit


# --- rounds -----------------------------------------------------------------------------------------------------------


def tune(
    candidate: Candidate,
    material: Material,
    plan: Plan,
    share: int,
    seconds: float | None,
    start: Any = None,
    space: dict[str, Range] | None = None,
) -> Found:
    """The best parameters of a candidate within a share of the budget, from those of `start` on."""
    model = build(candidate, material, plan.wishes) if start is None else start
    space = space_of(model, candidate, material, plan.wishes) if space is None else of_learner(model, space)
    if not space:
        return _measured(candidate, model, material, plan)
    found = CoupledAnnealingSearchCV(
        model,
        space,
        search=plan.search,
        n_evaluations=share,
        max_seconds=seconds,
        scoring=make_scoring(plan, material),
        cv=plan.folds,
        n_jobs=plan.n_jobs,
        refit=False,
        random_state=plan.wishes.seed if start is None else plan.wishes.seed + 1,
        progress=plan.progress,
    )
    with warnings.catch_warnings():
        for expected in _EXPECTED:
            warnings.simplefilter("ignore", expected)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")  # classes that a fold lacks, and such
        _fit(found, model, material)
    scores = np.array([found.cv_results_[f"split{k}_test_score"][found.best_index_] for k in range(len(plan.folds))])
    if not np.isfinite(scores).all():
        clone(model).fit(material.X, material.y)  # may know a better reason
        raise ValueError(f"auto: no parameters were found with which {candidate.name} can be measured on every fold.")
    best = found.best_params_
    history = [{**entry, "candidate": candidate.name} for entry in found.history_]
    return Found(candidate, clone(model).set_params(**best), dict(best), scores.astype(np.float64), history)


def _fit(found: Any, model: Any, material: Material) -> None:
    try:
        found.fit(material.X, material.y)
        return
    except ValueError as failure:
        if "fits failed" not in str(failure):
            raise
        said = str(failure).strip().splitlines()[-1].partition(": ")[2]
    clone(model).fit(material.X, material.y)  # says why, in one sentence
    raise ValueError(said)  # all rows would do, but not those of a fold


def _measured(candidate: Candidate, model: Any, material: Material, plan: Plan) -> Found:
    """One cross-validation of a method that has nothing to tune."""
    X, y = material.X, material.y
    begin = time.perf_counter()
    scores, measure = [], make_scoring(plan, material)
    for train, test in plan.folds:
        fitted = clone(model).fit(X[train], None if y is None else y[train])
        scores.append(measure(fitted, X[test], None if y is None else y[test]))
    entry = {
        "evaluation": 0,
        "stage": plan.search,
        "params": {},
        "score": float(np.mean(scores)),
        "n_used": None,
        "seconds": time.perf_counter() - begin,
        "error": None,
        "candidate": candidate.name,
    }
    return Found(candidate, model, {}, np.array(scores), [entry])


def compare(
    candidates: list[Candidate], material: Material, plan: Plan
) -> tuple[Found, list[str], list[dict[str, Any]]]:
    """The best candidate with tuned parameters, the reasons, and all evaluations."""
    begin = time.monotonic()
    contest = _contest(candidates, material, plan.task, plan.wishes)
    n_compared = max(1, min(len(contest), plan.n_evaluations // (2 * _LEAST)))
    reasons = _left_out(contest[n_compared:])
    contest = contest[:n_compared]
    share = plan.n_evaluations // (2 * n_compared) if n_compared > 1 else 0
    found, why = _round(contest, material, plan, share) if share else ([], [])
    best = None
    if plan.task == "clustering" and "n_clusters" not in contest[0].params:
        best, said = _counted(contest[0], material, plan)
        found, why = [best], [*why, said]
    elif found:
        best, more = _winner(found, plan.says)
        why += more
    winner = contest[0] if best is None else best.candidate
    rest = plan.n_evaluations - sum(len(one.history) for one in found)
    left = None if plan.max_seconds is None else plan.max_seconds - (time.monotonic() - begin)
    if rest > 0 and (best is None or best.params) and (left is None or left > 0 or best is None):
        last = tune(winner, material, plan, rest, left, None if best is None else best.model)
        found.append(last)
        if best is None or last.score > best.score:
            best = last if best is None else replace(last, params=best.params | last.params)
    assert best is not None
    return best, reasons + why, _numbered(found)


def _round(contest: list[Candidate], material: Material, plan: Plan, share: int) -> tuple[list[Found], list[str]]:
    """Every candidate with the same share of the budget; those that cannot learn from the rows drop out."""
    seconds = None if plan.max_seconds is None else plan.max_seconds * share / plan.n_evaluations
    found, said = [], []
    for place, candidate in enumerate(contest):
        try:
            found.append(tune(candidate, material, plan, share, seconds))
        except ValueError as refusal:
            if place == len(contest) - 1 and not found:
                raise
            said.append(f"{candidate.name} dropped out: {refusal}")
    return found, said


def _counted(candidate: Candidate, material: Material, plan: Plan) -> tuple[Found, str]:
    """The number of clusters that keeps rows apart best, with everything else at its start."""
    counts = cluster_counts(material)[: max(1, 2 * plan.n_evaluations // 3)]
    space: dict[str, Range] = {"n_clusters": Choice(counts)}
    found = tune(candidate, material, replace(plan, search="random"), len(counts), plan.max_seconds, space=space)
    scores = {entry["params"][name]: entry["score"] for entry in found.history for name in entry["params"]}
    said = ", ".join(f"{n} clusters {scores[n]:.3g}" for n in sorted(scores))
    return found, f"Number of clusters by {plan.criterion}: {said}."


def _contest(candidates: list[Candidate], material: Material, task: str, wishes: Wishes) -> list[Candidate]:
    """Straight and curved candidates, in the order in which they deserve the budget."""
    if wishes.kernel == "linear" or wishes.needs_met:  # groups and tasks speak of columns, not of a map of them
        return candidates
    if wishes.kernel is not None:
        return [with_kernel(candidate, wishes, wishes.kernel) for candidate in candidates]
    if not is_worth_a_kernel(material, task) or hasattr(candidates[0].method.cls(), "kernel"):  # curved by itself
        return candidates
    return [candidates[0], with_kernel(candidates[0], wishes), *candidates[1:]]


def _left_out(candidates: list[Candidate]) -> list[str]:
    if not candidates:
        return []
    names = " and ".join(candidate.name for candidate in candidates)
    return [f"With so few tries, {names} {'was' if len(candidates) == 1 else 'were'} not compared."]


def _winner(found: list[Found], says: Callable[[float], str]) -> tuple[Found, list[str]]:
    """The best straight candidate, or a curved one that beats it by more than one standard error."""
    scores = ", ".join(f"{one.candidate.name} {says(one.score)}" for one in found)
    reasons = [f"In cross-validation: {scores}."] if len(found) > 1 else []
    straight = [one for one in found if one.candidate.kernel is None]
    best = max(straight or found, key=lambda one: one.score)
    for curved in (one for one in found if straight and one.candidate.kernel is not None):
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


def _numbered(found: list[Found]) -> list[dict[str, Any]]:
    """All evaluations in order."""
    every = (entry for one in found for entry in one.history)
    return [{**entry, "evaluation": number} for number, entry in enumerate(every)]
