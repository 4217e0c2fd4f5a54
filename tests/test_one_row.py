"""Rows that come one by one: the same bits as chunks of one row, whatever the form, and the refusals of a reader."""

from __future__ import annotations

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher._core import RowReader
from thresher.confidence import BCWClassifier, SBCWClassifier
from thresher.dual_averaging import FTRLClassifier, FTRLRegressor, L1RDAClassifier, MultiTaskRDAClassifier
from thresher.online import AROWClassifier, PAClassifier, SCWClassifier
from thresher.persistence import load_model, save_model
from variants import assert_same_bits, first_batch, models, name_of, regresses, rows_for, with_params

N_FIRST = 3  # rows by which both know all columns


def as_pair(row):
    (columns,) = np.nonzero(row)
    return columns.tolist(), row[columns].tolist()


def as_dict(row):
    return dict(zip(*as_pair(row), strict=True))


def as_chunk(model):
    """The same model, which learns a batch of one row as it learns any other."""
    model._learn_alone = lambda learner, lesson: False
    return model


def taught(model, X, y, form):
    """A model that learned from rows one by one, and one that learned from chunks of one row."""
    one, chunks = with_params(model), as_chunk(with_params(model))
    for each in (one, chunks):
        first_batch(each, sparse.csr_array(X[:N_FIRST]), y[:N_FIRST], y)
    waits = hasattr(model, "flush")
    size = (model.batch_size or len(X)) if waits else 1
    for row, label in zip(X[N_FIRST:], y[N_FIRST:], strict=True):
        one.learn_one(form(row), label)
    for begin in range(N_FIRST, len(X), size):
        first_batch(chunks, sparse.csr_array(X[begin : begin + size]), y[begin : begin + size], y)
    if waits:
        one.flush()
    return one, chunks


@pytest.mark.parametrize("model", models(), ids=name_of)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_one_by_one_are_chunks_of_one_row_to_the_bit(model, n_classes):
    if n_classes == 3 and regresses(model):
        pytest.skip("no classes")
    X, y = rows_for(model, n_rows=40, n_classes=n_classes)
    one, chunks = taught(model, X, y, as_pair)
    assert_same_bits(one.state_, chunks.state_)
    score = chunks.predict if regresses(model) else chunks.decision_function
    for row in X[::5]:  # one by one, because products of matrices may round otherwise
        stored = sparse.csr_array(row[None])
        assert one.predict_one(as_dict(row)) == chunks.predict(stored)[0]
        assert_array_equal(one.score_one(as_dict(row)), score(stored)[0])


