"""Dense rows are scaled before batch learners see them: beside published learners of rows that NumPy has scaled."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import rounds
from thresher.confidence import ASCWClassifier, BCWClassifier, PoolCWClassifier, SBCWClassifier
from thresher.persistence import load_model, save_model
from thresher.training import merge_models
from variants import assert_same_bits

CUTS = (40, 90, 200)
MEASURES = {"column_mean", "column_m2", "column_count", "shift", "inverse", "reach", "unit", "n_measured", "is_scaled"}
MEASURES |= {"unit_sum", "unit_count"}


def models(**options):
    return [
        BCWClassifier(C=0.5, **options),
        SBCWClassifier(3, n_groups=3, **options),
        ASCWClassifier(3, n_groups=3, n_costs=2, batch_size=None, **options),
        PoolCWClassifier(2, cost=0.5, batch_size=None, **options),
    ]


def each(**options):
    return pytest.mark.parametrize("model", models(**options), ids=lambda m: type(m).__name__)


def rows(n=300, d=7, seed=0):
    """Columns of unlike sizes, one of them mostly zero, one with tails, one that varies only later, one never."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] *= rng.random(n) < 0.2
    X[:, 2] = rng.standard_t(1.5, size=n)
    y = np.sign(X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)).astype(int)
    X[200:, 0] *= 20  # what the first rows did not show
    X = (X + np.array([3.0, 0, -2, 1, 0, 5, 2])) * 2.0 ** np.array([0, -8, 10, 3, 0, -4, 0])
    X[:, 4], X[:90, 5] = 7.0, 1.0
    return X, y


class Units:
    """Of the columns of all rows so far, as long as there are less than 64 or a column has not varied."""

    def __init__(self, d, centred=True):
        self.past, self.shift, self.inverse, self.centred = np.empty((0, d)), np.zeros(d), np.zeros(d), centred

    def take(self, X):
        settled = len(self.past) >= 64
        self.past = np.vstack([self.past, X])
        mean = self.past.mean(axis=0) if self.centred else 0.0
        squares, n_values = ((self.past - mean) ** 2).sum(axis=0), (self.past != 0).sum(axis=0)
        varies = (squares > 1e-15) & (n_values > 0)
        now = np.where(varies, np.sqrt(n_values / np.where(varies, squares, 1)), 0) / (1 + 8 / len(self.past))
        held = settled & (self.inverse > 0)
        self.shift, self.inverse = np.where(held, self.shift, mean), np.where(held, self.inverse, now)
        far = 5 / np.where(varies, now, 1)
        reach = (far + np.abs(mean - self.shift)) * self.inverse
        return np.clip(self.scaled(X), -reach, reach)

    def scaled(self, X):
        return (X - self.shift) * self.inverse


@each()
@pytest.mark.parametrize("centred", [True, False])
def test_batches_are_learned_in_units_that_stay(model, centred, dtype):
    X, y = rows()
    if not centred:
        X[:90, 5] = 0.0  # constant as column 4 is, both would be the same column in units
    X = X.astype(dtype)
    units, model = Units(X.shape[1], centred), deepcopy(model).set_params(fit_intercept=centred)
    plain = deepcopy(model).set_params(scale=False, intercept_scaling=1.0)
    for some in np.split(np.arange(len(y)), CUTS):
        model.partial_fit(X[some], y[some], classes=[-1, 1])
        plain.partial_fit(units.take(X[some].astype(float)), y[some], classes=[-1, 1])
        for name, learned in plain.state_.arrays.items():
            # Rows count as they are predicted: far values are not cut then.
            if name not in ("n_mistakes", "n_wrong", "score_bins", "score_clock", "score_drift"):
                assert_allclose(model.state_.arrays[name], learned, rtol=1e-6, atol=1e-8, err_msg=name)
        exact = X.astype(float)
        assert_allclose(model.decision_function(exact), plain.decision_function(units.scaled(exact)), rtol=1e-6)
        assert_allclose(exact @ model.coef_[0] + model.intercept_, model.decision_function(exact), rtol=1e-6)
        assert_allclose(model.variance_, plain.variance_ * units.inverse**2, rtol=1e-6)
    assert bool(model.state_.arrays["inverse"][0, 4]) is not centred  # a column that never varied


