"""Rounds over shards, in one process: what every engine must equal."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher import distributed
from thresher._estimators import of_rows_seen_before
from thresher.confidence import BCWClassifier, PoolCWClassifier
from thresher.dual_averaging import AdaptiveL1RDAClassifier, L1RDAClassifier, L1RDARegressor
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier, CWClassifier, OFSClassifier, PAClassifier, SCWClassifier
from thresher.stochastic import PegasosClassifier
from thresher.streams import open_stream
from thresher.training import Interrupted, merge_models
from variants import assert_same_bits


def rows(n=600, d=12, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    scores = X @ rng.normal(size=(d, n_classes)) + 0.1 * rng.normal(size=(n, n_classes))
    return X, np.array(["ham", "spam", "eggs", "beans"])[scores.argmax(axis=1)]


def cut(X, y, n=4):
    """Uneven shards."""
    edges = np.linspace(0, 1, n + 1) ** 1.5 * len(y)
    return [(X[a:b], y[a:b]) for a, b in zip(edges[:-1].astype(int), edges[1:].astype(int), strict=True)]


def by_hand(model, shards, n_rounds, classes):
    """What the rounds are: from one start, a pass over each shard, merged."""
    start = type(model)(**model.get_params())
    start.partial_fit(shards[0][0][:1], shards[0][1][:1], classes=classes, sample_weight=[0.0])
    for n_round in range(n_rounds):
        reached = []
        for X, y in shards:
            learner = type(model)(**model.get_params())
            learner.partial_fit(X[:1], y[:1], classes=classes, sample_weight=[0.0])
            learner.state_ = start.state_.copy()
            with of_rows_seen_before(learner, n_round > 0):
                reached.append(learner.partial_fit(X, y))
        again = n_round > 0 or isinstance(model, L1RDAClassifier)  # no new rows; a clock that would run too fast
        start = merge_models(reached, start, again=again)
    return start


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "model",
    [AROWClassifier(), PAClassifier(), L1RDAClassifier(eta0=1.0), OFSClassifier(n_features_to_select=3)],
    ids=repr,
)
def test_rounds_are_passes_from_one_start_merged(model, layout, n_classes):
    X, y = rows(n_classes=n_classes)
    shards = [(layout(part), its) for part, its in cut(X, y)]
    found = distributed.fit(model, shards, n_rounds=3, mode="passes", average=False)
    assert_same_bits(found.state_, by_hand(model, shards, 3, np.unique(y)).state_)
    assert not hasattr(model, "state_")
    assert_array_equal(found.classes_, np.unique(y))


def test_one_shard_and_one_round_is_one_pass():
    X, y = rows()
    found = distributed.fit(AROWClassifier(), [(X, y)])
    assert_same_bits(found.state_, AROWClassifier(shuffle=False).fit(X, y).state_, skip=("tally",))


def test_regression_and_weights():
    X, _ = rows()
    y, weight = X @ np.arange(12.0), np.random.default_rng(1).exponential(size=len(X))
    weight[::3] = 0
    shards = [(X[i::3], y[i::3], weight[i::3]) for i in range(3)]
    present = [(X[i::3][w > 0], y[i::3][w > 0], w[w > 0]) for i, w in enumerate(weight[i::3] for i in range(3))]
    model = L1RDARegressor(eta0=0.01)
    found = distributed.fit(model, shards, n_rounds=2)
    assert_same_bits(found.state_, distributed.fit(model, present, n_rounds=2).state_)
    lists = distributed.fit(
        model, [s[0] for s in shards], [s[1] for s in shards], weight=[s[2] for s in shards], n_rounds=2
    )
    assert_same_bits(found.state_, lists.state_)
    assert found.record_["distributed"]["rounds"][1]["rows"] == np.count_nonzero(weight)


def test_files_are_shards(tmp_path):
    X, y = rows()
    codes = np.unique(y, return_inverse=True)[1]
    for i in range(5):
        lines = (
            f"{label} " + " ".join(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row)) + "\n"
            for row, label in zip(X[i::5].tolist(), codes[i::5], strict=True)
        )
        (tmp_path / f"part-{i}.svm").write_text("".join(lines).replace("np.float64", ""))
    arrays = [(sparse.csr_array(X[i::5]), codes[i::5].astype(float)) for i in range(5)]
    pattern = str(tmp_path / "part-*.svm")
    found = distributed.fit(AROWClassifier(), pattern, n_rounds=2, reading={"batch_size": 37})
    assert_same_bits(found.state_, distributed.fit(AROWClassifier(), arrays, n_rounds=2).state_)
    assert found.record_["distributed"]["shards"] == [f"part-{i}.svm" for i in range(5)]
    three = distributed.fit(AROWClassifier(), sorted(tmp_path.glob("*.svm")), n_shards=3)
    assert three.record_["distributed"]["shards"] == [
        "part-0.svm",
        "part-1.svm to part-2.svm",
        "part-3.svm to part-4.svm",
    ]
    said = distributed.predict(found, pattern)
    assert_array_equal(np.concatenate(said), found.predict(np.concatenate([X[i::5] for i in range(5)])))
    assert len(list(open_stream(pattern))) == 5


def test_a_narrow_first_shard_learns_of_features_that_others_have():
    X, y = rows()
    shards = [(sparse.csr_array(X[:300, :5]), y[:300]), (sparse.csr_array(X[300:]), y[300:])]
    wide = [(sparse.csr_array(np.hstack([X[:300, :5], np.zeros((300, 7))])), y[:300]), shards[1]]
    found = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    assert found.n_features_in_ == 12
    assert_same_bits(found.state_, distributed.fit(AROWClassifier(), wide, n_rounds=2).state_)
    assert found.predict(sparse.csr_array(X[:3, :4])).shape == (3,)


def test_classes_that_only_one_shard_has_and_classes_that_are_given():
    X, y = rows(n_classes=3)
    shards = [(X[y == label], y[y == label]) for label in np.unique(y)]
    found = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    assert_array_equal(found.classes_, np.unique(y))
    given = distributed.fit(AROWClassifier(), shards, n_rounds=2, classes=np.unique(y))
    assert_same_bits(found.state_, given.state_)


def test_mixing_is_seeded_by_round_and_shard():
    X, y = rows()
    shards = cut(X, y)
    one, again = (distributed.fit(PAClassifier(), shards, n_rounds=2, shuffle=1000, random_state=3) for _ in range(2))
    assert_same_bits(one.state_, again.state_)
    other = distributed.fit(PAClassifier(), shards, n_rounds=2, shuffle=1000, random_state=4)
    plain = distributed.fit(PAClassifier(), shards, n_rounds=2)
    assert (one.coef_ != other.coef_).any()
    assert (one.coef_ != plain.coef_).any()
    assert one.n_samples_seen_ == plain.n_samples_seen_ == 1200


def test_a_model_to_go_on_from():
    X, y = rows()
    shards = cut(X, y)
    two = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    one = distributed.fit(AROWClassifier(), shards, n_rounds=1)
    before = one.state_.copy()
    assert_same_bits(distributed.fit(AROWClassifier(), shards, n_rounds=1, start=one).state_, two.state_)
    assert_same_bits(one.state_, before)
    news = [(X + 0.1, y) for X, y in shards]  # adds up
    reached = [copy.deepcopy(one).partial_fit(X, y) for X, y in news]
    assert_same_bits(distributed.fit(AROWClassifier(), news, start=one).state_, merge_models(reached, one).state_)
    with pytest.raises(ValueError, match="start must be a model of AROWClassifier"):
        distributed.fit(AROWClassifier(r=3.0), shards, start=one)


def test_empty_shards_change_nothing():
    X, y = rows()
    shards = cut(X, y)
    empty = (X[:0], y[:0])
    found = distributed.fit(AROWClassifier(), [empty, *shards, empty], n_rounds=2)
    assert_same_bits(found.state_, distributed.fit(AROWClassifier(), shards, n_rounds=2).state_)


def test_progress_counts_rounds_and_shards():
    X, y = rows()
    seen = []
    distributed.fit(AROWClassifier(), cut(X, y), n_rounds=2, on_progress=seen.append)
    assert [(p.doing, p.round, p.n_done) for p in seen] == [
        *(("looking", 0, k) for k in range(5)),
        *(("learning", r, k) for r in (1, 2) for k in range(5)),
    ]
    assert {(p.n_rounds, p.n_shards) for p in seen} == {(2, 4)}
    assert "error" in seen[-1].remark


def test_it_stops_when_asked():
    X, y = rows()
    with pytest.raises(Interrupted):
        distributed.fit(AROWClassifier(), cut(X, y), n_rounds=2, should_stop=lambda: True)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"engine": "slurm"}, "fit: engine must be"),
        ({"n_rounds": 0}, "fit: n_rounds must be"),
        ({"mode": "fast"}, "fit: mode must be"),
        ({"mode": "sums"}, "AROWClassifier cannot be computed from sums"),
        ({"shards": []}, "got an empty list"),
        ({"shards": 7}, "fit: shards must be files"),
        ({"reading": {"target": 0}}, "fit: reading must be None for arrays in memory, got {'target': 0}"),
        ({"n_shards": 2}, "fit: n_shards must be None for arrays in memory, got 2"),
        ({"features": ["a"]}, r"fit: features must be None for arrays in memory, got \['a'\]"),
        ({"y": [1]}, "y must hold one array for each of the 4 shards"),
        ({"estimator": LSSVC()}, "LSSVC has no partial_fit"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wrong, words):
    X, y = rows()
    given = {"estimator": AROWClassifier(), "shards": cut(X, y)} | wrong
    with pytest.raises(ValueError, match=words) as refusal:
        distributed.fit(given.pop("estimator"), given.pop("shards"), **given)
    assert "\n" not in str(refusal.value)


def test_rows_that_cannot_be_learned_from_name_their_shard():
    X, y = rows()
    shards = cut(X, y)
    shards[2][0][5, 3] = np.nan
    with pytest.raises(distributed.ShardError, match=r"the shard 'shard 3' was lost: AROWClassifier: X .*NaN") as lost:
        distributed.fit(AROWClassifier(), shards)
    assert lost.value.shard == "shard 3"


def test_a_file_that_is_gone_is_named(tmp_path):
    for i in range(3):
        (tmp_path / f"part-{i}.svm").write_text("1 1:1\n-1 2:1\n" * 9)

    def delete(progress):
        if progress.round == 1:
            (tmp_path / "part-1.svm").unlink(missing_ok=True)

    with pytest.raises(distributed.ShardError, match=r"'part-1.svm' was lost: .*no such file"):
        distributed.fit(AROWClassifier(), str(tmp_path / "*.svm"), n_rounds=2, on_progress=delete)


def test_one_class_and_no_rows_are_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="all rows have the same class"):
        distributed.fit(AROWClassifier(), [(X, np.ones(len(X)))])
    with pytest.raises(ValueError, match="no rows"):
        distributed.fit(AROWClassifier(), [(X[:0], y[:0])])


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(),
        CWClassifier(),
        SCWClassifier(),
        L1RDAClassifier(1e-5, eta0=100.0),
        AdaptiveL1RDAClassifier(eta0=1.0),
        PAClassifier(),
        PegasosClassifier(1e-4),
    ],
    ids=lambda m: type(m).__name__,
)
def test_more_rounds_do_not_overshoot(model):
    """Wide rows of text, of which shards have few: changes that are added up round after round would grow."""
    X, y = text_like(1600)
    test, truth = text_like(1000, seed=1)
    shards = [(X[i::8], y[i::8]) for i in range(8)]
    errors = [np.mean(distributed.fit(model, shards, n_rounds=n).predict(test) != truth) for n in (1, 6)]
    assert errors[1] <= errors[0] < 0.35


def text_like(n, d=4000, seed=0):
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    tilt, common = fixed.normal(size=d), (np.arange(d) + 5.0) ** -1.0
    y = rng.integers(0, 2, n)
    rows = []
    for label in y:
        p = common * np.exp((2 * label - 1) * 0.5 * tilt)
        rows.append(np.bincount(rng.choice(d, 40, p=p / p.sum()), minlength=d))
    X = np.log1p(np.array(rows))
    return sparse.csr_array(X / np.linalg.norm(X, axis=1)[:, None]), y


# --- rows that are known, and rows that only look it ----------------------------------------------------------------


def ones(seed):
    """Rows of ones, whose values tell nothing."""
    rng = np.random.default_rng(seed)
    places = np.concatenate([np.sort(rng.choice(50, 5, replace=False)) for _ in range(200)])
    X = sparse.csr_array((np.ones(1000), places, np.arange(0, 1001, 5)), shape=(200, 50))
    y = (X @ np.arange(-25.0, 25) > 0).astype(int)
    return [(X[:100], y[:100]), (X[100:], y[100:])]


@pytest.mark.parametrize(
    "other",
    [
        ones(1),
        [(X, 1 - y) for X, y in ones(0)],
        [(X, y, np.full(len(y), 2.0)) for X, y in ones(0)],
    ],
    ids=["places", "labels", "weights"],
)
def test_other_rows_of_the_same_shape_are_news(other):
    model = distributed.fit(AROWClassifier(), ones(0))
    found = distributed.fit(AROWClassifier(), other, start=model)
    model.record_ = {}
    assert_same_bits(found.state_, distributed.fit(AROWClassifier(), other, start=model).state_)


def test_files_of_the_same_name_elsewhere_are_news(tmp_path):
    for day in ("one", "two"):
        (tmp_path / day).mkdir()
        for i in range(2):
            rows = np.random.default_rng([len(day), i]).normal(size=(30, 2)).round(2)
            shift = float(day == "two")
            (tmp_path / day / f"part-{i}.csv").write_text("".join(f"{a + shift},{b},{int(a > b)}\n" for a, b in rows))
    urls = [(tmp_path / day).as_uri() + "/part-*.csv" for day in ("one", "two")]
    for start, other in (urls, [str(tmp_path / day / "part-*.csv") for day in ("one", "two")]):
        model = distributed.fit(AROWClassifier(), start)
        found = distributed.fit(AROWClassifier(), other, start=model)
        model.record_ = {}
        assert_same_bits(found.state_, distributed.fit(AROWClassifier(), other, start=model).state_)


@pytest.mark.parametrize("model", [BCWClassifier(), L1RDAClassifier(eta0=1.0), PoolCWClassifier(3, cost=0.5)], ids=repr)
def test_a_start_meets_features_that_are_new_to_it_in_sums_as_well(model):
    X, y = rows()
    narrow = [(sparse.csr_array(X[:300, :5]), y[:300])]
    start = distributed.fit(model, narrow, mode="sums", n_rounds=1)
    found = distributed.fit(model, [(sparse.csr_array(X[300:]), y[300:])], start=start, mode="sums", n_rounds=1)
    assert (start.n_features_in_, found.n_features_in_) == (5, 12)
    wide = [(sparse.csr_array(np.hstack([X[:300, :5], np.zeros((300, 7))])), y[:300])]
    start = distributed.fit(model, wide, mode="sums", n_rounds=1)
    same = distributed.fit(model, [(sparse.csr_array(X[300:]), y[300:])], start=start, mode="sums", n_rounds=1)
    assert_allclose(found.coef_, same.coef_, rtol=1e-12)


def test_classes_are_balanced_by_counting_them_in_sums():
    X, y = rows()
    rare = np.concatenate([np.flatnonzero(y == "ham")[:40], np.flatnonzero(y == "spam")])
    shards = [(X[rare[i::3]], y[rare[i::3]]) for i in range(3)]
    found = distributed.fit(BCWClassifier(class_weight="balanced"), shards)
    counts = {label: np.count_nonzero(y[rare] == label) for label in ("ham", "spam")}
    told = {label: len(rare) / (2 * n) for label, n in counts.items()}
    assert_allclose(found.coef_, distributed.fit(BCWClassifier(class_weight=told), shards).coef_, rtol=1e-9)
    assert found.class_weight == "balanced"


def test_polars_and_pandas_shards_keep_their_names():
    X, y = rows()
    names = [f"c{j}" for j in range(12)]
    for frame in (pl.DataFrame(X, schema=names), pd.DataFrame(X, columns=names)):
        model = distributed.fit(AROWClassifier(), [(frame[:300], y[:300]), (frame[300:], y[300:])])
        assert_array_equal(model.feature_names_in_, names)
        assert_same_bits(
            model.state_, distributed.fit(AROWClassifier(), [(X[:300], y[:300]), (X[300:], y[300:])]).state_
        )


def test_rows_are_counted_where_only_the_first_were_looked_at(tmp_path):
    for i in range(3):
        (tmp_path / f"part-{i}.svm").write_text("1 1:1\n0 2:1\n" * 50)
    model = distributed.fit(AROWClassifier(), str(tmp_path / "*.svm"), classes=[0, 1], reading={"batch_size": 5})
    assert model.record_["distributed"]["data"]["n_rows"] == 300


@pytest.mark.parametrize("mode", ["passes", "sums"])
def test_rounds_are_the_passes_of_a_model(mode):
    X, y = rows()
    assert distributed.fit(L1RDAClassifier(eta0=1.0), cut(X, y), n_rounds=3, mode=mode).n_iter_ == 3


def test_shards_without_rows_have_answers_of_the_same_kind():
    X, y = rows(n_classes=3)
    model = AROWClassifier().fit(X, y)
    said = distributed.predict(model, [X[:0], X[:3], X[3:3]])
    assert [each.dtype for each in said] == [y.dtype] * 3
    assert np.concatenate(distributed.predict(model, [X[:0], X[:3]], method="decision_function")).shape == (3, 3)


@pytest.mark.parametrize(
    "given, options, words",
    [
        (lambda X, y: [(X[:9], y[:9]), (sparse.csr_array(X), y)], {}, "'shard 1' holds dense rows, but 'shard 2'"),
        (lambda X, y: [(X[:9], y[:9]), (X[9:, :5], y[9:])], {}, "'shard 1' has 12 features, but 'shard 2' 5"),
        (lambda X, y: (X, y), {}, r"shards must be a list of \(X, y\)"),
        (lambda X, y: ["a.svm", X], {}, "shards must be all files, or all arrays"),
        (lambda X, y: [(X, y, ["a"] * len(y))], {}, "the weights of shard 1 must be numbers"),
        (lambda X, y: [(X, y, np.zeros(len(y)))], {}, "no row has a weight above 0"),
        (lambda X, y: [(X, y)], {"classes": 5}, "classes must be a list of labels"),
        (lambda X, y: "a.svm", {"reading": "x"}, "reading must be a dict"),
        (lambda X, y: "a.svm", {"reading": {"max_iter": 2}}, "reading must hold arguments of open_stream"),
        (lambda X, y: [(X, y)], {"start": AROWClassifier()}, "start must be a fitted model"),
        (lambda X, y: [(X, y)], {"engine": "localhost:8786"}, "fit: engine must be"),
    ],
)  # fmt: skip
def test_more_that_cannot_be_is_refused_in_a_sentence(given, options, words):
    with pytest.raises(ValueError, match=words) as refusal:
        distributed.fit(AROWClassifier(), given(*rows()), **options)
    assert "\n" not in str(refusal.value)


def test_labels_of_one_kind_in_two_types_are_labels():
    X, _ = rows()
    y = np.arange(600) % 2
    found = distributed.fit(AROWClassifier(), [(X[:300], y[:300]), (X[300:], y[300:].astype(object))])
    assert_array_equal(found.classes_, [0, 1])
    with pytest.raises(ValueError, match="all numbers, or all text"):
        distributed.fit(AROWClassifier(), [(X[:300], y[:300]), (X[300:], y[300:].astype(str))])


def test_what_is_asked_of_a_model_is_an_answer():
    X, y = rows()
    model = AROWClassifier().fit(X, y)
    for method in ("fit", "coef_", "nonsense"):
        with pytest.raises(ValueError, match="predict: method must be one of"):
            distributed.predict(model, [X], method=method)
    with pytest.raises(ValueError, match="predict: shards must be"):
        distributed.predict(model, X)