@pytest.mark.parametrize("model", models(), ids=name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_one_row_are_learned_like_any_other_to_the_bit(model, dtype):
    X, y = rows_for(model, n_rows=40, n_classes=2)
    alone, chunks = with_params(model), as_chunk(with_params(model))
    for begin, end in [(0, 3), *((i, i + 1) for i in range(3, 20)), (20, 30), *((i, i + 1) for i in range(30, 40))]:
        for each in (alone, chunks):
            first_batch(each, sparse.csr_array(X[begin:end].astype(dtype)), y[begin:end], y)
    assert_same_bits(alone.state_, chunks.state_)


def test_batches_of_one_row_take_the_short_way_but_for_milestones(monkeypatch):
    X, y = rows_for(AROWClassifier(), n_rows=40, n_classes=2)
    model = AROWClassifier().partial_fit(sparse.csr_array(X[:4]), y[:4], classes=np.unique(y))
    taken, learn = [], AROWClassifier._learn
    monkeypatch.setattr(AROWClassifier, "_learn", lambda *given: (taken.append(model.n_samples_seen_), learn(*given)))
    for i in range(4, 40):
        model.partial_fit(sparse.csr_array(X[i : i + 1]), y[i : i + 1])
    assert (taken, model.n_samples_seen_) == ([5, 7, 11, 15, 23, 31], 40)


@pytest.mark.parametrize(
    "model", [AROWClassifier(r=1.0), AROWClassifier(), SCWClassifier(), L1RDAClassifier(), FTRLRegressor()], ids=name_of
)
@pytest.mark.parametrize("weighted", [False, True])
def test_long_streams_of_named_rows_grow_to_the_bit(model, weighted):
    """Over milestones of races and the end of their measures; every hundredth row brings a new name."""
    rng = np.random.default_rng(0)
    n_rows = 4300 if isinstance(model, AROWClassifier) and not weighted else 300
    one, alone, chunks, width = with_params(model), with_params(model), as_chunk(with_params(model)), 4
    for i in range(n_rows):
        width += i % 100 == 0
        columns = np.sort(rng.choice(width, 3, replace=False))
        columns[-1] = width - 1 if i % 100 == 0 else columns[-1]
        columns = np.unique(columns)
        values = rng.normal(size=len(columns))
        y = float(values.sum() + columns[0]) if regresses(model) else bool(values[0] + 0.3 * rng.normal() > 0)
        weight = float(rng.integers(0, 3)) if weighted and i else 1.0
        if i == 0:
            columns, values = np.arange(width), rng.normal(size=width)
        order = rng.permutation(len(columns)) if i else range(len(columns))
        options = {} if regresses(model) or i else {"classes": [False, True]}
        one.learn_one(
            {f"f{columns[k]}": values[k] for k in order}, y, sample_weight=weight if weighted else None, **options
        )
        row = sparse.csr_array((values, columns, [0, len(columns)]), shape=(1, width))
        for each in (alone, chunks):
            each.partial_fit(row, [y], sample_weight=[weight] if weighted else None, grow=True, **options)
    assert_same_bits(one.state_, chunks.state_)
    assert_same_bits(alone.state_, chunks.state_)
    assert one.feature_names_in_.tolist() == [f"f{j}" for j in range(width)]
    assert one.n_features_in_ == width
    assert_array_equal(one.coef_, chunks.coef_)
    x = {"f1": 0.5, "f3": -1.0, "never seen": 7.0}
    row = sparse.csr_array(([0.5, -1.0], [1, 3], [0, 2]), shape=(1, width))
    assert one.predict_one(x) == chunks.predict(row)[0]
    if not regresses(model):
        assert list(one.predict_proba_one(x)) == [False, True]
        assert_array_equal(list(one.predict_proba_one(x).values()), chunks.predict_proba(row)[0])


def test_class_weights_thresholds_and_changed_parameters_count():
    X, y = rows_for(PAClassifier(), n_rows=60, n_classes=2)
    for params in ({"class_weight": {"ham": 3.0, "maybe": 0.5}}, {"threshold": 0.4}, {"threshold": "f1"}):
        one, chunks = taught(AROWClassifier(r=1.0, **params), X, y, as_dict)
        assert_same_bits(one.state_, chunks.state_)
        assert [one.predict_one(as_dict(row)) for row in X] == chunks.predict(sparse.csr_array(X)).tolist()
        for model in (one, chunks):
            model.set_params(r=0.1)
        for row, label in zip(X, y, strict=True):
            one.learn_one(as_dict(row), label)
            chunks.partial_fit(sparse.csr_array(row[None]), [label])
        assert_same_bits(one.state_, chunks.state_)


def test_ways_to_learn_may_be_mixed_and_models_copied():
    X, y = rows_for(AROWClassifier(), n_rows=60, n_classes=2)
    one, chunks = taught(AROWClassifier(r=1.0), X[:30], y[:30], as_dict)
    for model in (one, chunks):
        model.partial_fit(sparse.csr_array(X[30:40]), y[30:40])
    copies = [one, copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    for row, label in zip(X[40:], y[40:], strict=True):
        for each in copies:
            each.learn_one(as_dict(row), label)
        chunks.partial_fit(sparse.csr_array(row[None]), [label])
    for each in copies:
        assert_same_bits(each.state_, chunks.state_)
    one.fit(X[:, :4], y)
    assert one.predict_one({0: 1.0, 8: 5.0}) == one.predict([[1.0, 0, 0, 0]])[0]


def test_a_row_that_is_predicted_never_takes_the_place_of_one_that_is_learned():
    model, alone = (AROWClassifier(r=1.0).learn_one({"a": 1.0, "b": 1.0}, 1, classes=[0, 1]) for _ in range(2))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            learns = pool.submit(lambda: [model.learn_one({"a": 0.5}, i % 2) for i in range(20_000)])
            predicts = pool.submit(lambda: [model.score_one({"b": 2.0}) for _ in range(20_000)])
            learns.result()
            predicts.result()
    finally:
        sys.setswitchinterval(before)
    for i in range(20_000):
        alone.learn_one({"a": 0.5}, i % 2)
    assert_same_bits(model.state_, alone.state_)


def test_names_are_those_of_frames_and_are_saved(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows_for(AROWClassifier(), n_classes=2)
    model = FTRLClassifier().fit(pandas.DataFrame(X, columns=list("abcdefghi")), y)
    expected = model.predict(pandas.DataFrame(X[5:6], columns=list("abcdefghi")))[0]
    assert model.predict_one(dict(zip("abcdefghi", X[5], strict=True))) == expected
    model.learn_one({"new": 1.0, "a": 2.0}, y[0])
    save_model(model, tmp_path / "m.thresher")
    loaded = load_model(tmp_path / "m.thresher")
    assert loaded.feature_names_in_.tolist() == [*"abcdefghi", "new"]
    for each in (model, loaded):
        each.learn_one({"newer": 1.0, "b": -1.0}, y[1])
    assert_same_bits(model.state_, loaded.state_)


def test_tasks_are_learned_row_by_row():
    X, y = rows_for(MultiTaskRDAClassifier(), n_rows=30)
    one, chunks = MultiTaskRDAClassifier(), MultiTaskRDAClassifier()
    for i, (row, label) in enumerate(zip(X[1:], y[1:], strict=True)):
        task = "north" if i % 3 else "south"
        one.learn_one({8: 0.0} | as_dict(row), label, task, classes=np.unique(y))
        stored = sparse.csr_array(row[None])
        chunks.partial_fit(stored, [label], tasks=[task], classes=np.unique(y))
    assert_same_bits(one.state_, chunks.state_)
    assert one.predict_one(as_dict(X[3]), "south") == chunks.predict(X[3:4], ["south"])[0]
    assert one.predict_proba_one(as_dict(X[3]), task="south")["ham"] == chunks.predict_proba(X[3:4], ["south"])[0, 0]


def test_rows_wait_for_a_batch():
    X, y = rows_for(BCWClassifier(), n_rows=40, n_classes=2)
    model = SBCWClassifier(batch_size=16, n_features_to_select=3, n_groups=2)
    for i, (row, label) in enumerate(zip(X[:20], y[:20], strict=True)):
        model.learn_one(as_dict(row), label, classes=np.unique(y))
        assert hasattr(model, "state_") == (i >= 15)
    before = model.predict_one(as_dict(X[30]))
    assert model.n_samples_seen_ == 16
    with pytest.raises(ValueError, match="x must hold finite numbers"):
        model.learn_one({0: np.nan}, y[0])
    with pytest.raises(ValueError, match="'what'"):
        model.learn_one({0: 1.0}, "what")
    assert model.predict_one(as_dict(X[30])) == before
    model.partial_fit(sparse.csr_array(X[20:]), y[20:])  # after the rows that wait
    other = SBCWClassifier(batch_size=16, n_features_to_select=3, n_groups=2)
    for part in (slice(0, 16), slice(16, 20), slice(20, 40)):
        other.partial_fit(sparse.csr_array(X[part]), y[part], classes=np.unique(y))
    assert_same_bits(model.state_, other.state_)
    assert model.flush() is model
    model.learn_one(as_dict(X[0]), y[0])
    assert model.fit(X, y).flush().n_samples_seen_ == 40


class Sneaky:
    """A number that changes the dict it stands in while it is read."""

    def __init__(self, x):
        self.x = x

    def __float__(self):
        self.x.clear()
        return 2.0


def test_values_of_any_kind_of_number_are_read():
    model = PAClassifier(C=1.0).learn_one({"a": 1, "b": True, "c": np.float32(0.5)}, 1, classes=[0, 1])
    other = PAClassifier(C=1.0).partial_fit([[1.0, 1.0, 0.5]], [1], classes=[0, 1])
    assert_array_equal(model.coef_, other.coef_)
    x = {"a": 1.0, "b": 1.0}
    x["c"] = Sneaky(x)
    assert model.score_one(x) == other.decision_function([[1.0, 1.0, 2.0]])[0]
    indices, values = np.array([0, 2], dtype=np.int32), np.array([1.0, 3.0])
    numbered = PAClassifier(C=1.0).partial_fit([[1.0, 1.0, 0.5]], [1], classes=[0, 1])
    assert numbered.score_one((indices, values)) == other.decision_function([[1.0, 0.0, 3.0]])[0]


def test_a_candidate_that_overflows_is_left_out():
    X, y = rows_for(AROWClassifier(), n_rows=60, n_classes=2)
    one, chunks = taught(AROWClassifier(), X[:20], y[:20], as_dict)
    for model in (one, chunks):
        assert model.race_["running"].tolist() == [True] * 4
        model.state_.arrays["coef"][1] = np.inf  # as a long way to an overflow would
    for row, label in zip(X[20:], y[20:], strict=True):
        one.learn_one(as_dict(row), label)
        chunks.partial_fit(sparse.csr_array(row[None]), [label])
    assert_same_bits(one.state_, chunks.state_)
    assert one.race_["running"].tolist().count(False) == 1
    plain = taught(AROWClassifier(r=1.0), X[:20], y[:20], as_dict)[0]
    plain.state_.arrays["coef"][0] = np.inf
    with pytest.raises(FloatingPointError):
        plain.learn_one({0: 1.0}, y[0])


def test_names_of_any_kind_keep_their_columns():
    """Short and long ones, those that begin alike, of other letters, and one that UTF-8 cannot write."""
    long = "a long name that begins like another "
    names = ["", *"abc", "x" * 15, "x" * 16, "x" * 17, "\0", "a\0", "ä" * 8, "ä" * 9, "\ud800", "\ud801", "🌾" * 5]
    names += [f"{long}{k}" for k in range(300)] + [f"f{k}" for k in range(3000)]
    reader = RowReader("x", names[:20], 20)
    for known in range(20, len(names), 7):
        new = names[known : known + 7]
        assert reader.read(dict.fromkeys(new, 1.0), True) == known + len(new)
        assert reader.accept() == new
    for name in (*names, np.str_("abc"), type("Name", (str,), {})("f7")):
        copied = f"{name}!"[:-1] if type(name) is str else name
        column = names.index(name) if name in names else None
        assert reader.read({copied: 2.0}, False) == len(names)
        assert reader.rows().columns.tolist() == ([] if column is None else [column])
    assert reader.read({long: 1.0, "x" * 18: 1.0, "ä": 1.0, "\ud802": 1.0}, False) == len(names)
    assert len(reader.rows().columns) == 0


def test_a_row_that_was_refused_is_refused_again():
    reader = RowReader("x", ["a", "b"], 2)
    for x in ({"a": 1.0, "b": float("inf")}, {"a": 1.0, 3: 1.0}):
        for _ in range(2):
            with pytest.raises(ValueError, match="x must"):
                reader.read(x, True)
    x = {"a": 1.0, "b": 2.0}
    assert reader.read(x, True) == reader.read(x, True) == 2
    assert reader.values().tolist() == [1.0, 2.0]
    x["a"] = 3.0
    assert (reader.read(x, True), reader.values().tolist()) == (2, [3.0, 2.0])


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ({"a": "red"}, "x must hold numbers, got 'red' for 'a'."),
        ({"a": float("nan")}, "x must hold finite numbers up to 1e100 in size, got nan for 'a'."),
        ({"new": 1.0, "b": 1e101}, "x must hold finite numbers up to 1e100 in size, got 1e+101 for 'b'."),
        ({3: 1.0}, "x must have names of features, as the rows before, got 3."),
        ({None: 1.0}, "x must have names or column numbers, got None."),
        ([1.0, 2.0], "x must be a dict, or a pair of column numbers and values, got list."),
        (([0], [1.0, 2.0]), "x must have as many values as column numbers."),
        (None, "x must be a dict, or a pair of column numbers and values, got NoneType."),
        ({"a": "x" * 999}, f"x must hold numbers, got '{'x' * 255}..."),
    ],
)
def test_rows_are_refused_in_one_sentence_and_leave_no_trace(x, reason):
    model = AROWClassifier(r=1.0).learn_one({"a": 1.0, "b": 2.0}, 1, classes=[0, 1])
    before = pickle.dumps(model)
    with pytest.raises(ValueError) as refusal:
        model.learn_one(x, 0)
    assert str(refusal.value) == f"AROWClassifier: {reason}"
    assert pickle.dumps(model) == before
    assert model.learn_one({"new": 1.0}, 0).feature_names_in_.tolist() == ["a", "b", "new"]


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ({"a": 1.0}, "x must have column numbers, as the rows before, got the name 'a'."),
        ({-1: 1.0}, "column numbers of x must lie in 0 ... 2147483646, got -1."),
        ({2**80: 1.0}, f"column numbers of x must lie in 0 ... 2147483646, got {2**80}."),
        (([1, 1], [1.0, 2.0]), "x must name each column once."),
    ],
)
def test_column_numbers_are_looked_at(x, reason):
    model = AROWClassifier(r=1.0).learn_one({0: 1.0, 1: 2.0}, 1, classes=[0, 1])
    for method in (model.predict_one, model.score_one, lambda row: model.learn_one(row, 0)):
        with pytest.raises(ValueError) as refusal:
            method(x)
        assert str(refusal.value) == f"AROWClassifier: {reason}"


