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

from .._gate import Choice, Range
from ..tuning import CoupledAnnealingSearchCV
from ._candidate_model import (
    KERNEL_FEATURES,
    build,
    cluster_counts,
    is_worth_a_kernel,
    of_learner,
    space_of,
    with_kernel,
)
from ._data import Material
from ._measure import Folds, make_scoring
from ._wishes import Candidate, Wishes, has_kernel

_EXPECTED = (ConvergenceWarning, FitFailedWarning, RuntimeWarning)  # poor parameters are what a search is there to find
_EQUAL = 1e-9  # scores that differ by no more are the same
_LEAST = 6  # evaluations without which a comparison says nothing


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
        return f"{self.criterion} {sign * score + 0.0:.4g}"  # no error at all is 0, not -0


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


# --- rounds -----------------------------------------------------------------------------------------------------------


def tune(
    candidate: Candidate,
    material: Material,
    plan: Plan,
    share: int,
    seconds: float | None,
    start: Any = None,
    space: dict[str, Range] | None = None,
    counts: Range | None = None,
) -> Found:
    """The best parameters of a candidate within a share of the budget, from those of `start` on; those of `space`, or
    what the candidate declares, and with `counts` the number of clusters as well."""
    model = build(candidate, material, plan.wishes) if start is None else start
    space = space_of(model, candidate, material, plan.wishes) if space is None else of_learner(model, space)
    space = space if counts is None else {**of_learner(model, {"n_clusters": counts}), **space}
    if not space:
        return _measured(candidate, model, material, plan)
    found = CoupledAnnealingSearchCV(
        model,
        space,
        search=plan.search,
        n_evaluations=share,
        max_seconds=seconds,
        scoring=make_scoring(plan.criterion, plan.wishes, material),
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
    scores, measure = [], make_scoring(plan.criterion, plan.wishes, material)
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
    """The number of clusters that keeps rows apart best, with everything else at its start; a kernel has no good start,
    and its width is searched with the number."""
    counts = cluster_counts(material)[: max(1, 2 * plan.n_evaluations // 3)]
    if has_kernel(candidate.method):
        share = max(len(counts), 2 * plan.n_evaluations // 3)
        found = tune(candidate, material, plan, share, plan.max_seconds, counts=Choice(counts))
    else:
        plan = replace(plan, search="random")
        found = tune(candidate, material, plan, len(counts), plan.max_seconds, space={"n_clusters": Choice(counts)})
    best: dict[int, float] = {}
    for entry in found.history:
        n = next((value for name, value in entry["params"].items() if name.endswith("n_clusters")), None)
        if n is not None and entry["score"] is not None:
            best[n] = max(best.get(n, -np.inf), entry["score"])
    found = _fewest(found, best)
    said = ", ".join(f"{n} clusters {best[n]:.3g}" for n in sorted(best) if np.isfinite(best[n]))
    by = f"{plan.criterion} and sparsity" if plan.wishes.sparsity else plan.criterion
    return found, f"Number of clusters by {by}: {said}."


def _fewest(found: Found, best: dict[int, float]) -> Found:
    """With fewer clusters, if those are as good."""
    name = next((name for name in found.params if name.endswith("n_clusters")), None)
    equal = [n for n, score in best.items() if score >= found.score - _EQUAL]
    if name is None or len(found.params) > 1 or not equal or min(equal) >= found.params[name]:
        return found
    fewest = {name: min(equal)}
    return replace(found, model=clone(found.model).set_params(**fewest), params=fewest)


def _contest(candidates: list[Candidate], material: Material, task: str, wishes: Wishes) -> list[Candidate]:
    """Straight and curved candidates, in the order in which they deserve the budget."""
    if wishes.kernel == "linear" or wishes.needs_met & {"groups", "tasks"}:  # these speak of columns, not of a map
        return candidates
    if has_kernel(candidates[0].method):
        return candidates
    if wishes.kernel is not None:
        return [with_kernel(candidate, wishes, wishes.kernel) for candidate in candidates]
    if wishes.outlier_label is not None and material.is_narrow(KERNEL_FEATURES):
        return [with_kernel(candidate, wishes) for candidate in candidates]  # a straight boundary surrounds no class
    if not is_worth_a_kernel(material, task):
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
    best = max(straight or found, key=lambda one: (one.score, bool(one.candidate.note)))  # the plainer of equals
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
