"""ASCW: every cost is a learner of the paper; a measure of its own predictions chooses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import f1_score, roc_auc_score

from reference import groups_of_features as reference
from thresher.confidence import ASCWClassifier, SBCWClassifier
from thresher.persistence import load_model, save_model
from unsound import save_unsound

COSTS = (0.875, 0.75, 0.625)  # three of them


def rare(n_batches=6, n=40, d=14, seed=4):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=d)
    for _ in range(n_batches):
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
        yield X, np.where(X @ truth + 0.5 * rng.normal(size=n) > 1.5, 1, -1)


def model_of(**options):
    """As the paper writes it, but for what the options say."""
    given = {"cost": None, "scale": False, "fit_intercept": False, "batch_size": None}
    return ASCWClassifier(5, n_groups=3, n_costs=3, **given | options)


def twins(**options):
    return [reference.Sbcw(14, 5, 2, positive_cost=c, **options) for c in COSTS]


@pytest.mark.parametrize("options", [{}, {"keep": True}, {"faithful": True, "C": 1.0}], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_every_cost_is_a_learner_of_the_paper_batch_by_batch(options, form, dtype):
    model, all_twins = model_of(**options), twins(**options)
    for X, y in rare(4):
        X = X.astype(dtype)
        model.partial_fit(form(X), y, classes=[-1, 1])
        learner = model._learner_now()
        for j, twin in enumerate(all_twins):
            twin.learn(X.astype(float), y)
            assert_allclose(learner.weights(model.state_, j)[0], twin.coef, rtol=1e-7, atol=1e-9)
    assert_allclose(model.costs_, COSTS)
    if options.get("keep"):
        assert len(model.support_) > 5
    else:
        assert len(model.support_) == 5


@pytest.mark.parametrize("measure", ["f1", "roc_auc"])
@pytest.mark.parametrize("faithful", [False, True])
def test_the_best_of_the_batches_before_predicts(measure, faithful):
    """Measures are of each model's own predictions; measured by those of the best, all would be equal, and the first
    cost would stay for ever. The first batch meets models that know nothing, and counts in the paper alone."""
    model = model_of(measure=measure, C=1.0, faithful=faithful)
    all_twins = twins(C=1.0, faithful=faithful)
    said, truth, wanted = [[np.empty(0)] for _ in COSTS], [np.empty(0)], []
    in_order, pairs = np.zeros(3), 0.0
    for batch, (X, y) in enumerate(rare(10, seed=3)):
        counts = batch > 0 or faithful
        for j, twin in enumerate(all_twins):
            if counts:
                said[j].append(X @ twin.coef[:-1])
                in_order[j] += roc_auc_score(y, said[j][-1]) * (y > 0).sum() * (y < 0).sum()
            twin.learn(X, y)
        if counts:
            pairs += (y > 0).sum() * (y < 0).sum()
            truth.append(y)
        model.partial_fit(X, y, classes=[-1, 1])
        rows = np.concatenate(truth)
        found = [f1_score(rows, np.where(np.concatenate(s) > 0, 1, -1), zero_division=0) if counts else 0 for s in said]
        measures = found if measure == "f1" else in_order / max(pairs, 1.0)
        assert_allclose(model.measures_, measures, rtol=1e-9)
        best = int(np.argmax(measures))
        assert_allclose(model.coef_[0], all_twins[best].coef[:-1], rtol=1e-7, atol=1e-9)
        assert model.cost_ == COSTS[best]
        wanted.append(COSTS[best])
    assert_array_equal(model.cost_history_, wanted)
    if measure == "f1" and not faithful:
        assert len(set(wanted)) > 1


def test_before_the_first_batch_was_measured_the_largest_cost_predicts():
    X, y = next(rare(1))
    model = model_of().partial_fit(X, y, classes=[-1, 1])  # all said 0
    assert model.measures_.tolist() == [0, 0, 0]
    assert model.cost_ == COSTS[0]
    nine = ASCWClassifier(5, cost=None).partial_fit(X, y, classes=[-1, 1])
    assert_allclose(nine.costs_, np.arange(0.95, 0.5, -0.05))


def test_one_cost_is_sbcw_with_class_weights():
    data = list(rare(4))
    model = ASCWClassifier(5, n_groups=3, n_costs=1, batch_size=None, cost=None)
    plain = SBCWClassifier(5, n_groups=3)
    plain.set_params(class_weight={-1: 0.25, 1: 0.75})
    for X, y in data:
        model.partial_fit(X, y, classes=[-1, 1])
        plain.partial_fit(X, y, classes=[-1, 1])
    assert_allclose(model.costs_, [0.75])
    assert_allclose(model.coef_, plain.coef_, rtol=1e-12)


def test_shares_of_the_loss_are_sbcw_with_a_cost_and_an_even_share_predicts_first():
    data = list(rare(4))
    model = ASCWClassifier(5, n_groups=3, n_costs=3, batch_size=None)
    model.partial_fit(*data[0], classes=[-1, 1])
    assert_allclose(model.costs_, [0.5, 0.25, 0.75])
    assert model.cost_ == 0.5
    for X, y in data[1:]:
        model.partial_fit(X, y)
    for j, cost in enumerate(model.costs_):
        alone = SBCWClassifier(5, n_groups=3, cost=float(cost))
        for X, y in data:
            alone.partial_fit(X, y, classes=[-1, 1])
        assert_allclose(model._learner_now().weights(model.state_, j)[0], alone._all_weights()[0], rtol=1e-12)
    nine = ASCWClassifier(5).partial_fit(*data[0], classes=[-1, 1])
    assert_allclose(nine.costs_, [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9])


@pytest.mark.parametrize("options", [{"class_weight": {1: 2.0}}, {"faithful": True}], ids=str)
def test_class_weights_and_the_printed_form_have_the_costs_of_the_paper(options):
    X, y = next(rare(1))
    assert_allclose(model_of(cost="adaptive", **options).fit(X, y).costs_, COSTS)


def test_several_classes_have_one_cost_by_the_mean_of_their_measures(three_classes):
    X, y = three_classes
    model = ASCWClassifier(4, n_groups=2, n_costs=3, batch_size=10, cost=None).fit(X, y)
    cells = model.state_.arrays["cells"].reshape(3, 3, 3)
    each = 2 * cells[..., 0] / np.maximum(2 * cells[..., 0] + cells[..., 1] + cells[..., 2], 1e-300)
    assert_allclose(model.measures_, each.mean(axis=1), rtol=1e-12)
    assert model.cost_ == COSTS[int(each.mean(axis=1).argmax())]
    assert model.coef_.shape == (3, X.shape[1])
    assert len(model.cost_history_) == 6


def test_the_history_survives_a_file_and_goes_on(tmp_path):
    data = list(rare(9))
    model = model_of()
    for X, y in data[:7]:
        model.partial_fit(X, y, classes=[-1, 1])
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.cost_history_, model.cost_history_)
    for each in (model, again):
        for X, y in data[7:]:
            each.partial_fit(X, y)
    assert len(again.cost_history_) == 9
    assert_array_equal(again.cost_history_, model.cost_history_)


@pytest.mark.parametrize("name, value, words", [("choices", 7.0, "choices must be"), ("cells", -5.0, "cells must be")])
def test_files_with_impossible_choices_or_measures_are_refused(name, value, words, tmp_path):
    X, y = next(rare(1))
    model = model_of().partial_fit(X, y, classes=[-1, 1])
    model.state_.arrays[name][0, 0] = value
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "m")
