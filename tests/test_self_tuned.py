"""Step sizes that choose themselves, and dense rows that are scaled as they come."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference.budget import projected, truncated
from thresher import onepass
from thresher._core import measure_lengths, measure_rows, scale_rows
from thresher._engine import Tuning
from thresher.dual_averaging import (
    AdaptiveL1RDARegressor,
    FTRLRegressor,
    GroupFOBOSRegressor,
    L1RDAClassifier,
    L1RDARegressor,
    ReweightedL1RDAClassifier,
)
from thresher.online import (
    AROWClassifier,
    CSOALClassifier,
    CWClassifier,
    MBPAClassifier,
    NHERDClassifier,
    OFSClassifier,
    PAClassifier,
    PETrunClassifier,
    SCWClassifier,
    SOFSClassifier,
    SOPClassifier,
)
from thresher.stochastic import DropoutPegasosClassifier, PegasosClassifier, PegasosRegressor
from thresher.training import merge_models

TUNED = [AROWClassifier(r="auto"), SCWClassifier(C="auto"), PAClassifier(C="auto"), PegasosClassifier()]
TUNED += [
    DropoutPegasosClassifier(),
    ReweightedL1RDAClassifier(),
    OFSClassifier(),
    MBPAClassifier(),
    SOFSClassifier(),
    PETrunClassifier(),
    CSOALClassifier(),
]

STREAMED = [PegasosRegressor(), L1RDARegressor(), AdaptiveL1RDARegressor(), FTRLRegressor(), GroupFOBOSRegressor()]


def rows(n=600, d=6, seed=0, noise=0.5):
    """Columns far from 0 and of very different sizes, one of them mostly zero, one constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] *= rng.random(n) < 0.1
    y = X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0
    X = (X + np.array([3.0, 0, -2, 1, 0, 5])) * 2.0 ** np.array([0, -8, 10, 3, 0, -4])
    X[:, 4] = 7.0
    return X, y


def scaled_rows(X):
    """Each row by the columns of the first 1, 2, 4, 8, ... rows before it, and the scale after all rows."""
    out, shift, inverse = [], np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i, x in enumerate(X):
        out.append(np.clip((x - shift) * inverse, -5, 5))
        n = i + 1
        if n & (n - 1) == 0:
            past = X[:n]
            squares, count = ((past - past.mean(axis=0)) ** 2).sum(axis=0), (past != 0).sum(axis=0)
            varies = (count > 0) & (squares > 1e-20)
            shift = past.mean(axis=0)
            inverse = np.where(varies, np.sqrt(count / np.where(varies, squares, 1)), 0) / (1 + 8 / n)
    return np.array(out), shift, inverse


def unit(X, n):
    """The typical squared length of scaled rows: the number of values other than 0, to a quarter of a power of two.

    The first row is learned from with a unit of its own.
    """
    return 2 ** (np.round(4 * np.log2(max((X[: max(n, 1)] != 0).sum() / max(n, 1), 1))) / 4)


def test_candidates_are_plain_learners_of_scaled_rows():
    X, y = rows()
    model = PAClassifier(C="auto", average=False).partial_fit(X, y, classes=[False, True])
    Z, shift, inverse = scaled_rows(X)
    mistakes = []
    for k, relative in enumerate((0.01, 0.1, 1.0, 10.0)):
        w, wrong = np.zeros(X.shape[1] + 1), 0
        for i, z in enumerate(Z):
            C = relative / unit(X, 1 << (i.bit_length() - 1) if i else 0)
            z, sign = np.append(z, 1.0), 1 if y[i] else -1
            score = w @ z
            wrong += (score > 0) != y[i]
            w = w + min(C, max(0, 1 - sign * score) / (z @ z)) * sign * z
        mistakes.append(wrong)
        assert_allclose(model.state_.arrays["coef"][k], w, rtol=1e-9, atol=1e-12)
    assert_array_equal(model.race_["n_mistakes"], mistakes)
    chosen = model._learner_now().chosen(model.state_)
    scaled = model.state_.arrays["coef"][chosen]
    assert_allclose(model.coef_[0], scaled[:-1] * inverse, rtol=1e-9)
    assert_allclose(model.intercept_, scaled[-1] - (scaled[:-1] * inverse) @ shift, rtol=1e-9)
    assert model.coef_[0, 4] == 0  # a column that never varied


