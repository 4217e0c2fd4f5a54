"""Which columns belong together: every way to say it, what is refused, and how it is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from thresher.dual_averaging import GroupFOBOSClassifier, GroupRDAClassifier, GroupRDARegressor
from thresher.persistence import load_model, save_model
from thresher.preprocessing import InteractionGroups

NAMES = ["a=1", "a=2", "b", "c=1", "c=2", "c=3"]
TRUTH = [[0, 1], [3, 4, 5], [2]]  # columns on their own come last


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=NAMES)
    return X, np.where(X["c=1"] + X["c=2"] - X["c=3"] > 0, "yes", "no")


SAME = {
    "lists": [[0, 1], [3, 4, 5]],
    "arrays": [np.array([0, 1]), np.array([3, 4, 5])],
    "names": [["a=1", "a=2"], ["c=1", "c=2", "c=3"]],
    "dict": {"a": [0, 1], "c": ["c=1", "c=2", "c=3"]},
    "numbers": [0, 0, -1, 7, 7, 7],
    "number-array": np.array([0, 0, -1, 7, 7, 7]),
    "labels": ["a", "a", "", "c", "c", "c"],
    "labels-none": np.array(["a", "a", None, "c", "c", "c"], dtype=object),
    "series": pd.Series(["a", "a", "", "c", "c", "c"]),
    "prefix": "prefix:=",
}


def given(way):
    return {"a": [0, 1], "c": [3, 4, 5]} if way == "dict" else SAME[way]


@pytest.mark.parametrize("way", SAME)
def test_every_way_to_say_it_means_the_same(frame, way):
    X, y = frame
    model = GroupRDAClassifier(given(way), alpha=0.2, random_state=0).fit(X, y)
    assert [group.tolist() for group in model.groups_] == TRUTH
    assert model.groups_[-1].tolist() == [2]
    truth = GroupRDAClassifier([[0, 1], [3, 4, 5]], alpha=0.2, random_state=0).fit(X, y)
    assert_array_equal(model.coef_, truth.coef_)
    named = way in ("dict", "labels", "labels-none", "series", "prefix")
    assert model.groups_.names == (["a", "c", "b"] if named else None)
    assert_array_equal(model.selected_groups_, ["c"] if named else [1])


@pytest.mark.parametrize("estimator", [GroupRDAClassifier, GroupFOBOSClassifier])
@pytest.mark.parametrize("way", [None, *SAME])
def test_groups_of_every_kind_survive_saving(frame, estimator, way, tmp_path):
    X, y = frame
    model = estimator(None if way is None else given(way), alpha=0.02, random_state=0).fit(X, y)
    save_model(model, tmp_path / "m.thresher")
    for loaded in (load_model(tmp_path / "m.thresher"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(loaded.coef_, model.coef_)
        assert_array_equal(loaded.selected_groups_, model.selected_groups_)
        assert [g.tolist() for g in loaded.groups_] == [g.tolist() for g in model.groups_]
        loaded.partial_fit(X, y)
    model.partial_fit(X, y)
    assert_array_equal(loaded.coef_, model.coef_)
    again = clone(loaded)
    again.set_params(random_state=0).fit(X, y)


def test_encoders_hand_over_their_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"u": rng.choice(list("abc"), 200), "v": rng.choice(list("de"), 200), "w": rng.choice([1, 2], 200)}
    )
    y = X["u"] == "a"
    for encoder in (OneHotEncoder(), OneHotEncoder(drop="if_binary"), OneHotEncoder(min_frequency=90)):
        Z = encoder.fit_transform(X)
        model = GroupRDAClassifier(encoder, alpha=0.02, random_state=0).fit(Z, y)
        labels = [name.split("_")[0] for name in encoder.get_feature_names_out()]
        assert model.groups_.names == ["u", "v", "w"]
        assert [len(g) for g in model.groups_] == [labels.count(c) for c in "uvw"]
        save_model(model, tmp_path / "m.thresher")
        assert_array_equal(load_model(tmp_path / "m.thresher").coef_, model.coef_)
        assert clone(model).groups is encoder  # still fitted
    encoder = InteractionGroups(degree=2)
    Z = encoder.fit_transform(X)
    assert "u" in GroupRDAClassifier(encoder, alpha=0.05).fit(Z, y).selected_groups_
    with pytest.raises(ValueError, match="GroupRDAClassifier: groups must come from a fitted encoder"):
        GroupRDAClassifier(OneHotEncoder()).fit(Z, y)


@pytest.mark.parametrize(
    "groups, says",
    [
        ([[0, 6]], r"groups must hold columns of X, from 0 to 5, got 6"),
        ([[0, -1]], r"groups must hold columns of X, from 0 to 5, got -1"),
        ([[0, 1], []], r"but group 1 is empty"),
        ([[0, 1], [2, 2]], r"but group 1 names column 2 twice"),
        ([[0, 1], 2], r"either lists of columns or one label per column"),
        ([[0.5, 1]], r"numbers of columns, or their names"),
        ([["a=1", "z"]], r"groups must name columns of X, got 'z'"),
        ([0, 0, 1], r"one label per column, got 3 for 6 columns"),
        ([0, 0, 1, 1, -2, 1], r"numbers of at least 0, or -1"),
        ([0.0, 0.0, 1.0, 1.0, 1.0, 1.0], r"one integer or one name per column"),
        ("prefix", r"groups must be None, lists of columns"),
        (3, r"groups must be None, lists of columns"),
    ],
)
@pytest.mark.parametrize("estimator", [GroupRDAClassifier, GroupFOBOSClassifier])
def test_other_groups_are_refused_in_one_sentence(frame, estimator, groups, says):
    with pytest.raises(ValueError, match=rf"^{estimator.__name__}: .*{says}"):
        estimator(groups).fit(*frame)


@pytest.mark.parametrize("groups", ["prefix:=", [["a=1", "b"]]])
def test_names_need_a_frame(frame, groups):
    X, y = frame
    with pytest.raises(ValueError, match=r"GroupRDAClassifier: groups.* need.? a data frame"):
        GroupRDAClassifier(groups).fit(X.to_numpy(), y)


def test_a_refused_fit_leaves_the_groups_of_the_earlier_one(frame):
    X, y = frame
    model = GroupRDAClassifier("prefix:=", alpha=0.05, random_state=0).fit(X, y)
    before, coef = [g.tolist() for g in model.groups_], model.coef_.copy()
    renamed = X.rename(columns={"b": "a=3"})
    with pytest.raises(ValueError):
        model.fit(renamed, y[:-1])
    assert [g.tolist() for g in model.groups_] == before
    assert_array_equal(model.coef_, coef)
    assert [g.tolist() for g in model.fit(renamed, y).groups_] == [[0, 1, 2], [3, 4, 5]]


def test_groups_cannot_change_under_way_but_equal_ones_may_come(frame):
    X, y = frame
    model = GroupRDAClassifier([[0, 1], [2, 3]], random_state=0).fit(X, y)
    model.set_params(groups=[[0, 1], [2, 3]]).partial_fit(X, y)
    for other in ([[0, 1], [2, 4]], None, [[0, 1], [2, 3], [4]]):
        with pytest.raises(ValueError, match="has changed since the last fit"):
            model.set_params(groups=other).partial_fit(X, y)
    assert model.set_params(groups=None).fit(X, y).groups_.names is None


@pytest.mark.parametrize("l1_weight", [[0.1], [0.1, -1], [0.1, np.nan], ["a", "b"], [[0.1, 0.2]], -1])
def test_one_l1_weight_per_group_is_checked(frame, l1_weight):
    with pytest.raises(ValueError, match=r"GroupRDAClassifier: l1_weight must be a number of at least 0 or one"):
        GroupRDAClassifier([[0, 1], [2, 3]], l1_weight=l1_weight).fit(*frame)
    with pytest.raises(ValueError, match=r"GroupRDAClassifier: norm must be 2 or \"inf\", got 1"):
        GroupRDAClassifier(norm=1).fit(*frame)


def test_ten_million_columns_in_a_million_groups_cost_a_row_its_non_zeros():
    """No array of that size is made by a call; the groups are read once."""
    import tracemalloc

    from scipy import sparse

    n = 10**7
    model = GroupRDARegressor(np.arange(n) // 10)
    row = sparse.csr_array(([1.0, 2.0, 1.0], [3, 4, n - 1], [0, 3]), shape=(1, n))
    model.partial_fit(row, [1.0])
    tracemalloc.start()
    model.partial_fit(row, [2.0])
    model.predict(row)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
