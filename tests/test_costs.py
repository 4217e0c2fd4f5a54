"""A grid of costs of which a measure chooses, over a rule whose scores are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from thresher import onepass
from thresher._estimators._batches import BatchRule
from thresher._estimators._costs import MEASURES, MeasuredLearner
from thresher.confidence import PoolCWClassifier
from thresher.metrics import ProgressiveAveragePrecision

COSTS = (0.9, 0.5, 0.1)


class Shifted(BatchRule):
    """The score is the only feature minus a threshold, 1 - 2 cost in the first batch and 0 from then on."""

    @staticmethod
    def fields(params):
        return [("coef", "weight", 0.0, "mean")]

    @classmethod
    def weights(cls, view, params, out):
        out[:] = 1, 2 * params["cost"] - 1 - view["coef"][-1]

    @classmethod
    def learn(cls, lesson, state, output, params):
        state.views[output]["coef"][-1] = 2 * params["cost"] - 1
        return 1


def learner_of(measure):
    return MeasuredLearner(Shifted, {}, grid=tuple({"cost": c} for c in COSTS), measure=measure)


def batch(seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    return onepass.rows((0.5 * y + rng.normal(size=n))[:, None]), y[None], rng.exponential(size=n)


@pytest.mark.parametrize("measure", MEASURES)
def test_each_model_is_measured_by_what_it_says_itself_before_it_learns(measure):
    learner = learner_of(measure)
    state = learner.new_state(1)
    x, y, w = batch(0)
    scores = x.values[:, 0]
    learner.learn_batch(x, y, w, state)
    truth = {
        "f1": lambda s: f1_score(y[0], np.where(s > 0, 1, -1), sample_weight=w),
        "roc_auc": lambda s: roc_auc_score(y[0], s, sample_weight=w),
        "average_precision": lambda s: average_precision_score(y[0], s, sample_weight=w),
    }[measure]
    wanted = [truth(scores + 2 * c - 1) for c in COSTS]
    assert_allclose(learner.measures(state), wanted, atol=0.02 if measure == "average_precision" else 1e-12)


def test_rows_that_came_before_anything_was_learned_are_not_measured():
    """All models miss their positives alike; counted, they would favour costs that find too many."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int)
    model = PoolCWClassifier(2, batch_size=100).partial_fit(X[:100], y[:100], classes=[0, 1])
    assert not model.state_.arrays["cells"].any()
    model.partial_fit(X[100:], y[100:])
    assert (model.measures_ > 0.5).any()


def test_the_largest_measure_is_chosen_the_first_of_several_and_the_choices_are_kept():
    learner = learner_of("f1")
    state = learner.new_state(1)
    assert learner.chosen(state) == 0  # nothing is known yet
    wanted = []
    for seed in range(9):
        learner.learn_batch(*batch(seed), state)
        wanted.append(int(np.argmax(learner.measures(state))))
        assert learner.chosen(state) == wanted[-1]
    assert_array_equal(learner.choices(state), wanted)
    assert state.arrays["choices"].size < 2 * 9 + 3
    assert len(set(learner.measures(state))) > 1


@pytest.mark.parametrize("measure", MEASURES)
def test_merged_measures_are_those_of_all_rows_and_the_start_counts_once(measure):
    learner = learner_of(measure)
    start = learner.new_state(1)
    learner.learn_batch(*batch(0), start)
    shards = [start.copy() for _ in range(3)]
    for seed, shard in enumerate(shards, start=1):
        x, y, w = batch(seed)
        learner.learn_batch(onepass.rows(x.values * 40.0**seed), y, w, shard)  # scores of another size
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    one_by_one = start.copy()
    for seed in (1, 2, 3):
        x, y, w = batch(seed)
        learner.learn_batch(onepass.rows(x.values * 40.0**seed), y, w, one_by_one)
    assert_allclose(merged.arrays["cells"], one_by_one.arrays["cells"], rtol=1e-12, atol=1e-12)
    again = learner.merge(start, shards[::-1], [1.0, 1.0, 1.0])
    assert again.arrays["cells"].tobytes() == merged.arrays["cells"].tobytes()


def test_empty_measures_merge():
    learner = learner_of("average_precision")
    start = learner.new_state(1)
    merged = learner.merge(start, [start, start], [1.0, 1.0])
    assert learner.measures(merged).tolist() == [0, 0, 0]
    assert ProgressiveAveragePrecision.n_cells == merged.arrays["cells"].shape[1]
