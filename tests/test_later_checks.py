"""A fit of one output checks sparse rows in its first pass, with the errors and results of rows checked before."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher.dual_averaging import FTRLClassifier, L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier

N_ROWS, BAD_ROW = 500, 450
MODELS = {
    "PA": PAClassifier(C=1.0),
    "AROW": AROWClassifier(r=1.0),
    "AROW, race": AROWClassifier(),
    "PA, race": PAClassifier(),
    "FTRL, several passes": FTRLClassifier(max_iter=3),
    "L1RDA": L1RDAClassifier(eta0=1.0),
    "Pegasos": PegasosClassifier(alpha=1e-3, batch_size=8, intercept="mean"),
}


def rows(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 12)) * (rng.random((N_ROWS, 12)) < 0.4)
    X[BAD_ROW] = np.arange(12) + 1
    y = np.where(X @ rng.normal(size=12) > 0, "yes", "no")
    return (sparse.csr_array(X) if form == "csr" else X), y


def fresh(name, **params):
    return type(MODELS[name])(**{**MODELS[name].get_params(), "random_state": 3, **params})


@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "finite numbers, got NaN"), (1e200, "up to 1e100 in size, got 1e"), (-np.inf, "-inf")],
)
def test_a_bad_value_is_named_and_leaves_the_model_as_it_was(name, form, value, message):
    X, y = rows(form)
    model = fresh(name).fit(X, y)
    before = model.coef_.copy()
    if form == "csr":
        X.data[X.indptr[BAD_ROW] + 2] = value
    else:
        X[BAD_ROW, 2] = value
    for each in (model, fresh(name)):
        with pytest.raises(ValueError, match=rf"{message}.* in row {BAD_ROW}, column 2"):
            each.fit(X, y)
    assert not hasattr(each, "n_features_in_")
    assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("name", MODELS)
def test_a_bad_value_to_predict_is_named(name, form):
    X, y = rows(form)
    model = fresh(name).fit(X, y)
    if form == "csr":
        X.data[X.indptr[BAD_ROW] + 2] = np.nan
    else:
        X[BAD_ROW, 2] = np.nan
    with pytest.raises(ValueError, match=f"finite numbers, got NaN in row {BAD_ROW}, column 2"):
        model.predict(X)


@pytest.mark.parametrize("name", MODELS)
def test_unsorted_columns_to_predict_are_sorted(name):
    X, y = rows("csr")
    model = fresh(name).fit(X, y)
    scores, (begin, end) = model.decision_function(X), X.indptr[BAD_ROW : BAD_ROW + 2]
    X.indices[begin:end] = X.indices[begin:end][::-1].copy()
    X.data[begin:end] = X.data[begin:end][::-1].copy()
    assert_array_equal(model.decision_function(X), scores)


@pytest.mark.parametrize("name", MODELS)
def test_unsorted_columns_are_sorted(name):
    X, y = rows("csr")
    begin, end = X.indptr[BAD_ROW : BAD_ROW + 2]
    sorted_fit = fresh(name).fit(X, y)
    X.indices[begin:end] = X.indices[begin:end][::-1].copy()
    X.data[begin:end] = X.data[begin:end][::-1].copy()
    assert_array_equal(fresh(name).fit(X, y).coef_, sorted_fit.coef_)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("column", [-1, 12])
def test_columns_out_of_range_are_refused(name, column):
    X, y = rows("csr")
    X.indices[X.indptr[BAD_ROW] + (0 if column < 0 else 11)] = column
    with pytest.raises(ValueError, match=rf"0 \.\.\. 11, got {column} in row {BAD_ROW}"):
        fresh(name).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_a_random_state_that_draws_on_gives_the_same_model_for_unsorted_columns(name):
    X, y = rows("csr")
    one = fresh(name, random_state=np.random.RandomState(5)).fit(X, y)
    begin, end = X.indptr[BAD_ROW : BAD_ROW + 2]
    X.indices[begin:end] = X.indices[begin:end][::-1].copy()
    X.data[begin:end] = X.data[begin:end][::-1].copy()
    other = fresh(name, random_state=np.random.RandomState(5)).fit(X, y)
    assert_array_equal(one.coef_, other.coef_)
