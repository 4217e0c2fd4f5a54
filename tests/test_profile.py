"""Profiles of data: figures against NumPy, and each warning with data that deserve it and data that do not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from thresher.streams import open_stream
from thresher.training import profile

N = 400
CLASSES = np.array(["no", "no", "yes"])


@pytest.fixture
def frame():
    """Rows without anything to warn of."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, N).astype(float),
            "bill": rng.normal(40, 9, N),
            "job": rng.choice(["clerk", "cook", "nurse"], N),
            "left": rng.choice(CLASSES, N),
        }
    )


def kinds(found):
    return [warning.kind for warning in found.warnings]


def column(found, name):
    return next(each for each in found.columns if each.name == name)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_figures_of_numbers_agree_with_numpy(frame):
    frame.loc[::7, "bill"] = np.nan
    bill = column(profile(frame, "left"), "bill")
    known = frame["bill"].dropna().to_numpy()
    assert bill.missing == frame["bill"].isna().mean()
    assert bill.n_distinct == len(np.unique(known))
    five = [bill.values[name] for name in ("min", "q1", "median", "q3", "max")]
    assert_allclose(five, np.quantile(known, [0, 0.25, 0.5, 0.75, 1], method="nearest"), rtol=0.02)
    assert_allclose(bill.values["mean"], known.mean())
    assert list(bill.histogram) == np.histogram(known, 16)[0].tolist()


def test_figures_of_words(frame):
    frame.loc[:9, "job"] = None
    job = column(profile(frame, "left"), "job")
    counts = frame["job"].value_counts()
    assert job.frequent == counts.to_dict()
    assert list(job.frequent) == list(counts.index)
    assert (job.n_distinct, job.missing, job.histogram) == (3, 10 / N, tuple(counts))
    assert job.kind == "category, 3 values"
    assert job.use == "one feature for each value"


def test_classes_and_task(frame):
    found = profile(frame, "left")
    assert (found.task, found.classes) == ("classification", frame["left"].value_counts().sort_index().to_dict())
    assert profile(frame, "bill").task == "regression"
    assert profile(frame).target is None
    assert profile(frame).classes == {}


def test_missing_targets_are_counted_and_no_class(frame):
    frame.loc[:39, "left"] = None
    found = profile(frame, "left")
    assert set(found.classes) == {"no", "yes"}
    assert column(found, "left").missing == 0.1


def test_columns_without_values_and_infinities():
    X = np.array([[np.nan, np.inf], [np.nan, -np.inf], [np.nan, 1.0]])
    found = profile(X)
    assert column(found, "x1").missing == 1
    assert column(found, "x1").n_distinct == 0
    assert column(found, "x2").span == "−∞ to ∞"
    json.dumps(found.to_dict(), allow_nan=False)


def test_sparse_rows_show_the_columns_with_the_most_values():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 2000), density=0.01, rng=rng, format="lil")
    X[:, [1234]] = 1.0
    found = profile(X.tocsr(), rng.integers(0, 2, 300))
    assert (found.n_columns, len(found.columns)) == (2001, 201)
    assert column(found, "x1235").span == "1"


def test_an_array_a_frame_and_a_file_have_the_same_figures(frame, tmp_path):
    numbers = frame[["age", "bill"]].round(2)
    numbers.to_csv(tmp_path / "t.csv", index=False)
    found = [profile(numbers.to_numpy()), profile(numbers), profile(tmp_path / "t.csv")]
    means = [[c.values.pop("mean") for c in each.columns] for each in found]
    figures = [[(c.missing, c.n_distinct, c.values, c.histogram) for c in each.columns] for each in found]
    assert figures[0] == figures[1] == figures[2]
    assert_allclose(means, [means[0]] * 3, rtol=1e-12)


def test_a_large_file_is_read_in_part_and_its_rows_estimated(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 97},{i % 89},{i % 2}\n" for i in range(30_000)))
    found = profile(open_stream(path), rows=5000)
    assert (found.n_read, found.n_rows) == (5000, 5000)
    assert 20_000 < found.n_estimated < 40_000
    assert sum(found.classes.values()) == 5000
    assert profile(open_stream(path)).rows_in_words == "30,000 rows"


def test_many_rows_are_sampled_evenly(monkeypatch, frame):
    monkeypatch.setattr("thresher.training._profile_rows._MOST_ROWS", 50)
    found = profile(frame, "left")
    assert (found.n_rows, found.n_read) == (50, N)
    assert found.rows_in_words == "400 rows, quartiles from an even sample of 50"


