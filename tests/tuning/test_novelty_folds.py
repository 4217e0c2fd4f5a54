"""NoveltyKFold: who trains, who is scored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold

from thresher.datasets import make_novelty
from thresher.novelty import SNDClassifier
from thresher.tuning import CoupledAnnealingSearchCV, NoveltyKFold

Y = np.array([0, 1, -1, 0, 1, 1, 0, -1, 1, 0, 0, 1, -1])


def test_outliers_never_train_and_are_scored_in_every_fold():
    folds = list(NoveltyKFold(3, random_state=0).split(Y, Y))
    assert len(folds) == NoveltyKFold(3).get_n_splits(Y, Y) == 3
    tested = np.zeros(len(Y), dtype=int)
    for train, test in folds:
        assert not np.intersect1d(train, test).size
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))
        assert -1 not in Y[train]
        assert set(Y[train]) == {0, 1}
        tested[test] += 1
    assert_array_equal(tested, np.where(Y == -1, 3, 1))


def test_with_the_option_outliers_are_a_class_like_the_others():
    ours = list(NoveltyKFold(3, train_outliers=True, random_state=0).split(Y, Y))
    theirs = list(StratifiedKFold(3, shuffle=True, random_state=0).split(Y, Y))
    for (a, b), (c, d) in zip(ours, theirs, strict=True):
        assert_array_equal(a, c)
        assert_array_equal(b, d)


def test_text_labels_and_a_seed():
    words = np.array(["a", "b", "none"])[Y]
    one, same, other = (
        [test.tolist() for _, test in NoveltyKFold(3, outlier_label="none", random_state=s).split(words, words)]
        for s in (1, 1, 2)
    )
    assert one == same != other
    as_text = [test.tolist() for _, test in NoveltyKFold(3, shuffle=False).split(Y, Y.astype(str))]
    assert as_text == [test.tolist() for _, test in NoveltyKFold(3, shuffle=False).split(Y, Y)]


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match=r"NoveltyKFold: n_splits must be an integer of at least 2, got 1\."):
        NoveltyKFold(1)
    with pytest.raises(ValueError, match=r"NoveltyKFold: y must hold labels, got None\."):
        next(NoveltyKFold().split(Y))
    with pytest.raises(ValueError, match=r"NoveltyKFold: y must hold classes besides outlier_label, got only -1\."):
        next(NoveltyKFold().split(Y, np.full(5, -1)))


def test_a_search_with_these_folds_finds_a_width_that_rejects():
    X, y = make_novelty(200, kind="moons", random_state=0)
    space = {name: SNDClassifier._search_space[name] for name in ("gamma", "nu")}
    search = CoupledAnnealingSearchCV(
        SNDClassifier(), space, n_evaluations=25, cv=NoveltyKFold(3), scoring="accuracy", random_state=0
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["gamma"] > 3


def test_more_folds_than_a_class_has_rows_are_refused():
    words = r"^NoveltyKFold: n_splits must be at most the rows of the most frequent class, 3, got 4\.$"
    with pytest.raises(ValueError, match=words):
        next(NoveltyKFold(4).split(np.zeros((9, 1)), [0, 0, 0, 1, 1, -1, -1, -1, -1]))