def test_features_on_a_budget_are_kept_by_their_scaled_weights():
    X, y = rows()
    model = OFSClassifier(2).partial_fit(X, y, classes=[False, True])
    Z, _, inverse = scaled_rows(X)
    for k, relative in enumerate((0.03, 0.1, 0.3, 1.0, 3.0)):
        w = np.zeros(X.shape[1] + 1)
        for i, z in enumerate(np.column_stack([Z, np.ones(len(X))])):
            eta, sign = relative / unit(X, 1 << (i.bit_length() - 1) if i else 0), 1 if y[i] else -1
            far = sign * (w @ z) > 1
            w = (1 - 0.001 * eta) * w
            w = w if far else truncated(projected(w + eta * sign * z, 0.001), 2)
        assert_allclose(model.state_.arrays["coef"][k], w, rtol=1e-9, atol=1e-12)
    scaled = model.state_.arrays["coef"][model._learner_now().chosen(model.state_)]
    assert_allclose(model.coef_[0], scaled[:-1] * inverse, rtol=1e-9)
    assert np.count_nonzero(model.coef_) == 2


def test_where_labels_are_counted_nothing_is_compared_by_others():
    X, y = rows()
    model = CSOALClassifier(query_budget=30, random_state=0).partial_fit(X, y, classes=[False, True])
    assert model.n_queried_ == 30
    for options in ({}, {"query_budget": 30}):
        assert len(CSOALClassifier(random_state=0, **options).fit(X, y).race_["value"]) == 1


def test_means_of_late_iterates_race_in_pegasos():
    X, y = rows()
    model = PegasosClassifier().partial_fit(X, y, classes=[False, True])
    Z = np.column_stack([scaled_rows(X)[0], np.ones(len(X))])
    mistakes = []
    for k, relative in enumerate((3e2, 1e3, 1e4)):
        w, total, mass, square, wrong = np.zeros(X.shape[1] + 1), np.zeros(X.shape[1] + 1), 0, 0.0, 0
        for i, z in enumerate(Z):
            t, sign, length = i + 1, 1 if y[i] else -1, relative / unit(X, 1 << (i.bit_length() - 1) if i else 0)
            wrong += (total @ z > 0) != y[i]
            score = w @ z
            pull = sign / t if sign * score < 1 else 0.0
            square = (1 - 1 / t) ** 2 * square + 2 * (1 - 1 / t) * pull * score + pull**2 * length * (z @ z)
            shrink = min(1.0, 1 / np.sqrt(square)) if square else 1.0
            w, square = shrink * ((1 - 1 / t) * w + pull * length * z), min(square, 1.0)
            total, mass = total + t * w, mass + t
        mistakes.append(wrong)
        learner = model._learner_now()
        learned = np.empty((1, X.shape[1] + 1))
        learner.core.weights(model.state_.views[k], learner._params_of(model.state_, k), learned[0])
        assert_allclose(learned[0], total / mass, rtol=1e-7, atol=1e-9)
    assert_array_equal(model.race_["n_mistakes"], mistakes)


@pytest.mark.parametrize("model", TUNED, ids=lambda m: type(m).__name__)
def test_the_units_of_columns_do_not_matter(model):
    X, y = rows(1200)
    factors = 2.0 ** np.array([10, -10, 3, -7, 0, 5])
    one = type(model)(**model.get_params()).set_params(random_state=0).fit(X[:900], y[:900])
    other = type(model)(**model.get_params()).set_params(random_state=0).fit(X[:900] * factors, y[:900])
    assert_allclose(other.coef_ * factors, one.coef_, rtol=1e-9)
    assert_array_equal(other.predict(X[900:] * factors), one.predict(X[900:]))
    assert one.score(X[900:], y[900:]) > 0.8


@pytest.mark.parametrize("model", [PegasosRegressor(alpha="auto"), L1RDARegressor(eta0="auto")])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_units_of_targets_do_not_matter(model, layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = X @ rng.normal(size=5) + 0.1 * rng.normal(size=500)
    one = type(model)(**model.get_params()).set_params(random_state=0).fit(layout(X), y)
    other = type(model)(**model.get_params()).set_params(random_state=0).fit(layout(X), 1024 * y + 50_000)
    assert one.score(X, y) > 0.9
    assert_allclose(other.predict(X), 1024 * one.predict(X) + 50_000, rtol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "none"])
