"""TableEncoder against scikit-learn's encoders and against what a reader would write down by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import text as reference
from thresher._gate._table import Table, Text
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder

PROSE = [
    "you are a winner, call now to claim the prize",
    "are you coming home for dinner tonight or not",
    "",
    "the winner takes it all, the loser has to fall",
    "free free free entry in a weekly draw, call now",
]


@parametrize_with_checks([TableEncoder(), TableEncoder(missing="indicator")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture
def table():
    numbers = np.array([[31.0, 0.0], [47.0, 2.0], [np.nan, 1.5], [25.0, 0.0], [60.0, np.nan]])
    jobs = Text.from_list(["cook", "clerk", "", "cook", "driver"])
    towns = Text.from_list(["Gent", "Gent", "Köln", "Bonn", ""])
    return Table(["age", "job", "dose", "town"], numbers, {"job": jobs, "town": towns})


def with_prose(table):
    return Table([*table.columns, "message"], table.numbers, table.text | {"message": Text.from_list(PROSE)})


def named(encoder, row):
    """The features of one row, by name."""
    names = encoder.get_feature_names_out()
    row = sparse.csr_array(row)
    return dict(zip(names[row.indices], row.data.tolist(), strict=True))


# ---------------------------------------------------------------------------------------------------------- one-hot


def test_every_feature_has_a_name_that_says_where_it_comes_from(table):
    encoder = TableEncoder(missing="indicator").fit(table)
    assert encoder.kinds_ == "ncnc"
    assert encoder.get_feature_names_out().tolist() == [
        "age", "dose", "job=cook", "town=Gent", "job=clerk", "age is missing", "job=", "town=Köln", "town=Bonn",
        "job=driver", "dose is missing", "town=",
    ]  # fmt: skip
    X = encoder.transform(table)
    assert isinstance(X, sparse.csr_array)
    assert X.shape == (5, encoder.n_features_out_) == (5, 12)
    assert X.has_canonical_format
    assert [named(encoder, X[[i]]) for i in range(5)] == [
        {"age": 31, "job=cook": 1, "town=Gent": 1},
        {"age": 47, "dose": 2, "job=clerk": 1, "town=Gent": 1},
        {"age is missing": 1, "dose": 1.5, "job=": 1, "town=Köln": 1},
        {"age": 25, "job=cook": 1, "town=Bonn": 1},
        {"age": 60, "dose is missing": 1, "job=driver": 1, "town=": 1},
    ]


words = st.sampled_from(["", "a", "b", "c", "dd", "ä", "a=b"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(words, words, st.sampled_from([0.0, 1.5, np.nan])), min_size=1, max_size=12), st.data())
def test_features_agree_with_scikit_learn_however_rows_are_cut(rows, data):
    first, second, numbers = (list(column) for column in zip(*rows, strict=True))
    texts = {"p": Text.from_list(first), "q": Text.from_list(second)}
    table = Table(["p", "x", "q"], np.array(numbers)[:, None], texts)
    whole = TableEncoder(missing="indicator", text=[]).fit(table)
    parts = TableEncoder(missing="indicator", text=[])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=3)) | {0, len(rows)})
    for begin, end in itertools.pairwise(cuts):
        parts.partial_fit(table[begin:end])
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    X = whole.transform(table)
    assert_array_equal(parts.transform(table).toarray(), X.toarray())

    dicts = [{f"p={p}": 1, f"q={q}": 1} for p, q in zip(first, second, strict=True)]
    for row, x in zip(dicts, numbers, strict=True):
        row |= {"x is missing": 1} if np.isnan(x) else {"x": x}
    peer = DictVectorizer()
    expected = peer.fit_transform(dicts).toarray()
    order = [whole.get_feature_names_out().tolist().index(name) for name in peer.get_feature_names_out()]
    assert_array_equal(X.toarray()[:, order], expected)
    left = np.delete(X.toarray(), order, axis=1)
    assert not left.any()  # a number that is always missing has a column of zeros, which a dict cannot have


def test_words_not_seen_before_have_no_feature(table):
    encoder = TableEncoder().fit(table[:2])
    later = encoder.transform(table[2:])
    peer = OneHotEncoder(handle_unknown="ignore").fit([["cook", "Gent"], ["clerk", "Gent"]])
    expected = peer.transform(list(zip(table["job"][2:], table["town"][2:], strict=True))).toarray()
    assert_array_equal(later.toarray()[:, 2:], expected[:, [1, 2, 0]])
    before = encoder.transform(table[:2]).toarray()
    encoder.partial_fit(table)
    after = encoder.transform(table[:2]).toarray()
    assert_array_equal(after[:, : before.shape[1]], before)  # new features come behind the old
    assert not after[:, before.shape[1] :].any()


def test_a_table_of_numbers_stays_dense(table):
    numbers = table.select(["age", "dose"])
    encoder = TableEncoder().fit(numbers)
    assert_array_equal(encoder.transform(numbers), np.nan_to_num(table.numbers))
    assert_array_equal(encoder.transform(table.numbers), np.nan_to_num(table.numbers))  # names by place
    marked = TableEncoder(missing="indicator").fit(numbers)
    gaps = np.isnan(table.numbers)
    assert_array_equal(marked.transform(numbers), np.hstack([np.nan_to_num(table.numbers), gaps]))
    assert marked.get_feature_names_out().tolist() == ["age", "dose", "age is missing", "dose is missing"]
    late = TableEncoder(missing="indicator").fit(numbers[:2])
    assert late.transform(numbers).shape == (5, 2)  # no feature for what was not seen
    assert TableEncoder().fit(table.numbers).get_feature_names_out().tolist() == ["x1", "x2"]


@pytest.mark.parametrize("options", [{}, {"categories": "hash"}])
def test_float32_stays_float32(table, options):
    small = Table(table.columns, table.numbers.astype(np.float32), table.text)
    assert TableEncoder(**options).fit(small).transform(small).dtype == np.float32
    assert TableEncoder(**options).fit(table).transform(table).dtype == np.float64
    numbers = small.select(["age"])
    assert TableEncoder(missing="indicator").fit(numbers).transform(numbers).dtype == np.float32


def test_columns_are_found_by_name(table):
    encoder = TableEncoder().fit(table)
    expected = encoder.transform(table).toarray()
    mixed = with_prose(table).select(["town", "message", "dose", "job", "age"])
    assert_array_equal(encoder.transform(mixed).toarray(), expected)
    frame = pd.DataFrame({name: list(table[name]) for name in table.columns})
    assert_array_equal(encoder.transform(frame).toarray(), expected)
    emptied = frame.assign(job=None, age=None)
    assert named(encoder, encoder.transform(emptied)[[0]]) == {"job=": 1, "town=Gent": 1}


# --------------------------------------------------------------------------------------------------- hashes and prose


@pytest.mark.parametrize("n_buckets", [1 << 18, 3])
def test_hashed_categories_have_fixed_width_and_names(table, n_buckets):
    encoder = TableEncoder("hash", n_buckets=n_buckets)
    for i in range(len(table)):
        encoder.partial_fit(table[i : i + 1])
        assert encoder.n_features_out_ == 2 + n_buckets
    X = encoder.transform(table).toarray()
    expected = np.zeros((5, n_buckets))
    for i, column in itertools.product(range(5), ("job", "town")):
        expected[i, reference.bucket(table[column][i], f"{column}=".encode(), n_buckets)] += 1
    assert_array_equal(X[:, 2:], expected)
    texts = list(dict.fromkeys(f"{c}={table[c][i]}" for i in range(5) for c in ("job", "town")))
    members: dict[int, list[str]] = {}
    for text in texts:
        column, _, value = text.partition("=")
        members.setdefault(reference.bucket(value, f"{column}=".encode(), n_buckets), []).append(text)
    names = encoder.get_feature_names_out()[2:]
    for bucket, some in members.items():
        assert names[bucket] == " | ".join(some[:2] + ["..."] * (len(some) > 2))
    empty = set(range(n_buckets)) - set(members)
    assert all(names[bucket] == f"bucket {bucket}" for bucket in empty)
    unseen = Table(table.columns, table.numbers[:1], {"job": Text.from_list(["new"]), "town": table["town"][:1]})
    assert encoder.transform(unseen)[:, 2:].sum() == 2  # a new word falls into some bucket


def test_prose_is_told_from_categories_by_its_first_rows(table):
    assert TableEncoder().fit(with_prose(table)).kinds_ == "ncnct"
    assert TableEncoder(text=()).fit(with_prose(table)).kinds_ == "ncncc"
    assert TableEncoder("hash", text=["job"]).fit(with_prose(table)).kinds_ == "ntnhh"
    same = Table(["t"], np.empty((9, 0)), {"t": Text.from_list([PROSE[0], PROSE[1], ""] * 3)})
    assert TableEncoder().fit(same).kinds_ == "c"  # long, but only two of them
    assert TableEncoder().fit(same[2:3]).kinds_ == "c"


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("words", ["count", "binary", "log"])
@pytest.mark.parametrize("normalize_text", [False, True])
@pytest.mark.parametrize("ngrams", [1, 2])
def test_prose_becomes_weighted_words(table, idf, words, normalize_text, ngrams):
    table = with_prose(table)
    encoder = TableEncoder(words=words, idf=idf, normalize_text=normalize_text, ngrams=ngrams, n_buckets=4096)
    encoder.partial_fit(table[:2]).partial_fit(table[2:])
    X = encoder.transform(table)[:, 2 : 2 + 4096].toarray()
    counts = np.zeros((5, 4096))
    for i, row in enumerate(reference.counts(PROSE, b"message:", 4096, ngrams)):
        counts[i, list(row)] = list(row.values())
    there = counts > 0
    with np.errstate(divide="ignore"):
        expected = {"count": counts, "binary": there.astype(float), "log": np.where(there, 1 + np.log(counts), 0)}[
            words
        ]
    if idf:
        expected = expected * (np.log(6 / (1 + there.sum(axis=0))) + 1)
    if normalize_text:
        expected[there.any(axis=1)] /= np.linalg.norm(expected[there.any(axis=1)], axis=1, keepdims=True)
    assert_allclose(X, expected, rtol=1e-12)


def test_words_can_be_read_off_a_model():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(300) < 0.5, "spam", "ham")
    plain = np.array(["the", "to", "of", "and", "see", "you", "at", "home", "we", "will", "be", "there", "soon"])
    texts = [" ".join([*rng.choice(plain, 8), "winner" if label == "spam" else "tonight"]) for label in labels]
    table = Table(["message"], np.empty((300, 0)), {"message": Text.from_list(texts)})
    model = StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier())])
    for begin in range(0, 300, 50):
        model.partial_fit(table[begin : begin + 50], labels[begin : begin + 50], classes=["ham", "spam"])
    assert model.score(table, labels) == 1
    order = np.argsort(model.coef_[0])
    names = model.get_feature_names_out()
    assert (names[order[-1]], names[order[0]]) == ("message:winner", "message:tonight")


def test_two_columns_of_one_text_do_not_share_features():
    text = Text.from_list(PROSE)
    encoder = TableEncoder().fit(Table(["p", "q"], np.empty((5, 0)), {"p": text, "q": text}))
    names = set(encoder.get_feature_names_out())
    assert {"p:winner", "q:winner"} <= names


def test_long_texts_have_short_names():
    encoder = TableEncoder("hash").fit(Table(["t"], np.empty((1, 0)), {"t": Text.from_list(["x" * 1000])}))
    assert encoder.bucket_names_ == ["t=" + "x" * 57 + "..."]


def test_missing_numbers_are_the_mean_behind_a_scaler(table):
    steps = RunningScaler().fit(table)
    encoder = TableEncoder().fit(steps.transform(table))
    X = encoder.transform(steps.transform(table)).toarray()
    ages = np.array([31, 47, np.nanmean(table["age"]), 25, 60])
    assert_allclose(X[:, 0], (ages - ages.mean()) / np.nanstd(table["age"], ddof=1), atol=1e-12)


# --------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "options, message",
    [
        ({"categories": "ordinal"}, "categories must be one of 'onehot', 'hash', got 'ordinal'."),
        ({"text": "job"}, "text must be \"auto\" or a list of column names, got 'job'."),
        ({"text": [3]}, 'text must be "auto" or a list of column names, got [3].'),
        ({"text": ["age"]}, "text must name columns of text, but 'age' holds numbers."),
        ({"text": ["note"]}, "text must name columns of text, but 'note' is not in the table."),
        ({"n_buckets": 0}, "n_buckets must be an integer from 1 to 268435456, got 0."),
        ({"n_buckets": 2**40}, f"n_buckets must be an integer from 1 to 268435456, got {2**40}."),
        ({"ngrams": 3}, "ngrams must be 1 or 2, got 3."),
        ({"words": "tf"}, "words must be one of 'count', 'binary', 'log', got 'tf'."),
        ({"max_categories": 0}, "max_categories must be None or an integer of at least 1, got 0."),
        (
            {"missing": "error"},
            'a number is missing in row 2, column \'age\'; use missing="zero" or missing="indicator".',
        ),
        (
            {"max_categories": 3},
            "column 'job' has more than 3 different words; pass categories=\"hash\", name it in text if it is prose, "
            "or raise max_categories.",
        ),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_one_sentence(table, options, message):
    encoder = TableEncoder(**options)
    with pytest.raises(ValueError) as refusal:
        encoder.fit(table)
    assert str(refusal.value) == f"TableEncoder: {message}"
    assert not hasattr(encoder, "columns_")


def state(encoder):
    return {name: np.copy(getattr(encoder, name)) for name in encoder._fitted}


@pytest.mark.parametrize("categories", ["onehot", "hash"])
def test_refused_rows_leave_nothing_behind(table, categories):
    table = with_prose(table)
    encoder = TableEncoder(categories, missing="error", max_categories=3).fit(table[:2])
    before = state(encoder)
    other = Table(table.columns, np.ones((4, 2)), {n: Text.from_list(list("abcd")) for n in ("job", "town", "message")})
    refused = [(table, "a number is missing"), (table.select(["age", "dose", "job", "town"]), "'message' is missing")]
    refused.append((pd.DataFrame(other.numbers, columns=["age", "dose"]), "'job' is missing"))
    numbers = Table(table.columns, np.ones((1, 3)), {n: Text.from_list(["a"]) for n in ("town", "message")})
    refused.append((numbers, "column 'job' held text in the first rows, got numbers"))
    words = Table(table.columns, np.ones((1, 1)), {n: Text.from_list(["a"]) for n in ("age", "job", "town", "message")})
    refused.append((words, "column 'age' held numbers in the first rows, got text"))
    refused.append((sparse.csr_array(np.eye(2)), "sparse rows need no encoding"))
    if categories == "onehot":
        refused.append((other, "more than 3 different words"))
    for X, message in refused:
        with pytest.raises(ValueError, match=f"^TableEncoder: .*{message}"):
            encoder.partial_fit(X)
    after = state(encoder)
    for name in before:
        assert_array_equal(after[name], before[name], err_msg=name)
    with pytest.raises(NotFittedError):
        clone(encoder).transform(table)


# ------------------------------------------------------------------------------------------------------------ files


def loaded(encoder, **changes):
    again = clone(encoder)
    for name in encoder._fitted:
        setattr(again, name, changes.get(name, getattr(encoder, name)))
    again._check_loaded()
    return again


@pytest.mark.parametrize("categories", ["onehot", "hash"])
def test_what_was_saved_goes_on_as_if_it_had_never_stopped(table, categories):
    table = with_prose(table)
    options = {"categories": categories, "missing": "indicator", "n_buckets": 64}
    half = TableEncoder(**options).fit(table[:2])
    before = state(half)
    again = loaded(half).partial_fit(table[2:])
    whole = TableEncoder(**options).partial_fit(table[:2]).partial_fit(table[2:])
    assert_array_equal(again.transform(table).toarray(), whole.transform(table).toarray())
    assert again.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    assert_array_equal(half.fingerprints_, before["fingerprints_"])


def spoilt(encoder):
    """Attributes as a hostile file may have them."""
    prints = encoder.fingerprints_
    yield {"columns_": "abcd"}
    yield {"columns_": [*encoder.columns_[:-1], encoder.columns_[0]]}
    yield {"columns_": [*encoder.columns_[:-1], 7]}
    yield {"columns_": []}
    yield {"kinds_": "ncnc"}
    yield {"kinds_": "ncncx"}
    yield {"kinds_": 5}
    yield {"kinds_": "ncncc"}
    yield {"kinds_": "nnnct"}
    yield {"added_columns_": encoder.added_columns_.astype(np.int64)}
    yield {"added_columns_": encoder.added_columns_[:-1]}
    yield {"added_columns_": encoder.added_columns_ + np.int32(4)}
    yield {"added_columns_": encoder.added_columns_ - np.int32(2)}
    yield {"added_values_": [1] * len(encoder.added_values_)}
    yield {"added_values_": ["same"] * len(encoder.added_values_)}
    yield {"added_values_": None}
    yield {"fingerprints_": prints.astype(np.int64)}
    yield {"fingerprints_": prints[:, :2].copy()}
    yield {"fingerprints_": prints[:0]}
    yield {"fingerprints_": prints * 0}
    yield {"fingerprints_": prints + np.uint32(2)}
    yield {"fingerprints_": prints[:, ::-1].copy()}
    yield {"fingerprints_": [1]}
    single = int(np.flatnonzero((prints[:, 0] > 0) & (prints[:, 1] == 0))[0])
    crowded, swapped = prints.copy(), prints.copy()
    crowded[single, 2] = 1
    swapped[single, :2] = swapped[single, 1::-1]
    places = encoder.bucket_places_ + (encoder.bucket_places_ == 2 * single).astype(np.int32)
    yield {"fingerprints_": crowded}
    yield {"fingerprints_": swapped, "bucket_places_": places}
    yield {"bucket_places_": encoder.bucket_places_[:-1]}
    yield {"bucket_places_": encoder.bucket_places_ * 0}
    yield {"bucket_places_": encoder.bucket_places_ + np.int32(10**9)}
    yield {"bucket_places_": encoder.bucket_places_.astype(float)}
    yield {"bucket_names_": encoder.bucket_names_[:-1]}
    yield {"bucket_names_": [None] * len(encoder.bucket_names_)}
    yield {"n_texts_": -1}
    yield {"n_texts_": 2.5}
    yield {"n_texts_": 2**60}
    yield {"n_texts_": 0}
    yield {"texts_with_": encoder.texts_with_[:-1]}
    yield {"texts_with_": encoder.texts_with_ - 5}
    yield {"texts_with_": encoder.texts_with_ * np.nan}
    yield {"texts_with_": encoder.texts_with_.astype(np.float32)}
    yield {"texts_with_": 3}


def test_a_file_that_does_not_hold_together_is_refused(table):
    encoder = TableEncoder(n_buckets=64, missing="indicator").fit(with_prose(table))
    loaded(encoder)
    for change in spoilt(encoder):
        with pytest.raises(ValueError, match=r"^[a-z].*\.$"):
            loaded(encoder, **change)
