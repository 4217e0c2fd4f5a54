"""The laws of the architecture, over the whole registry and the variants that reach other code paths."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
import tracemalloc
import warnings

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from thresher import onepass
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.stochastic import PegasosClassifier, PegasosRegressor
from variants import (
    assert_same_bits,
    bits,
    first_batch,
    is_binary,
    models,
    moved,
    name_of,
    regresses,
    rows_for,
    with_params,
)

MODELS = models()
over_all = pytest.mark.parametrize("model", MODELS, ids=name_of)
over_layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def in_batches(model, X, y, cuts, **options):
    """The rows through ``partial_fit``, cut before the given rows; a batch may be of one row, none is empty."""
    model = with_params(model)
    edges = [0, *sorted(set(cuts)), X.shape[0]]
    for begin, end in itertools.pairwise(edges):
        part = {k: v[begin:end] for k, v in options.items()}
        first_batch(model, X[begin:end], y[begin:end], y, **part)
    return model


def allowed(model, cuts):
    """Where rows may be cut: a learner of whole batches makes one of what is left of a call."""
    if model._exactness != "call":
        return cuts
    return {cut for cut in cuts if model.batch_size and cut % model.batch_size == 0}


def assert_same_state(model, one, other):
    """To the bit; what comes out of BLAS, whose sums depend on the width of a matrix, to rounding errors."""
    if model._exactness != "call":
        assert_same_bits(one, other)
        return
    assert set(one.arrays) == set(other.arrays)
    for name, a in one.arrays.items():
        assert_allclose(a, other.arrays[name], rtol=1e-9, atol=1e-11, err_msg=name)


def assert_learned_the_same(one, other):
    """To the bit, but for the sums of losses and weights in the books, which have a test of their own."""
    assert_same_bits(one.state_, other.state_, skip=("tally",))
    assert_array_equal(one.state_.arrays["tally"][:, :2], other.state_.arrays["tally"][:, :2])
    assert_allclose(one.state_.arrays["tally"], other.state_.arrays["tally"], rtol=1e-12)


def one_pass(model):
    return with_params(model, max_iter=1, shuffle=False)


# --- law 3: any split into batches = one pass -----------------------------------------------------------------------


@over_all
@over_layouts
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_any_split_into_batches_is_one_pass_to_the_bit(model, layout, data):
    n_classes = data.draw(st.sampled_from([2, 3]))
    X, y = rows_for(model, n_classes=n_classes)
    X, weight = layout(X), np.random.default_rng(1).exponential(size=len(y))
    whole = one_pass(model).fit(X, y, sample_weight=weight)  # 64 rows: a multiple of every batch_size
    cuts = allowed(model, data.draw(st.sets(st.integers(1, 63))))
    assert_learned_the_same(in_batches(model, X, y, cuts, sample_weight=weight), whole)


@over_all
def test_row_by_row_is_one_pass_to_the_bit(model):
    X, y = rows_for(model, seed=5)
    cuts = allowed(model, range(1, 64))
    assert_learned_the_same(in_batches(model, X, y, cuts), one_pass(model).fit(X, y))


@over_all
def test_the_progressive_loss_does_not_depend_on_the_split_either_to_the_bit(model):
    X, y = rows_for(model, seed=5)
    cuts = allowed(model, [5, 6, 40])
    assert in_batches(model, X, y, cuts).progressive_loss_ == in_batches(model, X, y, []).progressive_loss_


@pytest.mark.parametrize("model", [m for m in MODELS if m._exactness == "batch"], ids=name_of)
@settings(max_examples=10, deadline=None)
@given(cuts=st.sets(st.integers(1, 60)))
def test_an_unfinished_mini_batch_waits_in_the_state(model, cuts):
    X, y = rows_for(model, n_rows=61)  # five rows are left over
    assert_learned_the_same(in_batches(model, X, y, cuts), in_batches(model, X, y, []))


@pytest.mark.parametrize("model", [m for m in MODELS if m._exactness == "batch"], ids=name_of)
def test_fit_closes_the_last_mini_batch_with_the_rows_it_has(model):
    """61 rows = seven batches of 8 and one of 5: what a batch of 5 with batch_size=5 would have added."""
    X, y = rows_for(model, n_rows=61)
    head = one_pass(model).fit(X[:56], y[:56])
    model_of_5 = with_params(model, batch_size=5)
    first_batch(model_of_5, X[56:], y[56:], y)
    tail = one_pass(model).fit(X, y)
    assert tail.state_.arrays["n_steps"][0, 0] == head.state_.arrays["n_steps"][0, 0] + 1 == 8
    learner5 = onepass.learner(model_of_5, X.shape[1])
    onwards = head.state_.copy()
    learner5.settle(onwards)
    rows, classes = onepass.rows(X[56:]), np.unique(y)
    for k in range(onwards.n_outputs):
        target = y[56:] if regresses(model) else np.searchsorted(classes, y[56:]).astype(float)
        lesson = onepass.Lesson(rows, onepass.Target(target, None if regresses(model) else classes), output=k)
        learner5.learn(lesson, onwards)
    learner = onepass.learner(tail, X.shape[1])
    assert_allclose(learner5.weights(onwards), learner.weights(tail.state_), rtol=1e-11, atol=1e-13)


# --- what is counted was predicted ------------------------------------------------------------------------------------


CLASSIFIERS = [(m, k) for m in MODELS if not regresses(m) for k in (2, 3) if k == 2 or not is_binary(m)]
LEARNS_IN_BATCHES = "max_inner_iter"  # a parameter of those that predict a batch, then learn from it


def predicted_first(model, X, y, weight, size):
    """The mistakes of a fresh model after each batch that it predicts, then learns from: made, and counted by it."""
    model, made = with_params(model), 0
    for begin in range(0, len(y), size):
        part = slice(begin, begin + size)
        predicted = model.predict(X[part]) if begin else np.repeat(np.unique(y)[0], size)  # all scores are 0
        made += np.count_nonzero((predicted != y[part]) & (weight[part] > 0))
        yield made, first_batch(model, X[part], y[part], y, sample_weight=weight[part])


@pytest.mark.parametrize(("model", "n_classes"), CLASSIFIERS, ids=[f"{name_of(m)}-{k}" for m, k in CLASSIFIERS])
@over_layouts
def test_mistakes_are_those_of_predictions_before_each_row(model, n_classes, layout):
    """Or each batch. Where every look at the weights chooses features anew, counts are those of the rows as learned."""
    X, y = rows_for(model, n_rows=40, n_classes=n_classes, seed=3)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::7] = 0
    in_batches, few = hasattr(model, LEARNS_IN_BATCHES), getattr(model, "n_features_to_select", None)
    counted, paid = 0, 0.0
    for made, now in predicted_first(model, layout(X), y, weight, 8 if in_batches else 1):
        in_state = "selected" in now.state_.sizes and n_classes == 2  # a budget that the learner keeps itself
        if in_batches or in_state or not isinstance(few, int) or few >= X.shape[1]:
            assert now.n_mistakes_ == made
        paid_now = now.progressive_loss_ * now.state_.arrays["tally"][:, 3].max()
        assert now.n_mistakes_ >= counted
        assert paid_now >= paid - 1e-9
        counted, paid = now.n_mistakes_, paid_now
    assert counted > 0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"C": 1.0, "scale": True}, {"multi_class": "joint"}], ids=str)
def test_rows_that_lie_far_out_are_counted_as_they_are_predicted(options, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.2, size=(300, 4))
    y = np.digitize(np.clip(X, -2, 2).sum(axis=1) + rng.normal(size=300), [0.0, 1.0][: n_classes - 1])
    model = PAClassifier(**options)
    for made, now in predicted_first(model, X, y, np.ones(300), 1):
        assert now.n_mistakes_ == made
    assert_same_bits(in_batches(model, X, y, [77, 256]).state_, now.state_)
    scaled = (X - now.state_.arrays["shift"][0]) * now.state_.arrays["inverse"][0]
    assert (abs(scaled) > 5).any(axis=1).sum() > 10


# --- law 4: save, load, continue = never stopped --------------------------------------------------------------------


def through_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib", mmap_mode="r")


def through_deepcopy(model, folder):
    return copy.deepcopy(model)


def through_a_file(model, folder):
    save_model(model, folder / "model.thresher")
    return load_model(folder / "model.thresher")


ways_to_save = pytest.mark.parametrize("way", [through_pickle, through_joblib, through_deepcopy, through_a_file])


@over_all
@ways_to_save
def test_saved_loaded_and_continued_is_never_stopped(model, way, tmp_path):
    X, y = rows_for(model)
    X = sparse.csr_array(X)
    never_stopped = in_batches(model, X, y, [29])  # in the middle of a mini-batch
    stopped = with_params(model)
    first_batch(stopped, X[:29], y[:29], y)
    before = bits(stopped.state_)
    loaded = way(stopped, tmp_path)
    assert bits(loaded.state_) == before
    assert loaded.get_params() == stopped.get_params()
    assert_array_equal(loaded.predict(X), stopped.predict(X))
    loaded.partial_fit(X[29:], y[29:])
    assert_same_bits(loaded.state_, never_stopped.state_)
    assert_array_equal(loaded.coef_, never_stopped.coef_)
    assert bits(stopped.state_) == before  # the copy shares nothing with what was saved


@over_all
@ways_to_save
def test_a_fitted_model_survives_saving(model, way, tmp_path):
    X, y = rows_for(model)
    model = with_params(model, random_state=0).fit(X, y)
    loaded = way(model, tmp_path)
    assert_same_bits(loaded.state_, model.state_)
    assert loaded.n_iter_ == model.n_iter_
    assert loaded.n_features_in_ == model.n_features_in_
    assert_array_equal(loaded.predict(X), model.predict(X))
    if not regresses(model):
        assert_array_equal(loaded.classes_, model.classes_)
        assert loaded.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize(
    "labels",
    [["ham", "spam"], [False, True], [-1, 1], [3.0, 70000.0], np.array(["b", "a"], dtype=object)],
    ids=["text", "bool", "int", "float", "object"],
)
@ways_to_save
def test_labels_of_every_kind_survive_saving(labels, way, tmp_path):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [1.0, 0.1]])
    model = PAClassifier(random_state=0).fit(X, np.asarray(labels)[[0, 1, 0, 1]])
    loaded = way(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert_array_equal(
        loaded.partial_fit(X, np.asarray(labels)[[0, 1, 0, 1]]).predict(X), np.asarray(labels)[[0, 1, 0, 1]]
    )


# --- law 5: merging -------------------------------------------------------------------------------------------------


def shards_of(model, n_shards=3, head=13):
    """A learner, where all shards begin (in the middle of a mini-batch), and where each arrives."""
    X, y = rows_for(model, n_rows=head + 20 * n_shards)
    start = with_params(model)
    first_batch(start, X[:head], y[:head], y)
    reached = []
    for k in range(n_shards):
        shard = copy.deepcopy(start)
        reached.append(shard.partial_fit(X[head + k :: n_shards], y[head + k :: n_shards]).state_)
    return onepass.learner(start, X.shape[1]), start.state_, reached


def settled(learner, state):
    state = state.copy()
    learner.settle(state)
    return state


@over_all
def test_one_shard_merged_is_that_shard_to_the_bit(model):
    learner, start, (first, *_) = shards_of(model)
    assert_same_bits(learner.merge(start, [first], [17.0]), first)


@over_all
def test_the_order_of_shards_leaves_no_trace(model):
    learner, start, shards = shards_of(model)
    weights = [20.0, 7.0, 31.0]
    merged = learner.merge(start, shards, weights)
    for order in itertools.permutations(range(3)):
        assert_same_bits(learner.merge(start, [shards[k] for k in order], [weights[k] for k in order]), merged)


@over_all
def test_merging_leaves_its_inputs_alone(model):
    learner, start, shards = shards_of(model)
    before = [bits(s) for s in (start, *shards)]
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    merged.arrays["tally"][...] = -1
    assert [bits(s) for s in (start, *shards)] == before


@over_all
def test_the_common_start_counts_once(model):
    """Two shards that learned nothing and one that did: sums and precisions are those of the one that did."""
    learner, start, (later, *_) = shards_of(model)
    weights = [3.0, 1.0, 4.0]
    merged = learner.merge(start, [start, later, start], weights)
    begun, arrived = settled(learner, start), settled(learner, later)
    for f in start.fields:
        if f.merge in ("sum", "precision", "weighted"):
            truth = arrived.arrays[f.name]
            if f.name == "lag" and "coef" in arrived.arrays:  # the start lags by the step that weights take in common
                mass = begun.arrays["mass"].reshape(-1, *[1] * (truth.ndim - 1))
                truth = truth + mass * (merged.arrays["coef"] - arrived.arrays["coef"])
        elif f.merge == "mean":
            truth = (7.0 * begun.arrays[f.name] + 1.0 * arrived.arrays[f.name]) / 8.0
            if f.name == "coef" and "selected" in start.sizes:  # a budget of features: the largest weights stay
                smallest = np.argsort(-np.abs(truth[:, :-1]), kind="stable")[:, start.sizes["selected"] :]
                np.put_along_axis(truth, smallest, 0.0, axis=1)
        else:
            continue
        assert_allclose(merged.arrays[f.name], truth, rtol=1e-9, atol=1e-11, err_msg=f.name)


@over_all
def test_books_of_all_shards_add_up(model):
    learner, start, shards = shards_of(model)
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    for name in {"tally", "n_mistakes", "n_wrong"} & set(merged.arrays):
        truth = sum(s.arrays[name] for s in shards) - 2 * start.arrays[name]
        assert_allclose(merged.arrays[name], truth, rtol=1e-12)


@over_all
def test_a_merged_model_goes_on_learning(model):
    learner, start, shards = shards_of(model)
    X, y = rows_for(model, seed=9)
    merged = first_batch(with_params(model), X[:8], y[:8], y)
    merged.state_ = learner.merge(start, shards, [20.0, 20.0, 20.0])
    seen = merged.n_samples_seen_
    assert seen == 13 + 60
    merged.partial_fit(X, y)
    assert merged.n_samples_seen_ == seen + 64
    assert np.isfinite(merged.coef_).all()


@pytest.mark.parametrize("batch_size", [1, 8])
def test_gradient_sums_of_dual_averaging_add_up(batch_size):
    model = L1RDAClassifier(alpha=0.01, eta0=1.0, batch_size=batch_size)
    X, y = rows_for(model, n_classes=2, n_rows=70)
    first = first_batch(with_params(model), X[:40], y[:40], y)
    second = first_batch(with_params(model), X[40:], y[40:], y)  # 30 rows: the last batch has 6
    learner = onepass.learner(model, X.shape[1])
    merged = learner.merge(learner.new_state(X.shape[1]), [first.state_, second.state_], [40, 30])
    sums = [settled(learner, m.state_).arrays["gradient_sum"] for m in (first, second)]
    assert_allclose(merged.arrays["gradient_sum"], sums[0] + sums[1], rtol=1e-15)
    steps = merged.arrays["n_steps"][0, 0]
    assert steps == (70 if batch_size == 1 else 5 + 4)
    G, t = merged.arrays["gradient_sum"][0, :-1], steps  # the weights that Xiao's closed form gives to these sums
    truth = -np.sign(G) * np.maximum(np.abs(G) - 0.01 * t, 0) / np.sqrt(t)
    assert_allclose(learner.weights(merged)[0, :-1], truth, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("options", [{}, {"diagonal": "precision"}, {"covariance": "full"}], ids=str)
def test_precisions_of_confidence_weighted_learners_add_up(options):
    """From a common start with precision P0 and mean m0: P = P1 + P2 - P0 and P m = P1 m1 + P2 m2 - P0 m0."""
    learner, start, (first, second, _) = shards_of(AROWClassifier(1.0, **options))
    merged = learner.merge(start, [first, second], [1.0, 5.0])
    spread = "covariance" if options.get("covariance") == "full" else "variance"

    def precision(state, k):
        v = state.arrays[spread][k]
        return np.linalg.inv(v) if v.ndim == 2 else np.diag(1 / v)

    for k in range(3):
        P0, P1, P2 = (precision(s, k) for s in (start, first, second))
        m0, m1, m2 = (s.arrays["coef"][k] for s in (start, first, second))
        P = P1 + P2 - P0
        assert_allclose(precision(merged, k), P, rtol=1e-9, atol=1e-10)
        assert_allclose(
            merged.arrays["coef"][k], np.linalg.solve(P, P1 @ m1 + P2 @ m2 - P0 @ m0), rtol=1e-8, atol=1e-10
        )


PEGASOS = [m for m in MODELS if isinstance(m, PegasosClassifier | PegasosRegressor) and m.alpha != "auto"]


@pytest.mark.parametrize("model", PEGASOS, ids=name_of)
def test_merged_pegasos_weights_are_the_weighted_mean(model):
    learner, start, shards = shards_of(model)
    weights = np.array([20.0, 7.0, 31.0])
    merged = learner.merge(start, shards, weights)
    each = [settled(learner, s).arrays["coef"] for s in shards]
    mean = sum(w * c for w, c in zip(weights, each, strict=True)) / weights.sum()
    assert_allclose(merged.arrays["coef"], mean, rtol=1e-10, atol=1e-12)
    penalised = mean if model.penalize_intercept else mean[:, :-1]
    assert_allclose(merged.arrays["square_norm"][:, 0], model.alpha * (penalised**2).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("model", [m for m in PEGASOS if m.average in (True, "late")], ids=name_of)
def test_merged_pegasos_averages_over_the_iterates_of_all_shards(model):
    """The mean over the start's iterates and those that each shard added."""
    learner, start, shards = shards_of(model)
    merged = learner.merge(start, shards, [20.0, 7.0, 31.0])
    start, *shards = (settled(learner, s) for s in (start, *shards))

    n_averaged = -1 if model.intercept != "feature" else None  # a constant that follows from means is none of them

    def iterates(state):  # how many, or what they count, and their sum
        n = state.arrays["mass" if model.average == "late" else "n_steps"]
        return n, n * learner.weights(state)[:, :n_averaged]

    n0, total0 = iterates(start)
    n = n0 + sum(iterates(s)[0] - n0 for s in shards)
    total = total0 + sum(iterates(s)[1] - total0 for s in shards)
    assert_allclose(learner.weights(merged)[:, :n_averaged], total / n, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", PEGASOS, ids=name_of)
def test_pegasos_settled_is_the_same_model(model):
    """Folding the scale moves neither the weights nor what is learned after it."""
    X, y = rows_for(model)
    learned = first_batch(with_params(model), X[:32], y[:32], y)  # a multiple of every batch_size
    learner, other = onepass.learner(learned, X.shape[1]), copy.deepcopy(learned)
    learner.settle(other.state_)
    assert_allclose(learner.weights(other.state_), learner.weights(learned.state_), rtol=1e-10, atol=1e-12)
    learned.partial_fit(X[32:], y[32:])
    other.partial_fit(X[32:], y[32:])
    assert_allclose(learner.weights(other.state_), learner.weights(learned.state_), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
@pytest.mark.parametrize("penalize_intercept", [True, False])
@pytest.mark.parametrize("average", [True, "late"])
def test_the_averaged_iterate_is_the_mean_of_all_iterates_however_far_projections_pull(
    alpha, penalize_intercept, average
):
    """Early steps of length |x| / alpha are projected again and again: the scale falls by many decades."""
    X, y = rows_for(PegasosClassifier(), n_rows=300, n_classes=2)
    X *= 10
    averaged = PegasosClassifier(alpha=alpha, average=average, penalize_intercept=penalize_intercept)
    last = with_params(averaged, average=False)
    total, counts = np.zeros(X.shape[1] + 1), np.arange(len(y)) + 1 if average == "late" else np.ones(len(y))
    for i in range(len(y)):
        first_batch(last, X[i : i + 1], y[i : i + 1], y)
        total += counts[i] * np.append(last.coef_[0], last.intercept_)
    first_batch(averaged, X, y)
    mean = total / counts.sum()
    assert_allclose(np.append(averaged.coef_[0], averaged.intercept_), mean, rtol=1e-6, atol=1e-8 * np.abs(mean).max())


# --- law 7: what is not there changes nothing -----------------------------------------------------------------------


def spread_columns(X, places, width):
    """The columns of ``X`` at ``places`` of a wider matrix; the others are never non-zero."""
    wide = np.zeros((X.shape[0], width))
    wide[:, places] = X
    return wide


def places_for(model, places):
    """The places; the first ones for a learner whose draws are keyed by the place of a feature."""
    return np.arange(len(places)) if "Dropout" in type(model).__name__ else places


def without_columns(state, places, old_width):
    """The state restricted to the features at ``places`` and the constant."""
    kept = np.append(places, state.sizes["weight"] - 1)
    out = {}
    for f in state.fields:
        a = state.arrays[f.name]
        for axis, name in enumerate((name for name in f.axes.split() if name != "shared"), start=1):
            if name == "weight" or (name == "column" and a.shape[axis]):
                a = np.take(a, kept if name == "weight" else places, axis=axis)
        if f.name == "ids":  # of features, and of the constant; -1 where there is none
            known = {-1: -1, **{int(old): new for new, old in enumerate(kept)}}
            a = np.vectorize(known.__getitem__, otypes=[float])(a)
        if f.name == "selected":  # names of features, one more than their columns; 0 is none
            a = np.where(a == 0, 0.0, np.searchsorted(places, a - 1) + 1.0)
        out[f.name] = a
    return out


@over_all
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_columns_that_are_never_non_zero_change_nothing_in_csr(model, seed):
    X, y = rows_for(model)
    places = places_for(model, np.sort(np.random.default_rng(seed).choice(30, X.shape[1], replace=False)))
    narrow = one_pass(model).fit(sparse.csr_array(X), y)
    wide = one_pass(moved(model, places)).fit(sparse.csr_array(spread_columns(X, places, 30)), y)
    seen = without_columns(wide.state_, places, X.shape[1])
    for name, a in narrow.state_.arrays.items():
        if model._exactness == "call":
            assert_allclose(seen[name], a, rtol=1e-9, atol=1e-11, err_msg=name)
        else:
            assert np.ascontiguousarray(seen[name]).tobytes() == a.tobytes(), name
    unseen = np.setdiff1d(np.arange(30), places)
    assert not wide.coef_[..., unseen].any()
    caught_up = "last_step" in wide.state_.arrays and getattr(model, "n_features_to_select", None) is not None
    for f in wide.state_.fields:  # untouched, as before the first row; a changed penalty brings lazy weights up to date
        if f.axes == "weight" and not caught_up:
            assert (wide.state_.arrays[f.name][:, unseen] == f.initial).all(), f.name


@over_all
def test_columns_that_are_never_non_zero_change_nothing_when_dense(model):
    X, y = rows_for(model)
    places = places_for(model, np.array([0, 1, 4, 9, 10, 17, 18, 19, 28]))
    narrow = one_pass(model).fit(X, y)
    wide = one_pass(moved(model, places)).fit(spread_columns(X, places, 30), y)
    seen = without_columns(wide.state_, places, X.shape[1])
    for name, a in narrow.state_.arrays.items():
        if name != "stamp":  # which batch touched a weight last: a dense row touches all of them
            assert_allclose(seen[name], a, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(a).max(initial=0)), err_msg=name)
    assert not wide.coef_[..., np.setdiff1d(np.arange(30), places)].any()


@over_all
def test_stored_zeros_change_nothing(model):
    X, y = rows_for(model)
    columns = np.tile(np.arange(X.shape[1]), len(X))
    stored = sparse.csr_array((X.ravel(), columns, np.arange(len(X) + 1) * X.shape[1]), shape=X.shape)
    assert stored.nnz == X.size
    truth = one_pass(model).fit(sparse.csr_array(X), y).coef_
    # the mean of all iterates is a difference of sums: it keeps about ten digits of the largest weight
    tolerance = 1e-9 if getattr(model, "average", False) else 1e-12
    assert_allclose(one_pass(model).fit(stored, y).coef_, truth, rtol=1e-10, atol=tolerance * np.abs(truth).max())


@over_all
@over_layouts
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rows_of_weight_zero_are_absent(model, layout, seed):
    rng = np.random.default_rng(seed)
    X, y = rows_for(model)
    weight = rng.exponential(size=len(y))
    weight[rng.random(len(y)) < 0.4] = 0
    weight[3] = 1.0
    X[weight == 0] *= 1e6
    kept = weight > 0
    with_them = first_batch(with_params(model), layout(X), y, y, sample_weight=weight)
    without = first_batch(with_params(model), layout(X[kept]), y[kept], y, sample_weight=weight[kept])
    assert_same_bits(with_them.state_, without.state_)
    before = bits(with_them.state_)
    with_them.partial_fit(layout(X), y, sample_weight=np.zeros(len(y)))
    assert bits(with_them.state_) == before


@over_all
def test_a_weight_of_one_is_no_weight(model):
    X, y = rows_for(model)
    given_ones = one_pass(model).fit(X, y, sample_weight=np.ones(len(y)))
    assert_same_bits(given_ones.state_, one_pass(model).fit(X, y).state_)


# --- law 8: parameters and data belong to the user ------------------------------------------------------------------


@over_all
@over_layouts
def test_fit_touches_neither_parameters_nor_data(model, layout):
    X, y = rows_for(model)
    X, weight = layout(X), np.linspace(0, 2, len(y))
    class_weight = dict(zip(np.unique(y).tolist(), (2.0, 1.0, 0.5), strict=False))
    model = with_params(model, random_state=np.random.RandomState(3), class_weight=class_weight)
    if "alpha" in model._param_rules and model._param_rules["alpha"].holds(np.ones(X.shape[1])):
        model.set_params(alpha=np.linspace(0.01, 0.1, X.shape[1]))
    given_params = dict(vars(model))
    frozen = copy.deepcopy({k: v for k, v in given_params.items() if k != "random_state"})
    held = [X.data.tobytes() if sparse.issparse(X) else X.tobytes(), y.tobytes(), weight.tobytes()]
    model.fit(X, y, sample_weight=weight)
    model.partial_fit(X, y, sample_weight=weight)
    model.predict(X)
    for name, value in given_params.items():
        assert getattr(model, name) is value, name
    for name, value in frozen.items():
        if isinstance(value, (list, dict)):  # groups, which may differ in length
            assert getattr(model, name) == value
        else:
            assert_array_equal(getattr(model, name), value)
    assert held == [X.data.tobytes() if sparse.issparse(X) else X.tobytes(), y.tobytes(), weight.tobytes()]


# --- law 9: same seed, same bits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [m for m in MODELS if not regresses(m)], ids=name_of)
def test_the_number_of_threads_changes_nothing(model):
    X, y = rows_for(model, n_rows=200, n_classes=5)
    one = with_params(model, n_jobs=None, random_state=7, max_iter=2).fit(X, y)
    for n_jobs in (1, 2, 5, -1):
        many = with_params(model, n_jobs=n_jobs, random_state=7, max_iter=2).fit(X, y)
        assert_same_bits(many.state_, one.state_)
        assert_array_equal(many.predict(X), one.predict(X))


def test_threads_change_nothing_across_chunks():
    """More rows than all classes learn at a time."""
    X, y = rows_for(PAClassifier(), n_rows=9000, n_features=5, n_classes=4)
    one = PAClassifier(random_state=1, max_iter=1).fit(X, y)
    many = PAClassifier(random_state=1, max_iter=1, n_jobs=4).fit(X, y)
    assert_same_bits(many.state_, one.state_)
    assert_learned_the_same(in_batches(PAClassifier(), X, y, [1, 4096, 4097]), one_pass(PAClassifier()).fit(X, y))


@over_all
def test_the_same_seed_gives_the_same_bits(model):
    X, y = rows_for(model)
    first = with_params(model, random_state=3).fit(X, y)
    again = with_params(model, random_state=3).fit(X, y)
    other = with_params(model, random_state=4).fit(X, y)
    assert_same_bits(first.state_, again.state_)
    assert bits(first.state_) != bits(other.state_)


@over_all
def test_fitting_twice_is_fitting_once(model):
    X, y = rows_for(model)
    once = with_params(model, random_state=3).fit(X, y)
    twice = with_params(model, random_state=3).fit(X[::2], y[::2]).fit(X, y)
    assert_same_bits(once.state_, twice.state_)


# --- law 10: a row costs its non-zeros ------------------------------------------------------------------------------

WIDE = 10**7


def one_wide_row(columns):
    values = np.ones(len(columns))
    return sparse.csr_array((values, np.array(columns), np.array([0, len(columns)])), shape=(1, WIDE))


def peak_of(act):
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


NARROW_STATE = [m for m in MODELS if getattr(m, "covariance", "") != "full" and not hasattr(type(m), "precision_")]


@pytest.mark.parametrize("model", NARROW_STATE, ids=name_of)
def test_one_row_of_ten_million_features_allocates_nothing_of_that_size(model):
    model, y = with_params(model), [1.0] if regresses(model) else ["spam"]
    first_batch(model, one_wide_row([3, 70]), y, ["ham", "spam"])
    assert model.state_.sizes["weight"] == WIDE + 1
    row = one_wide_row([3, 5, WIDE - 1])
    assert peak_of(lambda: model.partial_fit(row, y)) < 4_000_000  # a byte per feature is 10 million
    if getattr(model, "n_features_to_select", None) is None:  # else all orders are compared, once after each batch
        assert peak_of(lambda: model.predict(row)) < 1_000_000


def test_one_alpha_per_feature_costs_no_more_per_row():
    model = PegasosClassifier(alpha=np.full(WIDE, 0.1))
    first_batch(model, one_wide_row([3, 70]), ["spam"], ["ham", "spam"])
    row = one_wide_row([3, 5, WIDE - 1])
    assert peak_of(lambda: model.partial_fit(row, ["ham"])) < 1_000_000


# --- growing --------------------------------------------------------------------------------------------------------

WIDTHS = [4, 4, 9, 6, 10, 31, 2]  # of batches of 9 rows: wider, much wider and narrower ones


def growing_batches(model):
    X, y = rows_for(model, n_rows=9 * len(WIDTHS), n_features=31)
    for i, width in enumerate(WIDTHS):
        X[9 * i : 9 * (i + 1), width:] = 0
    return X, y, [(X[9 * i : 9 * (i + 1), :width], y[9 * i : 9 * (i + 1)]) for i, width in enumerate(WIDTHS)]


@over_all
def test_growing_is_having_known_the_width_to_the_bit(model):
    X, y, batches = growing_batches(model)
    knew = in_batches(model, sparse.csr_array(X), y, range(9, len(y), 9))
    grew = with_params(model)
    for A, b in batches:
        first_batch(grew, sparse.csr_array(A), b, y, grow=True)
    assert grew.n_features_in_ == 31
    assert_same_state(model, grew.state_, knew.state_)
    if model._exactness != "call":
        assert_array_equal(grew.coef_, knew.coef_)
        assert_array_equal(grew.intercept_, knew.intercept_)
    assert_array_equal(grew.predict(X), knew.predict(X))


@over_all
def test_growing_on_dense_rows_is_having_known_the_width(model):
    X, y, batches = growing_batches(model)
    knew = in_batches(model, X, y, [] if model._exactness != "call" else range(9, len(y), 9))
    grew = with_params(model)
    for A, b in batches:
        first_batch(grew, A, b, y, grow=True)
    assert_allclose(grew.coef_, knew.coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(grew.intercept_, knew.intercept_, rtol=1e-9, atol=1e-11)


@over_all
@ways_to_save
def test_a_grown_model_is_saved_and_goes_on_growing(model, way, tmp_path):
    X, y, batches = growing_batches(model)
    knew = in_batches(model, sparse.csr_array(X), y, range(9, len(y), 9))
    grew = with_params(model)
    for A, b in batches[:4]:
        first_batch(grew, sparse.csr_array(A), b, y, grow=True)
    grew = way(grew, tmp_path)
    for A, b in batches[4:]:
        grew.partial_fit(sparse.csr_array(A), b, grow=True)
    assert_same_state(model, grew.state_, knew.state_)


@over_all
def test_grown_states_merge_like_wide_ones(model):
    X, y, batches = growing_batches(model)

    def run(parts, start=None, **options):
        model_ = with_params(model) if start is None else copy.deepcopy(start)
        for A, b in parts:
            first_batch(model_, sparse.csr_array(A), b, y, **options)
        return model_

    wide = [(X[9 * i : 9 * (i + 1)], y[9 * i : 9 * (i + 1)]) for i in range(len(WIDTHS))]
    grown_start, wide_start = run(batches[:1], grow=True), run(wide[:1])
    learner = onepass.learner(wide_start, 31)
    grown = [run([batches[k], batches[5]], grown_start, grow=True).state_ for k in (2, 4)]
    wide_ = [run([wide[k], wide[5]], wide_start).state_ for k in (2, 4)]
    grown_start.state_.grow(32)
    assert_same_state(
        model, learner.merge(grown_start.state_, grown, [18, 18]), learner.merge(wide_start.state_, wide_, [18, 18])
    )


@over_all
def test_shards_that_grew_to_different_widths_merge_as_if_all_had_the_widest(model):
    """Every shard of a stream meets its own new features, so unequal widths are the normal case of growing."""
    _, y, batches = growing_batches(model)
    start = with_params(model)
    first_batch(start, sparse.csr_array(batches[0][0]), batches[0][1], y, grow=True)
    shards = []
    for A, b in (batches[2], batches[4]):  # 9 and 10 features, from 4
        shard = copy.deepcopy(start).partial_fit(sparse.csr_array(A), b, grow=True)
        shards.append(shard.state_)
    widest = [s.copy() for s in (start.state_, *shards)]
    for s in widest:
        s.grow(11)
    learner = onepass.learner(start, 10)
    assert_same_state(model, learner.merge(start.state_, shards, [9, 9]), learner.merge(widest[0], widest[1:], [9, 9]))


@over_all
@pytest.mark.parametrize("width", [3, 5])
def test_without_grow_another_width_is_refused_in_scikit_learns_words(model, width):
    X, y = rows_for(model)
    learned = first_batch(with_params(model), X[:, :4], y)
    before = bits(learned.state_)
    words = rf"X has {width} features, but {type(model).__name__} is expecting 4 features as input"
    for form in (np.asarray, sparse.csr_array, sparse.coo_array):
        with pytest.raises(ValueError, match=words):
            learned.partial_fit(form(X[:, :width]), y)
        with pytest.raises(ValueError, match=words):
            learned.predict(form(X[:, :width]))
    assert bits(learned.state_) == before
    assert learned.n_features_in_ == 4


def test_one_alpha_per_feature_cannot_grow_and_says_so():
    X, y = rows_for(PegasosClassifier())
    model = first_batch(PegasosClassifier(alpha=np.full(4, 0.1)), X[:, :4], y)
    before = bits(model.state_)
    with pytest.raises(
        ValueError, match=r"PegasosClassifier: alpha must have one entry per feature, got 4 for 6 features"
    ):
        model.partial_fit(X[:, :6], y, grow=True)
    assert bits(model.state_) == before
    assert model.n_features_in_ == 4
    model.partial_fit(X[:, :2], y, grow=True)  # narrower ones still fit


def test_a_feature_that_appears_reallocates_only_now_and_then():
    """One new feature with each of 2,000 batches: buffers are replaced a logarithmic number of times."""
    model = AROWClassifier()
    replaced, held = 0, {}
    for width in range(1, 2001):
        row = sparse.csr_array(([1.0], [width - 1], [0, 1]), shape=(1, width))
        first_batch(model, row, ["spam"], ["ham", "spam"], grow=True)
        now = {name: id(b) for name, b in model.state_._buffers.items() if name in ("coef", "variance")}
        keep = list(model.state_._buffers.values())  # so that no identity is used twice
        replaced += sum(held.get(name) != identity for name, identity in now.items())
        held, _ = now, keep
    assert replaced <= 2 * 13
    assert model.n_features_in_ == 2000
    assert (model.coef_[0] != 0).all()


def test_state_written_by_pickle_is_bytes_of_arrays_only():
    """A file of a small model stays small: no spare room, no data, no caches of compiled code."""
    model = PAClassifier(1.0, probability="none").fit(*rows_for(PAClassifier(), n_rows=2000))
    file = io.BytesIO()
    pickle.dump(model, file)
    assert len(file.getvalue()) < 5000


def test_a_parameter_that_shapes_the_state_cannot_change_under_way():
    X, y = rows_for(AROWClassifier())
    model = first_batch(AROWClassifier(), X, y)
    model.set_params(covariance="full")
    for act in (lambda: model.partial_fit(X, y), lambda: model.predict(X), lambda: model.coef_):
        with pytest.raises(ValueError, match=r"AROWClassifier: a parameter .* has changed"):
            act()
    model.set_params(covariance="diagonal").partial_fit(X, y)
    assert model.set_params(covariance="full").fit(X, y).covariance_.shape[1:] == (X.shape[1], X.shape[1])


@pytest.mark.parametrize("spare", [False, True])
def test_a_batch_that_diverges_while_it_grows_is_undone(spare):
    X, y = rows_for(L1RDARegressor())
    model = first_batch(L1RDARegressor(eta0=0.1), X, y)
    if spare:  # room is there already, so nothing moves to new memory
        model.partial_fit(sparse.csr_array((1, X.shape[1] + 1)), [0.0], grow=True)
    before = {name: a.copy() for name, a in model.state_.arrays.items()}
    wide = np.full((4, X.shape[1] + 3), 1e99)
    with pytest.raises(FloatingPointError):
        model.partial_fit(sparse.csr_array(wide), [1e99] * 4, grow=True)
    for name, a in before.items():
        assert_array_equal(model.state_.arrays[name], a)
    assert model.state_.sizes["weight"] == model.n_features_in_ + 1
    model.predict(np.ones((1, model.n_features_in_)))


def test_an_averaged_model_that_settles_in_a_refused_batch_is_put_back():
    """Settling rewrites every weight, also those that the batch does not touch."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    X[:, 2] = 0
    for average in (False, True):
        model = PegasosRegressor(1e-4, average=average).partial_fit(sparse.csr_array(X), 1e3 * y)
        before = model.state_.copy()
        bad = sparse.csr_array(np.array([[0.0, 0.0, 1e99]] * 4))
        with pytest.raises(FloatingPointError):
            model.partial_fit(bad, [1e99, -1e99, 1e99, -1e99])
        assert_same_bits(model.state_, before)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_outputs_are_put_back_together(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(3, size=60)
    X[:, 3] = 0
    model = PegasosClassifier(loss="squared", average=True, n_jobs=n_jobs)
    model.partial_fit(sparse.csr_array(X), y, classes=[0, 1, 2])
    before = model.state_.copy()
    bad = sparse.csr_array(np.array([[0.0, 0.0, 0.0, 1e100]] * 4))
    with pytest.raises(FloatingPointError):
        model.partial_fit(bad, [0, 1, 2, 0], sample_weight=[1e100] * 4)
    assert_same_bits(model.state_, before)


def test_parameters_that_change_under_way_take_effect_or_are_refused():
    X, y = rows_for(L1RDAClassifier())
    model = first_batch(L1RDAClassifier(alpha=1e-4), X, y)
    assert model.coef_.any()
    model.set_params(alpha=100.0)
    assert not model.coef_.any()  # a weight is a function of the state and the parameters
    assert not model.coef_.flags.writeable
    pegasos = first_batch(PegasosClassifier(alpha=1e-6), X, y).set_params(alpha=10.0).partial_fit(X, y)
    view = pegasos.state_.view(0)
    assert_allclose(view["square_norm"][0], 10.0 * np.sum((view["scale"] * view["coef"]) ** 2), rtol=1e-8)
    for before, after in (
        ({"penalize_intercept": True}, {"penalize_intercept": False}),
        ({"batch_size": 8}, {"batch_size": 4}),
    ):
        model = first_batch(PegasosClassifier(**before), X[:13], y[:13], y)
        with pytest.raises(ValueError, match="has changed since the last fit"):
            model.set_params(**after).partial_fit(X, y)


def test_a_grown_model_reads_rows_of_any_width_and_survives_a_file(tmp_path):
    X, y = rows_for(PAClassifier())
    model = PAClassifier()
    model.partial_fit(sparse.csr_array(X[:, :4]), y, classes=np.unique(y), grow=True)
    model.partial_fit(sparse.csr_array(X), y, grow=True)
    wide = np.hstack([X, np.ones((len(X), 2))])
    save_model(model, tmp_path / "m")
    for again in (model, load_model(tmp_path / "m")):
        assert_array_equal(again.predict(sparse.csr_array(wide)), again.predict(X))
        narrow = again.decision_function(sparse.csr_array(X[:, :4]))
        assert_allclose(narrow, again.decision_function(X * (np.arange(X.shape[1]) < 4)), rtol=1e-12, atol=1e-14)


def test_a_fit_that_came_to_nothing_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    with pytest.warns(
        ConvergenceWarning, match=r"PegasosRegressor: the model predicts worse than a constant.*larger alpha"
    ):
        PegasosRegressor(alpha=1e-4, random_state=0).fit(X, X[:, 0])
    with pytest.warns(ConvergenceWarning, match=r"L1RDAClassifier: all weights are 0, so no feature is in use"):
        L1RDAClassifier(alpha=100.0).fit(X, X[:, 0] > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosRegressor(alpha=0.01, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize("model", [AROWClassifier(), AROWClassifier(diagonal="precision")], ids=name_of)
def test_a_weight_as_good_as_nothing_changes_nothing(model):
    X, y = rows_for(model)
    model = first_batch(model, X, y)
    before = bits(model.state_)["variance"]
    model.partial_fit(X[:1], y[:1], sample_weight=[1e-310])
    assert bits(model.state_)["variance"] == before


def test_a_row_of_weight_0_is_absent_whatever_its_target():
    model = L1RDARegressor().partial_fit([[1.0], [1.0]], [1.0, 1e99], sample_weight=[1.0, 0.0])
    assert model.n_samples_seen_ == 1
