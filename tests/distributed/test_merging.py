"""What a merged model equals: laws of rounds over the whole registry, recomputed from the states by hand."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher import distributed, onepass, registry
from thresher._engine._state import _COUNTS as COUNTS
from thresher._estimators import of_rows_seen_before
from thresher.confidence import ASCWClassifier, SBCWClassifier
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    AdaptiveL1RDARegressor,
    FTRLClassifier,
    FTRLRegressor,
    L1RDAClassifier,
    L1RDARegressor,
)
from thresher.online import AROWClassifier, SCWClassifier, SOPClassifier
from thresher.training import merge_models
from variants import assert_same_bits, first_batch, models, name_of, regresses, rows_for, with_params

MODELS = [m for m in models() if name_of(m) != "ASCWClassifier"]  # its variants of fewer costs take a tenth of the time
FIRST, LAST = ({type(m): m for m in some} for some in (MODELS[::-1], MODELS))  # variants of each class
OF_EACH_CLASS = [*FIRST.values(), *(m for m in LAST.values() if m not in FIRST.values() and "ASCW" not in name_of(m))]
over_all = pytest.mark.parametrize("model", OF_EACH_CLASS, ids=name_of)
over_layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
CUTS = [(0, 24), (24, 40), (40, 64)]  # shards of unequal size, whole batches of those who count in eights


def shards_for(model, layout=np.asarray):
    X, y = rows_for(model)
    return [(layout(X[a:b]), y[a:b]) for a, b in CUTS]


def in_passes(model, shards, n_rounds, **options):
    classes = None if regresses(model) else np.unique(rows_for(model)[1])
    return distributed.fit(
        with_params(model), shards, n_rounds=n_rounds, mode="passes", classes=classes, average=False, **options
    )


def begun(model, layout=np.asarray):
    X, y = rows_for(model)
    return first_batch(with_params(model), layout(X[:1]), y[:1], y, sample_weight=np.zeros(1))


def learned(start, shard, again=False):
    learner = copy.deepcopy(start)
    with of_rows_seen_before(learner, again):
        return learner.partial_fit(*shard)


# --- rounds are what they are said to be ----------------------------------------------------------------------------


@over_all
@over_layouts
def test_one_shard_and_one_round_are_that_pass_to_the_bit(model, layout):
    X, y = rows_for(model)
    alone = first_batch(with_params(model), layout(X), y, y)
    assert_same_bits(in_passes(model, [(layout(X), y)], 1).state_, alone.state_)


@over_all
@over_layouts
def test_rounds_are_copies_that_learn_apart_and_are_merged_to_the_bit(model, layout):
    shards = shards_for(model, layout)
    by_hand = begun(model, layout)
    for n_round in range(3):
        again = n_round > 0 or not {"gradient_sum", "z"}.isdisjoint(by_hand.state_.arrays)  # dual averaging: always
        by_hand = merge_models([learned(by_hand, shard, n_round > 0) for shard in shards], by_hand, again=again)
    assert_same_bits(in_passes(model, shards, 3).state_, by_hand.state_)


@over_all
def test_after_several_rounds_the_order_of_the_shards_leaves_no_trace(model):
    shards = shards_for(model)
    merged = in_passes(model, shards, 3)
    for order in ((2, 0, 1), (0, 2, 1)):
        assert_same_bits(in_passes(model, [shards[k] for k in order], 3).state_, merged.state_)


@over_all
def test_shards_without_rows_and_shards_of_weight_zero_change_nothing(model):
    shards = shards_for(model)
    merged = in_passes(model, shards, 2)
    X, y = shards[0]
    weighed = [(*shard, np.ones(len(shard[1]))) for shard in shards]
    more = [weighed[0], (X, y, np.zeros(len(y))), *weighed[1:], (X[:0], y[:0], np.zeros(0))]
    assert_same_bits(in_passes(model, more, 2).state_, merged.state_)


@over_all
def test_one_shard_among_empty_ones_is_that_shard_to_the_bit(model):
    X, y = rows_for(model)
    none = (X, y, np.zeros(len(y)))
    alone = in_passes(model, [(X, y)], 2)
    assert_same_bits(in_passes(model, [none, (X, y, np.ones(len(y))), none], 2).state_, alone.state_)


# --- what is added, averaged and pruned -------------------------------------------------------------------------------


def settled(learner, state):
    state = state.copy()
    learner.settle(state)
    return state


def is_square(spread):
    return spread.ndim == 3 and spread.shape[1] == spread.shape[2]


def inverse(spread):
    return np.linalg.inv(spread) if is_square(spread) else 1 / spread


def times(matrix, vector):
    return np.einsum("kij,kj->ki", matrix, vector) if is_square(matrix) else matrix * vector


ALIGNED = {"SBCWClassifier", "PoolCWClassifier", "ASCWClassifier"}  # whose selections are put together first
APART = [m for m in MODELS if type(m).__name__ not in ALIGNED]


def sums_of(model):
    """What rounds average although it could be added: the sums of models that are made of nothing else."""
    fields = begun(model).state_.fields
    return {f.name for f in fields} if {f.merge for f in fields} <= {"sum", "precision", "derived"} else set()


def by_hand(f, first, each, share, added):
    """One array as its rule says; None if it is derived from others."""
    a, others = first.arrays[f.name], [s.arrays[f.name] for s in each]
    mean = a + sum(w * (b - a) for w, b in zip(share, others, strict=True))
    if f.merge == "sum":
        return a + sum(b - a for b in others) if added else mean if f.axes else np.round(mean)
    if f.merge == "mean":
        return mean
    if f.merge == "precision":
        return inverse(inverse(a) + sum(inverse(b) - inverse(a) for b in others))
    if f.merge == "weighted":
        spread, spreads = inverse(first.arrays[f.by]), [inverse(s.arrays[f.by]) for s in each]
        precision = spread + sum(p - spread for p in spreads)
        if added:
            pulls = sum(times(p, b) - times(spread, a) for p, b in zip(spreads, others, strict=True))
            return times(inverse(precision), times(spread, a) + pulls)
        news, moves = [p - spread for p in spreads], [b - a for b in others]
        known = sum(news)
        moved = sum(n * move for n, move in zip(news, moves, strict=True))
        return np.where(known > 0, a + moved / np.where(known > 0, known, 1), a)
    return None


def pruned(f, merged, truth, advantage):
    """A budget of features: OFS and its kin keep the largest weights, SOFS those it is surest of, with an advantage for
    features that have a weight."""
    if "selected" not in merged.sizes or f.name != "coef":
        return truth
    order = -np.abs(truth) if f.merge == "mean" else merged.arrays["variance"] / np.where(truth != 0, advantage, 1)
    last = np.argsort(order[:, :-1], kind="stable")[:, merged.sizes["selected"] :]
    np.put_along_axis(truth, last, 0.0, axis=1)
    return truth


@pytest.mark.parametrize("again", [False, True], ids=["added", "again"])
@pytest.mark.parametrize("model", APART, ids=name_of)
def test_every_array_of_every_round_is_the_start_and_what_the_shards_add_to_it(model, again):
    """Sums add up, means weigh changes by rows, precisions add up and weigh what they belong to. Where the start knows
    the rows, models made of sums average them, and means move by what each shard learned of an entry."""
    shards, start, averaged = shards_for(model), begun(model), sums_of(model) if again else set()
    share = [len(y) / 64 for _, y in shards]
    for _ in range(3):
        reached = [learned(start, shard) for shard in shards]
        merged = merge_models(reached, start, again=again).state_
        learner = onepass.learner(start, start.n_features_in_)
        first, *each = (settled(learner, m.state_) for m in (start, *reached))
        for f in first.fields:
            entrywise = again and f.merge == "weighted" and not is_square(first.arrays[f.by])
            added = f.name in COUNTS or not (entrywise or f.name in averaged)
            truth = by_hand(f, first, each, share, added)
            if f.name == "lag" and "coef" in merged.arrays:  # the start's mass times the step that was taken in common
                steps = [(m.arrays["coef"] - first.arrays["coef"]) for m in (merged, *each)]
                mass = first.arrays["mass"].reshape(-1, *[1] * (steps[0].ndim - 1))
                truth = truth + mass * (steps[0] - sum(steps[1:]))
            if truth is not None:
                truth = pruned(f, merged, truth, learner.params.get("advantage"))
                assert_allclose(merged.arrays[f.name], truth, rtol=1e-8, atol=1e-10, err_msg=f.name)
        start = merge_models(reached, start, again=again)


@over_all
def test_the_books_of_all_rounds_add_up(model):
    shards = shards_for(model)
    start, n_mistakes, loss = begun(model), 0.0, 0.0
    for _ in range(2):
        reached = [learned(start, shard) for shard in shards]
        n_mistakes += sum(m.state_.arrays["n_mistakes"] - start.state_.arrays["n_mistakes"] for m in reached)
        loss += sum(m.state_.arrays["tally"] - start.state_.arrays["tally"] for m in reached)
        start = merge_models(reached, start)
    assert start.n_samples_seen_ == 2 * 64
    assert_array_equal(start.state_.arrays["n_mistakes"], n_mistakes)
    assert_allclose(start.state_.arrays["tally"], loss, rtol=1e-12)


def has_a_budget(model):
    """Whether a number of features is promised; ASCW that keeps all it ever chose does not."""
    return isinstance(getattr(model, "n_features_to_select", None), int) and not getattr(model, "keep", False)


@pytest.mark.parametrize("model", [m for m in MODELS if has_a_budget(m)], ids=name_of)
def test_a_number_of_features_holds_after_every_merge(model):
    shards, merged = shards_for(model), begun(model)
    for _ in range(3):
        merged = merge_models([learned(merged, shard) for shard in shards], merged, again=True)
        shared = "Shared" in type(model).__name__  # by all classes
        for features in [merged.support_] if shared else map(np.flatnonzero, np.atleast_2d(merged.coef_)):
            assert 0 < len(features) <= model.n_features_to_select


OF_SUMS = [m for m in MODELS if sums_of(m) and m._exactness != "call"]


@pytest.mark.parametrize("model", OF_SUMS, ids=name_of)
def test_shards_of_one_mind_are_the_model_of_one_of_them(model):
    """Rounds over copies of one shard leave a model made of sums where that shard went, from nothing or from a start;
    adding up would make steps of all of them at once."""
    X, y = rows_for(model)
    start = begun(model)
    for _ in range(3):
        one = learned(start, (X, y))
        merged = merge_models([one] * 3, start, again=True)
        learner = onepass.learner(start, X.shape[1])
        for k in range(learner.n_models):
            truth = learner.weights(settled(learner, one.state_), k)
            assert_allclose(learner.weights(merged.state_, k), truth, rtol=1e-9, atol=1e-12)
        assert merged.n_samples_seen_ == start.n_samples_seen_ + 3 * 64
        start = merged


def wide_rows():
    """Rare features, which eight shards all know a little of."""
    rng = np.random.default_rng(0)
    columns = np.minimum(3000 * rng.random((9000, 30)) ** 3, 2999).astype(np.int64)
    X = sparse.csr_array((np.full(9000 * 30, 30**-0.5), columns.ravel(), np.arange(0, 9000 * 30 + 1, 30)))
    X.sum_duplicates()
    scores = X @ (12 * rng.normal(size=X.shape[1]))
    return X, rng.random(9000) < 1 / (1 + np.exp(-scores))


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(r=10.0),
        SCWClassifier(),
        SOPClassifier(),
        L1RDAClassifier(alpha=1e-5, eta0=100.0, loss="logistic"),
        AdaptiveL1RDAClassifier(alpha=1e-5),
        FTRLClassifier(),
    ],
    ids=name_of,
)
def test_more_rounds_over_many_shards_do_not_overstep(model):
    """Against the first round, and against one machine: adding the changes of eight shards up ends at 30 to 50 %."""
    X, y = wide_rows()
    shards = [(X[k:8000:8], y[k:8000:8]) for k in range(8)]

    def error(fitted):
        return 1 - fitted.score(X[8000:], y[8000:])

    first, fifth = (error(distributed.fit(model, shards, n_rounds=n)) for n in (1, 5))
    alone = error(distributed.fit(model, [(X[:8000], y[:8000])], n_rounds=5))
    assert fifth < first + 0.02
    assert fifth < alone + 0.1


def test_values_learned_in_shards_are_as_large_as_those_of_one_machine():
    """Weights of dual averaging grow with the root of its clock: added clocks would make them too long."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 10))
    y = X @ rng.normal(size=10)
    shards = [(X[k::8], y[k::8]) for k in range(8)]
    for model in (L1RDARegressor(alpha=1e-3), AdaptiveL1RDARegressor(alpha=1e-3, eta0=1.0), FTRLRegressor(1.0)):
        for n_rounds in (1, 3):
            assert distributed.fit(model, shards, n_rounds=n_rounds).score(X, y) > 0.97


