"""Candidates with equally few mistakes, which are told apart by how well their scores rank the rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import roc_auc_score

from core.test_score_bins import bin_of
from thresher._engine._calibration import ScoreCounts, confusions
from thresher.dual_averaging import L1RDAClassifier, MultiTaskRDAClassifier
from thresher.training import merge_models
from variants import assert_same_bits


def test_confusion_is_one_minus_the_area_under_the_roc_curve_of_bins():
    rng = np.random.default_rng(0)
    y, weight = (rng.random(300) < 0.2).astype(float), rng.exponential(size=300)
    scores = y + rng.normal(size=300)
    counts = ScoreCounts.empty(1)
    counts.add(scores[None], y, weight, ages=False)
    area = roc_auc_score(y, [bin_of(score) for score in scores], sample_weight=weight)
    n_rarer = weight[y == 1].sum() * weight.sum() / (weight**2).sum()  # in rows of equal weight
    chance = (n_rarer * area + 1) / (n_rarer + 2)
    share, error = confusions(*(np.vstack(pair) for pair in zip(counts[:2], ScoreCounts.empty(1)[:2], strict=True)))
    assert_allclose(share, [1 - area, 0.5])
    assert_allclose(error, [np.sqrt(chance * (1 - chance) / n_rarer), 0.5])


def rare_rows(n=1500, d=30, seed=0):
    """One row in thirty is positive, and none of them is likely to be."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.3).astype(float)
    return sparse.csr_array(X), rng.random(n) < 1 / (1 + np.exp(5 - X[:, :6].sum(axis=1)))


def race(model):
    """The candidates that run, their mistakes on late rows, how far each is behind, and the best."""
    learner, state = model._learner_now(), model.state_
    running = learner.tuning.running(learner, state)
    lately = (state.arrays["missed"] - state.arrays["older_mark"])[running, 0]
    confusion, error = confusions(state.arrays["score_bins"][running], state.arrays["score_clock"][running])
    distance = (lately - lately.min()) / np.sqrt(lately.min() + 1)
    close = np.flatnonzero(distance <= 1)
    first = close[confusion[close].argmin()]
    distance[close] += (confusion[close] - confusion[first]) / error[first]
    return running, lately, distance, learner.best(state)


def test_of_a_rare_class_the_best_ranking_is_read():
    """Steps that find no positive row make as few mistakes as any, and pay less loss."""
    X, y = rare_rows()
    model = L1RDAClassifier().partial_fit(X, y, classes=[False, True])
    running, lately, distance, best = race(model)
    assert best == running[distance.argmin()]
    loss = model.state_.arrays["tally"][running, 2]
    assert best != running[np.lexsort((loss, lately))[0]]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_any_chunks_read_the_same(size):
    X, y = rare_rows(600)
    whole = L1RDAClassifier().partial_fit(X, y, classes=[False, True])
    parts = L1RDAClassifier()
    for at in range(0, 600, size):
        parts.partial_fit(X[at : at + size], y[at : at + size], classes=[False, True])
    assert_same_bits(parts.state_, whole.state_)


def test_a_candidate_that_missed_rows_goes_by_its_mistakes():
    X, y = rare_rows()
    model = L1RDAClassifier().partial_fit(X, y, classes=[False, True])
    running, lately, _, best = race(model)
    assert lately[running == best] > lately.min()
    model.state_.arrays["tally"][running[lately == lately.min()], 0] -= 1
    assert lately[running == race(model)[3]] == lately.min()


def test_tasks_read_a_candidate_that_learned_to_the_end():
    """Passes after the first, over rows seen before, are for one candidate alone, and count no scores."""
    X, y = rare_rows(300)
    tasks = np.arange(300) % 3
    for seed in range(5):
        model = MultiTaskRDAClassifier(max_iter=3, random_state=seed).fit(X, y, tasks=tasks)
        chosen = model.race_["chosen"]
        assert_array_equal(model.race_["running"], chosen)
        assert_array_equal(model.state_.arrays["n_seen"][chosen], [[300.0] * 3])
        assert_array_equal(model.state_.arrays["n_seen"][~chosen], 100.0)


def test_merged_candidates_are_told_apart_by_the_scores_of_all_rows():
    X, y = rare_rows()
    start = L1RDAClassifier().partial_fit(X[:500], y[:500], classes=[False, True])
    shards = [
        L1RDAClassifier().partial_fit(X[:500], y[:500], classes=[False, True]).partial_fit(X[at], y[at])
        for at in (slice(500, 1000), slice(1000, 1500))
    ]
    merged = merge_models(shards, start)
    running, _, distance, best = race(merged)
    assert best == running[distance.argmin()] == merged.race_["chosen"].argmax()


def test_the_choice_is_at_most_a_third_of_the_rows_old():
    """It is made at powers of two and midway between them, and stays in between."""
    X, y = rare_rows()
    model, made_at, chosen = L1RDAClassifier(), [], None
    for row in range(400):
        model.partial_fit(X[[row]], y[[row]], classes=[False, True])
        learner, state = model._learner_now(), model.state_
        if (row + 1) in (256, 384):
            assert learner.chosen(state) == learner.best(state)
        if chosen not in (None, learner.chosen(state)):
            made_at.append(row + 1)
        chosen = learner.chosen(state)
    assert made_at
    assert set(made_at) <= {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384}
    assert any(bin(row).count("1") == 2 for row in made_at)
