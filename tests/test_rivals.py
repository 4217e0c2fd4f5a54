"""Several classes in one step, by the rule for two: a row of its class against the best of the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher.dual_averaging import FTRLClassifier, L1RDAClassifier
from thresher.persistence import load_model, save_model
from thresher.stochastic import PegasosClassifier
from thresher.training import merge_models
from variants import assert_same_bits

LEARNERS = [
    FTRLClassifier(eta0=0.5, alpha=0.3, l2=0.1),
    L1RDAClassifier(alpha=0.02, eta0=0.7),
    L1RDAClassifier(alpha=0.02, eta0=0.7, average=True, l2_weight=0.1),
    PegasosClassifier(alpha=0.05, average=False),
    PegasosClassifier(alpha=0.05, average="late", loss="logistic"),
]
IDS = ["ftrl", "l1rda", "l1rda-mean", "pegasos", "pegasos-mean"]
AUTOMATIC = [FTRLClassifier, L1RDAClassifier, PegasosClassifier]


def rows(n=120, d=6, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    return X, (X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))).argmax(axis=1)


def new(model, **params):
    return type(model)(**{**model.get_params(), **params})


def best_other(scores, code):
    return int(np.where(np.arange(len(scores)) == code, -np.inf, scores).argmax())


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("model", LEARNERS, ids=IDS)
def test_a_step_is_that_of_two_classes_on_a_row_and_its_negative(model, layout):
    """In one long vector of weights, x stands in the place of the class and -x in that of its rival."""
    X, y = rows()
    n_classes, width = y.max() + 1, X.shape[1]
    weight = np.random.default_rng(1).exponential(size=len(y))
    joint = new(model, multi_class="joint", fit_intercept=False, scale=False)
    joint.partial_fit(layout(X), y, classes=np.arange(n_classes), sample_weight=weight)
    read = new(model, fit_intercept=False, scale=False)
    last = new(read, average=False) if hasattr(read, "average") else read
    for i, (x, code) in enumerate(zip(X, y, strict=True)):
        weights = last.coef_.reshape(n_classes, width) if i else np.zeros((n_classes, width))
        both = np.zeros((n_classes, width))
        both[code], both[best_other(weights @ x, code)] = x, -x
        for each in {id(read): read, id(last): last}.values():
            each.partial_fit(both.reshape(1, -1), [1], classes=[0, 1], sample_weight=weight[i : i + 1])
    assert_allclose(joint.coef_, read.coef_.reshape(n_classes, width), rtol=1e-10, atol=1e-13)
    assert joint.n_updates_ == read.n_updates_


def test_constants_are_free_of_penalties():
    X, y = rows()
    alpha, eta0 = 0.05, 0.7
    model = L1RDAClassifier(alpha=alpha, eta0=eta0, multi_class="joint").partial_fit(X, y, classes=np.unique(y))
    total, level, value = np.zeros((4, 6)), np.zeros(4), model.intercept_scaling
    for t in range(len(y) + 1):
        scale = eta0 / np.sqrt(max(t, 1))
        W = -scale * np.sign(total) * np.maximum(np.abs(total) - alpha * t, 0)
        if t == len(y):
            break
        scores = W @ X[t] - scale * value * level
        b = best_other(scores, y[t])
        if scores[y[t]] - scores[b] < 1:
            for code, sign in ((y[t], -1), (b, 1)):
                total[code] += sign * X[t]
                level[code] += sign * value
    assert_allclose(model.coef_, W, rtol=1e-10, atol=1e-13)
    assert_allclose(model.intercept_, -scale * value * level, rtol=1e-10, atol=1e-13)


def test_free_constants_of_pegasos_do_not_shrink():
    X, y = rows()
    options = {"projection": False, "penalize_intercept": False, "multi_class": "joint"}
    model = PegasosClassifier(0.1, **options).partial_fit(X, y, classes=np.unique(y))
    W, c, value = np.zeros((4, 6)), np.zeros(4), model.intercept_scaling
    for t in range(1, len(y) + 1):
        x, code = X[t - 1], y[t - 1]
        scores = W @ x + value * c
        b, step = best_other(scores, code), 1 / (0.1 * t)
        W *= 1 - 1 / t
        if scores[code] - scores[b] < 1:
            W[code] += step * x
            W[b] -= step * x
            c[code] += step * value
            c[b] -= step * value
    assert_allclose(model.coef_, W, rtol=1e-10, atol=1e-12)
    assert_allclose(model.intercept_, value * c, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", AUTOMATIC)
def test_an_automatic_step_learns_classes_jointly_and_a_number_as_published(cls):
    X, y = rows(300)
    model = cls(random_state=0).fit(X, y)
    assert model.multi_class_ == "joint"
    apart = cls(random_state=0, multi_class="one_vs_rest").fit(X, y)
    assert apart.multi_class_ == "one_vs_rest"
    assert not np.allclose(model.coef_, apart.coef_)
    step = cls._raced.name
    numbers = [
        cls(**{step: 0.1}, multi_class=form).partial_fit(X, y, classes=np.unique(y)) for form in ("auto", "one_vs_rest")
    ]
    assert_array_equal(numbers[0].coef_, numbers[1].coef_)
    two = cls(random_state=0).fit(X, y > 1)
    assert_array_equal(two.coef_, cls(random_state=0, multi_class="one_vs_rest").fit(X, y > 1).coef_)


@pytest.mark.parametrize("cls", AUTOMATIC)
def test_chunks_files_and_settled_values_give_the_same_model(cls, tmp_path):
    X, y = rows(300)
    X = sparse.csr_array(X)
    whole = cls().partial_fit(X, y, classes=np.unique(y))
    parts = cls()
    for at in range(0, 300, 37):
        parts.partial_fit(X[at : at + 37], y[at : at + 37], classes=np.arange(4))
    assert_same_bits(parts.state_, whole.state_)
    save_model(parts, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), whole.predict_proba(X))
    assert again.partial_fit(X, y, classes=np.unique(y)).multi_class_ == "joint"
    assert whole._settled()["multi_class"] == "joint"


@pytest.mark.parametrize("cls", AUTOMATIC)
def test_shards_merge(cls):
    X, y = rows(600)
    start = cls().partial_fit(X[:200], y[:200], classes=np.arange(4))
    reached = [
        cls().partial_fit(X[:200], y[:200], classes=np.arange(4)).partial_fit(X[at], y[at])
        for at in (slice(200, 400), slice(400, 600))
    ]
    merged = merge_models(reached, start)
    assert merged.n_samples_seen_ == 600
    assert merged.score(X, y) > max(start.score(X, y), 0.5) - 0.05


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (FTRLClassifier(debias=True), "debias=True"),
        (L1RDAClassifier(n_features_to_select=3), "n_features_to_select"),
        (L1RDAClassifier(alpha="auto"), 'alpha="auto"'),
        (L1RDAClassifier(batch_size=2), "batch_size above 1"),
        (PegasosClassifier(alpha=[0.1] * 6), "an alpha for each feature"),
        (PegasosClassifier(alpha=0.1, intercept="mean"), 'intercept="mean"'),
    ],
)
def test_where_there_is_no_joint_form_each_class_learns_against_the_rest(model, words):
    X, y = rows()
    assert new(model).partial_fit(X, y, classes=np.arange(4)).multi_class_ == "one_vs_rest"
    with pytest.raises(ValueError, match=f'multi_class must be "one_vs_rest" or "auto" with {words}, got "joint"'):
        new(model, multi_class="joint").partial_fit(X, y, classes=np.arange(4))


def test_files_without_a_form_are_of_classes_against_the_rest():
    assert FTRLClassifier._from_file({"eta0": "auto"})["multi_class"] == "one_vs_rest"
