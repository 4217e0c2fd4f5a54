"""Law 1: scikit-learn's contract, over the whole registry and the variants that reach other code paths."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from strict_checks import parametrize_with_checks
from thresher.confidence import ASCWClassifier, BCWClassifier, SBCWClassifier
from thresher.novelty import PegasosSNDClassifier
from thresher.online import (
    AROWClassifier,
    CSOALClassifier,
    CWClassifier,
    MBPAClassifier,
    NAROWClassifier,
    NHERDClassifier,
    OFSClassifier,
    PAClassifier,
    SOFSClassifier,
)
from thresher.stochastic import PegasosClassifier
from variants import models

ORDER = "An online learner sees rows in order: a repeated row is two updates, a doubled weight is one."


def exemptions(model: Any) -> dict[str, str]:
    """Checks that cannot hold, each with its reason."""
    no = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), ORDER
    )
    weights_7_decades_apart = "check_class_weight_classifiers"
    if isinstance(model, AROWClassifier | SOFSClassifier) and not model.fit_intercept:
        no[weights_7_decades_apart] = "Without a constant term no class can win everywhere."
    if isinstance(model, BCWClassifier) and not model.fit_intercept:
        no[weights_7_decades_apart] = "Without a constant term no class can win everywhere."
    if isinstance(model, CWClassifier):
        no[weights_7_decades_apart] = "The constraint is hard, so that a row weight makes no difference."
    if isinstance(model, NAROWClassifier | NHERDClassifier) and model.diagonal == "precision":
        no[weights_7_decades_apart] = "A row of weight 1000 ends all doubt about its features, right or wrong."
    if isinstance(model, SBCWClassifier | ASCWClassifier) and not model.fit_intercept:
        no[weights_7_decades_apart] = "Without a constant term no class can win everywhere."
    if isinstance(model, ASCWClassifier) and model.faithful:
        no["check_classifiers_train"] = "Batches of 8 rows with the constants of the paper come to too little here."
    if isinstance(model, MBPAClassifier | CSOALClassifier) and model.cost is not None:
        no["check_classifiers_train"] = "A mistake on the second class costs more: it is named below 1/2."
    if isinstance(model, PAClassifier) and model.variant == "hard":
        no[weights_7_decades_apart] = "A row weight multiplies C, and the hard variant has none."
    if (
        isinstance(model, PAClassifier)
        and model.variant == "I"
        and model.intercept_scaling == 0.1
        and model.C != "auto"
    ):
        no[weights_7_decades_apart] = "A constant of 0.1 beside features of size 20 moves too slowly to win everywhere."
    if isinstance(model, CSOALClassifier | MBPAClassifier) and model.C != "auto":
        no[weights_7_decades_apart] = "The same constant of 0.1; one of 1 wins."
    if isinstance(model, OFSClassifier) and model.eta0 != "auto":
        no[weights_7_decades_apart] = (
            "A weight of 1000 makes steps longer than 1 / alpha, which forget everything; alpha=1e-8, eta0=1e-3 passes."
        )
    if isinstance(model, PegasosClassifier) and model.alpha == 1e-4 and model.penalize_intercept and model.projection:
        no[weights_7_decades_apart] = (
            "Steps of up to 1000 |x| / alpha on unscaled rows: neither the last iterate nor the mean of all has "
            "settled after 1000 passes (the recursion in plain NumPy says the same)."
        )
    if isinstance(model, PegasosClassifier) and model.intercept != "feature":
        no[weights_7_decades_apart] = (
            "The heavy class has its target as its mean score, however far its rows scatter around it (the recursion "
            "in plain NumPy says the same)."
        )
    if isinstance(model, PegasosSNDClassifier) and model.reject:
        no["check_classifiers_train"] = "A row may be predicted to be of no class, whatever its largest score is."
        no["check_classifiers_classes"] = "-1 is a class there, and the label of outliers here."
        no[weights_7_decades_apart] = "Rows of classes that hardly count are rejected."
    return no


def fitting_any_width(model: Any) -> Any:
    """scikit-learn's checks pass from one column on."""
    return model.set_params(groups=[[0]]) if getattr(model, "groups", None) is not None else model


@parametrize_with_checks([fitting_any_width(m) for m in models()], expected_failed_checks=exemptions, xfail_strict=True)
def test_scikit_learns_contract(estimator, check):
    whole = estimator._exactness == "call" and not isinstance(estimator, PegasosClassifier)
    if check.func.__name__ == "check_class_weight_classifiers" and whole:
        estimator = clone(estimator).set_params(batch_size=None)  # 1000 passes: batches of 8 rows would take minutes
    check(estimator)


def test_users_may_subclass_an_estimator():
    from thresher.online import AROWClassifier

    class Careful(AROWClassifier):
        """An AROW of a user."""

    assert Careful(r=2.0).get_params()["r"] == 2.0
    assert Careful.__doc__.startswith("An AROW of a user.")
