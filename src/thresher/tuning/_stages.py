"""Tuning of a 3C-SVM in stages, each of which begins where the one before ended."""

from __future__ import annotations

from typing import Any

from .._dataclasses import dataclass
from .._gate import at_least, boolean, checked, search_space, seed
from ..semi_supervised import TriClassSVC, UniversumSVC
from ._folds import LabelledKFold
from ._search_cv import CoupledAnnealingSearchCV

_SHARED = (
    *("C", "kernel", "gamma", "degree", "coef0", "irrelevant_label", "unlabelled_label"),
    *("class_weight", "tol", "cache_size"),
)


@dataclass(frozen=True)
class TriClassTuning:
    """Result of :func:`tune_tri_class`: a finished search for each machine.

    Attributes
    ----------
    svm, universum, tri_class : CoupledAnnealingSearchCV
        The searches, in the order in which they were made.
    """

    svm: CoupledAnnealingSearchCV
    universum: CoupledAnnealingSearchCV
    tri_class: CoupledAnnealingSearchCV

    @property
    def scores_(self) -> dict[str, float]:
        """The best score of each machine."""
        return {name: float(search.best_score_) for name, search in self._searches.items()}

    @property
    def best_machine_(self) -> str:
        """The name of the machine with the best score; of equal ones, the simplest."""
        scores = self.scores_
        return max(scores, key=scores.__getitem__)  # the first of equal ones

    @property
    def best_estimator_(self) -> Any:
        """The best machine, fitted to all rows."""
        return self._searches[self.best_machine_].best_estimator_

    @property
    def history_(self) -> list[dict[str, Any]]:
        """All candidates in the order of their evaluation, as in the searches, each with its ``machine``."""
        return [{"machine": name, **each} for name, search in self._searches.items() for each in search.history_]

    @property
    def _searches(self) -> dict[str, CoupledAnnealingSearchCV]:
        return {"svm": self.svm, "universum": self.universum, "tri_class": self.tri_class}


@checked(n_evaluations=at_least(1), n_splits=at_least(2), random_state=seed, progress=boolean)
def tune_tri_class(
    X: Any,
    y: Any,
    estimator: TriClassSVC | None = None,
    *,
    n_evaluations: int = 20,
    n_splits: int = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool = False,
) -> TriClassTuning:
    """Tune a 3C-SVM in three stages, and compare it with simpler machines.

    1. ``svm``: ``C`` and the width of the kernel, without unlabelled rows.
    2. ``universum``: with these, the weight of unlabelled rows, all treated as irrelevant, and ``epsilon``.
    3. ``tri_class``: with all these, the weight of unlabelled rows once more.

    Every stage is a search by cross-validation over :class:`LabelledKFold`, with the same folds, and begins where the
    one before ended. A few labels distinguish machines only roughly: with 20 labels, the resolution of a score is 5 %.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Scaled rows: all kernels depend on the scale.
    y : array-like of shape (n_samples,)
    estimator : TriClassSVC, optional
        Defines the kernel, the labels and everything else that is not tuned.
    n_evaluations : int, default=20
        Number of candidates in each stage.
    n_splits : int, default=5
        Number of folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; accuracy by default.
    n_jobs : int, optional
        Number of processes.
    random_state : int, RandomState, Generator or None, default=0
        Seed of folds and searches.
    progress : bool, default=False
        Show a progress bar for each stage if standard error is a terminal.

    Returns
    -------
    TriClassTuning
        ``best_estimator_``, ``best_machine_``, ``scores_``, ``history_``, and the searches themselves.

    Examples
    --------
    >>> from thresher.datasets import make_tri_class
    >>> from thresher.semi_supervised import TriClassSVC
    >>> from thresher.tuning import tune_tri_class
    >>> X, y = make_tri_class(50, 100, 20, relevant=0.1, random_state=0)
    >>> found = tune_tri_class(X, y, TriClassSVC(kernel="linear", tol=1e-3), n_evaluations=4, n_splits=3)
    >>> list(found.scores_), found.best_machine_
    (['svm', 'universum', 'tri_class'], 'universum')
    >>> len(found.history_)
    12
    """
    base = TriClassSVC() if estimator is None else estimator
    if not isinstance(base, TriClassSVC):
        raise ValueError(f"tune_tri_class: estimator must be a TriClassSVC, got {type(base).__name__}.")
    cv = LabelledKFold(n_splits, unlabelled_label=base.unlabelled_label, shuffle=True)
    options = {"scoring": scoring, "cv": cv, "n_jobs": n_jobs, "random_state": random_state, "progress": progress}

    def search(machine: Any, *names: str) -> CoupledAnnealingSearchCV:
        space = {name: given for name, given in search_space(machine).items() if name in names}
        return CoupledAnnealingSearchCV(machine, space, n_evaluations=n_evaluations, **options).fit(X, y)

    params = base.get_params(deep=False)
    svm = search(TriClassSVC(**params | {"C_unlabelled": 0.0, "balance": None}), "C", "gamma")
    params |= svm.best_params_
    shared = {name: params[name] for name in (*_SHARED, "C_unlabelled", "epsilon")}
    universum = search(UniversumSVC(**shared), "C_unlabelled", "epsilon")
    params |= universum.best_params_
    return TriClassTuning(svm, universum, search(TriClassSVC(**params), "C_unlabelled"))
