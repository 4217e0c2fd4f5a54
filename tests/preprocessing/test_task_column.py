"""A column of tasks in a pipeline: never a feature, always handed to the learner, the same however rows are cut."""

import json
import struct

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from thresher._gate._table import Table, Text
from thresher.dual_averaging import MultiTaskFOBOSClassifier, MultiTaskRDAClassifier, MultiTaskRDARegressor
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import StreamingPipeline, prepared

N = 120


def rows(n=N, seed=0):
    """Numbers, names of schools, words, and amounts that follow each school's own rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    schools = rng.choice(["north", "south", "east"], n)
    jobs = rng.choice(["cook", "clerk"], n)
    slope = np.where(schools == "north", 2.0, np.where(schools == "south", -1.0, 0.5))
    return X, schools, jobs, slope * X[:, 0] + X[:, 1] + (jobs == "cook")


def table(X, schools, jobs):
    text = {"school": Text.from_list(schools.tolist()), "job": Text.from_list(jobs.tolist())}
    return Table(["a", "school", "b", "c", "job"], X, text)


def forms(X, schools):
    """The same rows in every form that carries tasks, with how the column is named."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(1, "school", schools)
    codes = np.unique(schools, return_inverse=True)[1]
    return {
        "frame": (frame, "school", schools),
        "frame by number": (frame, 1, schools),
        "table": (Table.from_frame(frame), "school", schools),
        "array": (np.insert(X, 1, codes, axis=1), 1, codes),
        "array from the end": (np.column_stack([X, codes]), -1, codes),
        "list": (np.column_stack([X, codes]).tolist(), 3, codes),
    }


@pytest.mark.parametrize("form", forms(*rows()[:2]))
@pytest.mark.parametrize("learner", [MultiTaskRDARegressor(alpha=0.01, random_state=0), MultiTaskFOBOSClassifier()])
def test_the_learner_is_given_the_other_columns_and_the_tasks(form, learner):
    X, schools, _, y = rows()
    y = y > 0 if isinstance(learner, MultiTaskFOBOSClassifier) else y
    given, column, tasks = forms(X, schools)[form]
    alone = clone(learner).set_params(random_state=0).fit(X, y, tasks=tasks)
    model = StreamingPipeline([("learn", clone(learner).set_params(random_state=0))], column).fit(given, y)
    assert_array_equal(model.coef_, alone.coef_)
    assert_array_equal(model[-1].tasks_, alone.tasks_)
    assert_array_equal(model.predict(given), alone.predict(X, tasks=tasks))
    assert model.score(given, y) == alone.score(X, y, tasks=tasks)
    if hasattr(alone, "decision_function"):
        assert_array_equal(model.decision_function(given), alone.decision_function(X, tasks=tasks))
    assert model.coef_.shape == (3, 3)


def test_steps_never_see_the_column():
    X, schools, jobs, y = rows()
    model = prepared(MultiTaskRDARegressor(random_state=0), table(X, schools, jobs), task_column="school")
    model.fit(table(X, schools, jobs), y)
    assert list(model.get_feature_names_out())[:3] == ["a", "b", "c"]
    assert sorted(model.get_feature_names_out()[3:]) == ["job=clerk", "job=cook"]
    assert_array_equal(model.feature_names_in_, ["a", "b", "c", "job"])
    without = prepared(MultiTaskRDARegressor(random_state=0), table(X, schools, jobs).select(["a", "b", "c", "job"]))
    without.fit(table(X, schools, jobs).select(["a", "b", "c", "job"]), y, tasks=schools)
    assert_array_equal(model.coef_, without.coef_)
    assert_array_equal(model.transform(table(X, schools, jobs)).toarray(), without.transform(
        table(X, schools, jobs).select(["a", "b", "c", "job"])).toarray())  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 50, N])
def test_any_cut_into_batches_gives_the_same_bits(size):
    X, schools, jobs, y = rows()
    given = table(X, schools, jobs).select(["a", "school", "b", "c"])
    alone = MultiTaskRDAClassifier(alpha=0.01).partial_fit(X, y > 0, tasks=schools, classes=[False, True])
    model = StreamingPipeline([("learn", MultiTaskRDAClassifier(alpha=0.01))], "school")
    for begin in range(0, N, size):
        model.partial_fit(given[begin : begin + size], y[begin : begin + size] > 0, classes=[False, True])
    assert_array_equal(model.coef_, alone.coef_)
    assert_array_equal(model[-1].tasks_, alone.tasks_)