@pytest.mark.parametrize("model", STREAMED, ids=lambda model: type(model).__name__)
def test_large_targets_are_learned_from_the_first_row_on(model, layout, constant):
    """However many of the first rows have one and the same target, and however they are cut."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    y = 1000 * (X @ rng.normal(size=5) + 0.1 * rng.normal(size=900)) + 1e6 * constant
    y[:5] = y[5] if constant else 0.0
    fitted = [type(model)(**model.get_params()).set_params(fit_intercept=constant) for _ in range(3)]
    for each, size in zip(fitted, (900, 1, 7), strict=True):
        for at in range(0, 700, size):
            each.partial_fit(layout(X[at : min(at + size, 700)]), y[at : min(at + size, 700)])
    assert fitted[0].score(layout(X[700:]), y[700:]) > 0.9
    for each in fitted[1:]:
        assert_array_equal(each.coef_, fitted[0].coef_)


def test_a_number_gives_the_published_learner():
    X, y = rows()
    kept = PAClassifier(C=0.1, probability="none").fit(X, y).state_.arrays
    assert kept.keys() == {"coef", "tally", "n_mistakes"}
    with pytest.raises(AttributeError, match="PAClassifier has race_ only if a step size is automatic"):
        _ = PAClassifier(C=0.1).fit(X, y).race_


def test_sparse_rows_stay_as_they_are():
    X, y = rows()
    X = sparse.csr_array(X / np.abs(X).max(axis=0))
    model = PAClassifier(C="auto").partial_fit(X, y, classes=[False, True])
    best = model.race_["value"][model._learner_now().chosen(model.state_)]
    assert model.state_.sizes["column"] == 0
    assert model._step_in_use() == best


def test_the_first_row_counts_in_its_own_units():
    """A row of length 64 after which steps of 1 / 64^2 follow: one of length 1 there is never made up for."""
    X, y = rows(200)
    X = sparse.csr_array(np.abs(X / np.abs(X).max(axis=0)) * 64)
    one = OFSClassifier().partial_fit(X, y, classes=[False, True])
    other = OFSClassifier().partial_fit(X[:1], y[:1], classes=[False, True]).partial_fit(X[1:], y[1:])
    assert_array_equal(one.coef_, other.coef_)
    first = OFSClassifier().partial_fit(X[:1], y[:1], classes=[False, True])
    square = float((X[:1].toarray() ** 2).sum())
    assert_allclose(first.race_["value"] * square, (0.03, 0.1, 0.3, 1.0, 3.0), rtol=0.1)


def test_candidates_leave_the_race_and_later_rows_cost_less():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    model = AROWClassifier(r="auto")
    left = []
    for begin, end in ((0, 1000), (1000, 3000), (3000, 5000), (5000, 20_000), (20_000, 70_000)):
        model.partial_fit(X[begin:end], y[begin:end], classes=[False, True])
        left.append(int(model.race_["running"].sum()))
    assert left[0] == 4
    assert left == sorted(left, reverse=True)
    assert left[2] <= 3
    assert left[3] <= 2
    assert left[4] == 1


def test_a_second_pass_is_for_the_best_candidate_alone():
    X, y = rows()
    model = PAClassifier(C="auto", max_iter=3, random_state=0).fit(X, y)
    assert model.race_["running"].sum() == 1
    assert model.n_samples_seen_ == 1800
    one_pass = PAClassifier(C="auto", max_iter=1, random_state=0).fit(X, y)
    for name in ("n_rows", "n_mistakes", "best", "chosen"):  # rows that were seen before do not count
        assert_array_equal(model.race_[name], one_pass.race_[name])
    assert_array_equal(model.race_["n_rows"], 600)
    assert_array_equal(model.race_["running"], model.race_["chosen"])


@pytest.mark.parametrize("loss", [False, True])
def test_candidates_stand_beside_the_best_over_the_same_rows(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 6))
    y = X @ rng.normal(size=6) + rng.normal(size=5000)
    model, first = (L1RDARegressor(), {}) if loss else (PAClassifier(), {"classes": [False, True]})
    y, judged = (y, "loss") if loss else (y > 0, "n_mistakes")
    earlier = [deepcopy(model).partial_fit(X[:n], y[:n], **first).race_ for n in (2048, 4096)]
    race = model.partial_fit(X, y, **first).race_
    assert race["chosen"].sum() == 1
    for n_rows, then in zip((2048, 4096), earlier, strict=True):
        left = race["n_rows"] == n_rows
        assert_array_equal(race[judged][left], then[judged][left])
        assert np.isin(race["best"][left], then[judged][then["n_rows"] == n_rows]).all()
        assert (race["best"][left] <= race[judged][left]).all()
    assert 0 < race["running"].sum() < len(race["running"])
    assert_array_equal(race["best"][race["running"]], race[judged][race["chosen"]][0])


def test_a_race_names_what_differs_between_candidates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = (X @ rng.normal(size=(6, 3))).argmax(axis=1)
    forms = AROWClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert list(forms.race_["multi_class"]) == ["joint"] * 4 + ["one_vs_rest"] * 4
    assert forms.race_["multi_class"][forms.race_["chosen"]] == forms.multi_class_
    assert (forms.race_["part"] == 1).all()
    assert forms._settled() == {"r": forms.r_, "multi_class": forms.multi_class_, "scale": True}
    two = L1RDAClassifier("auto").partial_fit(X, y > 0, classes=[False, True])
    learner = two._learner_now()
    second = np.arange(learner.n_models) >= len(two._raced.candidates)
    second[learner.tuning.leader(learner, two.state_)] = True
    assert_array_equal(two.race_["part"], 1 + second)
    assert_array_equal(two.race_["alpha"][second], two.path_["penalty"])
    assert_array_equal(two.race_["value"][second], two.eta0_)
    assert two.race_["alpha"][two.race_["chosen"]] == two.penalty_
    assert two._settled() == {"eta0": two.eta0_, "alpha": two.penalty_, "average": True, "scale": True}
    assert "alpha" not in L1RDAClassifier().partial_fit(X, y > 0, classes=[False, True]).race_
    mean = CWClassifier().partial_fit(X, y, classes=[0, 1, 2])
    chosen = {"confidence": mean.confidence_, "multi_class": mean.multi_class_}
    assert mean._settled() == chosen | {"average": True, "scale": True}


@pytest.mark.parametrize(
    "cls", [CWClassifier, SOPClassifier, PegasosClassifier, SOFSClassifier, SCWClassifier, L1RDAClassifier]
)
def test_values_in_place_of_auto_learn_alike_without_a_race(cls):
    """On sparse rows whose length is known, but for early rows: candidates begin in the unit of the first."""
    X, y = rows(3000)
    X = sparse.csr_array(X / np.linalg.norm(X, axis=1)[:, None])
    raced = cls().partial_fit(X, y, classes=[False, True])
    same = cls(**raced._settled()).partial_fit(X, y, classes=[False, True])
    assert_allclose(same.decision_function(X), raced.decision_function(X), rtol=1e-9, atol=1e-12)


def test_merged_candidates_know_what_they_missed_lately():
    X, y = rows(1000)
    start = PAClassifier(C="auto").partial_fit(X[:100], y[:100], classes=[False, True])
    for n_round in range(4):
        shards = [deepcopy(start).partial_fit(X[k::3], y[k::3]) for k in range(3)]
        lately = [s.state_.arrays["missed"] - s.state_.arrays["mark"] for s in shards]
        start = merge_models(shards, start, again=n_round > 0)
        missed, mark, older = (start.state_.arrays[name] for name in ("missed", "mark", "older_mark"))
        assert_allclose(missed - mark, np.minimum(sum(lately), missed))
        assert ((older >= 0) & (older <= mark)).all()


def test_the_hard_variant_has_nothing_to_race():
    X, y = rows()
    automatic = PAClassifier(C="auto", variant="hard", random_state=0).fit(X, y)
    assert_array_equal(automatic.coef_, PAClassifier(variant="hard", random_state=0).fit(X, y).coef_)


def test_a_candidate_that_outgrows_floating_point_is_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60)) * 10
    y = X @ rng.normal(size=60)
    model = L1RDARegressor(eta0="auto", scale=False, max_iter=5, random_state=0).fit(X, y)
    assert not model.race_["running"].all()
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("is_classifier", [True, False])
def test_penalties_race_after_the_steps_at_the_leading_one(is_classifier):
    """From row 2,048 on, each penalty goes on from the state of the leader; before, nobody but the steps learns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4500, 6))
    X = sparse.csr_array(2 * X / np.linalg.norm(X, axis=1)[:, None])  # of one length: their unit never changes
    y = X @ rng.normal(size=6) + 0.3 * rng.normal(size=4500)
    cls, first = (L1RDAClassifier, {"classes": [False, True]}) if is_classifier else (L1RDARegressor, {})
    y = y > 0 if is_classifier else np.sign(y)
    options = {"fit_intercept": False, "loss": "hinge" if is_classifier else "epsilon_insensitive"}
    race = cls("auto", **options).partial_fit(X, y, **first)
    learner, n_steps = race._learner_now(), len(cls._raced.candidates)
    leader = learner.tuning.leader(learner, race.state_)
    assert race.race_["n_rows"][leader] >= 4096
    assert np.delete(race.race_["n_rows"][:n_steps], leader).max() == 2048
    penalties, lately = race.path_["penalty"], []
    options |= {"average": True} if is_classifier else {}
    for k, penalty in zip([leader, *range(n_steps, learner.n_models)], penalties, strict=True):
        if race.race_["n_rows"][k] < 4500:
            continue
        lately.append(k)
        if not is_classifier:
            continue  # whose targets are scaled
        plain = cls(penalties[0], eta0=race.race_["value"][leader], **options).partial_fit(X[:2048], y[:2048], **first)
        before = plain.n_mistakes_
        plain.set_params(alpha=penalty).partial_fit(X[2048:], y[2048:])
        assert_allclose(learner.weights(race.state_, k)[:, :-1], plain.coef_, rtol=1e-9, atol=1e-12)
        assert race.state_.arrays["n_mistakes"][k, 0] == plain.n_mistakes_ > before
    assert len(lately) > 1
    older = race.state_.arrays["older_mark"][:, 0]  # what was missed or lost up to row 2,048, which all share
    assert older[leader] > 0
    assert_allclose(older[lately], older[leader])
    assert race.penalty_ in penalties


