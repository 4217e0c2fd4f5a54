"""A search in a file: killed, resumed, refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from thresher.dual_averaging import L1RDAClassifier
from thresher.tuning import Choice, CoupledAnnealingSearchCV, Log, criterion

pytestmark = pytest.mark.filterwarnings("ignore:L1RDAClassifier. all weights are 0, so no feature is in use")

X, Y = make_classification(120, 8, random_state=0)


class Counted(ClassifierMixin, BaseEstimator):
    """Counts its fits; the score is a smooth function of alpha."""

    fits = 0

    def __init__(self, alpha=0.5, kind="a", random_state=None):
        self.alpha = alpha
        self.kind = kind
        self.random_state = random_state

    def fit(self, X, y):
        Counted.fits += 1
        if self.alpha > 5:
            raise ArithmeticError("too large")
        self.classes_ = np.unique(y)
        self.n_rows_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return -((np.log(self.alpha) - 1) ** 2) - 1e-3 * self.n_rows_ * (self.kind != "b")


SPACE = {"alpha": Log(0.01, 10), "kind": Choice(["a", "b"])}


def search(path=None, estimator=None, **options):
    options = {"space": SPACE, "n_evaluations": 20, "cv": 2, "history": path} | options
    return CoupledAnnealingSearchCV(estimator or Counted(), **options)


def fitted(model, X=X, y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.filterwarnings("ignore", message="One or more of the (test|train) scores are non-finite")
        return model.fit(X, y)


def count_fits(model):
    """How many candidates were fitted; the refit does not count."""
    Counted.fits = 0
    fitted(model.set_params(refit=False))
    return Counted.fits / 2


def assert_same_search(a, b, times=False):
    def told(history):
        return [{k: v for k, v in h.items() if times or k != "seconds"} for h in history]

    np.testing.assert_equal(told(a.history_), told(b.history_))
    assert set(a.cv_results_) == set(b.cv_results_)
    for name, column in a.cv_results_.items():
        if times or "time" not in name:
            np.testing.assert_array_equal(column, b.cv_results_[name], err_msg=name)
    assert (a.best_params_, a.best_score_, a.stopped_) == (b.best_params_, b.best_score_, b.stopped_)


def cut(path, n_lines, part=b""):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:n_lines]) + part)


@pytest.mark.parametrize("method", ["annealing", "directed", "random"])
def test_a_file_changes_nothing_and_a_second_run_computes_nothing_but_a_check(tmp_path, method):
    path = tmp_path / "h.jsonl"
    plain = fitted(search(search=method))
    first = fitted(search(path, search=method))
    assert_same_search(first, plain)
    again = search(path, search=method)
    assert count_fits(again) == 1
    assert_same_search(again, first, times=True)
    assert len(path.read_bytes().splitlines()) == 1 + len(first.history_)


@pytest.mark.parametrize("n_lines", [0, 1, 2, 5, 9, 15, 20])
@pytest.mark.parametrize("part", [b"", b'{"stage": "annea', b"\x00\xff"], ids=["whole", "half", "rubbish"])
def test_a_search_cut_off_anywhere_ends_as_an_unbroken_one(tmp_path, n_lines, part):
    path = tmp_path / "h.jsonl"
    whole = fitted(search(path))
    content = path.read_bytes()
    cut(path, n_lines, part)
    resumed = search(path)
    known = max(n_lines - 1, 0)
    assert count_fits(resumed) == 20 - known + (1 if known else 0)
    assert_same_search(resumed, whole)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    expected = [json.loads(line) for line in content.splitlines()]
    assert [line.get("params") for line in lines] == [line.get("params") for line in expected]


def test_failures_and_several_scores_are_remembered(tmp_path):
    path = tmp_path / "h.jsonl"
    options = {
        "scoring": {"s": lambda e, X, y: e.score(X, y), "t": criterion("error")},
        "refit": "s",
        "return_train_score": True,
        "n_evaluations": 30,
        "space": {"alpha": Log(0.01, 300)},
    }
    options["scoring"]["s"].__qualname__ = "own_score"
    whole = fitted(search(path, **options))
    assert any(h["error"] is not None for h in whole.history_)
    assert "mean_train_t" in whole.cv_results_
    cut(path, 14)
    resumed = fitted(search(path, **options))
    assert_same_search(resumed, whole)


def test_the_number_of_weights_is_remembered(tmp_path):
    path = tmp_path / "h.jsonl"
    options = {"estimator": L1RDAClassifier(), "space": None, "n_evaluations": 10}
    whole = fitted(search(path, **options))
    cut(path, 6)
    assert_same_search(fitted(search(path, **options)), whole)
    assert all(h["n_used"] is not None for h in whole.history_)


def test_a_larger_budget_goes_on_where_a_smaller_one_ended(tmp_path):
    path = tmp_path / "h.jsonl"
    fitted(search(path, n_evaluations=20))
    more = search(path, n_evaluations=50)
    assert count_fits(more) == 50 - 20 + 1
    assert_same_search(more, fitted(search(n_evaluations=50)))


@pytest.mark.parametrize(
    "change, said",
    [
        ({"estimator": SVC(), "space": {"C": Log(0.01, 10)}}, "estimator, estimator's parameters, space and data"),
        ({"estimator": Counted(alpha=0.4)}, "estimator's parameters and data"),
        ({"space": {"alpha": Log(0.01, 5), "kind": Choice(["a", "b"])}}, "space and data"),
        ({"scoring": "accuracy"}, "scoring and data"),
        ({"random_state": 1}, "estimator's parameters, random_state and data"),
        ({"cv": 3}, "folds and data"),
        ({"cv": KFold(2, shuffle=True, random_state=0)}, "folds and data"),
        ({"error_score": 0.0}, "data and error_score"),
        ({"return_train_score": True}, "data and return_train_score"),
    ],
)
def test_a_file_of_another_search_is_refused_and_left_alone(tmp_path, change, said):
    path = tmp_path / "h.jsonl"
    fitted(search(path, n_evaluations=6))
    before = path.read_bytes()
    other = X.copy()
    other[0, 0] += 1e-9
    with pytest.raises(ValueError) as error:
        search(path, n_evaluations=6, **change).fit(other, Y)
    assert str(error.value) == (
        f"CoupledAnnealingSearchCV: history h.jsonl: it was written with another {said}; use the same, "
        "or name another file."
    )
    assert path.read_bytes() == before


def test_the_number_of_processes_does_not_matter(tmp_path):
    path = tmp_path / "h.jsonl"
    options = {"space": None, "n_evaluations": 4}
    one = fitted(search(path, L1RDAClassifier(n_jobs=1), **options))
    two = fitted(search(path, L1RDAClassifier(n_jobs=2), n_jobs=2, **options))
    assert_same_search(one, two, times=True)


def test_labels_and_weights_belong_to_the_data(tmp_path):
    path = tmp_path / "h.jsonl"
    model = search(path, L1RDAClassifier(), space=None, n_evaluations=4).fit(X, Y, sample_weight=np.ones(120))
    for y, weight in ((Y[::-1], np.ones(120)), (Y, np.full(120, 2.0)), (Y, None)):
        with pytest.raises(ValueError, match="another data"):
            model.fit(X, y, sample_weight=weight)
    model.fit(X.copy(), Y.copy(), sample_weight=np.ones(120))


@pytest.mark.parametrize(
    "content, said",
    [
        (b"hello\n", "not a history of a search; name another file."),
        (b'{"a": 1}\n', "not a history of a search; name another file."),
        (b"[1]\n", "not a history of a search; name another file."),
        (b'{"thresher": "search history", "format": 9}\n', "format 9 is not supported, only 1."),
    ],
)
def test_other_files_are_refused(tmp_path, content, said):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        search(path).fit(X, Y)
    assert str(error.value) == f"CoupledAnnealingSearchCV: history notes.txt: {said}"
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        b"rubbish\n",
        b"{}\n",
        b'{"params": 3}\n',
        b'{"params": {"alpha": 1}, "score": "x", "folds": [], "n_used": null, "seconds": 1, "error": null}\n',
        b'{"params": {"alpha": 1}, "score": 1, "folds": [], "n_used": null, "seconds": 1, "error": null}\n',
        b'{"params": {"alpha": 1}, "score": 1, "folds": [1, 2], "n_used": null, "seconds": 1, "error": null}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_line_that_is_no_evaluation_is_named(tmp_path, line):
    path = tmp_path / "h.jsonl"
    fitted(search(path, n_evaluations=6))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], line, *lines[3:]]))
    with pytest.raises(ValueError) as error:
        search(path, n_evaluations=6).fit(X, Y)
    assert str(error.value) == "CoupledAnnealingSearchCV: history h.jsonl: line 4 is not an evaluation; delete it."


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "h.jsonl"):
        with pytest.raises(ValueError, match="must be a file in a folder that exists, got"):
            search(path).fit(X, Y)


def test_scores_that_do_not_repeat_are_warned_of(tmp_path):
    path = tmp_path / "h.jsonl"
    fitted(search(path, n_evaluations=6))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines[1]["score"] += 0.5
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(UserWarning, match=r"scores .* now and .* in the history; the estimator is not deterministic"):
        fitted(search(path, n_evaluations=6))


_KILLED = """
import sys, time
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from thresher.dual_averaging import L1RDAClassifier
from thresher.tuning import CoupledAnnealingSearchCV

class Slowly(L1RDAClassifier):
    def fit(self, X, y):
        time.sleep(0.01)
        return super().fit(X, y)

X, y = make_classification(120, 8, random_state=0)
model = CoupledAnnealingSearchCV(
    Slowly(), cv=StratifiedKFold(2, shuffle=True), n_evaluations=40, random_state=3, history=sys.argv[1]
).fit(X, y)
print(model.best_params_, model.best_score_, model.best_estimator_.coef_.tobytes().hex())
print([(h["params"], h["score"], h["stage"], h["n_used"]) for h in model.history_])
"""


def test_a_search_that_was_really_killed_ends_as_an_unbroken_one(tmp_path):
    script, path, whole = tmp_path / "search.py", tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    script.write_text(_KILLED)
    command = [sys.executable, "-W", "ignore", str(script)]
    unbroken = subprocess.run([*command, str(whole)], capture_output=True, text=True, check=True)

    process = subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE)
    while not path.exists() or path.read_bytes().count(b"\n") < 12:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    survived = path.read_bytes().count(b"\n")
    assert 12 <= survived < 41

    kept = path.read_bytes()
    resumed = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True)
    assert resumed.stdout == unbroken.stdout
    assert path.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert path.read_bytes().count(b"\n") == 41
