"""Paths of penalties: each model is the one that would have learned alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from thresher.dual_averaging import AdaptiveL1RDAClassifier, FTRLClassifier, L1RDAClassifier, L1RDARegressor
from thresher.online import PAClassifier
from thresher.paths import penalty_path
from thresher.persistence import load_model, save_model
from thresher.streams import open_stream, write_svmlight
from variants import assert_same_bits

ALPHAS = [0.2, 0.05, 0.01, 1e-4]


def batches(X, y, size=20):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def alone(estimator, X, y, **first):
    model = clone(estimator)
    for Xi, yi in batches(X, y):
        model.partial_fit(Xi, yi, **first)
        first = {}
    return model


def test_every_model_of_a_path_is_the_one_that_learned_alone(problem, layout):
    X, y = problem
    path = penalty_path(L1RDAClassifier(eta0=0.3), ALPHAS, batches(layout(X), y), classes=[-1, 1])
    for alpha, model in zip(ALPHAS, path.models, strict=True):
        assert_same_bits(model.state_, alone(L1RDAClassifier(alpha, eta0=0.3), layout(X), y, classes=[-1, 1]).state_)
    assert_array_equal(path.n_features, [len(m.support_) for m in path.models])
    assert path.best == int(np.argmin([m.progressive_loss_ for m in path.models]))
    assert (np.diff(path.n_features) >= 0).all()


def test_a_path_reads_a_file_once(problem, tmp_path):
    X, y = problem
    write_svmlight(tmp_path / "rows.svm", sparse.csr_array(X), y)
    stream = open_stream(tmp_path / "rows.svm", batch_size=20)
    path = penalty_path(L1RDAClassifier(eta0=0.3), ALPHAS, stream)
    for model in path.models:
        assert model.n_samples_seen_ == len(y)


def test_the_penalty_of_ftrl_is_alpha(problem):
    X, y = problem
    path = penalty_path(FTRLClassifier(), [3.0, 0.1], batches(X, y), classes=[-1, 1])
    assert path.parameter == "alpha"
    assert path.n_features[0] < path.n_features[1]
    assert "alpha" in str(path)
    assert "<- least" in str(path)


def test_within_takes_the_fewest_features_of_the_good_ones(regression):
    X, y = regression
    path = penalty_path(L1RDARegressor(), [0.5, 0.1, 1e-3], batches(X, y))
    good = path.progressive_loss <= 1.5 * path.progressive_loss.min()
    assert len(path.within(0.5).support_) == path.n_features[good].min()
    assert path.within(0.0) is path.best_model


@pytest.mark.parametrize(
    "estimator, alphas, stream, says",
    [
        (L1RDAClassifier(), [], [], "alphas must be a list of at least one number"),
        (L1RDAClassifier(), ["a"], [], "alphas must be numbers"),
        (L1RDAClassifier(), [0.1], [], "at least one batch"),
        (L1RDAClassifier(), [0.1], [np.ones(3)], "must yield batches"),
        (PAClassifier(), [0.1], [], "must have a penalty"),
        (np.ones(3), [0.1], [], "must have partial_fit"),
    ],
)
def test_what_makes_no_path_is_refused(estimator, alphas, stream, says):
    with pytest.raises(ValueError, match=says):
        penalty_path(estimator, alphas, stream)


# --- alpha="auto" -----------------------------------------------------------------------------------------------------

AUTOMATIC = [
    L1RDAClassifier("auto", eta0=0.3),
    AdaptiveL1RDAClassifier("auto", eta0=1.0, loss="logistic"),
    FTRLClassifier(alpha="auto", eta0=0.3),
]


@pytest.mark.parametrize("automatic", AUTOMATIC, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("data", ["problem", "three_classes"])
def test_an_automatic_penalty_is_that_of_the_model_with_the_least_progressive_loss(request, automatic, data):
    X, y = request.getfixturevalue(data)
    X, y = X[:32], y[:32]  # after so many rows it is chosen anew
    model = alone(automatic, X, y, classes=np.unique(y))
    path = penalty_path(automatic, model.path_["penalty"], batches(X, y), classes=np.unique(y))
    assert_allclose(model.path_["progressive_loss"], path.progressive_loss, rtol=1e-13)
    assert_array_equal(model.path_["n_features"], path.n_features)
    assert model.penalty_ == path.penalties[path.best]
    best = path.best_model
    assert_array_equal(model.coef_, best.coef_)
    assert_array_equal(model.intercept_, best.intercept_)
    assert_array_equal(model.decision_function(X), best.decision_function(X))
    assert model.n_updates_ == best.n_updates_
    assert len(model.support_) > 0


def test_an_automatic_penalty_survives_saving(problem, tmp_path):
    X, y = problem
    model = alone(AUTOMATIC[0], X, y, classes=[-1, 1])
    save_model(model, tmp_path / "model.thresher")
    loaded = load_model(tmp_path / "model.thresher")
    assert_same_bits(loaded.state_, model.state_)
    assert loaded.penalty_ == model.penalty_


def test_an_automatic_penalty_cannot_become_a_number_under_way(problem):
    X, y = problem
    model = alone(AUTOMATIC[0], X, y, classes=[-1, 1]).set_params(alpha=0.1)
    with pytest.raises(ValueError, match="a parameter that affects training has changed"):
        model.partial_fit(X, y)


def test_an_automatic_penalty_and_a_number_of_features_exclude_each_other(problem):
    with pytest.raises(ValueError, match='alpha must be a number when n_features_to_select is given, got "auto"'):
        L1RDAClassifier("auto", n_features_to_select=3).fit(*problem)


def test_threads_leave_no_trace_in_a_path(three_classes):
    X, y = three_classes
    one, two = (L1RDAClassifier("auto", n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    assert_same_bits(one.state_, two.state_)
