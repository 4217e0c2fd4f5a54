"""One-hot interactions in groups, and groups of a graph."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher._gate._table import Table, Text
from thresher.dual_averaging import GroupRDAClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import InteractionGroups, StreamingPipeline, TableEncoder, groups_from_graph


@pytest.fixture
def letters():
    rng = np.random.default_rng(0)
    X = np.array(list("ACGT"))[rng.integers(4, size=(400, 7))]
    return X, (X[:, 1] == "G") & (X[:, 4] != "T")


def test_seven_columns_of_four_letters_make_2604_features_in_63_groups(letters):
    encoder = InteractionGroups().fit(letters[0])
    labels = encoder.groups_
    assert encoder.n_features_out_ == len(labels) == 28 + 336 + 2240
    assert len(set(labels)) == 63
    assert [labels.count(label) for label in ("x1", "x1:x2", "x3:x5:x7")] == [4, 16, 64]
    Z = encoder.transform(letters[0])
    assert Z.shape == (400, 2604)
    assert (Z.sum(axis=1) == 63).all()


def test_a_feature_is_one_where_all_its_categories_are(letters):
    X = pd.DataFrame(letters[0][:60, :4], columns=list("abcd"))
    encoder = InteractionGroups().fit(X)
    Z, names = encoder.transform(X).toarray(), encoder.get_feature_names_out()
    truth, expected = [], []
    for n in (1, 2, 3):
        for chosen in combinations("abcd", n):
            for values in product("ACGT", repeat=n):
                truth.append(np.all([X[c] == v for c, v in zip(chosen, values, strict=True)], axis=0))
                expected.append(":".join(f"{c}={v}" for c, v in zip(chosen, values, strict=True)))
    assert_array_equal(Z, np.array(truth).T)
    assert_array_equal(names, expected)
    assert encoder.groups_ == [":".join(part[0] for part in name.split(":")) for name in expected]


def test_whole_numbers_and_text_are_categories_and_unknown_ones_have_no_features():
    X = pd.DataFrame({"n": [1, 2, 2], "f": [0.0, 1.0, 0.0], "t": ["u", "v", "u"]})
    encoder = InteractionGroups(degree=2).fit(X)
    assert encoder.categories_ == [["1", "2"], ["0", "1"], ["u", "v"]]
    unknown = encoder.transform(pd.DataFrame({"n": [3], "f": [1.0], "t": ["v"]})).toarray()[0]
    assert set(encoder.get_feature_names_out()[unknown != 0]) == {"f=1", "t=v", "f=1:t=v"}


@pytest.mark.parametrize(
    "X, says",
    [
        ([[0.5], [1.0]], r"column 'x1' must hold text or whole numbers"),
        ([[np.nan], [1.0]], r"column 'x1' must hold text or whole numbers"),
        (pd.DataFrame({"a": ["u", None]}), r"column 'a' must hold text or whole numbers"),
        ([["a", 1.5], ["b", 2]], r"column 'x2' must hold"),
        (sparse.csr_array(np.eye(2)), r"got sparse rows"),
        (np.zeros(3), r"table of rows and columns"),
    ],
)
def test_other_columns_are_refused_in_one_sentence(X, says):
    with pytest.raises(ValueError, match=rf"InteractionGroups: .*{says}"):
        InteractionGroups().fit(X)


def test_other_columns_than_those_learned_are_refused():
    encoder = InteractionGroups().fit(pd.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}))
    with pytest.raises(ValueError, match=r"InteractionGroups: X must have the columns 'a', 'b', got 'b', 'a'"):
        encoder.transform(pd.DataFrame({"b": ["u"], "a": ["u"]}))
    with pytest.raises(ValueError, match=r"InteractionGroups: degree must be 1, 2 or 3, got 4"):
        InteractionGroups(degree=4).fit([["a"]])


def test_a_pipeline_hands_groups_over_and_is_saved(letters, tmp_path):
    X, y = letters
    model = StreamingPipeline(
        [("cross", InteractionGroups()), ("learn", GroupRDAClassifier("encoder", alpha=0.02, eta0=1.0, random_state=0))]
    ).fit(X, y)
    assert "x2:x5" in model[-1].selected_groups_
    assert len(model[-1].selected_groups_) < 20
    save_model(model, tmp_path / "m.thresher")
    loaded = load_model(tmp_path / "m.thresher")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_array_equal(loaded[-1].selected_groups_, model[-1].selected_groups_)
    with pytest.raises(ValueError, match=r'GroupRDAClassifier: groups="encoder" needs a StreamingPipeline'):
        GroupRDAClassifier("encoder").fit(np.eye(2), [0, 1])


def test_a_table_encoder_groups_the_words_of_a_column():
    jobs = Text.from_list(["cook", "clerk", "cook"])
    table = Table(["age", "job"], np.array([[31.0], [47.0], [np.nan]]), {"job": jobs})
    assert TableEncoder(missing="indicator").fit(table).groups_ == ["", "job", "job", ""]


def test_edges_of_a_graph_are_groups():
    assert groups_from_graph([(3, 1), (1, 3), (0, 1)], 5) == [[0, 1], [1, 3]]
    assert groups_from_graph(sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])), 3) == [[0, 1]]
    assert groups_from_graph([], 5) == []
    for edges, says in (([(0, 5)], "from 0 to 4, got 5"), ([(1, 1)], "different"), ([(0.5, 1)], "integers")):
        with pytest.raises(ValueError, match=rf"groups_from_graph: edges must .*{says}"):
            groups_from_graph(edges, 5)
