"""Shapley values of columns: those of the definition, and scores of kernel models that they add up to."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher._gate import Table, Text
from thresher.inspection import _shapley, contributions, reasons
from thresher.inspection._shapley import draw_background, shapley_values
from thresher.kernels import LSSVC, RBF, FixedSizeNystroem, LeastSquaresClassifier, LeastSquaresRegressor
from thresher.mkl import GMKLClassifier, GMKLRegressor
from thresher.novelty import LSSNDClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline, prepared
from thresher.semi_supervised import LapSVC, SemiKSC

GROUPS = np.array([0, 1, 1, 2, 0])


def score(X):
    """Two outputs with interactions."""
    X = X.toarray() if sparse.issparse(X) else X
    return np.column_stack([np.sin(2 * X[:, 0] + X[:, 1] * X[:, 3]) + X[:, 2], X[:, 4] * X[:, 1] * X[:, 3] + 3])


def by_definition(z, background, groups, n_groups, score=score):
    """The mean change over all orders and all background rows."""
    parts, orders = 0.0, list(itertools.permutations(range(n_groups)))
    for b, order in itertools.product(background, orders):
        now, change = b.copy(), np.zeros((score(z[None]).shape[1], n_groups))
        for g in order:
            before = score(now[None])[0]
            now[groups == g] = z[groups == g]
            change[:, g] = score(now[None])[0] - before
        parts = parts + change / (len(background) * len(orders))
    return parts


def rows_and_background():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, 5)), rng.normal(size=(4, 5))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_values_of_few_groups_are_those_of_the_definition(layout):
    Z, background = rows_and_background()
    Z[0, 3], background[2, 1] = 0.0, 0.0  # sparse rows do not store these
    Z[1, 3] = background[1, 3]
    parts, baseline, n_background = shapley_values(score, layout(Z), layout(background), GROUPS, 3)
    expected = [by_definition(z, background, GROUPS, 3) for z in Z]
    assert_allclose(parts, expected, rtol=1e-10, atol=1e-12)
    assert_allclose(baseline, score(background).mean(axis=0), rtol=1e-12)
    assert n_background == 4


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_drawn_orders_estimate_them_without_bias(layout, monkeypatch):
    monkeypatch.setattr(_shapley, "_MOST_SCORED", 31)
    Z, background = rows_and_background()
    drawn = [shapley_values(score, layout(Z), layout(background), GROUPS, 3, seed=seed) for seed in range(60)]
    parts = np.array([parts for parts, _, _ in drawn])
    expected = [by_definition(z, background, GROUPS, 3) for z in Z]
    errors = parts.std(axis=0, ddof=1) / np.sqrt(len(parts))
    assert errors.max() > 1e-3  # they differ
    assert (np.abs(parts.mean(axis=0) - expected) <= 4 * errors + 1e-12).all()
    for each, baseline, _ in drawn:  # each adds up
        assert_allclose(baseline + each.sum(axis=2), score(Z), rtol=1e-12)


def test_blocks_of_mixed_rows_leave_no_trace(monkeypatch):
    Z, background = rows_and_background()
    whole = shapley_values(score, Z, background, GROUPS, 3)[0]
    monkeypatch.setattr(_shapley, "_MOST_VALUES", 20)
    assert_allclose(shapley_values(score, Z, background, GROUPS, 3)[0], whole, rtol=1e-13)


def test_the_background_is_some_of_the_rows_and_always_the_same():
    kept = np.arange(1000.0)[:, None]
    drawn = draw_background(kept)
    assert_array_equal(drawn, draw_background(kept))
    assert len(np.unique(drawn)) == 64
    assert_array_equal(draw_background(kept[:64]), kept[:64])


# --- kernel models ----------------------------------------------------------------------------------------------------


def problem(d=5, n=200):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, np.sin(2 * X[:, 0] + X[:, 1] * X[:, 2])


def few_labels(y):
    return np.where(np.arange(len(y)) < 60, (y > 0).astype(int), -1)


def behind_map(*between):
    steps = [("scale", RunningScaler()), ("map", FixedSizeNystroem(n_components=40, random_state=0)), *between]
    return StreamingPipeline([*steps, ("learn", LeastSquaresClassifier())])


KERNELS = [RBF(0.5, features=j) for j in range(5)]
MODELS = {
    "lssvc": lambda X, y: LSSVC().fit(X, y > 0),
    "three classes": lambda X, y: LSSVC().fit(X, np.digitize(y, [-0.5, 0.5])),
    "lapsvc": lambda X, y: LapSVC().fit(X, few_labels(y)),
    "semiksc": lambda X, y: SemiKSC().fit(X, few_labels(y)),
    "novelty": lambda X, y: LSSNDClassifier().fit(X, np.digitize(y, [-0.5, 0.5])),
    "several kernels": lambda X, y: GMKLClassifier(KERNELS).fit(3 + 2 * X, y > 0),
    "several kernels, values": lambda X, y: GMKLRegressor(KERNELS).fit(X, y),
    "landmarks": lambda X, y: behind_map().fit(X, y > 0),
    "landmarks, then a scaler": lambda X, y: behind_map(("again", RunningScaler())).fit(X, y > 0),
    "values": lambda X, y: make_pipeline(
        StandardScaler(), FixedSizeNystroem(n_components=40, random_state=0), LeastSquaresRegressor()
    ).fit(X, y),
}


@pytest.mark.parametrize("d", [5, 12])
@pytest.mark.parametrize("kind", MODELS)
def test_parts_of_columns_add_up_to_scores(kind, d):
    X, y = problem(d)
    model = MODELS[kind](X, y)
    found = contributions(model, X[:3])
    scores = model.decision_function(X[:3]) if hasattr(model, "decision_function") else model.predict(X[:3])
    assert_allclose(found.scores, scores.reshape(3, -1), rtol=1e-9, atol=1e-12)
    assert set(found.names) <= {f"x{j + 1}" for j in range(d)}
    assert found.similarities is None
    assert 0 < found.n_background <= 64


def test_parts_of_a_kernel_machine_are_those_of_the_definition():
    X, y = problem(3, 30)
    model = LSSVC().fit(X, y > 0)
    expected = by_definition(X[7], X, np.arange(3), 3, lambda Z: model.decision_function(Z)[:, None])
    assert_allclose(contributions(model, X[7:8]).parts[0], expected, rtol=1e-9, atol=1e-12)


def test_background_rows_of_several_kernels_are_in_the_units_of_the_rows():
    """The model keeps them standardised."""
    X, y = problem(3, 30)
    model = GMKLClassifier(KERNELS[:3]).fit(100 + 10 * X, y > 0)
    found = contributions(model, 100 + 10 * X[:1])
    kept = 100 + 10 * X[model.support_]
    assert_allclose(found.baseline, model.decision_function(kept).mean(), rtol=1e-9)


@pytest.mark.parametrize("d", [5, 12])
def test_columns_that_the_kernel_ignores_have_no_part(d):
    X, y = problem(d)
    model = LSSVC(kernel=RBF(0.5, features=[0, 1, 2])).fit(X, y > 0)
    assert contributions(model, X[:5]).names == ["x1", "x2", "x3"]
    parts, _, _ = shapley_values(lambda Z: model.decision_function(Z)[:, None], X[:5], X[10:60], np.arange(d), d)
    assert_array_equal(parts[:, :, 3:], 0.0)
    assert (parts[:, :, :3] != 0).all()


@pytest.mark.parametrize(("d", "is_exact"), [(3, True), (12, False)])
def test_columns_that_mean_the_same_have_equal_parts(d, is_exact):
    X, _ = problem(d, 30)
    X = np.concatenate([X, X[:, [1, 0, *range(2, d)]]])  # the first two may change places
    model = LSSVC().fit(X, X[:, 0] * X[:, 1] + X[:, 2] > 0)
    z = X[:1].copy()
    z[0, 1] = z[0, 0] = 1.0
    drawn = [
        shapley_values(lambda Z: model.decision_function(Z)[:, None], z, X, np.arange(d), d, seed)[0][0, 0]
        for seed in range(1 if is_exact else 20)
    ]
    first, second = np.array(drawn)[:, :2].T
    error = 1e-12 if is_exact else 4 * np.std(first - second, ddof=1) / np.sqrt(len(drawn))
    assert abs((first - second).mean()) <= error
    assert abs(first.mean()) > 10 * error


@pytest.mark.parametrize(("d", "most"), [(20, 0.02), (100, 0.04)])
def test_the_sampling_error_of_many_columns_is_a_few_percent_of_the_largest_part(d, most):
    X, y = problem(d, 500)
    model = LSSVC(probability="none").fit(X, y > 0)
    drawn = [
        shapley_values(lambda Z: model.decision_function(Z)[:, None], X[:3], X[100:164], np.arange(d), d, seed)[0][:, 0]
        for seed in range(6)
    ]
    errors = np.sqrt(np.var(drawn, axis=0, ddof=1).mean(axis=1)) / np.abs(np.mean(drawn, axis=0)).max(axis=1)
    assert 0 < errors.mean() < most


def table(n=300):
    rng = np.random.default_rng(0)
    days, job, note = rng.integers(19_000, 20_000, n).astype(float), rng.integers(0, 3, n), rng.integers(0, 2, n)
    texts = {
        "job": Text.from_list(np.array(["cook", "clerk", "smith"])[job].tolist()),
        "note": Text.from_list([f"a {'good' if k else 'bad'} note number {i} of mine" for i, k in enumerate(note)]),
    }
    X = Table(["day", "pay", "job", "note"], np.column_stack([days, rng.normal(size=n)]), texts, ("day",))
    return X, np.abs(days - 19_500) / 250 - 1 + (job == 1) * X["pay"] + note


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [LSSVC(), LSSVC(kernel="linear")], ids=["rbf", "linear"])
def test_features_of_dates_categories_and_words_belong_to_their_columns(learner, n_classes):
    X, y = table()
    model = prepared(learner, X).fit(X, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)))
    found = contributions(model, X[:4])
    assert sorted(found.names) == ["day", "job", "note", "pay"]
    assert_allclose(found.scores, model.decision_function(X[:4]).reshape(4, -1), rtol=1e-9, atol=1e-12)
    values = {part.name: part.value for part in reasons(model, X[2:3])[0].parts}
    assert (values["job"], values["pay"]) == (X["job"][2], X["pay"][2])


def test_sparse_rows_have_the_parts_of_dense_ones():
    X, y = problem(12)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    a = contributions(LSSVC().fit(X, y > 0), X[:3])
    b = contributions(LSSVC().fit(sparse.csr_array(X), y > 0), sparse.csr_array(X[:3]))
    assert sorted(a.names) == sorted(b.names)
    assert_allclose(a.scores, b.scores, rtol=1e-9)
    largest = np.abs(a.parts).max()
    assert_allclose(a.parts, b.parts[:, :, [b.names.index(name) for name in a.names]], rtol=0, atol=0.1 * largest)


def test_frames_keep_their_names_and_nothing_warns(recwarn):
    X, y = problem()
    X = pd.DataFrame(X, columns=list("vwxyz"))
    for model in (LSSVC(), behind_map(), StreamingPipeline(behind_map().steps[1:])):
        assert contributions(model.fit(X, y > 0), X[:2]).names == list("vwxyz")
    assert not recwarn.list


def test_parts_are_the_same_each_time_and_from_a_file(tmp_path):
    X, y = problem(12)
    model = behind_map().fit(X, y > 0)
    save_model(model, tmp_path / "m.thresher")
    first = contributions(model, X[:3])
    for each in (model, load_model(tmp_path / "m.thresher")):
        assert_array_equal(contributions(each, X[:3]).parts, first.parts)
    assert_allclose(contributions(model, X[1:2]).parts[0], first.parts[1], rtol=1e-9, atol=1e-12)  # of others too


def test_features_of_a_column_may_have_parts_of_their_own():
    X, y = table()
    X = Table(["pay", "job"], X.numbers[:, 1:], {"job": X.text["job"]})
    found = contributions(prepared(LSSVC(), X).fit(X, y > 0), X[:4], by="feature")
    assert sorted(found.names) == ["job=clerk", "job=cook", "job=smith", "pay"]


def test_wide_sparse_rows_have_parts_of_training_rows_and_precomputed_kernels_none():
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 500), density=0.02, rng=rng, format="csr")
    y = np.arange(60) % 2
    found = contributions(LSSVC().fit(X, y), X[:2])
    assert found.names[0] == "training row 1"
    assert found.n_background == 0
    assert found.similarities is not None
    K = (X @ X.T).toarray()
    with pytest.raises(ValueError, match="contributions: model must have weights or one kernel, got LSSVC"):
        contributions(LSSVC(kernel="precomputed").fit(K, y), K[:2])


def test_reasons_say_what_parts_are():
    X, y = problem()
    assert "replace those of 40 training rows" in reasons(behind_map().fit(X, y > 0), X[:1])[0].meaning
    assert not reasons(LeastSquaresClassifier().fit(X, y > 0), X[:1])[0].meaning


@pytest.mark.parametrize(
    ("rows", "message"),
    [(np.full((2, 3), np.nan), "NaN in row 0, column 0"), (np.ones((2, 2)), "2 features, but LSSVC is expecting 3")],
)
def test_rows_that_the_model_refuses_are_refused_in_its_words(rows, message):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = LSSVC().fit(X, X[:, 0] * X[:, 1] > 0)
    with pytest.raises(ValueError, match=message):
        contributions(model, rows)