@each()
def test_several_classes_share_the_units_and_the_features(model):
    X, _ = rows(256)
    y = np.array(["a", "b", "c"])[(X[:, 3] > 8).astype(int) + (X[:, 6] > 2)]
    units, plain = Units(X.shape[1]), deepcopy(model).set_params(scale=False, intercept_scaling=1.0)
    model = deepcopy(model).partial_fit(X, y, classes=["a", "b", "c"])
    plain.partial_fit(units.take(X), y, classes=["a", "b", "c"])
    assert_array_equal(model.support_, np.flatnonzero(plain.coef_.any(axis=0)))
    assert_allclose(model.coef_, plain.coef_ * units.inverse, rtol=1e-6, atol=1e-9)
    assert_allclose(model.decision_function(X), plain.decision_function(units.scaled(X)), rtol=1e-6, atol=1e-9)


def test_doubts_are_those_of_scaled_rows():
    X, y = rows(256)
    units = Units(7)
    Z = units.take(X)
    for make in (BCWClassifier, lambda **options: PoolCWClassifier(2, cost=0.5, **options)):
        model = make().partial_fit(X, y, classes=[-1, 1])
        plain = make(scale=False, intercept_scaling=1.0).partial_fit(Z, y, classes=[-1, 1])
        assert_allclose(model.predict_confidence(X), plain.predict_confidence(units.scaled(X)), rtol=1e-8)
        if hasattr(model, "covariance_"):
            squares = np.outer(units.inverse, units.inverse)
            assert_allclose(model.covariance_, plain.covariance_ * squares, rtol=1e-8, atol=1e-20)


@each(random_state=0)
def test_fit_knows_all_rows_and_the_units_of_columns_do_not_matter(model):
    X, y = rows()
    factors = 2.0 ** np.array([10, -10, 3, -7, 0, 5, 1])
    one, other = deepcopy(model).fit(X, y), deepcopy(model).fit(X * factors, y)
    assert_allclose(other.coef_ * factors, one.coef_, rtol=1e-6)
    all_rows = Units(X.shape[1])
    all_rows.take(X)
    assert_allclose(one.state_.arrays["inverse"][0], all_rows.inverse, rtol=1e-9)
    assert one.score(X, y) > 0.7


@each()
def test_sparse_rows_stay_as_they_are(model):
    X, y = rows()
    X = sparse.csr_array(X / np.abs(X).max(axis=0))
    one, plain = deepcopy(model), deepcopy(model).set_params(scale=False)
    for each_one in (one, plain):
        each_one.partial_fit(X, y, classes=[-1, 1])
    assert one.state_.sizes["column"] == 0
    assert one.state_.arrays.keys() - plain.state_.arrays.keys() == MEASURES
    for name, learned in plain.state_.arrays.items():
        assert_array_equal(one.state_.arrays[name], learned)


def test_what_is_faithful_is_not_scaled_unless_asked_to():
    X, y = rows()
    for scale, width in (("auto", None), (True, 7)):
        model = ASCWClassifier(3, n_costs=2, faithful=True, scale=scale).partial_fit(X, y, classes=[-1, 1])
        assert model.state_.sizes.get("column") == width