def test_rows_are_measured_and_scaled_as_they_should_be():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=(50, 4)) * (rng.random((50, 4)) < 0.7)
    part = rng.permutation(50)[:20]
    for form in (np.asarray, sparse.csr_array, lambda each: each.astype(np.float32)):
        held, exact = onepass.rows(form(X)), X if form(X).dtype == np.float64 else X.astype(np.float32).astype(float)
        mean, m2, count = np.zeros(4), np.zeros(4), np.zeros(4)
        for begin in (0, 7):
            measure_rows(held, part[begin : 7 if begin == 0 else 20], begin, mean, m2, count)
        some = exact[part]
        assert_allclose(mean, some.mean(axis=0))
        assert_allclose(m2, ((some - some.mean(axis=0)) ** 2).sum(axis=0))
        assert_array_equal(count, np.count_nonzero(some, axis=0))
        out = np.empty(80)
        scale_rows(held, part, mean, np.array([1.0, 0.5, 2.0, 0.0]), 1.5, out)
        assert_allclose(out.reshape(20, 4), np.clip((some - mean) * [1.0, 0.5, 2.0, 0.0], -1.5, 1.5))
        for bad in (np.array([50]), np.array([-1])):
            with pytest.raises(ValueError, match="part must name rows that there are"):
                scale_rows(held, bad, mean, mean, 1.5, np.empty(4))
            with pytest.raises(ValueError, match="part must name rows that there are"):
                measure_rows(held, bad, 0, mean, m2, count)


