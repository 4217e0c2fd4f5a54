"""Group penalties by forward-backward splitting: lazy steps against a twin that makes all of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import groups as reference
from reference.agreement import assert_weights_after_every_row, last
from thresher import onepass
from thresher.dual_averaging import GroupFOBOSClassifier, GroupFOBOSRegressor, GroupRDAClassifier

GROUPS = [[0, 1, 2], [5, 3, 4], [10], [8, 9]]  # of 12 columns; 6, 7 and 11 are on their own
FORMS = {
    "group-lasso": {},
    "sparse": {"l1_weight": 0.5},
    "sparse-each": {"l1_weight": [0.0, 0.7, 0.2, 0.4]},
    "largest": {"norm": "inf"},
    "largest-sparse": {"norm": "inf", "l1_weight": 0.4},
    "lasso": {"groups": None},
    "lasso-sparse": {"groups": None, "l1_weight": 0.5},
    "no-penalty": {"alpha": 0.0},
}
LOSSES = [(GroupFOBOSClassifier, "hinge"), (GroupFOBOSClassifier, "logistic"), (GroupFOBOSRegressor, "squared")]
forms = pytest.mark.parametrize("form", FORMS)
cases = pytest.mark.parametrize("estimator, loss", LOSSES, ids=[loss for _, loss in LOSSES])


def learner(estimator, loss, form="group-lasso", **params):
    given = {"groups": GROUPS, "alpha": 0.05, "eta0": 0.3, "loss": loss, "max_iter": 1, "shuffle": False}
    return estimator(**(given | {"intercept_scaling": 0.3} | FORMS[form] | params))


def twin(model, X, y, weight=None):
    everything = reference.with_singletons(model.groups, X.shape[1])
    r = model.l1_weight
    return reference.group_fobos(
        X.astype(float),
        y,
        groups=everything,
        loss=model.loss,
        alpha=model.alpha,
        eta0=model.eta0,
        l1_weight=[r] * len(everything) if np.ndim(r) == 0 else [*r, *[0.0] * (len(everything) - len(r))],
        norm=float(model.norm),
        intercept=model.intercept_scaling if model.fit_intercept else 0.0,
        weight=weight,
    )


@pytest.fixture
def data(request, estimator):
    return request.getfixturevalue("problem" if estimator is GroupFOBOSClassifier else "regression")


@cases
@forms
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_lazy_steps_agree_with_the_paper_step_by_step(data, row_weights, estimator, loss, form, layout, weighted):
    X, y = data
    weight = row_weights if weighted else None
    model = learner(estimator, loss, form)
    first = {"classes": [-1, 1]} if estimator is GroupFOBOSClassifier else {}
    seen, expected = assert_weights_after_every_row(model, X, y, layout, twin(model, X, y, weight), weight, **first)
    assert_array_equal(seen[:, :-1] == 0, expected[:, :-1] == 0)
    assert (expected[30:, :-1] == 0).any()


def test_both_precisions_and_all_layouts_agree(problem, layout, dtype):
    X, y = problem
    model = learner(GroupFOBOSClassifier, "logistic").fit(layout(X.astype(dtype)), y)
    w = last(twin(model, X.astype(dtype), y))[1]
    assert_allclose(model.coef_[0], w[:-1], rtol=1e-11, atol=1e-13)


@cases
@forms
def test_long_streams_with_gaps_have_the_twins_weights_and_support(estimator, loss, form):
    rng = np.random.default_rng(0)
    X = sparse.random_array((800, 12), density=0.03, rng=rng, format="csr", data_sampler=rng.normal)
    values = X @ rng.normal(size=12)
    y = np.where(values > 0, 1, -1) if estimator is GroupFOBOSClassifier else values + 0.1
    alpha = 0.0 if form == "no-penalty" else 0.03 if loss == "hinge" else 0.02
    model = learner(estimator, loss, form, alpha=alpha).fit(X, y)
    w = last(twin(model, X.toarray(), y))[1]
    coef = np.ravel(model.coef_)
    assert_allclose(coef, w[:-1], rtol=1e-12, atol=1e-12 * np.abs(w).max())
    assert_array_equal(coef == 0, w[:-1] == 0)
    assert coef.any()
    assert np.count_nonzero(coef) < 12 or form == "no-penalty" or loss == "hinge"


@forms
def test_reading_weights_catches_up_without_changing_the_state(problem, form):
    X, y = problem
    model = learner(GroupFOBOSClassifier, "hinge", form).fit(sparse.csr_array(X), y)
    before = {name: a.copy() for name, a in model.state_.arrays.items()}
    coef = model.coef_.copy()
    model.decision_function(X)
    for name, a in before.items():
        assert_array_equal(model.state_.arrays[name], a)
    core = onepass.learner(model, 12)
    core.settle(model.state_)
    assert_allclose(core.weights(model.state_)[0, :-1], coef[0], rtol=1e-14, atol=1e-16)
    assert form == "no-penalty" or (before["coef"][0, :-1] != model.state_.arrays["coef"][0, :-1]).any()


@pytest.mark.parametrize("form", ["group-lasso", "sparse", "lasso"])
def test_a_penalty_changed_under_way_counts_from_then_on(problem, form):
    X, y = problem
    model = learner(GroupFOBOSClassifier, "hinge", form).partial_fit(sparse.csr_array(X), y, classes=[-1, 1])
    held = model.coef_.copy()
    model.set_params(alpha=1.0, eta0=1e-9)
    model.partial_fit(sparse.csr_array((1, 12)), [1])
    assert_allclose(model.coef_, held, atol=1e-7)


def test_groups_that_share_columns_are_refused_and_the_way_out_is_named(problem):
    for estimator, other in ((GroupFOBOSClassifier, "GroupRDAClassifier"), (GroupFOBOSRegressor, "GroupRDARegressor")):
        with pytest.raises(ValueError, match=rf"{estimator.__name__}: groups must not share columns; {other} supports"):
            estimator([[0, 1], [1, 2]]).fit(*problem)


def test_whether_steps_are_made_up_for_one_by_one_cannot_change_under_way(problem):
    X, y = problem
    model = learner(GroupFOBOSClassifier, "hinge").fit(X, y)
    model.set_params(l1_weight=0.5)
    with pytest.raises(ValueError, match="has changed since the last fit"):
        model.partial_fit(X, y)


def test_a_merged_model_is_the_mean_of_its_shards_and_owes_nothing(problem):
    X, y = problem
    for form in ("group-lasso", "sparse"):
        model = learner(GroupFOBOSClassifier, "hinge", form)
        shards = [learner(GroupFOBOSClassifier, "hinge", form).partial_fit(X[k::2], y[k::2], classes=[-1, 1])
                  for k in range(2)]  # fmt: skip
        core = onepass.learner(model, 12)
        merged = core.merge(core.new_state(12), [s.state_ for s in shards], [30, 30])
        mean = (shards[0].coef_ + shards[1].coef_) / 2
        assert_allclose(core.weights(merged)[:, :-1], mean, rtol=1e-12, atol=1e-15)
        assert merged.arrays["n_steps"][0, 0] == 60


def test_dual_averaging_is_sparser_on_the_same_rows():
    """What the documentation says of the two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    y = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=3000) > 0
    groups = np.repeat(np.arange(20), 3)
    options = {"alpha": 0.05, "max_iter": 1, "shuffle": False}
    assert len(GroupRDAClassifier(groups, **options).fit(X, y).selected_groups_) < 3
    assert len(GroupFOBOSClassifier(groups, **options).fit(X, y).selected_groups_) > 10
