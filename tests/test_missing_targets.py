"""Rows without a target teach nothing, are counted, and are predicted like all others."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import thresher
from thresher import auto, distributed, explain
from thresher.compare import compare
from thresher.dual_averaging import L1RDARegressor
from thresher.online import AROWClassifier
from thresher.paths import penalty_path
from thresher.persistence import load_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.semi_supervised import TriClassSVC
from thresher.streams import has_target, open_stream
from thresher.training import (
    HeldOut,
    Interrupted,
    evaluate,
    look,
    predict_in_folds,
    read_all,
    rows_to_learn,
    train,
    worse_than_guess,
)


def problem(n_rows: int = 300, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    missing = rng.random(n_rows) < 0.3
    missing[:60] = True  # whole batches of them
    return X, X[:, 0] + X[:, 1] > 0, missing


def write(path, X, labels):
    rows = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), labels, strict=True)]
    path.write_text("\n".join(["a,b,c,left", *rows]) + "\n")
    return path


@pytest.fixture(params=["words", "numbers"])
def files(request, tmp_path):
    """A file with gaps in its target, and the same without the rows that have none."""
    X, y, missing = problem()
    names = ("no", "yes") if request.param == "words" else ("0", "1")
    labels = np.where(missing, np.where(np.arange(len(y)) % 3, "", "?"), np.where(y, names[1], names[0]))
    return write(tmp_path / "gaps.csv", X, labels), write(tmp_path / "whole.csv", X[~missing], labels[~missing])


# --- streams and training ---------------------------------------------------------------------------------------------


def test_has_target_knows_every_kind_of_targets():
    assert has_target(np.array([1.0, np.nan])).tolist() == [True, False]
    assert has_target(np.array(["a", ""], dtype=object)).tolist() == [True, False]
    assert has_target(np.array(["a", ""])).tolist() == [True, False]
    assert has_target(np.array([0, 1])).all()


def test_a_look_counts_rows_without_a_target_and_judges_by_the_others(files):
    gaps, whole = (look(open_stream(path, batch_size=25)) for path in files)
    assert (gaps.n_rows, gaps.n_labelled) == (300, whole.n_rows)
    assert gaps.labels == whole.labels
    assert gaps.task == whole.task == "classification"
    assert_array_equal(gaps.y, whole.y)
    assert_array_equal(gaps.first.numbers, whole.first.numbers[: len(gaps.first)])
    assert gaps.describe_unlabelled() == f"{gaps.n_unlabelled} of 300 rows have no target and were left out."
    assert whole.describe_unlabelled() == ""


@pytest.mark.parametrize("batch_size", [7, 50, 1000])
def test_training_is_that_without_these_rows_bit_for_bit(files, batch_size):
    gaps, whole = (train(AROWClassifier(), open_stream(path, batch_size=batch_size)) for path in files)
    assert_array_equal(gaps.model.coef_, whole.model.coef_)
    assert gaps.facts.n_rows == 300
    assert gaps.facts.n_labelled == whole.facts.n_rows == gaps.model.n_samples_seen_
    assert gaps.facts.classes == whole.facts.classes


def test_a_run_that_was_stopped_among_rows_without_a_target_ends_in_the_same_model(files, tmp_path):
    def stream():
        return open_stream(files[0], batch_size=10)

    def model():
        return StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())])

    straight = train(model(), stream(), positive=look(stream()).labels[1])
    checkpoint, asked = tmp_path / "run.checkpoint", 0
    for stop_after in (2, 8, 15):  # the first two before any row has a target, or just behind
        asked = 0

        def stop(limit=stop_after):
            nonlocal asked
            asked += 1
            return asked >= limit

        with pytest.raises(Interrupted):
            train(
                model(),
                stream(),
                checkpoint=checkpoint,
                resume=True,
                should_stop=stop,
                positive=look(stream()).labels[1],
            )
        assert checkpoint.exists() == (stop_after > 2)
    resumed = train(model(), stream(), checkpoint=checkpoint, resume=True, positive=look(stream()).labels[1])
    assert_array_equal(resumed.model.coef_, straight.model.coef_)
    assert resumed.facts == straight.facts
    assert resumed.history == straight.history


def test_measuring_and_reading_leave_these_rows_out(files):
    n_known = look(open_stream(files[1])).n_rows
    run = train(AROWClassifier(), open_stream(files[0], batch_size=20), predict_first=True)
    assert run.held_out.n_rows < n_known
    assert run.held_out.name.startswith(f"all rows but the first {n_known - run.held_out.n_rows}")
    held_out, (X, y) = evaluate(run.model, open_stream(files[0]))
    assert held_out.n_rows == len(y) == X.shape[0] == n_known
    raw = read_all(open_stream(files[0]))
    assert len(raw[1]) == 300
    X, y = read_all(open_stream(files[0]), model=AROWClassifier())
    assert_array_equal(y, raw[1][has_target(raw[1])])
    assert X.shape[0] == len(y)
    assert predict_in_folds(AROWClassifier(), *raw).n_rows == n_known
    path = penalty_path(L1RDARegressor(), [0.1], open_stream(files[0])) if y.dtype.kind == "f" else None
    assert path is None or path.models[0].n_samples_seen_ == n_known


def test_a_method_for_unlabelled_rows_gets_them_as_such(files):
    raw = read_all(open_stream(files[0]))
    X, y = rows_to_learn(TriClassSVC(), *raw)
    assert X.shape[0] == 300
    assert set(y[~has_target(raw[1])]) == ({-1.0} if y.dtype.kind == "f" else {"-1"})
    assert_array_equal(y[has_target(raw[1])], raw[1][has_target(raw[1])])
    if y.dtype.kind == "f":
        with pytest.raises(ValueError, match="unlabelled_label must be a number if targets are numbers, got 'x'"):
            rows_to_learn(TriClassSVC(unlabelled_label="x"), *raw)


def test_files_without_any_target_are_refused_in_one_sentence(tmp_path):
    path = write(tmp_path / "blank.csv", np.ones((30, 3)), [""] * 30)
    for model in (AROWClassifier(), L1RDARegressor()):
        with pytest.raises(ValueError, match=r"^blank.csv: the target 'left' is missing in every row; choose another"):
            train(model, open_stream(path))
    with pytest.raises(ValueError, match=r"^blank.csv: the target 'left' is missing in every row; choose another"):
        auto(path)
    with pytest.raises(ValueError, match=r"^fit: the target is missing in every row; reading="):
        distributed.fit(StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())]), [path])


def test_targets_that_hardly_repeat_are_no_classes(tmp_path):
    names = write(tmp_path / "names.csv", np.ones((40, 3)), [f"client{i}" for i in range(40)])
    with pytest.raises(
        ValueError, match=r"^names.csv: the target 'left' has 40 different values in 40 rows, and cannot"
    ):
        train(AROWClassifier(), open_stream(names))
    amounts = write(tmp_path / "amounts.csv", np.ones((40, 3)), [str(i / 7) for i in range(40)])
    with pytest.raises(
        ValueError, match=r"choose a method that ends in -regressor, or choose another column with targ"
    ):
        train(AROWClassifier(), open_stream(amounts))


def test_shards_leave_these_rows_out(files):
    def model():
        return StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())])

    gaps, whole = (distributed.fit(model(), [path]) for path in files)
    assert_array_equal(gaps.coef_, whole.coef_)
    counted = gaps.record_["distributed"]["data"]
    assert counted["n_rows"] == 300
    assert counted["n_rows"] - counted["n_unlabelled"] == whole.record_["distributed"]["data"]["n_rows"]
    assert len(np.concatenate(distributed.predict(gaps, [files[0]]))) == 300


# --- auto -------------------------------------------------------------------------------------------------------------

QUICK = {"method": "arow", "n_evaluations": 2, "cv": 2}


def test_auto_learns_from_the_rows_that_have_a_target(files):
    gaps, whole = (auto(path, **QUICK) for path in files)
    assert_array_equal(gaps.coef_, whole.coef_)
    assert f"{gaps.record_['data']['n_unlabelled']} of 300 rows have no target and were left out." in explain(gaps)
    part = auto(files[0], max_rows=100, **QUICK)
    assert_array_equal(part.classes_, gaps.classes_)
    assert part.record_["data"]["n_unlabelled"] == gaps.record_["data"]["n_unlabelled"]


def test_auto_uses_these_rows_where_labels_are_few_or_when_asked(files):
    X, y, _ = problem(150)
    few = np.where(y, "yes", "no").astype(object)
    few[12:] = None
    model = auto(X, few, n_evaluations=1, cv=2)
    assert "138 of 150 rows have no target and are used as unlabelled rows, because only 12 rows have one." in explain(
        model
    )
    assert model.record_["auto"]["method"] in {m.name for m in thresher.registry.methods() if "unlabelled" in m.needs}
    asked = auto(files[0], unlabelled_label="", n_evaluations=1, cv=2)
    assert "have no target and are used as unlabelled rows." in explain(asked)
    assert asked[-1].unlabelled_label == ("" if asked.classes_.dtype.kind == "O" else -1)
    assert auto(X, few, method="arow", n_evaluations=1, cv=2).n_features_in_ == 3  # which knows no such rows


def test_clusters_are_found_among_all_rows():
    X, y, missing = problem(120)
    labels = np.where(missing, None, y)
    model = auto(X, labels, "clustering", n_clusters=2, n_evaluations=2, cv=2)
    assert model.record_["data"]["n_rows"] == len(model[-1].labels_) == 120


# --- frames -----------------------------------------------------------------------------------------------------------


def frames(column):
    """The same rows in three libraries; the column as a function of each of them makes it."""
    X, y, _ = problem(60)
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    return X, y, {name: make({**columns, "left": column(name, y)}) for name, make in MAKE.items()}


MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
KINDS = {
    "truth values": (lambda library, y: y, [False, True]),
    "words": (lambda library, y: np.where(y, "yes", "no").astype(object).tolist(), ["no", "yes"]),
    "whole numbers": (lambda library, y: np.where(y, 7, 3), [3, 7]),
    "gaps": (lambda library, y: [None, *y[1:].tolist()], [False, True]),
    "categories": (
        lambda library, y: {
            "pandas": pd.Categorical(np.where(y, "yes", "no")),
            "polars": pl.Series(np.where(y, "yes", "no").tolist()).cast(pl.Categorical),
            "pyarrow": pa.array(np.where(y, "yes", "no").tolist()).dictionary_encode(),
        }[library],
        ["no", "yes"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_the_target_out_of_a_frame(kind):
    column, classes = KINDS[kind]
    _, _, made = frames(column)
    for frame in made.values():
        for model in (auto(frame, target="left", **QUICK), auto(frame, "left", **QUICK)):
            assert model.classes_.tolist() == classes
            assert type(model.classes_.tolist()[0]) is type(classes[0])
            assert list(model.feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("dtype, classes", [("boolean", [False, True]), ("string", ["no", "yes"]), ("Int64", [0, 1])])
def test_nullable_targets_of_pandas_keep_their_values(dtype, classes):
    X, y, _ = problem(60)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["left"] = pd.array(np.where(y, classes[1], classes[0]).tolist(), dtype=dtype)
    frame.loc[5, "left"] = pd.NA
    model = auto(frame, target="left", **QUICK)
    assert model.classes_.tolist() == classes
    assert "1 of 60 rows has no target and was left out." in explain(model)


def test_wrong_targets_are_refused_in_one_sentence():
    X, y, made = frames(KINDS["words"][0])
    for frame in made.values():
        with pytest.raises(
            ValueError,
            match=r"^auto: target must name a column, but there is no column 'lef'; similar names: left; the ",
        ):
            auto(frame, target="lef")
        with pytest.raises(ValueError, match=r"^auto: y and target= cannot both be given"):
            auto(frame, y, target="left")
    with pytest.raises(
        ValueError, match=r"^auto: target names a column, so X must be a data frame or a file, got ndarr"
    ):
        auto(X, target="left")


def test_a_file_takes_its_target_by_either_name(files):
    assert_array_equal(auto(files[0], "left", **QUICK).coef_, auto(files[0], target="left", **QUICK).coef_)


def test_compare_takes_the_target_out_of_a_frame():
    X, y, made = frames(KINDS["gaps"][0])
    runs = [compare(["arow"], frame, target="left", repeats=2, random_state=0) for frame in made.values()]
    runs += [compare(["arow"], made["pandas"], "left", repeats=2, random_state=0)]
    runs += [compare(["arow"], X[1:], y[1:], repeats=2, random_state=0)]
    for run in runs:
        assert_array_equal(run.scores["score"]["arow"], runs[0].scores["score"]["arow"])
    with pytest.raises(ValueError, match=r"^compare: y and target= cannot both be given"):
        compare(["arow"], made["pandas"], "left", target="left")


# --- models that are of no use ----------------------------------------------------------------------------------------


def test_predictions_that_are_worse_than_a_constant_are_told():
    y = np.arange(20.0)
    assert worse_than_guess(HeldOut("", y, y + 1), "regression") == ""
    assert worse_than_guess(HeldOut("", y, -y), "regression").startswith("The model does worse than the mean on held")
    words = np.array(["a"] * 60 + ["b"] * 40, dtype=object)
    assert worse_than_guess(HeldOut("", words, words), "classification") == ""
    swapped = np.where(words == "a", "b", "a").astype(object)
    assert "always predicting 'a' would be wrong on 40.0 %" in worse_than_guess(
        HeldOut("", words, swapped), "classification"
    )
    mostly = np.array(["a"] * 1328 + ["b"] * 72, dtype=object)  # as good as the guess, up to rounding
    assert worse_than_guess(HeldOut("", mostly, np.full(1400, "a", dtype=object)), "classification") == ""
    rare = np.array(["a"] * 95 + ["b"] * 5, dtype=object)
    eager = np.array(["b"] * 20 + ["a"] * 75 + ["b"] * 5, dtype=object)  # errs more often, but finds what is rare
    assert worse_than_guess(HeldOut("", rare, eager), "classification") == ""


def test_a_model_that_is_worse_than_the_mean_warns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
    with pytest.warns(UserWarning, match="does worse in cross-validation .* than the mean of the targets"):
        auto(X, y, method="l1rda-regressor", params={"alpha": 1e-6}, n_evaluations=1)
    with pytest.warns(UserWarning, match="worse than the mean on held-out rows"):
        predict_in_folds(L1RDARegressor(alpha=1e-6), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        auto(X, X[:, 0] + X[:, 1], method="l1rda-regressor", n_evaluations=1)


def test_a_saved_model_predicts_rows_without_a_target(files, tmp_path):
    from thresher.persistence import save_model

    save_model(auto(files[0], **QUICK), tmp_path / "m.thresher")
    batches = open_stream(files[0], target="left")
    assert sum(len(load_model(tmp_path / "m.thresher").predict(batch.X)) for batch in batches) == 300