def test_lengths_of_rows_are_measured_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.4)  # rows of zeros, too
    part = rng.permutation(60)[:40]
    squares = (X[part] ** 2).sum(axis=1)
    for form in (np.asarray, sparse.csr_array, lambda each: sparse.csr_array(each.astype(np.float32))):
        held, found, chunks = onepass.rows(form(X)), np.zeros((2, 1)), np.zeros((2, 1))
        measure_lengths(held, part, *found)
        for i in range(0, 40, 3):
            measure_lengths(held, part[i : i + 3], *chunks)
        assert_array_equal(found, chunks)
        assert_allclose(found[:, 0], [np.log(squares[squares > 0]).sum(), (squares > 0).sum()], rtol=1e-6)
        assert (squares == 0).any()
        with pytest.raises(ValueError, match="part must name rows that there are"):
            measure_lengths(held, np.array([60]), *found)


def test_the_mean_of_csoal_is_that_of_its_iterates_after_each_question():
    X, y = rows(200)
    given = {"C": 0.1, "delta": 0.5, "random_state": 0}
    plain, mean = CSOALClassifier(**given), CSOALClassifier(**given, average=True)
    total, mass, n_asked = 0.0, 0, 0
    for i in range(len(y)):
        for model in (plain, mean):
            model.partial_fit(X[[i]], y[[i]], classes=[False, True])
        if plain.n_queried_ > n_asked:
            n_asked = plain.n_queried_
            total, mass = total + n_asked * plain.coef_, mass + n_asked
        assert_allclose(mean.coef_, total / max(mass, 1), rtol=1e-9, atol=1e-12)
    assert 10 < n_asked < 200


