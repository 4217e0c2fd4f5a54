"""Measuring one candidate: a search for its parameters on the folds, or one cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import clone
from .._gate import Choice, Range
from ..training import learner_of
from ._candidate_model import build, encoded, of_learner, space_of
from ._compared_rows import make_scoring
from ._plan import Candidate, Plan, has_kernel

_CUBED, _NEARLY_LINEAR = 3.0, 1.1  # powers of the rows that a fit takes, with and without comparing all of them
_AFTER_THE_END = 10.0  # seconds for the predictions of a report, where someone has ended the comparison
_CALIBRATED = 3  # fits in one where probabilities are asked for


@dataclass(frozen=True)
class TunedCandidate:
    """The best result of a search for a candidate."""

    candidate: Candidate
    model: Any  # with the best parameters, not fitted
    params: dict[str, Any]  # those that were tuned
    fold_scores: NDArray[np.float64]  # greater is better
    history: list[dict[str, Any]]
    n_rows: int = 0  # on which it was measured
    parts: tuple[TunedCandidate, ...] = ()  # those that it is a sum of
    answers: NDArray[np.float64] | None = None  # for the rows to score of all folds, if they were kept
    mistakes: NDArray[np.float64] | None = None  # with unlabelled rows: of each row, the share of folds; else NaN

    @property
    def name(self) -> str:
        return " + ".join(part.candidate.name for part in self.parts) or self.candidate.name

    @property
    def score(self) -> float:
        return float(np.mean(self.fold_scores)) if len(self.fold_scores) else float("nan")

    def gain_over(self, other: TunedCandidate) -> tuple[float, float]:
        """The mean difference of scores on the same folds, and its standard error."""
        difference = self.fold_scores - other.fold_scores
        error = float(np.std(difference, ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else 0.0
        return float(np.mean(difference)), error

    def seconds(self, n_rows: int) -> float:
        """The time that one cross-validation would take on so many rows, from those on fewer."""
        if self.parts:
            return sum(part.seconds(n_rows) for part in self.parts)
        taken = [entry["seconds"] for entry in self.history if entry["seconds"]]
        power = _CUBED if has_kernel(self.candidate.method) else _NEARLY_LINEAR
        return float(np.median(taken)) * (n_rows / max(1, self.n_rows)) ** power if taken else 0.0

    def seconds_to_finish(self, n_rows: int) -> float:
        """The time that the last fit would take, including its calibration."""
        return _CALIBRATED * self.seconds(n_rows) / max(1, len(self.fold_scores) - 1)

    def seconds_after(self, n_rows: int, clock: Clock) -> float:
        """The time to keep for what follows a comparison: the last fit, and predictions of the rows for a report. The
        latter get half of what is left at most."""
        last = self.seconds_to_finish(n_rows)
        predictions = len(self.fold_scores) * last if clock.predicts else 0.0
        return last + min(predictions, 0.5 * max(clock.left - last, 0.0))


def gain_in_words(one: str, other: str, gain: float, error: float) -> str:
    """Say by how much one model is better or worse than another, with the standard error."""
    side = "better" if gain >= 0 else "worse"
    return f"{one} is {side} than {other} by {abs(gain):.3g} (standard error {error:.2g})"


@dataclass(frozen=True)
class Clock:
    """The time that is left of a limit; a part of it is kept in reserve."""

    limit: float | None = None
    begin: float = field(default_factory=time.monotonic)
    tell: Callable[[str], None] = lambda doing: None  # shows what is being done
    is_over: Callable[[], bool] = lambda: False  # whether someone has ended the comparison
    predicts: bool = False  # rows in folds after the comparison, for a report

    @property
    def left(self) -> float:
        """Time for comparisons."""
        return 0.0 if self.is_over() else self._left(0.85)

    @property
    def left_for_last_fit(self) -> float:
        return self._left(0.95)

    @property
    def left_for_predictions(self) -> float:
        return min(_AFTER_THE_END, self._left(0.85)) if self.is_over() else self.left

    def _left(self, share: float) -> float:
        return np.inf if self.limit is None else share * self.limit - (time.monotonic() - self.begin)


def tune(
    candidate: Candidate,
    plan: Plan,
    n_evaluations: int,
    max_seconds: float | None,
    start: Any = None,
    counts: list[int] | None = None,
    only_counts: bool = False,
    known_score: float | None = None,
) -> TunedCandidate:
    """The best parameters of a candidate, from those of the model `start` on: those that it declares, with `counts` the
    number of clusters as well, or with `only_counts` nothing but that. With `known_score`, the score of `start` on the
    same folds, the search goes on around it, and `start` is not measured again."""
    from ..tuning import CoupledAnnealingSearchCV

    options = plan.options
    whole = build(candidate, plan) if start is None else start
    model, rows = _for_search(candidate, whole, plan)
    space: dict[str, Range] = {} if counts is None else of_learner(model, {"n_clusters": Choice(counts)})
    space |= {} if only_counts else space_of(model, candidate, rows)
    if not space:
        return measure(candidate, whole, plan)
    watcher, n_rows = plan.watcher, plan.data.X.shape[0]

    def watch(entry: dict[str, Any], fold_scores: NDArray[np.float64]) -> bool:
        watcher.note({**entry, "candidate": candidate.name, "n_rows": n_rows}, fold_scores, plan.criterion, plan.sign)
        return watcher.is_over()

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
        history=watcher.history_of(candidate.name, n_rows, start is None, list(space), only_counts),
    )
    search._watch = watch
    if any(span.n_values is None for span in space.values()):  # else a simplex might find no other point
        search._known_score = known_score
    _fit(search, whole, rows.data.X, plan)
    scores = np.array([search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(len(plan.folds))])
    if not np.isfinite(scores).all():
        clone(whole).fit(plan.data.X, plan.data.y, **plan.data.fit_options())  # may raise an error with a better reason
        raise ValueError(
            f"auto: {candidate.name} could not be evaluated on every fold with any of the parameters tried."
        )
    best = search.best_params_
    if model is not whole and rows is not plan:
        best = of_learner(whole, best)
    history = [{**entry, "candidate": candidate.name, "n_rows": n_rows} for entry in search.history_]
    tuned = clone(whole).set_params(**best)
    return TunedCandidate(candidate, tuned, dict(best), scores.astype(np.float64), history, n_rows)


def _for_search(candidate: Candidate, model: Any, plan: Plan) -> tuple[Any, Plan]:
    """The model and the rows as a search takes them: without probabilities, which no criterion needs and which take
    several fits, and with text read once."""
    options = plan.options
    if plan.data.is_text and not options.needs & {"groups", "tasks"}:
        key = (id(plan.data.X), candidate.encoder)
        if key not in plan.read:
            plan.read[key] = encoded(plan, candidate.encoder)
        model, plan = learner_of(model), plan.read[key]
    if not hasattr(learner_of(model), "probability") or {"probability", "threshold"} & options.fixed.keys():
        return model, plan
    return clone(model).set_params(**of_learner(model, {"probability": "none"})), plan


def _fit(search: Any, model: Any, X: Any, plan: Plan) -> None:
    """Run a search without warnings about poor parameters, which are part of any search."""
    with quietly():
        try:
            search.fit(X, plan.data.y, **plan.data.fit_options())
            return
        except ValueError as failure:
            if "fits failed" not in str(failure):
                raise
            reason = str(failure).strip().splitlines()[-1].partition(": ")[2]
        clone(model).fit(plan.data.X, plan.data.y, **plan.data.fit_options())  # says why, in one sentence
    raise ValueError(reason)  # there are enough rows in all, but not in a fold


class quietly(warnings.catch_warnings):
    """Suppress warnings about parameters or folds: a comparison is expected to try poor ones."""

    def __enter__(self) -> Any:
        from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

        entered = super().__enter__()
        for expected in (ConvergenceWarning, FitFailedWarning, RuntimeWarning):
            warnings.simplefilter("ignore", expected)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")  # classes that a fold lacks, and such
        return entered


def measure(candidate: Candidate, model: Any, plan: Plan, params: dict[str, Any] | None = None) -> TunedCandidate:
    """One cross-validation of a model with its parameters as they are."""
    begin = time.perf_counter()
    learner, rows = _for_search(candidate, model, plan)
    with quietly():
        found = _fold_scores(learner, rows)
    seconds, n_rows = time.perf_counter() - begin, plan.data.X.shape[0]
    entry = {
        "evaluation": 0,
        "stage": plan.options.search,
        "params": params or {},
        "score": float(np.mean(found.scores)),
    }
    entry |= {"n_used": None, "seconds": seconds, "error": None, "candidate": candidate.name, "n_rows": n_rows}
    plan.watcher.note(entry, found.scores, plan.criterion, plan.sign)
    answers, mistakes = found.answers, found.mistakes
    return TunedCandidate(
        candidate, model, params or {}, found.scores, [entry], n_rows, answers=answers, mistakes=mistakes
    )


class _FoldScores(NamedTuple):
    """The scores of a model on the folds."""

    scores: NDArray[np.float64]
    answers: NDArray[np.float64] | None  # where a sum of models may use them
    mistakes: NDArray[np.float64] | None  # with unlabelled rows


def _fold_scores(model: Any, plan: Plan) -> _FoldScores:
    y, scoring, scores, answers = plan.data.y, make_scoring(plan), [], []
    keeps = plan.task != "clustering" and not plan.options.needs
    wrong, n_scored = np.zeros((2, plan.data.X.shape[0]))
    for (fitted, X), (_, test) in zip(_fit_folds(model, plan), plan.folds, strict=True):
        scores.append(scoring(fitted, X, None if y is None else y[test]))
        answers += [_answers_of(fitted, X, plan.task)] if keeps else []
        if y is not None and plan.options.unlabelled_label is not None:
            wrong[test] += fitted.predict(X) != y[test]
            n_scored[test] += 1
    with np.errstate(invalid="ignore"):
        mistakes = wrong / n_scored if n_scored.any() else None
    return _FoldScores(np.array(scores, dtype=np.float64), _joined(answers) if keeps else None, mistakes)


def fold_answers(result: TunedCandidate, plan: Plan) -> NDArray[np.float64]:
    """The scores, or the values, of the rows to score of all folds, by models that have not seen them: one column for
    each output."""
    if result.answers is not None:
        return result.answers
    learner, rows = _for_search(result.candidate, result.model, plan)
    with quietly():
        return _joined([_answers_of(fitted, X, plan.task) for fitted, X in _fit_folds(learner, rows)])


class _FoldAnswers(NamedTuple):
    """Scores or values of the rows of a fold."""

    values: NDArray[np.float64]  # one column for each output
    classes: NDArray[Any]  # that the model knows; of values, none


def _answers_of(fitted: Any, X: Any, task: str) -> _FoldAnswers:
    found = np.asarray(fitted.predict(X) if task == "regression" else fitted.decision_function(X), dtype=np.float64)
    return _FoldAnswers(found[:, None] if found.ndim == 1 else found, getattr(fitted, "classes_", np.empty(0)))


def _joined(folds: list[_FoldAnswers]) -> NDArray[np.float64]:
    """The answers of all folds. A class that the model of a fold does not know, because all its rows are in that fold,
    scores lower than any other."""
    if len({fold.values.shape[1] for fold in folds}) == 1:
        return np.concatenate([fold.values for fold in folds])
    every = np.unique(np.concatenate([fold.classes for fold in folds]))
    parts = []
    for values, classes in folds:
        scores = np.hstack([-values, values]) if values.shape[1] == 1 else values
        part = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, len(every), axis=1)
        part[:, np.searchsorted(every, classes)] = scores
        parts.append(part)
    return np.concatenate(parts)


def _fit_folds(model: Any, plan: Plan) -> Iterator[tuple[Any, Any]]:
    X, y = plan.data.X, plan.data.y
    for train, test in plan.folds:
        yield clone(model).fit(X[train], None if y is None else y[train], **plan.data.fit_options(train)), X[test]


def with_more_landmarks(result: TunedCandidate, most: int) -> TunedCandidate | None:
    """The same model with twice as many landmarks, not yet measured; None if these are too many."""
    if result.candidate.kernel is None:
        return None
    many = 2 * float(result.model.get_params()["map__n_components"])
    if many * np.sqrt(result.n_rows) > most:
        return None
    return replace(result, model=clone(result.model).set_params(map__n_components=many))