def test_a_first_row_needs_classes_and_a_value():
    with pytest.raises(ValueError, match="classes"):
        AROWClassifier().learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="x must have at least one value in the first row"):
        AROWClassifier().learn_one({}, 1, classes=[0, 1])
    with pytest.raises(ValueError, match="y must hold labels among"):
        AROWClassifier().learn_one({"a": 1.0}, 1, classes=[0, 1]).learn_one({"a": 1.0}, 2)


def test_a_core_refuses_a_row_that_is_wider_than_the_state():
    model = PAClassifier(C=1.0).partial_fit([[1.0, 2.0]], [1], classes=[0, 1])
    reader = RowReader("x", [], 2)
    reader.read({5: 1.0}, True)
    learner, view = model._learner_now(), model.state_.views[0]

    def models(n_weights):
        return learner.core.row_models([view], [learner.params], n_weights, 0.1, 0, None, False, None)

    with pytest.raises(ValueError, match="wrong length"):
        models(7)
    with pytest.raises(ValueError, match="differ in length"):
        models(3).learn(reader, 1.0, 1.0, False)
    with pytest.raises(ValueError, match="differ in length"):
        models(3).score(reader)


def test_copies_that_share_a_state_learn_from_rows_in_turn():
    X, y = rows_for(L1RDAClassifier(), n_rows=40, n_classes=2)
    one, chunks = taught(L1RDAClassifier(), X[:10], y[:10], as_dict)
    beside = copy.copy(one)
    assert beside.state_ is one.state_
    for i in range(10, 40):
        (one, beside)[i % 3 == 0].learn_one(as_dict(X[i]), y[i])
        chunks.partial_fit(sparse.csr_array(X[i : i + 1]), y[i : i + 1])
    assert_same_bits(one.state_, chunks.state_)
