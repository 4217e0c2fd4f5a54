"""Folds of partly labelled rows, and tuning in stages over them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold, cross_val_score

from thresher.datasets import make_tri_class
from thresher.semi_supervised import S3VC, TriClassSVC, UniversumSVC
from thresher.tuning import CoupledAnnealingSearchCV, LabelledKFold, tune_tri_class
from thresher.tuning._folds import folds_for

RNG = np.random.default_rng(0)
CODES = RNG.integers(3, size=60)  # 2 is unlabelled


@pytest.mark.parametrize(
    ("names", "unlabelled"), [([0, 1, -1], -1), (["a", "b", "?"], "?"), (["a", "b", "-1"], -1), ([0.0, 1.0, -1.0], -1)]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_unlabelled_rows_always_train_and_never_score(names, unlabelled, shuffle):
    y = np.array(names)[CODES]
    open_, known = np.flatnonzero(CODES == 2), np.flatnonzero(CODES < 2)
    cv = LabelledKFold(4, unlabelled_label=unlabelled, shuffle=shuffle, random_state=5)
    folds = list(cv.split(np.zeros((60, 1)), y))
    assert cv.get_n_splits() == len(folds) == 4
    plain = StratifiedKFold(4, shuffle=shuffle, random_state=5 if shuffle else None).split(known, CODES[known])
    for (train, test), (learn, score) in zip(folds, plain, strict=True):
        assert_array_equal(test, known[score])
        assert_array_equal(train, np.sort(np.r_[known[learn], open_]))


def test_all_rows_may_be_labelled():
    y = CODES % 2
    for one, other in zip(LabelledKFold(3).split(y, y), StratifiedKFold(3).split(y, y), strict=True):
        assert_array_equal(one[0], other[0])
        assert_array_equal(one[1], other[1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_splits": 1}, "LabelledKFold: n_splits must be an integer of at least 2, got 1."),
        ({"unlabelled_label": [0]}, "LabelledKFold: unlabelled_label must be a number or text or None"),
        ({"shuffle": 1}, "LabelledKFold: shuffle must be True or False, got 1."),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        LabelledKFold(**options)


def test_rows_without_any_label_are_refused():
    with pytest.raises(ValueError, match="LabelledKFold: y must hold labels, got only -1"):
        next(LabelledKFold(2).split(None, np.full(9, -1)))


def test_scores_count_labelled_rows_only():
    X, y = make_tri_class(40, 100, 10, random_state=0)
    scores = cross_val_score(UniversumSVC(gamma="scale"), X, y, cv=LabelledKFold(4))
    assert all(float(10 * score).is_integer() for score in scores)
    assert scores.mean() > 0.5


def test_one_label_of_every_class_but_one_is_refused_before_anything_is_learned():
    words = r"^LabelledKFold: at least two classes must have 2 labels each, got one"
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.array([0, 0, 0, 0, 1, -1, -1, -1, -1])
    with pytest.raises(ValueError, match=words):
        CoupledAnnealingSearchCV(UniversumSVC(), n_evaluations=2, cv=2).fit(X, y)
    y[5] = 1
    assert all(set(y[train]) == {-1, 0, 1} for train, _ in LabelledKFold(2).split(X, y))


@pytest.mark.parametrize("number", [4, np.int64(4), np.int32(4)])
def test_a_number_of_folds_is_one_of_labelled_rows_whatever_integer_it_is(number):
    folds = folds_for(UniversumSVC(unlabelled_label=2), number, CODES)
    assert (type(folds), folds.n_splits, folds.unlabelled_label) == (LabelledKFold, 4, 2)


# --- stages -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    X, y = make_tri_class(30, 40, 6, random_state=0)
    y = np.array(["no", "yes", "?"])[y]
    base = TriClassSVC(C_unlabelled=0.02, epsilon=0.2, unlabelled_label="?", init="svm", tol=1e-3)
    return X, y, base, tune_tri_class(X, y, base, n_evaluations=5, n_splits=3, random_state=2)


def test_every_stage_keeps_what_the_one_before_found(found):
    _, _, base, found = found
    svm, universum, tri = (s.best_estimator_ for s in (found.svm, found.universum, found.tri_class))
    assert [set(s.best_params_) for s in (found.svm, found.universum, found.tri_class)] == [
        {"C", "gamma"},
        {"C_unlabelled", "epsilon"},
        {"C_unlabelled"},
    ]
    assert [type(m) for m in (svm, universum, tri)] == [TriClassSVC, UniversumSVC, TriClassSVC]
    assert svm.C_unlabelled == 0
    assert (svm.C, svm.gamma) == (universum.C, universum.gamma) == (tri.C, tri.gamma)
    assert universum.epsilon == tri.epsilon
    assert {m.unlabelled_label for m in (svm, universum, tri)} == {"?"}
    assert tri.init == base.init
    first = [s.history_[0]["params"] for s in (found.universum, found.tri_class)]
    assert first[0] == {"C_unlabelled": 0.02, "epsilon": 0.2}
    assert first[1] == {"C_unlabelled": universum.C_unlabelled}


def test_the_best_machine_has_the_best_score(found):
    found = found[-1]
    assert found.scores_[found.best_machine_] == max(found.scores_.values())
    assert found.best_estimator_ is getattr(found, found.best_machine_).best_estimator_
    assert [h["machine"] for h in found.history_] == ["svm"] * 5 + ["universum"] * 5 + ["tri_class"] * 5


def test_the_same_seed_finds_the_same(found):
    X, y, base, found = found
    again = tune_tri_class(X, y, base, n_evaluations=5, n_splits=3, random_state=2)
    assert again.scores_ == found.scores_
    assert again.best_estimator_.get_params() == found.best_estimator_.get_params()


def test_only_a_tri_class_machine_is_tuned():
    with pytest.raises(ValueError, match="tune_tri_class: estimator must be a TriClassSVC, got S3VC"):
        tune_tri_class(np.eye(4), [0, 1, 0, 1], S3VC())


def test_more_folds_than_a_class_has_rows_are_refused():
    words = r"^LabelledKFold: n_splits must be at most the rows of the most frequent class, 3, got 4\.$"
    with pytest.raises(ValueError, match=words):
        next(LabelledKFold(4).split(np.zeros((8, 1)), [0, 0, 0, 1, 1, -1, -1, -1]))