# --- sums -----------------------------------------------------------------------------------------------------------


@over_layouts
def test_sums_over_shards_are_a_mini_batch_of_all_rows(layout):
    model = L1RDAClassifier(alpha=0.02, eta0=2.0)
    X, y = rows_for(model)
    many = distributed.fit(model, shards_for(model, layout), mode="sums", n_rounds=7)
    one = L1RDAClassifier(alpha=0.02, eta0=2.0, batch_size=64, shuffle=False, max_iter=7).fit(X, y)
    assert_allclose(many.coef_, one.coef_, rtol=1e-12, atol=1e-14)
    assert_array_equal(many.support_, one.support_)
    assert many.n_samples_seen_ == 7 * 64
    assert many.n_mistakes_ == one.n_mistakes_


def test_sums_take_as_many_rounds_as_the_learner_says_unless_tol_ends_them():
    model = L1RDAClassifier(alpha=0.02, eta0=1.0, loss="logistic", max_iter=6)
    assert len(distributed.fit(model, shards_for(model), mode="sums").record_["distributed"]["rounds"]) == 6
    model = with_params(model, tol=10.0)
    record = distributed.fit(model, shards_for(model), mode="sums").record_["distributed"]
    assert len(record["rounds"]) == 2
    assert record["done"]


# --- the page -------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "merging.md"


def test_every_learner_that_streams_is_in_the_table_of_the_page():
    table = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    named = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    stream = {cls.__name__ for cls in registry.estimators().values() if hasattr(cls, "partial_fit")}
    assert stream <= named


@pytest.mark.parametrize(
    "model",
    [SBCWClassifier(4, batch_size=8, n_groups=2), ASCWClassifier(4, batch_size=8, n_groups=2, n_costs=3)],
    ids=lambda model: type(model).__name__,
)
def test_groups_of_small_batches_do_not_overstep_round_after_round(model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20)) / np.sqrt(20)
    score = X @ (3 * rng.normal(size=20)) + 0.3 * rng.normal(size=600)
    y = (score > np.median(score)).astype(int)
    shards = [(X[i::16], y[i::16]) for i in range(16)]
    one, five = (distributed.fit(model, shards, n_rounds=n, mode="passes", classes=[0, 1]) for n in (1, 5))
    assert np.linalg.norm(five.coef_) < 2 * np.linalg.norm(one.coef_)
    assert five.score(X, y) > one.score(X, y) - 0.05