def test_a_stream_is_counted_as_a_whole_though_a_sample_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.training._profile_rows._MOST_ROWS", 100)
    path = tmp_path / "t.csv"
    rows = [f"{'' if i % 8 == 1 else i / 4},{'uvwx'[i % 4]},{i * i % 7 % 2}\n" for i in range(4000)]
    path.write_text("a,b,y\n" + "".join(rows))
    whole, part = (profile(open_stream(path, batch_size=size)) for size in (4000, 64))
    assert part.n_rows <= 200
    assert part.n_read == 4000
    a, b = column(part, "a"), column(part, "b")
    assert (a.values["min"], a.values["max"], a.missing) == (0.0, 999.75, 0.125)
    assert_allclose(a.values["mean"], np.mean([i / 4 for i in range(4000) if i % 8 != 1]))
    assert (b.kind, b.frequent) == ("category, 4 values", dict.fromkeys("uvwx", 1000))
    assert part.classes == whole.classes


def test_notebooks_get_a_table_with_names_that_cannot_harm(frame):
    page = profile(frame.rename(columns={"age": "<script>alert(1)</script>"}), "left")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 4


@pytest.mark.parametrize(
    ("data", "target", "says"),
    [
        (pd.DataFrame({"a": [1.0]}), "b", "target must be a column of the data, got 'b'"),
        (np.ones((3, 2)), [1, 2], "target must have one value per row"),
        (np.ones((3, 2)), "y", "target must hold the targets"),
        (np.array([["a"]]), None, "data must be files, a data frame or rows of numbers"),
    ],
)
def test_mistakes_are_named(data, target, says):
    with pytest.raises(ValueError, match=says):
        profile(data, target)


# --- warnings ---------------------------------------------------------------------------------------------------------


def test_good_data_get_no_warning(frame):
    assert kinds(profile(frame, "left")) == []
    assert kinds(profile(frame, "bill")) == []


def test_constant_empty_and_nearly_empty_columns(frame):
    frame["one"], frame["none"], frame["few"] = 7.0, np.nan, np.nan
    frame.loc[:5, "few"] = 3.0
    found = {warning.kind: warning for warning in profile(frame, "left").warnings}
    assert {kind: each.columns for kind, each in found.items()} == {
        "empty": ("none",),
        "constant": ("one",),
        "nearly_empty": ("few",),
    }
    assert found["constant"].option == "drop"


def test_a_column_of_words_may_be_constant_and_half_empty_ones_are_fine(frame):
    frame["town"] = "Gent"
    frame.loc[::2, "age"] = np.nan
    assert [(w.kind, w.columns) for w in profile(frame, "left").warnings] == [("constant", ("town",))]


@pytest.mark.parametrize("name", ["bill", "job"])
def test_duplicated_columns(frame, name):
    frame["again"] = frame[name]
    (warning,) = profile(frame, "left").warnings
    assert warning.kind == "duplicated_columns"
    assert warning.columns == ("again",)
    frame.loc[3, "again"] = "other" if name == "job" else -1.0
    assert kinds(profile(frame, "left")) == []


def test_duplicated_rows_unless_they_are_to_be_expected(frame):
    twice = pd.concat([frame, frame.iloc[:20]], ignore_index=True)
    assert kinds(profile(twice, "left")) == ["duplicated_rows"]
    assert "4.8 % of the rows repeat" in profile(twice, "left").warnings[0].says
    assert kinds(profile(twice[["job", "left"]], "left")) == []  # three jobs can only repeat


LEAKS = {
    "a flag": lambda y, rng: y.astype(float),
    "a threshold": lambda y, rng: np.where(y, 1.0, 0.0) + 0.99 * rng.random(len(y)),
    "an interval": lambda y, rng: np.where(y, 1.0, 2.0 * rng.integers(0, 2, len(y))) + 0.9 * rng.random(len(y)),
    "words": lambda y, rng: np.where(y, "closed", rng.choice(["open", "new"], len(y))),
    "missing or not": lambda y, rng: np.where(y, rng.random(len(y)), np.nan),
    "a flag with mistakes": lambda y, rng: np.where(rng.random(len(y)) < 0.005, ~y, y).astype(float),
}


@pytest.mark.parametrize("name", LEAKS)
def test_columns_that_alone_predict_a_class(frame, name):
    made = LEAKS[name](frame["left"].to_numpy() == "yes", np.random.default_rng(1))
    frame["leak"] = made
    found = [warning for warning in profile(frame, "left").warnings if warning.kind == "leak"]
    assert [warning.columns for warning in found] == [("leak",)]
    frame["leak"] = np.random.default_rng(2).permutation(made)
    assert kinds(profile(frame, "left")) == []


