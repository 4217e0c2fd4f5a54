"""Every learner of few features that ``imbalance`` compares. Both classes weigh the same in all that can be told so.

Ours have their defaults and one pass in the order of the rows, but for what the name says. Where a penalty decides the
number of features it is searched for, as in ``selection``; where a C is left to be chosen, the last fifth of the
training rows chooses it. Batch learners know no order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.svm import LinearSVC

from thresher.confidence import ASCWClassifier, FGMClassifier, PoolCWClassifier, SBCWClassifier
from thresher.dual_averaging import FTRLClassifier
from thresher.online import AROWClassifier, OFSClassifier, SOFSClassifier

from ._linear_models import Weights
from ._selection_learners import searched

Fit = Callable[[Any, Any, int], Weights]  # rows, classes 0 and 1, features at most
BALANCED = {"class_weight": "balanced"}
ORDERED = {"shuffle": False}
CHOICES_OF_C = (0.1, 1.0, 10.0, 100.0)
SLOW = ("POOL", "POOL, scout", "ASCW", "ASCW, chosen by AUPRC")  # nine costs side by side
_CHOOSING = 0.2


@dataclass(frozen=True)
class Learner:
    fit: Fit
    stream: bool = True  # whether the order of the rows matters


def learners() -> dict[str, Learner]:
    """By name."""
    ours: dict[str, tuple[Any, dict[str, Any]]] = {
        "POOL": (PoolCWClassifier, {}),
        "POOL, cost 0.5": (PoolCWClassifier, {"cost": 0.5}),
        "POOL, scout": (PoolCWClassifier, {"scout": True}),
        "SBCW, one batch": (SBCWClassifier, {}),
        "SBCW, as published": (SBCWClassifier, {"cost": None, "fit_intercept": False, "refit": False, "scale": False}),
        "ASCW": (ASCWClassifier, {}),
        "ASCW, chosen by AUPRC": (ASCWClassifier, {"measure": "average_precision"}),
        "AROW-K": (AROWClassifier, BALANCED),
        "FTRL, cut": (FTRLClassifier, BALANCED | {"max_iter": 1}),
        "OFS": (OFSClassifier, BALANCED | {"eta0": 0.2}),
        "SOFS": (SOFSClassifier, BALANCED | {"r": 1.0}),
    }
    found = {name: Learner(_selecting(kind, {**ORDERED, **params})) for name, (kind, params) in ours.items()}
    found["FGM"] = Learner(_selecting(FGMClassifier, BALANCED | {"fit_intercept": False}), stream=False)
    found["AROW, p surest"] = Learner(_surest_of_arow)
    found["L1-SVM"] = Learner(_l1_svm, stream=False)
    found["chi2 + logistic regression"] = Learner(_chi2, stream=False)
    found["L1 + logistic regression"] = Learner(_l1, stream=False)
    found["AROW, all features"] = Learner(lambda X, y, p: Weights.of(_arow().fit(X, y)))
    return found


# --- ours -------------------------------------------------------------------------------------------------------------


def _selecting(kind: Any, params: dict[str, Any]) -> Fit:
    def fit(X: Any, y: Any, p: int) -> Weights:
        return Weights.of(kind(n_features_to_select=p, **params).fit(X, y))

    return fit


def _surest_of_arow(X: Any, y: Any, p: int) -> Weights:
    """Plain AROW on all features, and of its weights those with the largest mean^2 / variance."""
    model = _arow().fit(X, y)
    surest = np.argsort(-(model.coef_[0] ** 2) / model.variance_[0], kind="stable")[:p]
    coef = np.zeros_like(model.coef_)
    coef[:, surest] = model.coef_[:, surest]
    return Weights(coef, np.atleast_1d(model.intercept_))


def _arow() -> Any:
    return AROWClassifier(**BALANCED, **ORDERED)


# --- peers ------------------------------------------------------------------------------------------------------------


def _l1_svm(X: Any, y: Any, p: int) -> Weights:
    def solve(penalty: float) -> Weights:
        model = LinearSVC(penalty="l1", dual=False, C=1 / penalty, tol=1e-3, random_state=0, **BALANCED)
        return Weights.of(model.fit(X, y))

    return searched(solve, 1.0, [p])[0]


def _l1(X: Any, y: Any, p: int) -> Weights:
    """The features that l1 logistic regression keeps, with weights of their own."""

    def solve(penalty: float) -> Weights:
        model = LogisticRegression(
            l1_ratio=1.0, solver="liblinear", C=1 / penalty, tol=1e-3, random_state=0, **BALANCED
        )
        return Weights.of(model.fit(X, y))

    return _refitted(X, y, np.flatnonzero(searched(solve, 1.0, [p])[0].coef[0]))


def _chi2(X: Any, y: Any, p: int) -> Weights:
    return _refitted(X, y, SelectKBest(chi2, k=min(p, X.shape[1])).fit(X, y).get_support(indices=True))


def _refitted(X: Any, y: Any, features: Any) -> Weights:
    """Logistic regression on these features, its C chosen by the average precision on the last rows."""
    few = X[:, features].toarray()
    n = int((1 - _CHOOSING) * len(y))

    def model(C: float, some: slice) -> Any:
        return LogisticRegression(C=C, max_iter=1000, **BALANCED).fit(few[some], y[some])

    later = slice(n, None)
    values = [average_precision_score(y[later], model(C, slice(n)).decision_function(few[later])) for C in CHOICES_OF_C]
    best = model(CHOICES_OF_C[int(np.argmax(values))], slice(None))
    coef = np.zeros((1, X.shape[1]))
    coef[0, features] = best.coef_[0]
    return Weights(coef, best.intercept_)
