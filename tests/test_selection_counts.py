"""``n_features_to_select`` limits the features of the whole model, whatever the number of classes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier

from thresher import registry
from thresher._engine import largest
from thresher._estimators import is_fitted
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier, OFSClassifier, SCWClassifier, SOFSClassifier
from thresher.persistence import load_model, save_model
from thresher.training import merge_models

ESTIMATORS = {
    name: cls
    for name, cls in registry.estimators().items()
    if "n_features_to_select" in inspect.signature(cls).parameters and is_classifier(cls())
}
PER_CLASS = {name: cls for name, cls in ESTIMATORS.items() if "selection" in inspect.signature(cls).parameters}
STREAMS = {name: cls for name, cls in ESTIMATORS.items() if hasattr(cls, "partial_fit")}
MORE: dict[str, list[dict[str, Any]]] = {
    "arow": [{"r": "auto"}],
    "cw": [{"covariance": "full"}],
    "scw": [{"covariance": "full"}, {"diagonal": "precision"}],
    "sop": [{"covariance": "full"}],
    "l1rda": [{"debias": True}, {"batch_size": 8}],
    "adaptivel1rda": [{"batch_size": 8}],
    "reweightedl1rda": [{"batch_size": 8}],
    "ftrl": [{"debias": True}],
    "sbcw": [{"n_groups": 2, "refit": False}, {"fit_intercept": True}],
    "ascw": [{"n_costs": 2}],
    "poolcw": [{"cost": 0.5, "fit_intercept": True}, {"cost": 0.5, "scout": True}],
}
N_FEATURES = 30

counts = pytest.mark.parametrize("n", [1, 2, 5, 11])
classes = pytest.mark.parametrize("n_classes", [3, 5])


def over(found):
    cases = [(cls, more) for name, cls in found.items() for more in ({}, *MORE.get(name, []))]
    return pytest.mark.parametrize("cls, more", cases, ids=[f"{cls.__name__}-{more}" for cls, more in cases])


def problem(n_classes: int, n_rows: int = 240) -> tuple[Any, Any]:
    """Each class has features of its own, so that sets of single classes add up to many."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, N_FEATURES)) * (rng.random((n_rows, N_FEATURES)) < 0.5)
    centres = rng.normal(size=(N_FEATURES, n_classes)) * (rng.random((N_FEATURES, n_classes)) < 0.4)
    y = (X @ centres + 0.3 * rng.normal(size=(n_rows, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def make(cls: type[Any], n: int, **more: Any) -> Any:
    model = cls(n_features_to_select=n, **more)
    seeded = {"random_state": 0} if "random_state" in model.get_params() else {}
    return model.set_params(**seeded)


def assert_few(model: Any, n: int, X: Any) -> None:
    assert len(model.support_) <= n
    unused = np.setdiff1d(np.arange(N_FEATURES), model.support_)
    assert not model.coef_[:, unused].any()
    scores = model.decision_function(X)
    assert_allclose(scores, X @ model.coef_.T + model.intercept_, rtol=1e-9, atol=1e-9)
    changed = X.copy()
    changed[:, unused] = 7.0
    assert_array_equal(model.decision_function(changed), scores)
    if hasattr(model, "predict_confidence"):
        assert_allclose(model.predict_confidence(changed), model.predict_confidence(X), rtol=1e-9)


@over(ESTIMATORS)
@classes
@counts
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_uses_at_most_so_many_features(cls, more, n, n_classes):
    X, y = problem(n_classes)
    assert_few(make(cls, n, **more).fit(X, y), n, X)


@over(STREAMS)
@classes
@counts
def test_every_batch_leaves_at_most_so_many_features(cls, more, n, n_classes):
    X, y = problem(n_classes)
    model = make(cls, n, **more)
    for i in range(0, len(y), 60):
        model.partial_fit(sparse.csr_array(X[i : i + 60]), y[i : i + 60], classes=np.arange(n_classes))
        assert_few(model, n, X)


@over(STREAMS)
@classes
def test_a_merged_and_a_loaded_model_use_at_most_so_many_features(cls, more, n_classes, tmp_path):
    X, y = problem(n_classes)
    shards = [make(cls, 4, **more).partial_fit(X[k::2], y[k::2], classes=np.arange(n_classes)) for k in range(2)]
    merged = merge_models(shards)
    assert_few(merged, 4, X)
    save_model(merged, tmp_path / "m.thresher")
    loaded = load_model(tmp_path / "m.thresher")
    assert_few(loaded, 4, X)
    assert_array_equal(loaded.coef_, merged.coef_)


@over(PER_CLASS)
@classes
def test_per_class_every_class_has_so_many_of_its_own(cls, more, n_classes):
    X, y = problem(n_classes)
    apart = make(cls, 3, selection="class", **more).fit(X, y)
    assert (np.count_nonzero(apart.coef_, axis=1) <= 3).all()
    if cls is not SOFSClassifier:  # it ranks by variances, which hardly depend on the class
        assert len(apart.support_) > 3
    if is_fitted(apart) and hasattr(apart, "state_"):  # only what is read differs, and may be changed any time
        together = make(cls, 3, **more).fit(X, y)
        assert len(together.support_) <= 3
        assert_array_equal(apart.set_params(selection="model").coef_, together.coef_)


@over(PER_CLASS)
def test_with_two_classes_there_is_no_difference(cls, more):
    X, y = problem(2)
    model, apart = (make(cls, 3, selection=selection, **more).fit(X, y) for selection in ("model", "class"))
    assert_array_equal(model.coef_, apart.coef_)
    assert_array_equal(model.decision_function(X), apart.decision_function(X))


def test_features_are_ranked_by_their_largest_weight():
    X, y = problem(5)
    for cls in (L1RDAClassifier, OFSClassifier):
        apart, together = (make(cls, 6, selection=selection).fit(X, y) for selection in ("class", "model"))
        sizes = np.abs(apart.coef_).max(axis=0)
        assert_array_equal(together.support_, np.sort(np.argsort(-sizes, kind="stable")[:6]))
        assert_array_equal(together.coef_[:, together.support_], apart.coef_[:, together.support_])


def test_confident_learners_rank_by_the_sum_of_their_evidence_and_all_classes_read_the_same_features():
    X, y = problem(5)
    for options in ({}, {"covariance": "full"}):
        whole = SCWClassifier(1.0, random_state=0, **options).fit(X, y)
        few = make(SCWClassifier, 6, C=1.0, **options).fit(X, y)
        evidence = (whole.coef_**2 / whole.variance_).sum(axis=0)
        assert_array_equal(few.support_, np.sort(np.argsort(-evidence, kind="stable")[:6]))
        assert_array_equal(few.coef_[:, few.support_], whole.coef_[:, few.support_])


def test_the_number_may_be_chosen_automatically():
    X, y = problem(5)
    model = AROWClassifier(n_features_to_select="auto", random_state=0).fit(X, y)
    assert len(model.support_) <= model.n_features_to_select_


def test_the_largest_values_are_marked_the_first_of_equal_ones():
    assert_array_equal(np.flatnonzero(largest(np.array([1.0, 3.0, 2.0, 3.0, 0.0]), 2)), [1, 3])
    assert_array_equal(np.flatnonzero(largest(np.array([2.0, 2.0, 5.0, 2.0]), 2)), [0, 2])
    assert_array_equal(np.flatnonzero(largest(np.array([0.0, np.inf, 0.0, 1.0]), 3)), [1, 3])
