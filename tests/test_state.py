"""The state of a model and its merging: rule by rule, the laws on random states, and learners of awkward shapes.

The awkward learners are prototypes in plain NumPy. They prove that ``settle / merge(start, states, weights) / rebuild``
carries lazy scales, kept group norms, reweighting clocks and pruned models, before any of them is compiled.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from thresher._engine._state import Field, State, merge
from variants import assert_same_bits, bits

# --- fields and states ----------------------------------------------------------------------------------------------

EVERY_KIND = (
    Field("total", "weight", 0.0, "sum"),
    Field("centre", "weight", 0.5, "mean"),
    Field("variance", "weight", 1.0, "precision"),
    Field("location", "weight", 0.0, "weighted", "variance"),
    Field("covariance", "weight weight", 2.0, "precision"),
    Field("place", "weight", 0.0, "weighted", "covariance"),
    Field("norm", "group", 3.0, "derived"),
    Field("clock", "", 0.0, "sum"),
    Field("mistakes", "model", 0.0, "sum"),
)
SIZES = {"weight": 5, "group": 2}


def each(hook):
    """A hook on one state, for all states together."""
    return lambda states: [hook(state) for state in states]


def new(n_outputs=3):
    return State(EVERY_KIND, n_outputs, SIZES)


def randomly(state, rng, amount=1.0):
    """A later state: sums and means moved, precisions grown."""
    later = state.copy()
    for f in state.fields:
        a = later.arrays[f.name]
        if f.merge == "precision" and a.ndim == 3:
            for k in range(len(a)):
                x = rng.normal(size=(3, a.shape[1])) * amount
                a[k] = np.linalg.inv(np.linalg.inv(a[k]) + x.T @ x)
                a[k] = (a[k] + a[k].T) / 2
        elif f.merge == "precision":
            a[...] = 1 / (1 / a + amount * rng.exponential(size=a.shape))
        else:
            a += amount * rng.normal(size=a.shape)
    return later


def test_a_new_state_holds_the_initial_values():
    state = new()
    shapes = {name: a.shape for name, a in state.arrays.items()}
    assert shapes == {
        "total": (3, 5),
        "centre": (3, 5),
        "variance": (3, 5),
        "location": (3, 5),
        "covariance": (3, 5, 5),
        "place": (3, 5),
        "norm": (3, 2),
        "clock": (3, 1),
        "mistakes": (1, 1),
    }
    assert (state.arrays["centre"] == 0.5).all()
    assert (state.arrays["norm"] == 3.0).all()
    for k in range(3):
        assert_array_equal(state.arrays["covariance"][k], 2 * np.eye(5))
    assert all(a.dtype == np.float64 for a in state.arrays.values())


def test_views_are_flat_windows_into_the_arrays():
    state = new()
    state.view(1)["total"][3] = 7.0
    assert state.arrays["total"][1, 3] == 7.0
    assert state.arrays["total"].sum() == 7.0
    state.view(2)["covariance"][5 * 1 + 4] = 9.0
    assert state.arrays["covariance"][2, 1, 4] == 9.0
    for k in range(3):
        state.view(k)["mistakes"][0] += 1  # one number for the whole model, whichever output counts
        assert all(v.ndim == 1 and v.flags.c_contiguous and v.flags.writeable for v in state.view(k).values())
    assert state.arrays["mistakes"][0, 0] == 3.0


def test_a_copy_shares_nothing():
    state = randomly(new(), np.random.default_rng(0))
    other, before = state.copy(), bits(state)
    assert_same_bits(state, other)
    for k in range(3):
        for v in other.view(k).values():
            v += 1
    other.grow(9)
    assert bits(state) == before
    assert state.sizes == SIZES


def test_a_state_of_read_only_arrays_is_writable():
    state = randomly(new(), np.random.default_rng(0))
    frozen = {name: a.copy() for name, a in state.arrays.items()}
    for a in frozen.values():
        a.flags.writeable = False
    again = State(EVERY_KIND, 3, SIZES, frozen)
    again.view(0)["total"][0] += 1
    assert again.arrays["total"][0, 0] == frozen["total"][0, 0] + 1


@pytest.mark.parametrize("shape", [(1, 5), (3, 1), (5,), (3, 4), (2, 5)], ids=str)
def test_arrays_of_another_shape_are_refused(shape):
    """Never stretched to fit: an array of one output is not the state of three."""
    arrays = dict(new().arrays)
    arrays["total"] = np.ones(shape)
    with pytest.raises(ValueError):
        State(EVERY_KIND, 3, SIZES, arrays)


def test_fields_that_lie_beside_each_other_are_two_arrays():
    fields = (Field("mean", "weight", 0.0, "sum"), Field("spread", "weight", 1.0, "precision", "", "mean"))
    state = State(fields, 2, {"weight": 3})
    state.view(1)["mean"][...] = [1.0, 2.0, 3.0]
    state.view(1)["spread"][2] = 0.5
    assert_array_equal(state.arrays["mean"], [[0, 0, 0], [1, 2, 3]])
    assert_array_equal(state.arrays["spread"], [[1, 1, 1], [1, 1, 0.5]])
    before = {name: a.copy() for name, a in state.arrays.items()}
    for other in (state.copy(), pickle.loads(pickle.dumps(state))):
        other.grow(5)
        assert_array_equal(other.arrays["mean"], [[0, 0, 0, 0, 0], [1, 2, 0, 0, 3]])
        assert_array_equal(other.arrays["spread"], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0.5]])
        other.view(0)["mean"][4] = 7.0
        assert other.arrays["mean"][0, 4] == 7.0
    for name, a in before.items():
        assert_array_equal(state.arrays[name], a)


@settings(max_examples=30, deadline=None)
@given(widths=st.lists(st.integers(1, 40), max_size=6), seed=st.integers(0, 2**32 - 1))
def test_growing_keeps_what_was_there_and_the_constant_last(widths, seed):
    """Against the same growth written out on dense arrays, one new feature at a time."""
    rng = np.random.default_rng(seed)
    state = randomly(new(2), rng)
    truth = {name: a.copy() for name, a in state.arrays.items()}
    initial = {f.name: f.initial for f in EVERY_KIND}
    for width in widths:
        state.grow(width)
        while truth["total"].shape[1] < width:
            n = truth["total"].shape[1]
            for name, a in truth.items():
                if a.ndim == 2 and a.shape[1] == n and name not in ("norm", "clock", "mistakes"):
                    truth[name] = np.insert(a, n - 1, initial[name], axis=1)
                elif a.ndim == 3:
                    wider = np.insert(np.insert(a, n - 1, 0.0, axis=1), n - 1, 0.0, axis=2)
                    wider[:, n - 1, n - 1] = initial[name]
                    truth[name] = wider
        for name, a in truth.items():
            assert_array_equal(state.arrays[name], a, err_msg=name)
        again = pickle.loads(pickle.dumps(state))
        assert_same_bits(again, state)
        for s in (state, again):  # what was grown or loaded goes on learning: views are windows into the arrays
            for k in range(2):
                s.view(k)["total"][-1] += k + 1.0
                s.view(k)["centre"][0] -= 1.0
        assert_same_bits(again, state)
        truth["total"][:, -1] += [1.0, 2.0]
        truth["centre"][:, 0] -= 1.0


def test_growing_never_shrinks():
    state = randomly(new(), np.random.default_rng(1))
    before = bits(state)
    state.grow(2)
    state.grow(5)
    assert bits(state) == before


def test_growing_by_one_replaces_buffers_a_logarithmic_number_of_times():
    state = State(
        (Field("coef", "weight", 0.0, "sum"), Field("variance", "weight", 1.0, "precision")), 2, {"weight": 2}
    )
    kept = [dict(state._buffers)]  # held, so that no identity comes twice
    replaced = 0
    for width in range(3, 5000):
        state.grow(width)
        replaced += sum(state._buffers[name] is not kept[-1][name] for name in ("coef", "variance"))
        kept.append(dict(state._buffers))
        kept = kept[-2:]
    assert replaced <= 2 * 13  # log2(5000) = 12.3
    assert state.arrays["variance"].shape == (2, 4999)
    assert (state.arrays["variance"] == 1).all()


def test_a_pickled_state_has_no_spare_room():
    state = State((Field("coef", "weight", 0.0, "sum"),), 1, {"weight": 1000})
    state.grow(1001)
    assert state._buffers["coef"].shape[1] == 2000
    again = pickle.loads(pickle.dumps(state))
    assert again._buffers["coef"].shape[1] == 1001


# --- the laws of merging, on random states --------------------------------------------------------------------------

random_shards = given(seed=st.integers(0, 2**32 - 1), n_shards=st.integers(2, 5), n_outputs=st.integers(1, 3))


def random_round(seed, n_shards, n_outputs):
    rng = np.random.default_rng(seed)
    start = randomly(new(n_outputs), rng)
    states = [randomly(start, rng, amount=10.0 ** rng.integers(-3, 3)) for _ in range(n_shards)]
    return rng, start, states, rng.exponential(size=n_shards)


@settings(max_examples=40, deadline=None)
@random_shards
def test_the_order_of_shards_leaves_no_trace(seed, n_shards, n_outputs):
    rng, start, states, weights = random_round(seed, n_shards, n_outputs)
    merged = merge(start, states, weights)
    order = rng.permutation(n_shards)
    assert_same_bits(merge(start, [states[k] for k in order], weights[order]), merged)


@settings(max_examples=20, deadline=None)
@random_shards
def test_one_shard_merged_is_that_shard(seed, n_shards, n_outputs):
    _, start, (state, *_), _ = random_round(seed, n_shards, n_outputs)
    merged = merge(start, [state], [0.3])
    assert_same_bits(merged, state)
    assert not np.shares_memory(merged.arrays["total"], state.arrays["total"])


@settings(max_examples=20, deadline=None)
@random_shards
def test_the_common_start_counts_once(seed, n_shards, n_outputs):
    _, start, (later, *_), _ = random_round(seed, n_shards, n_outputs)
    merged = merge(start, [start, later, start], [2.0, 1.0, 1.0])
    for f in EVERY_KIND:
        if f.merge in ("sum", "precision", "weighted"):
            assert_allclose(merged.arrays[f.name], later.arrays[f.name], rtol=1e-6, atol=1e-7, err_msg=f.name)
        elif f.merge == "mean":
            truth = 0.75 * start.arrays[f.name] + 0.25 * later.arrays[f.name]
            assert_allclose(merged.arrays[f.name], truth, rtol=1e-10, atol=1e-12)
        else:
            assert_array_equal(merged.arrays[f.name], start.arrays[f.name])


@settings(max_examples=20, deadline=None)
@random_shards
def test_merging_changes_no_input(seed, n_shards, n_outputs):
    _, start, states, weights = random_round(seed, n_shards, n_outputs)
    before = [bits(s) for s in (start, *states)]

    def spoil(state):
        for a in state.arrays.values():
            a += 1.0

    merge(start, states, weights, settle=each(spoil), rebuild=spoil)
    merge(start, states[:1], weights[:1], settle=each(spoil), rebuild=spoil)
    assert [bits(s) for s in (start, *states)] == before


@settings(max_examples=20, deadline=None)
@random_shards
def test_each_rule_is_its_formula(seed, n_shards, n_outputs):
    _, start, states, weights = random_round(seed, n_shards, n_outputs)
    merged = merge(start, states, weights)

    def each(name):
        return [s.arrays[name] for s in states]

    first = start.arrays
    n = n_shards - 1
    for name in ("total", "clock", "mistakes"):
        truth = sum(each(name)) - n * first[name]
        assert_allclose(merged.arrays[name], truth, rtol=1e-9, atol=1e-9)
    mean = np.average(each("centre"), axis=0, weights=weights)
    assert_allclose(merged.arrays["centre"], mean, rtol=1e-9, atol=1e-10)
    P = sum(1 / v for v in each("variance")) - n / first["variance"]
    assert_allclose(1 / merged.arrays["variance"], P, rtol=1e-9)
    pulled = sum(m / v for m, v in zip(each("location"), each("variance"), strict=True))
    assert_allclose(
        merged.arrays["location"], (pulled - n * first["location"] / first["variance"]) / P, rtol=1e-6, atol=1e-8
    )
    for k in range(n_outputs):
        P = sum(np.linalg.inv(c[k]) for c in each("covariance")) - n * np.linalg.inv(first["covariance"][k])
        scale = np.abs(P).max()
        assert_allclose(np.linalg.inv(merged.arrays["covariance"][k]), P, rtol=1e-6, atol=1e-9 * scale)
        pulled = sum(np.linalg.solve(c[k], m[k]) for c, m in zip(each("covariance"), each("place"), strict=True))
        pulled -= n * np.linalg.solve(first["covariance"][k], first["place"][k])
        assert_allclose(P @ merged.arrays["place"][k], pulled, rtol=1e-6, atol=1e-8 * scale)


@settings(max_examples=20, deadline=None)
@random_shards
def test_sums_and_precisions_merge_in_any_grouping(seed, n_shards, n_outputs):
    _, start, states, weights = random_round(seed, n_shards, n_outputs)
    at_once = merge(start, states, weights)
    pairwise = states[0]
    for s in states[1:]:
        pairwise = merge(start, [pairwise, s], [1.0, 1.0])
    for name in ("total", "clock", "variance"):
        assert_allclose(pairwise.arrays[name], at_once.arrays[name], rtol=1e-8, atol=1e-8)


def test_rows_that_the_start_knows_are_averaged_by_what_each_shard_gained():
    fields = [Field("variance", "weight", 1.0, "precision"), Field("coef", "weight", 0.0, "weighted", "variance")]
    sizes = {"weight": 3}

    def state(variance, coef):
        return State(fields, 1, sizes, {"variance": np.array([variance]), "coef": np.array([coef])})

    start = state([0.5, 0.5, 0.5], [1.0, 1.0, 1.0])  # precision 2; the gains are 2 and 6, 0 and 2, none
    shards = state([0.25, 0.5, 0.5], [2.0, 1.0, 1.0]), state([0.125, 0.25, 0.5], [4.0, 3.0, 1.0])
    merged = merge(start, shards, [1, 1], again=True)
    assert_allclose(merged.arrays["coef"], [[1 + (2 * 1 + 6 * 3) / 8, 3.0, 1.0]])
    assert_allclose(merged.arrays["variance"], [[1 / 10, 1 / 4, 1 / 2]])


def test_sums_that_weights_are_made_of_are_averaged_when_the_start_knows_the_rows():
    fields = [
        Field("gradient_sum", "weight", 0.0, "sum"),
        Field("n_steps", "", 0.0, "sum"),
        Field("tally", "", 0.0, "sum"),
    ]

    def state(gradient, n_steps):
        arrays = {
            "gradient_sum": np.array([gradient]),
            "n_steps": np.array([[n_steps]]),
            "tally": np.array([[n_steps]]),
        }
        return State(fields, 1, {"weight": 2}, arrays)

    merged = merge(state([1.0, 2.0], 10.0), [state([3.0, 2.0], 13.0), state([1.0, 6.0], 12.0)], [3, 1], again=True)
    assert_allclose(merged.arrays["gradient_sum"], [[1 + 0.75 * 2, 2 + 0.25 * 4]])
    assert_array_equal(merged.arrays["n_steps"], [[13.0]])  # 10 + 0.75 * 3 + 0.25 * 2, in whole steps
    assert_allclose(merged.arrays["tally"], [[15.0]])  # rows are counted, whatever they bring


def test_settle_runs_on_every_state_and_rebuild_on_the_result():
    start = new(1)
    states = [randomly(start, np.random.default_rng(k)) for k in range(3)]
    settled, rebuilt = [], []
    merged = merge(start, states, [1, 1, 1], settle=settled.extend, rebuild=lambda s: rebuilt.append(s))
    assert len(settled) == 4
    assert rebuilt == [merged]


# --- (a) weights kept as scale times v ------------------------------------------------------------------------------


class Shrinking:
    """w <- 0.9 w + y x, the shrinking in O(1): w = scale v."""

    fields = (Field("v", "weight", 0.0, "mean"), Field("scale", "", 1.0, "derived"), Field("n_steps", "", 0.0, "sum"))

    def new(self, d):
        return State(self.fields, 1, {"weight": d})

    def learn(self, state, X, y):
        a = state.view(0)
        for x, target in zip(X, y, strict=True):
            a["scale"][0] *= 0.9
            touched = np.flatnonzero(x)
            a["v"][touched] += target * x[touched] / a["scale"][0]
            a["n_steps"][0] += 1

    def weights(self, state):
        return state.arrays["scale"] * state.arrays["v"]

    def settle(self, state):
        state.arrays["v"][...] *= state.arrays["scale"]
        state.arrays["scale"][...] = 1

    def rebuild(self, state):
        pass

    def eager(self, w, X, y):
        for x, target in zip(X, y, strict=True):
            w = 0.9 * w + target * x
        return w


# --- (b) group norms kept along -------------------------------------------------------------------------------------


class GroupLasso:
    """Dual averaging with the group lasso: w^g = -[1 - t lam sqrt(d_g) / |S^g|]_+ S^g / (gamma sqrt t).

    |S^g|^2 is kept along: N_g += u (2 S_j + u) before S_j += u, so a row costs O(non-zeros) whatever the group sizes.
    yang2011.md, section 1.1.
    """

    groups = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    lam, gamma = 0.05, 1.0
    fields = (
        Field("gradient_sum", "weight", 0.0, "sum"),
        Field("group_square", "group", 0.0, "derived"),
        Field("n_steps", "", 0.0, "sum"),
    )

    def new(self, d):
        return State(self.fields, 1, {"weight": d, "group": 4})

    def weights(self, state):
        a, t = state.view(0), state.view(0)["n_steps"][0]
        if t == 0:
            return np.zeros((1, len(self.groups)))
        size = np.sqrt(np.bincount(self.groups))
        norm = np.sqrt(np.maximum(a["group_square"], 0))
        factor = np.where(norm > t * self.lam * size, 1 - t * self.lam * size / np.maximum(norm, 1e-300), 0.0)
        return (-factor[self.groups] * a["gradient_sum"] / (self.gamma * np.sqrt(t)))[None]

    def learn(self, state, X, y):
        a = state.view(0)
        S, N = a["gradient_sum"], a["group_square"]
        for x, target in zip(X, y, strict=True):
            slope = -target if target * (x @ self.weights(state)[0]) < 1 else 0.0  # hinge loss
            for j in np.flatnonzero(x):
                u = slope * x[j]
                N[self.groups[j]] += u * (2 * S[j] + u)
                S[j] += u
            a["n_steps"][0] += 1

    def settle(self, state):
        pass

    def rebuild(self, state):
        state.arrays["group_square"][0] = np.bincount(self.groups, weights=state.arrays["gradient_sum"][0] ** 2)

    def eager(self, X, y):
        """The prox form on means, all coordinates at every step: yang2011.md, section 1."""
        S, w = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for t, (x, target) in enumerate(zip(X, y, strict=True), start=1):
            S += (-target if target * (x @ w) < 1 else 0.0) * x
            w = np.zeros_like(S)
            for g in range(4):
                v = -np.sqrt(t) / self.gamma * S[self.groups == g] / t
                cut = np.sqrt(t) / self.gamma * self.lam * np.sqrt((self.groups == g).sum())
                w[self.groups == g] = max(0.0, 1 - cut / max(np.linalg.norm(v), 1e-300)) * v
        return w


# --- (c) a reweighting clock ----------------------------------------------------------------------------------------


class ReweightedL1:
    """Reweighted l1 dual averaging: w = -soft(G, lam Q + gamma rho sqrt t) / (gamma sqrt t), then Q += 1 / (|w| + eps).

    A coordinate is brought up to date when a row asks for it: once zero it stays zero while untouched, so n steps are
    Q += n / eps; while active it is stepped. jumutc2016.md, section 7.
    """

    lam, gamma, rho, eps = 0.05, 1.0, 0.01, 0.3
    fields = (
        Field("G", "weight", 0.0, "sum"),
        Field("Q", "weight", 0.0, "sum"),
        Field("w", "weight", 0.0, "derived"),
        Field("last", "weight", 0.0, "derived"),
        Field("t", "", 0.0, "sum"),
    )

    def __init__(self):
        self.n_stepped = 0

    def new(self, d):
        return State(self.fields, 1, {"weight": d})

    def weight(self, G, Q, t):
        return (
            -np.sign(G)
            * max(0.0, abs(G) - self.lam * Q - self.gamma * self.rho * np.sqrt(t))
            / (self.gamma * np.sqrt(t))
        )

    def catch_up(self, a, j, t):
        """Steps last + 1 ... t of a coordinate whose gradient sum did not move. Theta_1 = 1 is Q's first term."""
        while a["last"][j] < t:
            s = a["last"][j]
            if a["w"][j] == 0 and s >= 1:
                a["Q"][j] += (t - s) / self.eps
                a["last"][j] = t
                return
            a["Q"][j] += 1.0 if s == 0 else 1 / (abs(a["w"][j]) + self.eps)
            a["last"][j] = s + 1
            a["w"][j] = self.weight(a["G"][j], a["Q"][j], s + 1)
            self.n_stepped += 1

    def learn(self, state, X, y):
        a = state.view(0)
        for x, target in zip(X, y, strict=True):
            t, touched = a["t"][0], np.flatnonzero(x)
            for j in touched:
                self.catch_up(a, j, t)
            slope = -target if target * (x[touched] @ a["w"][touched]) < 1 else 0.0
            for j in touched:
                s = a["last"][j]
                a["Q"][j] += 1.0 if s == 0 else 1 / (abs(a["w"][j]) + self.eps)
                a["G"][j] += slope * x[j]
                a["w"][j] = self.weight(a["G"][j], a["Q"][j], t + 1)
                a["last"][j] = t + 1
            a["t"][0] += 1

    def settle(self, state):
        a = state.view(0)
        for j in range(len(a["w"])):
            self.catch_up(a, j, a["t"][0])

    def rebuild(self, state):
        a = state.view(0)
        t = a["t"][0]
        a["last"][...] = t
        for j in range(len(a["w"])):
            a["w"][j] = self.weight(a["G"][j], a["Q"][j], t) if t else 0.0

    def weights(self, state):
        state = state.copy()
        self.settle(state)
        return state.arrays["w"]

    def eager(self, X, y):
        """Algorithm 9 as printed, all coordinates at every step."""
        d = X.shape[1]
        w, G, Q, theta = np.zeros(d), np.zeros(d), np.zeros(d), np.ones(d)
        for t, (x, target) in enumerate(zip(X, y, strict=True), start=1):
            G += (-target if target * (x @ w) < 1 else 0.0) * x
            Q += theta
            cut = self.lam * Q + self.gamma * self.rho * np.sqrt(t)
            w = -np.sign(G) * np.maximum(np.abs(G) - cut, 0) / (self.gamma * np.sqrt(t))
            theta = 1 / (np.abs(w) + self.eps)
        return w