@pytest.mark.parametrize(
    "model",
    [
        BCWClassifier(C=0.5, batch_size=1000, max_inner_iter=3000, gap_tol=1e-14),
        SBCWClassifier(3, n_groups=3, max_inner_iter=500),
        PoolCWClassifier(2, cost=0.5, batch_size=None, max_inner_iter=5000),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounds_of_sums_scale_as_one_batch_of_all_rows(model):
    X, y = rows()
    weight = np.ones(len(y))
    weight[::5] = 0
    one, shards = deepcopy(model), deepcopy(model)
    for some in (slice(0, 120), slice(100, 300)):
        one.partial_fit(X[some], y[some], classes=[-1, 1], sample_weight=weight[some])
        rounds.play(shards, X[some], y[some], weight[some], cuts=(30, 31, 90))
        for name in ("column_mean", "column_m2", "column_count", "shift", "inverse", "reach", "n_measured"):
            assert_allclose(shards.state_.arrays[name], one.state_.arrays[name], rtol=1e-9, err_msg=name)
        assert_allclose(shards.coef_, one.coef_, rtol=1e-3, atol=1e-6)
        assert_allclose(shards.intercept_, one.intercept_, rtol=1e-3, atol=1e-6)


def test_a_round_that_fails_leaves_the_measures():
    X, y = rows()
    model = BCWClassifier(C=0.5).partial_fit(X, y, classes=[-1, 1])
    before = model.state_.copy()
    steps = model._round(None)
    next(steps)
    with pytest.raises(KeyError):
        steps.send({})
    assert_same_bits(model.state_, before)


def test_shards_of_a_common_start_keep_its_units():
    """The precision of all rows, as of one run; means are those of Bayes' rule."""
    X, y = rows(600)
    start = BCWClassifier(C=0.5, batch_size=1000).partial_fit(X[:150], y[:150], classes=[-1, 1])
    shards = [deepcopy(start).partial_fit(X[a:b], y[a:b]) for a, b in ((150, 300), (300, 600))]
    merged = merge_models(shards, start)
    assert_allclose(merged.state_.arrays["shift"], start.state_.arrays["shift"], rtol=1e-12)
    assert_allclose(merged.state_.arrays["inverse"], start.state_.arrays["inverse"], rtol=1e-12)
    precisions = [s.state_.arrays["precision"][0] for s in (start, *shards)]
    assert_allclose(merged.state_.arrays["precision"][0], precisions[1] + precisions[2] - precisions[0], rtol=1e-9)
    assert merged.state_.arrays["n_measured"][0, 0] == 600
    assert_allclose(merged.state_.arrays["column_mean"][0], X.mean(axis=0))


@each()
def test_shards_that_know_a_column_tell_its_units(model):
    X, y = rows()
    X[:150, 3] = 1.0
    start = rounds.begun(deepcopy(model), 7, [-1, 1])
    shards = [deepcopy(start).partial_fit(X[:150], y[:150]), deepcopy(start).partial_fit(X[150:], y[150:])]
    merged = merge_models(shards, start)
    one, other, both = (each_one.state_.arrays["inverse"][0] for each_one in (*shards, merged))
    assert (one[3], both[3]) == (0, other[3])
    assert both[0] == pytest.approx((one[0] + other[0]) / 2)
    assert merged.score(X, y) >= 0.6


@each()
def test_columns_that_come_later_have_units_of_their_own(model):
    X, y = rows()
    model = deepcopy(model).partial_fit(X[:100, :5], y[:100], classes=[-1, 1])
    first = model.state_.arrays["inverse"][0].copy()
    model.partial_fit(X[100:], y[100:], grow=True)
    assert_array_equal(model.state_.arrays["inverse"][0, :5], first)
    assert (model.state_.arrays["inverse"][0, 5:] > 0).all()
    assert model.coef_.shape == (1, 7)


@each()
def test_a_file_goes_on_in_the_same_units(model, tmp_path):
    X, y = rows()
    model = deepcopy(model).partial_fit(X[:100], y[:100], classes=[-1, 1])
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_same_bits(loaded.partial_fit(X[100:], y[100:]).state_, model.partial_fit(X[100:], y[100:]).state_)


@each()
def test_a_batch_that_is_refused_leaves_the_measures(model, monkeypatch):
    X, y = rows()
    model = deepcopy(model).partial_fit(X[:100], y[:100], classes=[-1, 1])
    before = model.state_.copy()

    def refuse(*args):
        raise FloatingPointError

    monkeypatch.setattr(type(model._learner_now()), "learn_batch", refuse)
    with pytest.raises(FloatingPointError, match="the weights overflowed"):
        model.partial_fit(np.hstack([X[100:], X[100:]]), y[100:], grow=True)
    assert_same_bits(model.state_, before)