def test_a_good_column_is_no_leak(frame):
    rng = np.random.default_rng(1)
    frame["good"] = np.where(frame["left"] == "yes", 1.0, 0.0) + rng.normal(0, 0.35, N)
    assert kinds(profile(frame, "left")) == []


def test_words_that_differ_in_every_row_predict_nothing(frame):
    frame["name"] = [f"{'AB'[left == 'yes']}{row}" for row, left in enumerate(frame["left"])]
    assert kinds(profile(frame, "left")) == []


@pytest.mark.parametrize("made", [lambda y: 1.8 * y + 32, lambda y: np.exp(y / 9), lambda y: y.round(1).astype(str)])
def test_columns_that_alone_explain_a_number(frame, made):
    frame["bill"] = np.random.default_rng(3).choice(np.arange(20.0, 60.0, 4.5), N)
    frame["leak"] = made(frame["bill"])
    assert [(w.kind, w.columns) for w in profile(frame, "bill").warnings] == [("leak", ("leak",))]
    frame["leak"] = frame["bill"] + np.random.default_rng(4).normal(0, 3, N)  # explains 94 %
    assert kinds(profile(frame, "bill")) == []


def test_three_classes_are_predicted_as_well():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = np.c_[rng.normal(size=(300, 3)), y + 0.8 * rng.random(300)]
    (warning,) = profile(X, y).warnings
    assert (warning.kind, warning.columns) == ("leak", ("x4",))
    assert "is wrong on" in warning.says
    assert "a guess on" in warning.says


def test_few_rows_or_nothing_to_find_are_no_leak(frame):
    frame["leak"] = (frame["left"] == "yes").astype(float)
    assert "leak" not in kinds(profile(frame.iloc[:90], "left"))
    frame["left"] = np.where(np.arange(N) % 50 == 7, "yes", "no")  # 2 %: a guess is nearly as good
    frame["leak"] = (frame["left"] == "yes").astype(float)
    assert "leak" not in kinds(profile(frame, "left"))


def test_rows_sorted_by_target(frame):
    in_order = frame.sort_values("left")
    assert kinds(profile(in_order, "left")) == ["sorted"]
    assert kinds(profile(frame.sort_values("bill"), "bill")) == ["sorted"]
    assert kinds(profile(frame.sort_values("age"), "left")) == []


def test_a_very_rare_class(frame):
    frame.loc[:3, "left"] = "perhaps"
    (warning,) = profile(frame, "left").warnings
    assert warning.kind == "rare_class"
    assert "Class 'perhaps' has 4 of 400 rows" in warning.says


def test_a_target_that_never_changes(frame):
    frame["left"] = "no"
    assert kinds(profile(frame, "left")) == ["one_class"]


def test_values_far_from_all_others(frame):
    frame.loc[5, "bill"] = 999_999.0
    frame["id"] = 2.0**53 + 4 * np.random.default_rng(0).permutation(N)
    assert [(w.kind, w.columns) for w in profile(frame, "left").warnings] == [("range", ("id",)), ("range", ("bill",))]
    frame["bill"] = np.random.default_rng(0).lognormal(3, 1, N)  # a long tail is no slip
    assert kinds(profile(frame.drop(columns="id"), "left")) == []


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    assert kinds(profile(rng.normal(size=(30, 31)))) == ["wide"]
    assert kinds(profile(rng.normal(size=(30, 30)))) == []


def test_a_sample_of_many_rows_is_not_called_wide(monkeypatch):
    monkeypatch.setattr("thresher.training._profile_rows._MOST_ROWS", 50)
    assert kinds(profile(np.random.default_rng(0).normal(size=(300, 60)))) == []


def test_lines_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n3,5\n" * 30 + "1,2,3\n")
    found = profile(path, target="y", skip_malformed=True)
    assert "skipped" in kinds(found)
    assert "1 line could not be read" in found.warnings[0].says


def test_the_first_line_that_cannot_be_read_is_named_with_advice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n3,5\n" * 30 + "unknown,2\n" + "4,5\n" * 3)
    (warning,) = [w for w in profile(path, target="y", skip_malformed=True).warnings if w.kind == "skipped"]
    assert '(the first: t.csv, line 62, field 1: expected a number, got "unknown"; if this word' in warning.says
    assert open_stream(path, missing=["unknown"]).first_refusal() == ""