def stream(seed=0, n_rows=120, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < 0.3)
    y = np.where(X @ np.r_[2.0, -2.0, np.zeros(d - 2)] + 0.2 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return X, y


AWKWARD = [Shrinking, GroupLasso, ReweightedL1]
over_awkward = pytest.mark.parametrize("kind", AWKWARD)


def run(learner, state, X, y):
    state = state.copy()
    learner.learn(state, X, y)
    return state


def common_form(learner, state):
    state = state.copy()
    learner.settle(state)
    return state


def three_shards(learner):
    X, y = stream()
    start = run(learner, learner.new(10), X[:30], y[:30])
    return start, [run(learner, start, X[30 + k :: 3], y[30 + k :: 3]) for k in range(3)]


def test_a_lazy_scale_is_eager_shrinking():
    X, y = stream()
    learner = Shrinking()
    assert_allclose(
        learner.weights(run(learner, learner.new(10), X, y))[0], learner.eager(np.zeros(10), X, y), rtol=1e-11
    )


def test_kept_group_norms_are_eager_group_lasso():
    X, y = stream()
    learner = GroupLasso()
    state, truth = run(learner, learner.new(10), X, y), learner.eager(X, y)
    assert_allclose(learner.weights(state)[0], truth, rtol=1e-11, atol=1e-12)
    assert_array_equal(learner.weights(state)[0] != 0, truth != 0)
    assert 0 < np.count_nonzero(truth) < 10
    kept = state.arrays["group_square"].copy()
    learner.rebuild(state)
    assert_allclose(kept, state.arrays["group_square"], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_lazy_reweighting_clock_is_eager_reweighting(seed):
    X, y = stream(seed, n_rows=300)
    learner = ReweightedL1()
    lazy, truth = learner.weights(run(learner, learner.new(10), X, y))[0], learner.eager(X, y)
    assert_allclose(lazy, truth, rtol=1e-12, atol=1e-12)
    assert_array_equal(lazy != 0, truth != 0)
    assert 0 < np.count_nonzero(truth) < 10
    assert learner.n_stepped < 300 * 10 / 2  # zero coordinates jump


@over_awkward
def test_settled_and_continued_is_continued(kind):
    learner = kind()
    X, y = stream()
    through = run(learner, learner.new(10), X, y)
    half = common_form(learner, run(learner, learner.new(10), X[:60], y[:60]))
    halves = run(learner, half, X[60:], y[60:])
    assert_allclose(learner.weights(halves), learner.weights(through), rtol=1e-10, atol=1e-12)


@over_awkward
def test_awkward_shards_merge_in_any_order(kind):
    learner = kind()
    start, shards = three_shards(learner)
    hooks = {"settle": each(learner.settle), "rebuild": learner.rebuild}
    merged = merge(start, shards, [5.0, 1.0, 3.0], **hooks)
    for order in itertools.permutations(range(3)):
        again = merge(start, [shards[k] for k in order], np.array([5.0, 1.0, 3.0])[list(order)], **hooks)
        assert_same_bits(again, merged)
    assert_same_bits(merge(start, shards[:1], [2.0], **hooks), shards[0])


@over_awkward
def test_the_start_of_awkward_shards_counts_once(kind):
    learner = kind()
    start, (later, *_) = three_shards(learner)
    merged = merge(start, [start, later, start], [1.0, 1.0, 1.0], settle=each(learner.settle), rebuild=learner.rebuild)
    begun, arrived = learner.weights(start), learner.weights(later)
    truth = (2 * begun + arrived) / 3 if kind is Shrinking else arrived  # a mean of changes, or sums
    if kind is not ReweightedL1:
        assert_allclose(learner.weights(merged), truth, rtol=1e-10, atol=1e-12)
        return
    # idle shards would have let zero coordinates grow their threshold, so `merged` takes the sums as they are
    for name in ("G", "Q", "t"):
        assert_allclose(merged.arrays[name], common_form(learner, later).arrays[name], rtol=1e-12)
    assert_allclose(learner.weights(merged), arrived, rtol=1e-10, atol=1e-12)


@over_awkward
def test_merged_awkward_states_obey_their_invariants_and_go_on(kind):
    learner = kind()
    start, shards = three_shards(learner)
    merged = merge(start, shards, [1.0, 1.0, 1.0], settle=each(learner.settle), rebuild=learner.rebuild)
    a = merged.arrays
    if kind is Shrinking:
        assert a["scale"][0, 0] == 1
        mean = sum(learner.weights(s) for s in shards) / 3
        assert_allclose(a["v"], mean, rtol=1e-11)
    elif kind is GroupLasso:
        S = sum(s.arrays["gradient_sum"] for s in shards) - 2 * start.arrays["gradient_sum"]
        assert_allclose(a["gradient_sum"], S, rtol=1e-10, atol=1e-13)
        squares = [np.sum(S[0, learner.groups == g] ** 2) for g in range(4)]
        assert_allclose(a["group_square"][0], squares, rtol=1e-10)
        assert a["n_steps"][0, 0] == 120
    else:
        forms = [common_form(learner, s) for s in shards]
        Q = sum(f.arrays["Q"] for f in forms) - 2 * common_form(learner, start).arrays["Q"]
        assert_allclose(a["Q"], Q, rtol=1e-11)
        assert (a["last"] == a["t"]).all()
        assert a["t"][0, 0] == 120
        w = [learner.weight(G, q, 120) for G, q in zip(a["G"][0], a["Q"][0], strict=True)]
        assert_array_equal(a["w"][0], w)
    X, y = stream(7)
    assert np.isfinite(learner.weights(run(learner, merged, X, y))).all()


# --- (d) a pruned model ---------------------------------------------------------------------------------------------


class PrunedArow:
    """AROW with a full covariance that keeps at most p features, those in ``indices``.

    A feature that is not kept has the prior: mean 0, variance 1, no covariance. Dropping a feature drops its row and
    column of the covariance, that is, marginalises it. ``indices`` is sorted; a free place holds -1 and the prior.

    Shards end with different features, so their arrays do not correspond place by place. ``settle`` brings the start
    and all shards to the union of their features; then the ordinary rules "precision" and "weighted" merge them, and
    ``rebuild`` prunes back to p. What a shard says about a set S of features is how its precision exceeds that of the
    start *marginalised to S*: it says nothing about features it dropped, so no precision falls below the start's.
    """

    p, r = 3, 0.5
    fields = (
        Field("indices", "selected", -1.0, "derived"),
        Field("mean", "selected", 0.0, "weighted", "covariance"),
        Field("covariance", "selected selected", 1.0, "precision"),
        Field("n_rows", "", 0.0, "sum"),
    )

    def __init__(self, p=3):
        self.p = p

    def new(self, d):
        return State(self.fields, 1, {"selected": self.p})

    def learn(self, state, X, y):
        for x, target in zip(X, y, strict=True):
            kept, mean, spread = self.model(state)
            union = np.union1d(kept, np.flatnonzero(x)).astype(int)
            mean, spread = self.extend(kept, mean, spread, union)
            z = x[union]
            loss = max(0.0, 1 - target * (z @ mean))
            if loss > 0:
                sx = spread @ z
                beta = 1 / (z @ sx + self.r)
                mean = mean + loss * beta * target * sx
                spread = spread - beta * np.outer(sx, sx)
            self.store(state, union, mean, spread)
            self.rebuild(state)
            state.view(0)["n_rows"][0] += 1

    # the model of a state, over the features it keeps

    def model(self, state):
        a = state.arrays
        real = a["indices"][0] >= 0
        return a["indices"][0][real].astype(int), a["mean"][0][real], a["covariance"][0][np.ix_(real, real)]

    @staticmethod
    def extend(kept, mean, spread, union):
        """The same over more features, which have the prior."""
        places = np.searchsorted(union, kept)
        wide_mean, wide_spread = np.zeros(len(union)), np.eye(len(union))
        wide_mean[places] = mean
        wide_spread[np.ix_(places, places)] = spread
        return wide_mean, wide_spread

    def store(self, state, indices, mean, spread):
        """Replace what a state holds, with as many places as there are features."""
        arrays = {
            "indices": indices.astype(float)[None],
            "mean": mean[None],
            "covariance": spread[None],
            "n_rows": state.arrays["n_rows"].copy(),
        }
        state.replace({"selected": len(indices)}, arrays)

    # the hooks

    def settle(self, states):
        """Bring all to the union of their features."""
        start, *shards = states
        kept0, mean0, spread0 = self.model(start)
        union = np.unique(np.concatenate([self.model(s)[0] for s in states]))
        mean0, spread0 = self.extend(kept0, mean0, spread0, union)
        prior = np.linalg.inv(spread0)
        for state in shards:
            kept, mean, spread = self.model(state)
            at = np.searchsorted(union, kept)
            base = np.linalg.inv(spread0[np.ix_(at, at)])  # the start, marginalised to what this shard kept
            P, pulled = prior.copy(), prior @ mean0
            precision = np.linalg.inv(spread)
            P[np.ix_(at, at)] += precision - base
            pulled[at] += precision @ mean - base @ mean0[at]
            self.store(state, union, np.linalg.solve(P, pulled), np.linalg.inv(P))
        self.store(start, union, mean0, spread0)

    def rebuild(self, state):
        """Keep the p features with the largest weights; ties go to the smaller index."""
        kept, mean, spread = self.model(state)
        best = np.sort(np.argsort(-np.abs(mean), kind="stable")[: self.p])
        best = best[mean[best] != 0]
        free = self.p - len(best)
        indices = np.concatenate([kept[best], np.full(free, -1)])
        wide = np.eye(self.p)
        wide[: len(best), : len(best)] = spread[np.ix_(best, best)]
        self.store(state, indices, np.concatenate([mean[best], np.zeros(free)]), wide)

    def merge(self, start, states, weights):
        return merge(start, states, weights, settle=self.settle, rebuild=self.rebuild)

    def weights(self, state, d=10):
        kept, mean, _ = self.model(state)
        w = np.zeros(d)
        w[kept] = mean
        return w


def pruned_round(p=3):
    learner = PrunedArow(p)
    X, y = stream(3)
    start = run(learner, learner.new(10), X[:10], y[:10])
    shards = []
    for k in range(3):
        Z = X[10 + k :: 3].copy()
        Z[:, (np.arange(10) % 3 != k) & (np.arange(10) > 1)] = 0  # every shard meets features of its own
        shards.append(run(learner, start, Z, y[10 + k :: 3]))
    return learner, start, shards


def test_pruned_shards_keep_different_features():
    learner, start, shards = pruned_round()
    assert len({tuple(learner.model(s)[0]) for s in (start, *shards)}) > 1
    assert all(np.count_nonzero(learner.weights(s)) <= 3 for s in shards)


@pytest.mark.parametrize("p", [3, 5])
def test_pruned_shards_merge_their_information_over_the_union(p):
    """Against the same sum of information on all 10 features, before pruning."""
    learner, start, shards = pruned_round(p)
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    every = np.arange(10)
    mean0, spread0 = learner.extend(*learner.model(start), every)
    P, pulled = np.linalg.inv(spread0), np.linalg.solve(spread0, mean0)
    for s in shards:
        kept, mean, spread = learner.model(s)
        base = np.linalg.inv(spread0[np.ix_(kept, kept)])
        E = np.eye(10)[:, kept]
        P = P + E @ (np.linalg.inv(spread) - base) @ E.T
        pulled = pulled + E @ (np.linalg.solve(spread, mean) - base @ mean0[kept])
    truth = np.linalg.solve(P, pulled)
    best = np.sort(np.argsort(-np.abs(truth))[:p])
    kept, mean, spread = learner.model(merged)
    assert_array_equal(kept, best)
    assert_allclose(mean, truth[best], rtol=1e-9)
    assert_allclose(spread, np.linalg.inv(P)[np.ix_(best, best)], rtol=1e-8, atol=1e-10)
    assert np.linalg.eigvalsh(spread).min() > 0
    assert merged.sizes == {"selected": p}
    assert merged.arrays["n_rows"][0, 0] == 120


def test_nothing_pruned_is_the_plain_merge_of_covariances():
    learner, start, shards = pruned_round(10)
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    dense = (
        Field("mean", "weight", 0.0, "weighted", "covariance"),
        Field("covariance", "weight weight", 1.0, "precision"),
    )

    def as_dense(state):
        mean, spread = learner.extend(*learner.model(state), np.arange(10))
        return State(dense, 1, {"weight": 10}, {"mean": mean[None], "covariance": spread[None]})

    plain = merge(as_dense(start), [as_dense(s) for s in shards], [1.0, 1.0, 1.0])
    assert_allclose(learner.weights(merged), plain.arrays["mean"][0], rtol=1e-8, atol=1e-10)


def test_the_laws_of_merging_hold_for_pruned_shards():
    learner, start, shards = pruned_round()
    weights = [1.0, 2.0, 3.0]
    merged = learner.merge(start, shards, weights)
    for order in itertools.permutations(range(3)):
        assert_same_bits(learner.merge(start, [shards[k] for k in order], [weights[k] for k in order]), merged)
    assert_same_bits(learner.merge(start, shards[:1], [1.0]), shards[0])
    same = learner.merge(start, [start, start], [1.0, 1.0])
    assert_allclose(learner.weights(same), learner.weights(start), rtol=1e-10)


def test_a_shard_that_learned_alone_is_not_diluted():
    """The start counts once, also when two of three shards learned nothing."""
    learner, start, shards = pruned_round(10)
    merged = learner.merge(start, [start, shards[0], start], [1.0, 1.0, 1.0])
    assert_allclose(learner.weights(merged), learner.weights(shards[0]), rtol=1e-9, atol=1e-11)


def test_a_merged_pruned_model_goes_on_and_survives_pickle():
    learner, start, shards = pruned_round()
    merged = learner.merge(start, shards, [1.0, 1.0, 1.0])
    again = pickle.loads(pickle.dumps(merged))
    X, y = stream(5)
    assert_same_bits(run(learner, merged, X, y), run(learner, again, X, y))


def test_a_matrix_with_a_row_for_each_weight_grows_in_spare_room():
    """One more feature with each of 500 batches replaces buffers a logarithmic number of times."""
    fields = (Field("sum", "weight task", 0.0, "sum"), Field("clock", "", 0.0, "sum"))
    state = State(fields, 2, {"weight": 2, "task": 3})
    state.arrays["sum"][:, -1] = 7
    replaced, held = 0, []
    for n_weights in range(3, 503):
        state.view(1)["sum"].reshape(-1, 3)[n_weights - 3] = n_weights  # what is written to a view is there
        state.grow(n_weights)
        buffer = state._buffers["sum"]
        replaced += not held or held[-1] is not buffer
        held.append(buffer)
        assert state.view(1)["sum"].shape == (3 * n_weights,)
    assert replaced <= 10
    assert_array_equal(state.arrays["sum"][1, :-1, 0], [*range(3, 503), 0])
    assert (state.arrays["sum"][:, -1] == 7).all()
    state.grow(502, task=5)
    assert_array_equal(state.arrays["sum"][1, -1], [7, 7, 7, 0, 0])


def test_shards_that_met_different_tasks_merge_at_the_longest():
    fields = (Field("sum", "weight task", 0.0, "sum"), Field("seen", "task", 0.0, "sum"))
    start = State(fields, 1, {"weight": 2, "task": 1})
    one, other = start.copy(), start.copy()
    one.grow(2, task=3)
    one.arrays["seen"][...] = 1
    other.arrays["seen"][...] = 5
    assert_array_equal(merge(start, [one, other], [1, 1]).arrays["seen"], [[6, 1, 1]])


def test_a_blank_state_is_of_the_same_kind():
    state = randomly(new(), np.random.default_rng(0))
    blank = state.blank(9)
    assert (blank.n_outputs, blank.sizes) == (3, {**SIZES, "weight": 9})
    assert_same_bits(blank, State(EVERY_KIND, 3, {**SIZES, "weight": 9}))
