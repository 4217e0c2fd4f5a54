"""States of learners on a budget that are broken, changed, grown or undone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher import _core, onepass
from thresher.online import CSOALClassifier, MBPAClassifier, OFSClassifier, PETrunClassifier, SOFSClassifier
from thresher.persistence import load_model
from unsound import save_unsound
from variants import assert_same_bits

BUDGETED = [OFSClassifier, PETrunClassifier, SOFSClassifier, MBPAClassifier]
PUBLISHED = {
    OFSClassifier: {"eta0": 0.2},
    PETrunClassifier: {"eta0": 1.0},
    SOFSClassifier: {"r": 1.0},
    MBPAClassifier: {"C": 1.0},
}
over_budgeted = pytest.mark.parametrize("cls", BUDGETED)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 9)) * (RNG.random((80, 9)) < 0.5)
y = np.where(X @ RNG.normal(size=9) > 0, 1, -1)

NAMES = {
    "beyond the last": lambda a: a[:2].__setitem__(1, 10.0),
    "far beyond": lambda a: a.__setitem__(0, 1e300),
    "the constant": lambda a: a.__setitem__(3, 11.0),
    "negative": lambda a: a.__setitem__(0, -1.0),
    "a fraction": lambda a: a.__setitem__(1, 1.5),
    "less than one": lambda a: a.__setitem__(1, 0.5),
    "NaN": lambda a: a.__setitem__(0, np.nan),
    "infinite": lambda a: a.__setitem__(2, np.inf),
}


@over_budgeted
@pytest.mark.parametrize("how", NAMES)
def test_names_of_features_that_are_not_there_are_refused_by_the_core(cls, how):
    """Before anything is touched, whatever is asked of the learner."""
    model = cls(4, **PUBLISHED[cls]).fit(X, y)
    learner, state = onepass.learner(model, 9), model.state_
    NAMES[how](state.arrays["selected"][0])
    before = state.copy()
    rows, out = onepass.rows(X), np.empty(10)
    for act in (
        lambda: learner.learn(onepass.Lesson(rows, onepass.Target(y.astype(float))), state),
        lambda: learner.scores(rows, state),
        lambda: learner.core.weights(state.view(0), learner.params, out),
        lambda: learner.rebuild(state),
    ):
        with pytest.raises(ValueError, match="selected must name features of the state"):
            act()
    for name, a in before.arrays.items():
        assert_array_equal(state.arrays[name], a)


@pytest.mark.parametrize("cls", [OFSClassifier, PETrunClassifier, MBPAClassifier])
@pytest.mark.parametrize("names", [[2, 1, 3, 4], [1, 1, 2, 3]], ids=["disorder", "repeats"])
def test_names_out_of_order_are_refused_by_the_core(cls, names):
    model = cls(4, **PUBLISHED[cls]).fit(X, y)
    model.state_.arrays["selected"][0] = names
    with pytest.raises(ValueError, match="in order, each once"):
        onepass.learner(model, 9).learn(onepass.Lesson(onepass.rows(X), onepass.Target(y.astype(float))), model.state_)


@pytest.mark.parametrize("n", [0.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e300, 2.0**62, 5.0])
@pytest.mark.parametrize("name", ["Ofs", "Petrun", "Sofs", "Mbpa"])
def test_a_budget_that_is_none_is_refused_by_the_core(name, n):
    cls = {"Ofs": OFSClassifier, "Petrun": PETrunClassifier, "Sofs": SOFSClassifier, "Mbpa": MBPAClassifier}[name]
    model = cls(4, **PUBLISHED[cls]).fit(X, y)
    params = onepass.learner(model, 9).params | {"n_selecteds": n}
    with pytest.raises(ValueError, match=r"budget must be|wrong length"):
        getattr(_core, name).rebuild(model.state_.view(0), params, 10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
@over_budgeted
def test_weights_of_any_kind_crash_nothing(cls, bad):
    """Many steps from numbers that no model has: whatever comes of them, only features are ever named."""
    model = cls(4, **PUBLISHED[cls]).fit(X, y)
    learner = onepass.learner(model, 9)
    for name in ("coef", "variance", "place"):
        for at in range(9):
            state = model.state_.copy()
            if name in state.arrays:
                state.arrays[name][0, at] = bad
                for _ in range(5):
                    learner.learn(onepass.Lesson(onepass.rows(X), onepass.Target(y.astype(float))), state)
                learner.rebuild(state)
                names = state.arrays["selected"][0]
                assert ((names >= 0) & (names <= 9)).all()


def test_a_heap_that_names_a_feature_twice_stays_in_bounds():
    model = SOFSClassifier(4, r=1.0).fit(X, y)
    learner = onepass.learner(model, 9)
    for names in ([1, 1, 1, 1], [3, 2, 3, 9], [9, 8, 0, 7]):
        state = model.state_.copy()
        state.arrays["selected"][0] = names
        for _ in range(20):
            learner.learn(onepass.Lesson(onepass.rows(X), onepass.Target(y.astype(float))), state)
        assert np.isfinite(learner.scores(onepass.rows(X), state)).all()


SPOIL = {
    "a name beyond": ("selected", 0, 10.0, "numbers of features, from 1 to 9"),
    "a fraction": ("selected", 0, 1.5, "numbers of features"),
    "a negative": ("selected", 0, -1.0, "numbers of features"),
    "a gap": ("selected", 1, 0.0, "must hold numbers|coef must be 0"),
}


@over_budgeted
@pytest.mark.parametrize("how", SPOIL)
def test_a_file_with_other_features_in_use_is_refused_in_a_sentence(cls, how, tmp_path):
    name, at, value, words = SPOIL[how]
    model = cls(4).fit(X, y)
    model.state_.arrays[name][0, at] = value
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=rf"^m\b.*{cls.__name__}: .*({words})"):
        load_model(tmp_path / "m")


@over_budgeted
def test_a_file_with_a_name_twice_or_a_weight_outside_is_refused(cls, tmp_path):
    for spoil, words in (
        (lambda s: s["selected"].__setitem__(1, s["selected"][0]), "each feature once"),
        (lambda s: s["coef"].__setitem__(int(np.flatnonzero(s["coef"][:-1] == 0)[0]), 1.0), "coef must be 0"),
    ):
        model = cls(4).fit(X, y)
        spoil(model.state_.view(0))
        save_unsound(model, tmp_path / "m")
        with pytest.raises(ValueError, match=rf"{cls.__name__}: .*{words}"):
            load_model(tmp_path / "m")


def test_a_file_with_features_out_of_order_is_refused(tmp_path):
    for cls, words in ((OFSClassifier, "in order"), (SOFSClassifier, "place must say")):
        model = cls(4).fit(X, y)
        names = model.state_.arrays["selected"][0]
        names[:2] = names[1::-1].copy()
        save_unsound(model, tmp_path / "m")
        with pytest.raises(ValueError, match=words):
            load_model(tmp_path / "m")


def test_a_file_whose_heap_is_none_is_refused(tmp_path):
    for at, words in ((-1, "must be a heap"), (None, "least variance")):
        model = SOFSClassifier(4).fit(X, y)
        view = model.state_.view(0)
        inside = view["selected"].astype(int) - 1
        outside = int(np.setdiff1d(np.arange(9), inside)[0])
        view["variance"][inside[at] if at is not None else outside] = 0.999 if at is not None else 1e-9
        save_unsound(model, tmp_path / "m")
        with pytest.raises(ValueError, match=words):
            load_model(tmp_path / "m")


@pytest.mark.parametrize("name", ["n_steps", "n_queried", "seed", "n_positives", "n_negatives"])
@pytest.mark.parametrize("value", [0.5, 1e16, 3.0])
def test_a_file_with_counts_that_are_none_is_refused(name, value, tmp_path):
    model = CSOALClassifier(random_state=0).fit(X, y)
    model.state_.arrays[name][0, 0] = value
    save_unsound(model, tmp_path / "m")
    if value == 3.0 and name == "seed":
        load_model(tmp_path / "m")
        return
    with pytest.raises(ValueError, match=r"must (hold whole numbers|count|hold numbers up to)"):
        load_model(tmp_path / "m")


@over_budgeted
def test_another_budget_under_way_is_refused_and_a_new_fit_takes_it(cls):
    model = cls(4).fit(X, y)
    for again in (model, pickle.loads(pickle.dumps(model))):
        again.set_params(n_features_to_select=5)
        for act in (lambda m=again: m.partial_fit(X, y), lambda m=again: m.predict(X), lambda m=again: m.coef_):
            with pytest.raises(ValueError, match=f"{cls.__name__}: a parameter .* has changed since the last fit"):
                act()
        assert len(again.fit(X, y).support_) == 5


@over_budgeted
def test_a_refused_batch_leaves_no_trace_beyond_its_columns(cls):
    """It moves weights of features it does not have, and grows the state, before it is refused."""
    given = {} if cls in (SOFSClassifier, MBPAClassifier) else {"eta0": 1e99}
    rows = X.copy()
    rows[:, 7:] = 0
    rows[rows != 0] *= 1e-99 if given else 1.0
    model = cls(2, fit_intercept=False, **given).partial_fit(sparse.csr_array(rows), y, classes=[-1, 1])
    before, n_features = model.state_.copy(), model.n_features_in_
    huge = np.zeros((6, 12))
    huge[::2, 7], huge[1::2, 10:] = 1e99, -1e99
    try:
        model.partial_fit(sparse.csr_array(huge), [1, 1, -1, -1, 1, -1], sample_weight=[1e99] * 6, grow=True)
    except FloatingPointError:
        assert_same_bits(model.state_, before)
        assert model.n_features_in_ == n_features
    else:
        assert cls is not PETrunClassifier
        assert np.isfinite(model.coef_).all()


@over_budgeted
@pytest.mark.parametrize("bad", [0, -3, 2.0, "50", None, True, np.nan])
def test_a_budget_is_a_number_of_features(cls, bad):
    with pytest.raises(ValueError, match=f"{cls.__name__}: n_features_to_select must be an integer of at least 1, got"):
        cls(bad).fit(X, y)


def test_other_parameters_are_named_in_errors():
    for model, words in (
        (OFSClassifier(alpha=0), 'OFSClassifier: alpha must be a number above 0 or "auto", got 0'),
        (OFSClassifier(shrink=1), "OFSClassifier: shrink must be True or False, got 1"),
        (PETrunClassifier(eta0=-1), 'PETrunClassifier: eta0 must be a number above 0 or "auto", got -1'),
        (SOFSClassifier(r=0), 'SOFSClassifier: r must be a number above 0 or "auto", got 0'),
        (MBPAClassifier(cost=0), "MBPAClassifier: cost must be a number above 0 or None, got 0"),
        (CSOALClassifier(delta=0), "CSOALClassifier: delta must be a number above 0, got 0"),
        (CSOALClassifier(cost_kind="both"), "CSOALClassifier: cost_kind must be one of 'margin', 'weight', got 'both'"),
        (CSOALClassifier(query_budget=0), "CSOALClassifier: query_budget must be an integer of at least 1 or None"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)
