"""Hyper-parameter search by cross-validation, used like those of scikit-learn."""

from __future__ import annotations

import copy
import math
import os
import warnings
from collections.abc import Callable
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import estimator_html_repr

from .._engine import generator
from .._figures import line_html, progress_bar
from .._gate import Range, Rule, as_space, boolean, check_params, none, one_of, search_space, seed
from ._annealing import N_STARTS, annealing_and_simplex
from ._candidates import Candidates
from ._folds import FixedFolds, folds_for, with_seed
from ._history import HistoryFile, to_json
from ._scorers import counting
from ._searches import at_random, by_simplex, directed
from ._trials import LIMITS, Params, Trials

_PATH = Rule("a path", lambda v: isinstance(v, (str, os.PathLike)))


class CoupledAnnealingSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Hyper-parameter search by coupled simulated annealing and a simplex, with cross-validation.

    Used like scikit-learn's ``RandomizedSearchCV``, with any estimator, scoring and splitter. It needs fewer
    evaluations than random search for the same score, because it learns from previous ones; see
    :func:`coupled_annealing`. Estimators of this library declare the parameters worth tuning and their ranges.

    Parameters
    ----------
    estimator : estimator
        Its current parameters, as far as they lie in the space, are the first candidate, so tuning cannot make the
        score worse.
    space : dict of str to Log, Uniform, Whole, Choice or list, optional
        Search ranges by parameter name; ``step__parameter`` inside a pipeline. SciPy's ``uniform``, ``loguniform`` and
        ``randint`` work as well. By default, the result of :func:`search_space`.
    search : {"annealing", "directed", "random"}, default="annealing"
        The method: see :func:`coupled_annealing`, :func:`directed_search`, :func:`random_search`.
    n_evaluations : int, default=100
        Largest number of candidates, each fitted once per fold. Directed search stops earlier if its steps become too
        small.
    max_seconds : float, optional
        Time limit in seconds: no candidate is started that would exceed it, judging by the time that others took.
    n_starts : int, default=5
        Number of coupled annealing states, and of candidates in a step.
    simplex : bool, default=True
        Alternate annealing with a simplex search.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in scikit-learn; :func:`criterion` and :func:`sparsity_scorer` make more. With several scores the search
        follows the one that ``refit`` names, or the first.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn. The folds are made once and are the same for all candidates. For estimators with unlabelled
        rows, a number and the default mean :class:`LabelledKFold`.
    n_jobs : int, optional
        Number of processes, over the candidates of a step and their folds. The result does not depend on it.
    refit : bool, str or callable, default=True
        As in scikit-learn.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the search, and of whatever has ``random_state=None``: parts of the estimator get one number for all
        candidates and the refit, so that candidates differ by their parameters and not by luck; so does a splitter.
    error_score : float or "raise", default=nan
        The score of a fold whose fit fails. A candidate whose score is not finite counts as the worst, and its error is
        in ``history_``. If all candidates of the first step fail, the search raises an error.
    progress : bool, default=False
        Show a bar with the best score so far if standard error is a terminal.
    history : path, optional
        A file of JSON lines to which every candidate is added as soon as it is evaluated. If the file exists and
        belongs to the same search (estimator, space, scoring, seed, folds and data), its candidates are not evaluated
        again: you can continue a search that was killed, or extend one with a larger budget. One candidate is evaluated
        again as a check. Needs an integer ``random_state``.
    return_train_score : bool, default=False
        As in scikit-learn.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, scorer_, n_splits_, refit_time_, multimetric_
        As in scikit-learn. ``cv_results_`` lists the candidates in the order of their evaluation.
    history_ : list of dict
        For each candidate: ``evaluation`` (counted from 0), ``stage`` (``"annealing"``, ``"simplex"``, ``"directed"``
        or ``"random"``), ``params``, ``score``, ``n_used`` (weights other than 0, mean over folds; None for models
        without), ``seconds`` (of all its folds) and ``error`` (None, or why it failed).
    stopped_ : {"evaluations", "seconds", "converged", "exhausted"}
        Why the search ended; see :class:`SearchResult`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.tuning import CoupledAnnealingSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), L1RDAClassifier())
    >>> search = CoupledAnnealingSearchCV(model, n_evaluations=20).fit(X, y)
    >>> sorted(search.best_params_)
    ['l1rdaclassifier__alpha', 'l1rdaclassifier__eta0']
    >>> round(float(search.best_score_), 2), search.stopped_
    (0.98, 'evaluations')
    """

    _rules = {
        "search": one_of("annealing", "directed", "random"),
        **LIMITS,
        "n_starts": N_STARTS,
        "simplex": boolean,
        "random_state": seed,
        "progress": boolean,
        "history": _PATH | none,
    }
    verbose = 0  # parameters of scikit-learn's own searches that this one does not have
    pre_dispatch = "2*n_jobs"
    # given every evaluation and its scores on the folds; returns whether to stop
    _watch: Callable[[dict[str, Any], NDArray[np.float64]], bool] | None = None
    # of the estimator as it is given, on the same folds: it is not evaluated again, and a simplex searches around it
    _known_score: float | None = None

    def __init__(
        self,
        estimator: Any,
        space: Any = None,
        *,
        search: str = "annealing",
        n_evaluations: int = 100,
        max_seconds: float | None = None,
        n_starts: int = 5,
        simplex: bool = True,
        scoring: Any = None,
        cv: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        random_state: Any = 0,
        error_score: Any = np.nan,
        progress: bool = False,
        history: Any = None,
        return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.search = search
        self.n_evaluations = n_evaluations
        self.max_seconds = max_seconds
        self.n_starts = n_starts
        self.simplex = simplex
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.refit = refit
        self.random_state = random_state
        self.error_score = error_score
        self.progress = progress
        self.history = history
        self.return_train_score = return_train_score

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, then fit the best candidate to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        **params : dict
            ``groups`` for the splitter, ``sample_weight`` and others for the estimator, as in scikit-learn.

        Returns
        -------
        self
        """
        self._validate_params()
        check_params(self, self._rules)
        if self.history is not None and not isinstance(self.random_state, (int, np.integer)):
            raise ValueError(
                f"{type(self).__name__}: random_state must be an integer when there is a history to resume from, "
                f"got {self.random_state!r}."
            )
        run = copy.copy(self)  # works in this one's place, so that nothing is half-changed if it fails
        run._replace_fitted({})
        run._ranges = self._checked_space()
        run._rng = generator(self.random_state)
        number = int(run._rng.integers(2**31))
        run.estimator = with_seed(self.estimator, number)
        run.cv = FixedFolds(folds_for(self.estimator, self.cv, y), number)
        run._data = None if self.history is None else joblib.hash((X, y, params), coerce_mmap=True)
        super(CoupledAnnealingSearchCV, run).fit(X, y, **params)
        self._replace_fitted(run.__dict__)
        self.scorer_: Any = getattr(run.scorer_, "scorer", run.scorer_)  # without the counting
        return self

    def _html_repr(self) -> str:
        """Return the HTML for notebooks: scikit-learn's diagram, and the best score so far along the search."""
        scores = [trial["score"] for trial in vars(self).get("history_", ()) if math.isfinite(trial["score"])]
        best = np.maximum.accumulate(scores).tolist() if scores else []
        picture = line_html(f"best score of {len(best):,} candidates", best) if best else ""
        return str(estimator_html_repr(self)) + picture

    _repr_html_inner = _html_repr  # what older versions of scikit-learn call

    def _checked_space(self) -> dict[str, Range]:
        who = type(self).__name__
        space = search_space(self.estimator) if self.space is None else as_space(self.space, who)
        if not space:
            raise ValueError(f"{who}: space must be given for {type(self.estimator).__name__}, which declares none.")
        known = self.estimator.get_params(deep=True)
        for name in space:
            if name not in known:
                raise ValueError(f"{who}: space must name parameters of {type(self.estimator).__name__}, got {name!r}.")
        return space

    def _replace_fitted(self, attributes: dict[str, Any]) -> None:
        """Replace fitted attributes by those among `attributes`."""
        kept = {name: value for name, value in self.__dict__.items() if not _is_fitted(name)}
        fitted = {name: value for name, value in attributes.items() if _is_fitted(name)}
        self.__dict__.clear()
        self.__dict__.update(kept | fitted)

    # --- the methods that BaseSearchCV calls --------------------------------------------------------------------------

    def _run_search(self, evaluate_candidates: Callable[..., Any], *, callback_ctx: Any = None) -> None:
        self._raw: list[dict[str, Any]] = []
        self._results: dict[str, Any] = {}

        steps = callback_ctx and callback_ctx.subcontext(task_name="search", max_subtasks=None)

        def fit_and_score(batch: list[Params]) -> list[dict[str, Any]]:
            told = {}
            if steps is not None:  # scikit-learn has callbacks since 1.9
                n_fits = len(batch) * n_folds
                told["callback_ctx"] = steps.subcontext("step", max_subtasks=n_fits, sequential_subtasks=False)
            evaluate_candidates(batch, **told)
            return self._raw[-len(batch) * n_folds :]

        n_folds = len(self.cv.folds)
        file = None if self.history is None else HistoryFile(self.history, self._identity(), n_folds)
        candidates = Candidates(fit_and_score, file, guide=self.refit, error_score=self.error_score)
        with progress_bar(self.progress, "tuning", self.n_evaluations) as update:

            def watch(trials: Trials) -> bool:
                best = math.nan if trials.best is None else trials.best["score"]
                update(len(trials.history), description=trials.history[-1]["stage"], remark=f"best {best:.4f}")
                return self._watch is not None and self._watch(trials.history[-1], candidates.scores(n_folds))

            n_at_once = joblib.effective_n_jobs(self.n_jobs)
            limits = (self.n_evaluations, self.max_seconds)
            trials = Trials(self._ranges, candidates.evaluate, *limits, watch, n_at_once, self._watch is not None)
            if self._known_score is not None:
                trials.know(self._start(), self._known_score)
            self.stopped_ = trials.run(self._search_method())
        candidates.finish()
        self.history_ = trials.history
        self._warn_of_failures()
        self._results |= super()._format_results(candidates.params, n_folds, candidates.folds)

    def _search_method(self) -> Callable[[Trials], None]:
        start = self._start()
        if self.search == "annealing" and self._known_score is not None:  # near a point that is good already
            return by_simplex(start)
        if self.search == "directed":
            return directed(start)
        if self.search == "random":
            return at_random(start, self._rng)
        return annealing_and_simplex(start, self.n_starts, self.simplex, self._rng)

    def _start(self) -> dict[str, Any]:
        return {name: value for name, value in self.estimator.get_params(deep=True).items() if name in self._ranges}

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        """Wait until the search is over: candidates from a history file have their place among the others."""
        self._raw = out
        return self._results

    def _get_scorers(self) -> Any:
        scorers, refit_metric = super()._get_scorers()
        return (counting(scorers), refit_metric) if hasattr(self, "_ranges") else (scorers, refit_metric)

    def _identity(self) -> dict[str, Any]:
        """All that evaluations depend on."""
        params = {n: v for n, v in self.estimator.get_params(deep=True).items() if not n.endswith("n_jobs")}
        return {
            "estimator": to_json(type(self.estimator)),
            "params": {n: to_json(type(v) if hasattr(v, "get_params") else v) for n, v in sorted(params.items())},
            "space": {name: repr(given) for name, given in self._ranges.items()},
            "scoring": to_json(self.scoring),
            "random_state": to_json(self.random_state),
            "folds": joblib.hash(self.cv.folds),
            "data": self._data,
            "error_score": to_json(self.error_score),
            "return_train_score": self.return_train_score,
        }

    def _warn_of_failures(self) -> None:
        failed = [trial for trial in self.history_ if trial["error"] is not None]
        if failed:
            warnings.warn(
                f"{type(self).__name__}: {len(failed)} of {len(self.history_)} candidates failed, the first one "
                f"({failed[0]['params']}) with: {failed[0]['error']}",
                FitFailedWarning,
                stacklevel=4,
            )


def _is_fitted(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
