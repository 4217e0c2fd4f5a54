"""Curves of columns: parts of the score over the values of each column."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from thresher._gate import Table, Text
from thresher.dual_averaging import L1RDARegressor
from thresher.inspection import column_curves, contributions
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier
from thresher.preprocessing import ColumnSplines, prepared


def table(n=1500):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, n), rng.normal(50, 10, n), rng.integers(0, 2, n)])
    job = rng.integers(0, 3, n)
    score = 4 * X[:, 0] ** 2 + 0.05 * (X[:, 1] - 50) + job
    jobs = Text.from_list(np.array(["cook", "clerk", "smith"])[job].tolist())
    return Table(["bend", "line", "none", "job"], X, {"job": jobs}), score


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_a_curve_is_the_part_of_the_score_that_its_column_gives(given, n_classes):
    X, score = table()
    learner = L1RDARegressor(random_state=0) if n_classes is None else AROWClassifier(random_state=0)
    y = score if n_classes is None else np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = prepared(learner, X, splines=True).fit(X, y)
    found = {curve.name: curve for curve in column_curves(model, X if given else None)}
    assert found.keys() >= {"bend", "line", "job"}
    parts = contributions(model, X[:40])
    for name in ("bend", "line"):
        curve = found[name]
        assert curve.parts.shape == (1 if n_classes in (2, None) else 3, len(curve.values))
        assert (np.diff(curve.values) > 0).all()
        for k in range(len(curve.parts)):
            on_curve = np.interp(X[name][:40], curve.values, curve.parts[k])
            exact = parts.parts[:, k, parts.names.index(name)]
            assert_allclose(on_curve, exact, atol=0.03 * np.ptp(curve.parts[k]))
    assert set(found["job"].values) == {"cook", "clerk", "smith"}
    assert "none" not in found or found["none"].values.tolist() == [0, 1]


def test_curves_find_what_made_the_classes():
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, score > np.median(score))
    curves = column_curves(model)
    assert curves[-1].name == "none"
    bend = next(curve for curve in curves if curve.name == "bend")
    truth = 4 * bend.values**2
    assert np.corrcoef(bend.parts[0], truth)[0, 1] > 0.9
    job = next(curve for curve in curves if curve.name == "job")
    assert sorted(job.values, key=lambda name: job.parts[0, job.values.index(name)]) == ["cook", "clerk", "smith"]


def test_a_learner_alone_has_straight_lines_over_the_range_of_the_rows():
    X = np.random.default_rng(0).normal(size=(400, 3))
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] > X[:, 1])
    curve = next(curve for curve in column_curves(model, X) if curve.name == "x1")
    assert (curve.values[0], curve.values[-1]) == (X[:, 0].min(), X[:, 0].max())
    assert_allclose(curve.parts[0], model.coef_[0, 0] * curve.values, atol=1e-12)
    assert_allclose(curve.quantiles[5], np.median(X[:, 0]), atol=0.05)
    with pytest.raises(ValueError, match="X must be given"):
        column_curves(model)


def test_pairs_have_no_part_in_curves_of_columns_and_kernels_have_none():
    X, score = table()
    model = prepared(AROWClassifier(random_state=0), X, splines=ColumnSplines(pairs=[("bend", "line")])).fit(
        X, score > 1
    )
    assert {curve.name for curve in column_curves(model)} == {"bend", "line", "none", "job"}
    with pytest.raises(ValueError, match="model must have linear weights, got LSSVC"):
        column_curves(LSSVC().fit(X.numbers[:50], score[:50] > 1))


@pytest.mark.parametrize("splines", [True, False])
def test_ranges_of_dates_are_known_without_rows(splines):
    rng = np.random.default_rng(0)
    days = 20_000.0 + rng.integers(0, 700, 600)
    X = Table(["sold", "price"], np.stack([days, rng.normal(size=600)], axis=1), dates=["sold"])
    model = prepared(AROWClassifier(random_state=0), X, splines=splines).fit(X, (days > 20_300) ^ (X["price"] > 1))
    with_rows = {curve.name: curve for curve in column_curves(model, X)}
    without = {curve.name: curve for curve in column_curves(model)}
    assert without.keys() == with_rows.keys() == {"sold", "price"}
    sold = without["sold"]
    if splines:
        assert (sold.values[0], sold.values[-1]) == (days.min(), days.max())
    shared, here, there = np.intersect1d(sold.values, with_rows["sold"].values, return_indices=True)
    assert len(shared) > 50
    assert_allclose(sold.parts[:, here], with_rows["sold"].parts[:, there], atol=1e-9)