def test_a_saved_pipeline_goes_on_as_if_it_had_never_stopped(tmp_path):
    X, schools, jobs, y = rows()
    given = table(X, schools, jobs)

    def begun():
        start = prepared(MultiTaskRDARegressor(alpha=0.01), given, task_column="school")
        return start.partial_fit(given[:50], y[:50])

    save_model(begun(), tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert again.task_column == "school"
    straight = begun().partial_fit(given[50:], y[50:])
    again.partial_fit(given[50:], y[50:])
    assert_array_equal(again.coef_, straight.coef_)
    assert_array_equal(again.predict(given), straight.predict(given))


def test_files_without_a_task_column_load_and_wrong_ones_are_refused(tmp_path):
    X, schools, _, y = rows()
    path = tmp_path / "m.thresher"
    save_model(StreamingPipeline([("learn", MultiTaskRDARegressor())]).fit(X, y, tasks=schools), path)
    assert load_model(path).task_column is None
    whole = path.read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    outer = json.loads(whole[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["thresher"])
    assert "task_column" not in header["model"]
    for wrong in (["a"], {"a": 1}, 1.5, True):
        header["model"]["task_column"] = wrong
        outer["__metadata__"]["thresher"] = json.dumps(header)
        raw = json.dumps(outer).encode()
        path.write_bytes(struct.pack("<Q", len(raw)) + raw + whole[8 + size :])
        with pytest.raises(ValueError, match="task_column must be None, or a column"):
            load_model(path)


@pytest.mark.parametrize(
    ("column", "change", "sentence"),
    [
        ("town", {}, "task_column must be a column of X, but there is no 'town'"),
        (9, {}, "task_column must be below the 5 columns of X, got 9"),
        (1.5, {}, "task_column must be None, or a column by its name or its number from 0, got 1.5"),
        ("school", {"school": None}, "every row must have a task, but column 'school' is empty in row 3"),
        ("a", {"a": 0.5}, "tasks must be text or whole numbers, but column 'a' holds 0.5 in row 3"),
        ("a", {"a": np.nan}, "every row must have a task, but column 'a' is empty in row 3"),
    ],
)
def test_refusals(column, change, sentence):
    X, schools, jobs, y = rows()
    X[:, 0] = 1.0
    X[3, 0] = change.get("a", 1.0)
    schools = [None if i == 3 and "school" in change else school for i, school in enumerate(schools.tolist())]
    given = Table(["a", "school", "b", "c", "job"], X, {"school": Text.from_list(schools), "job": Text.from_list(jobs.tolist())})  # fmt: skip  # noqa: E501
    model = StreamingPipeline([("learn", MultiTaskRDARegressor())], column)
    with pytest.raises(ValueError, match=f"StreamingPipeline: {sentence}"):
        model.fit(given.select(given.columns), y)


def test_only_learners_of_tasks_and_rows_with_columns_take_it():
    X, _, _, y = rows()
    with pytest.raises(ValueError, match="task_column needs a learner of several tasks, got AROWClassifier"):
        StreamingPipeline([("learn", AROWClassifier())], 1).fit(X, y > 0)
    with pytest.raises(ValueError, match="task_column needs a table, a data frame or an array, got sparse rows"):
        StreamingPipeline([("learn", MultiTaskRDARegressor())], 1).fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="task_column 'school' needs a table or a data frame"):
        StreamingPipeline([("learn", MultiTaskRDARegressor())], "school").fit(X, y)


def test_a_refused_batch_changes_nothing():
    X, schools, jobs, y = rows()
    given = table(X, schools, jobs)
    model = prepared(MultiTaskRDARegressor(alpha=0.01), given, task_column="school").partial_fit(given[:50], y[:50])
    before, names = model.coef_.copy(), list(model.get_feature_names_out())
    bad = table(X, np.where(np.arange(N) == 60, "", schools), np.where(np.arange(N) == 60, "judge", jobs))
    with pytest.raises(ValueError, match="every row must have a task"):
        model.partial_fit(bad[50:], y[50:])
    assert_array_equal(model.coef_, before)
    assert list(model.get_feature_names_out()) == names


def test_tasks_that_were_not_learned_are_known_to_be_so():
    X, schools, jobs, y = rows()
    given = table(X, schools, jobs)
    model = prepared(MultiTaskRDARegressor(random_state=0), given, task_column="school").fit(given, y)
    new = table(X, np.where(np.arange(N) < 2, "west", schools), jobs)
    assert_array_equal(model.knows_task(new), np.arange(N) >= 2)
    with pytest.raises(ValueError, match="tasks must be among those of training, got 'west'"):
        model.predict(new)
    assert_allclose(model.predict(new[2:]), model.predict(given[2:]))
    numbers = Table(["a", "school", "b", "c", "job"], np.column_stack([X[:, 0], np.ones(N), X[:, 1:]]), {
        "job": Text.from_list(jobs.tolist())})  # fmt: skip
    assert not model.knows_task(numbers).any()


def test_the_parameter_is_a_parameter():
    model = StreamingPipeline([("learn", MultiTaskRDARegressor())], "school")
    assert clone(model).task_column == "school"
    assert model.set_params(task_column=None).get_params()["task_column"] is None
    assert not StreamingPipeline([("learn", MultiTaskRDARegressor())], 1).__sklearn_tags__().input_tags.sparse
