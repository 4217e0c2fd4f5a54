"""PegasosSNDClassifier against its eager twin, step by step, and against the optimum of its objective."""

from __future__ import annotations

import copy

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import novelty as reference
from thresher import onepass
from thresher.novelty import PegasosSNDClassifier
from thresher.persistence import load_model, save_model
from thresher.training import merge_models
from variants import assert_same_bits, bits

LABELS = np.array(["a", "b", "c", "d"])


def stream(n_rows, n_classes=3, n_features=9, seed=0):
    """Sparse rows, codes of which the last is that of outliers, weights of which some are 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < np.geomspace(0.05, 0.9, n_features))
    codes = (X @ rng.normal(size=(n_features, n_classes)) + 0.3 * rng.normal(size=(n_rows, n_classes))).argmax(axis=1)
    codes[rng.random(n_rows) < 0.15] = n_classes
    codes[:n_classes] = np.arange(n_classes)
    return X, codes, rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.85)


def named(codes, n_classes):
    return np.append(LABELS[:n_classes], "none")[codes]


def make(alpha=0.05, **params):
    given = {"coupling": 1.5, "intercept_scaling": 0.7, "outlier_label": "none", "max_iter": 1, "shuffle": False}
    return PegasosSNDClassifier(alpha, **(given | params))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("alpha", [1e-4, 0.05])
@pytest.mark.parametrize("coupling", [1.05, 3.0, 30.0])  # with 3 the printed form forgets a part at steps 2 and 4 or 6
@pytest.mark.parametrize("variant", ["metric", "printed"])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_it_agrees_with_the_eager_twin_after_every_row(n_classes, alpha, coupling, variant, batch_size):
    X, codes, weight = stream(120, n_classes)
    model = make(alpha, coupling=coupling, variant=variant, batch_size=batch_size)
    rows, y, mistakes, size = sparse.csr_array(X), named(codes, n_classes), 0, 0.0
    Y = reference.signs(codes, n_classes)
    steps = reference.pegasos_snd(X, Y, weight, alpha, coupling, 0.7, variant == "printed", batch_size)
    for i, (scores, W) in enumerate(steps):
        own = model.class_scores(X[[i]])[0] if i else np.zeros(n_classes)
        assert_allclose(own, scores, rtol=1e-9, atol=1e-11 * size)
        mistakes += bool(weight[i]) and (own.argmax() if own.max() > 0 else n_classes) != codes[i]
        model.partial_fit(rows[[i]], y[[i]], sample_weight=weight[[i]], classes=LABELS[:n_classes])
        assert model.n_mistakes_ == mistakes
        size = max(size, np.abs(W).max())  # a part that is forgotten leaves rounding errors of its size in the twin
        assert_allclose(model.coef_, W[:-1].T, rtol=1e-9, atol=1e-12 * size)
        assert_allclose(model.intercept_, 0.7 * W[-1], rtol=1e-9, atol=1e-12 * size)
    assert_allclose(model.class_scores(X), np.c_[X, np.full(len(X), 0.7)] @ W, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("variant", ["metric", "printed"])
@pytest.mark.parametrize("batch_size", [1, 9])
def test_any_form_of_rows_gives_the_same_model(layout, dtype, variant, batch_size):
    X, codes, weight = stream(400)
    X = X.astype(dtype)
    Y, batches = reference.signs(codes, 3), {"batch_size": batch_size, "close_after": [399]}
    *_, (_, W) = reference.pegasos_snd(X.astype(float), Y, weight, 0.02, 1.5, 0.7, variant == "printed", **batches)
    model = make(0.02, variant=variant, batch_size=batch_size)
    model.fit(layout(X), named(codes, 3), sample_weight=weight)
    assert_allclose(model.coef_, W[:-1].T, rtol=1e-9, atol=1e-12)
    assert_allclose(model.norms_, np.linalg.norm(W, axis=0), rtol=1e-9)
    assert_allclose(model.cosines_, (W.T @ W) / np.outer(model.norms_, model.norms_), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("variant", ["metric", "printed"])
def test_norms_are_kept_along_over_a_long_stream_with_gaps(variant, batch_size):
    """Scales fall below 1e-150 on the way (alpha is small, rows are large) and are folded in."""
    X, codes, _ = stream(6000, 4, seed=3)
    X[:, 0] = 0
    X[[5, 3000, 5999], 0] = 2.0
    X, coupling, alpha = 30 * X, 12.0, 1e-7
    Y = reference.signs(codes, 4)
    *_, (_, W) = reference.pegasos_snd(X, Y, np.ones(6000), alpha, coupling, 0.7, variant == "printed", batch_size)
    model = make(alpha, coupling=coupling, variant=variant, batch_size=batch_size)
    lowest = 1.0
    for begin in range(0, 6000, 50):
        part = slice(begin, begin + 50)
        model.partial_fit(sparse.csr_array(X[part]), named(codes[part], 4), classes=LABELS)
        lowest = min(lowest, abs(model.state_.arrays["scale"][0, 0]))
    assert lowest < 1e-30
    assert_allclose(model.coef_, W[:-1].T, rtol=1e-6, atol=1e-9 * np.abs(W).max())
    common = W.mean(axis=1)
    assert_allclose(model.state_.arrays["common_square"][0, 0], 4 * common @ common, rtol=1e-8)
    assert_allclose(model.state_.arrays["square"][0, 0], np.sum((W - common[:, None]) ** 2), rtol=1e-8)


@pytest.fixture(scope="module")
def optimum():
    """Rows with their constant, Y, and the least value of the objective at strong repulsion."""
    X, codes, _ = stream(150, seed=7)
    A, Y, alpha, coupling = np.c_[X, np.ones(len(X))], reference.signs(codes, 3), 0.5, 1.2
    root = np.linalg.cholesky(reference.coupling_matrix(coupling, 3))
    W = cp.Variable((A.shape[1], 3))
    loss = cp.sum(cp.pos(1 - cp.multiply(Y, A @ W))) / len(A)
    problem = cp.Problem(cp.Minimize(alpha / 2 * cp.sum_squares(W @ root) + loss))
    problem.solve(cp.CLARABEL)
    return X, codes, A, Y, W.value, problem.value


def test_the_ball_holds_the_optimum_and_steps_in_the_metric_reach_it(optimum):
    X, codes, A, Y, W, least = optimum
    gamma = reference.coupling_matrix(1.2, 3)
    assert np.trace(W @ gamma @ W.T) <= 3 / 0.5
    model = make(0.5, coupling=1.2, intercept_scaling=1.0, shuffle=True, max_iter=400, random_state=0)
    model.fit(X, named(codes, 3))
    found = np.c_[model.coef_, model.intercept_].T
    paid = reference.coupled_hinge(found, A, Y, 0.5, 1.2)
    assert least - 1e-9 <= paid <= 1.001 * least


def test_the_printed_ball_shuts_the_optimum_out(optimum):
    X, codes, A, Y, W, least = optimum
    radius = np.sqrt(3 / (0.5 * (1.2 + 3 - 1)))
    assert np.linalg.norm(W) > radius
    model = make(0.5, coupling=1.2, intercept_scaling=1.0, shuffle=True, max_iter=400, random_state=0)
    model.set_params(variant="printed").fit(X, named(codes, 3))
    found = np.c_[model.coef_, model.intercept_].T
    assert np.linalg.norm(found) <= radius * (1 + 1e-9)
    assert reference.coupled_hinge(found, A, Y, 0.5, 1.2) > 1.01 * least


def test_a_refused_batch_leaves_no_trace():
    X, codes, _ = stream(60)
    for variant in ("metric", "printed"):  # the printed form forgets a part, of all features, in the refused batch
        model = make(variant=variant, coupling=63.0)
        model.partial_fit(sparse.csr_array(X), named(codes, 3), classes=LABELS[:3])
        before = bits(model.state_)
        bad = np.zeros((5, X.shape[1]))
        bad[:, 3] = 1e100
        with pytest.raises(FloatingPointError, match="overflowed at row"):
            model.partial_fit(sparse.csr_array(bad), list("abcab"), sample_weight=[1.0, 1.0, 1.0, 1e100, 1e100])
        assert bits(model.state_) == before


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("coupling", [1.3, 3.0, 20.0])
def test_the_printed_form_is_chunk_exact_and_survives_a_file_too(coupling, batch_size, tmp_path):
    """The metric form is among the variants of test_laws.py."""
    X, codes, weight = stream(60)
    X, y = sparse.csr_array(X), named(codes, 3)
    given = {"variant": "printed", "coupling": coupling, "batch_size": batch_size}
    whole = make(**given).partial_fit(X, y, classes=LABELS[:3], sample_weight=weight)
    for size in (1, 7):
        parts = make(**given)
        for begin in range(0, 60, size):
            at = slice(begin, begin + size)
            parts.partial_fit(X[at], y[at], classes=LABELS[:3], sample_weight=weight[at])
            save_model(parts, tmp_path / "m")
            parts = load_model(tmp_path / "m")
        assert_same_bits(parts.state_, whole.state_, skip=("tally",))


@pytest.mark.parametrize("batch_size", [1, 5])
def test_a_settled_model_is_the_same_and_merging_averages_weights(batch_size):
    X, codes, _ = stream(200)
    y = named(codes, 3)
    start = make(batch_size=batch_size).partial_fit(X[:50], y[:50], classes=LABELS[:3])
    learner, settled = onepass.learner(start, X.shape[1]), start.state_.copy()
    learner.settle(settled)
    assert settled.arrays["scale"][0, 0] == settled.arrays["common_scale"][0, 0] == 1
    assert_allclose(learner.weights(settled), learner.weights(start.state_), rtol=1e-12)
    one, two = (copy.deepcopy(start).partial_fit(X[a:b], y[a:b]) for a, b in ((50, 100), (100, 200)))
    merged = merge_models([one, two], start)  # by the rows that each has learned from
    assert_allclose(merged.coef_, (50 * one.coef_ + 100 * two.coef_) / 150, rtol=1e-10)
    W = np.c_[merged.coef_, merged.intercept_ / 0.7].T
    common = W.mean(axis=1)
    assert_allclose(merged.state_.arrays["common_square"][0, 0], 3 * common @ common, rtol=1e-10)
    assert_allclose(merged.state_.arrays["square"][0, 0], np.sum((W - common[:, None]) ** 2), rtol=1e-10)
    assert merged.state_.arrays["n_steps"][0, 0] == 200 / batch_size


def test_classes_of_the_first_batch_may_name_the_outliers():
    X, codes, _ = stream(60)
    y = named(codes, 3)
    with_label = make().partial_fit(X, y, classes=[*LABELS[:3], "none"])
    without = make().partial_fit(X, y, classes=LABELS[:3])
    assert_array_equal(with_label.classes_, LABELS[:3])
    assert_same_bits(with_label.state_, without.state_)
    with_label.partial_fit(X, y, classes=[*LABELS[:3], "none"])
    with pytest.raises(ValueError, match=r"PegasosSNDClassifier: classes must be those of the first call"):
        with_label.partial_fit(X, y, classes=LABELS)
    with pytest.raises(ValueError, match=r"PegasosSNDClassifier: y must hold labels among classes .* got 'z'"):
        with_label.partial_fit(X, ["z"] * 60)


def test_class_weights_reach_outliers_too():
    X, codes, _ = stream(60)
    y = named(codes, 3)
    weight = np.array([1.0, 2.0, 1.0, 5.0])[codes]
    by_class = make(class_weight={"b": 2.0, "none": 5.0}).fit(X, y)
    assert_same_bits(by_class.state_, make().fit(X, y, sample_weight=weight).state_)
    counts = np.bincount(codes)
    balanced = make(class_weight="balanced").fit(X, y)
    by_hand = make().fit(X, y, sample_weight=(60 / (4 * counts))[codes])
    assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-12)
    known = codes < 3
    balanced = make(class_weight="balanced").fit(X[known], y[known])
    by_hand = make().fit(X[known], y[known], sample_weight=(known.sum() / (3 * counts))[codes[known]])
    assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-12)