def test_columns_are_measured_by_all_early_rows_and_every_eighth_later_one():
    X = np.random.default_rng(0).normal(size=(9000, 2)) * np.linspace(1, 5, 9000)[:, None]
    measured = np.flatnonzero((np.arange(9000) < 4096) | (np.arange(9000) % 8 == 0))
    states = []
    for cuts in ([], [4000, 4097, 4100, 7001]):
        model = PAClassifier()
        for part in np.split(np.arange(9000), cuts):
            model.partial_fit(X[part], X[part, 0] > 0, classes=[False, True])
        states.append(model.state_.arrays)
        assert_allclose(states[-1]["column_mean"][0], X[measured].mean(axis=0), rtol=1e-9, atol=1e-12)
        assert_allclose(states[-1]["column_m2"][0], X[measured].var(axis=0) * len(measured), rtol=1e-9)
    assert_array_equal(states[0]["coef"], states[1]["coef"])


@pytest.mark.parametrize("n_rows", [60, 3_000])
def test_a_fit_skips_milestones_and_ends_in_the_same_model(monkeypatch, n_rows):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(n_rows, 8)) * (np.arange(8) % 3 > 0))
    y = X @ np.arange(8.0) > 0
    reached = []
    turn = Tuning.turn
    monkeypatch.setattr(Tuning, "turn", lambda self, *given: (reached.append(given[-1]), turn(self, *given))[1])
    one = AROWClassifier(max_iter=1, random_state=0).fit(X, y)
    few = reached.copy()
    monkeypatch.setattr(Tuning, "first_milestone", lambda *_: 0)
    reached.clear()
    other = AROWClassifier(max_iter=1, random_state=0).fit(X, y)
    assert set(few) < set(reached)
    first = min(512, 1 << (n_rows // 8).bit_length() - 1)
    assert few == [first << k for k in range(20) if first << k <= n_rows]
    assert_array_equal(one.coef_, other.coef_)
    assert one.r_ == other.r_


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
@pytest.mark.parametrize("estimator", [AROWClassifier, NHERDClassifier])
def test_candidates_side_by_side_learn_what_they_learn_one_by_one(monkeypatch, estimator, how):
    """Units of the stream change under way, and candidates are dropped."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6_000, 12)) * (rng.random((6_000, 12)) < 0.5) * np.linspace(0.1, 20, 6_000)[:, None]
    y = (X @ rng.normal(size=12) + rng.normal(size=6_000) > 0).astype(int)
    given = {"classes": [0, 1]} if how == "partial_fit" else {}

    def learned():
        model = estimator(max_iter=1, random_state=0)
        getattr(model, how)(sparse.csr_array(X), y, **given)
        return model.state_.arrays

    together = learned()
    monkeypatch.setattr(onepass.Learner, "has_several", False)
    alone = learned()
    for name, array in alone.items():
        assert_array_equal(together[name], array, err_msg=name)
