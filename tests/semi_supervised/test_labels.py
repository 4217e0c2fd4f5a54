"""What labels may be, who is absent, what is refused, and what a file keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from strict_checks import parametrize_with_checks
from thresher import registry
from thresher.kernels import Polynomial
from thresher.persistence import load_model, save_model
from thresher.semi_supervised import S3VC, TriClassSVC, UniversumSVC
from unsound import save_unsound

METHODS = [TriClassSVC, UniversumSVC, S3VC]
methods = pytest.mark.parametrize("cls", METHODS)


def rows(n=40, seed=0):
    """Classes 0 and 1 for the first 15 rows, -1 for the others."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3)) + (2.0 * truth - 1)[:, None]
    return X, np.where(np.arange(n) < 15, truth, -1)


# --- scikit-learn -----------------------------------------------------------------------------------------------------

TOLERANCE = "Two runs agree to the duality gap, not to seven digits; gamma='scale' looks at rows, not at their weights."
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@parametrize_with_checks(
    [
        *(cls(unlabelled_label="?") for cls in METHODS),  # among the labels of the checks is -1
        TriClassSVC(unlabelled_label=None, init="svm", epsilon=0.0),
        UniversumSVC(unlabelled_label=-9, kernel="linear", C=0.1),
    ],
    expected_failed_checks=lambda model: dict.fromkeys(WEIGHTS, TOLERANCE),
    xfail_strict=True,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def test_they_are_methods_with_ranges_to_tune():
    known = registry.estimators()
    assert [known[name] for name in ("triclass", "universum", "s3vc")] == METHODS
    for method in registry.methods():
        if method.cls in METHODS:
            assert {"C", "C_unlabelled", "gamma"} <= set(method.space)
            assert method.task == "classification"


# --- labels -----------------------------------------------------------------------------------------------------------


@methods
@pytest.mark.parametrize(
    ("names", "unlabelled"),
    [
        (np.array([0, 1, -1]), -1),
        (np.array([0.0, 1.0, -1.0]), -1),
        (np.array([3, 7, 0]), 0),
        (np.array(["ham", "spam", "-1"]), -1),
        (np.array(["ham", "spam", "?"]), "?"),
        (np.array(["ham", "spam", -1], dtype=object), -1),
        (np.array(["ham", "spam", "?"], dtype=object), "?"),
        (np.array(["ham", "spam", "-1"], dtype=object), -1),
        (np.array([0, 1, "?"], dtype=object), "?"),
    ],
    ids=str,
)
def test_labels_of_any_kind(cls, names, unlabelled):
    X, y = rows()
    plain = cls(gamma=0.3).fit(X, y)
    model = cls(gamma=0.3, unlabelled_label=unlabelled).fit(X, names[y])
    assert_array_equal(model.classes_, names[:2])
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert_array_equal(model.predict(X), names[plain.predict(X)])
    assert_array_equal(model.transduction_, names[plain.transduction_])
    assert model.transduction_.dtype.kind == names.dtype.kind
    assert_array_equal(plain.transduction_[15:], plain.predict(X[15:]))


def test_a_list_of_words_and_numbers():
    X, y = rows()
    model = TriClassSVC(gamma=0.3).fit(X, [-1 if code == -1 else ["no", "yes"][code] for code in y])
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("classes", "label", "kind"),
    [
        ([0, 1], 2, "i"),
        ([0.0, 1.0], 2, "f"),
        (["a", "b"], "neither", "U"),
        ([0, 1], "neither", "O"),
        (["a", "b"], 5, "O"),
    ],
)
def test_an_irrelevant_label_of_any_kind(classes, label, kind):
    """It need not occur in y, and stays what it is."""
    X, y = rows()
    model = TriClassSVC(gamma=0.3, irrelevant_label=label).fit(X[:15], np.array(classes)[y[:15]])
    f, said = model.decision_function(X), model.predict(X)
    assert said.dtype.kind == kind
    for value, one in zip(f, said.tolist(), strict=True):
        assert one == (label if abs(value) < 0.55 else classes[int(value > 0)])
    assert label in said.tolist()
    assert_array_equal(model.predict_relevant(X), np.array(classes)[(f > 0).astype(int)])


def test_rows_of_no_class_pull_the_boundary_to_them():
    X, y = rows()
    named = np.where(np.arange(40) >= 30, 5, y)
    model = UniversumSVC(C=10.0, epsilon=0.05, irrelevant_label=5, tol=1e-9).fit(X, named)
    without = UniversumSVC(C=10.0, epsilon=0.05, tol=1e-9).fit(X[:30], y[:30])
    assert np.abs(model.decision_function(X[30:])).mean() < 0.5 * np.abs(without.decision_function(X[30:])).mean()
    assert_array_equal(model.transduction_[30:], 5)


# --- weights ----------------------------------------------------------------------------------------------------------


@methods
def test_a_row_of_weight_0_is_absent(cls, row_weights):
    X, y = rows(60)
    y[[0, 4, 8]] = 7, 7, 9  # classes of absent rows only
    X[[0, 4]] *= 1e3  # which gamma="scale" must not see
    there = np.flatnonzero(row_weights)
    model = cls().fit(X, y, sample_weight=row_weights)
    alone = cls().fit(X[there], y[there], sample_weight=row_weights[there])
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.support_, there[alone.support_])
    assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.kernel_ == alone.kernel_
    assert_array_equal(model.transduction_[there], alone.transduction_)


@methods
def test_a_doubled_weight_is_a_repeated_row(cls):
    X, y = rows()
    twice = np.r_[np.arange(40), [1, 2, 20, 21]]
    weight = np.bincount(twice).astype(float)
    one = cls(gamma=0.3, tol=1e-10).fit(X, y, sample_weight=weight)
    other = cls(gamma=0.3, tol=1e-10).fit(X[twice], y[twice])
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)


@methods
def test_class_weights_multiply_c_but_not_that_of_unlabelled_rows(cls):
    X, y = rows()
    weight = np.select([y == 0, y == 1], [3.0, 0.5], 1.0)
    one = cls(C_unlabelled=0.1, gamma=0.3, class_weight={0: 3.0, 1: 0.5}).fit(X, y)
    assert_array_equal(
        one.decision_function(X), cls(C_unlabelled=0.1, gamma=0.3).fit(X, y, sample_weight=weight).decision_function(X)
    )
    n = np.bincount(y[y >= 0])
    balanced = cls(C_unlabelled=0.1, gamma=0.3, class_weight="balanced").fit(X, y)
    given = cls(C_unlabelled=0.1, gamma=0.3, class_weight={0: 15 / (2 * n[0]), 1: 15 / (2 * n[1])}).fit(X, y)
    assert_array_equal(balanced.decision_function(X), given.decision_function(X))


# --- refusals ---------------------------------------------------------------------------------------------------------

X, Y = rows()
THREE = np.where(np.arange(40) < 10, np.arange(40) % 3, -1)


@pytest.mark.parametrize(
    ("model", "y", "said"),
    [
        (TriClassSVC(C=0), Y, "TriClassSVC: C must be a number above 0, got 0."),
        (
            TriClassSVC(C_unlabelled=-1),
            Y,
            'TriClassSVC: C_unlabelled must be a number of at least 0 or "auto", got -1.',
        ),
        (TriClassSVC(epsilon=1.0), Y, "TriClassSVC: epsilon must be a number of at least 0 and below 1, got 1.0."),
        (TriClassSVC(init="zero"), Y, "TriClassSVC: init must be one of 'universum', 'svm', got 'zero'."),
        (S3VC(balance="0"), Y, "S3VC: balance must be a number or None, got '0'."),
        (S3VC(unlabelled_label=[1]), Y, r"S3VC: unlabelled_label must be a number or text or None, got \[1\]."),
        (
            UniversumSVC(irrelevant_label=-1),
            Y,
            "UniversumSVC: irrelevant_label must be another label than unlabelled_label, got -1 for both.",
        ),
        (
            UniversumSVC(irrelevant_label="-1"),
            np.array(["a", "b", "-1"])[np.arange(40) % 3],
            "UniversumSVC: irrelevant_label must be another label than unlabelled_label, got '-1' and -1, which are",
        ),
        (
            TriClassSVC(),
            np.where(Y == 0, -1, 1),
            r"TriClassSVC: y must hold at least two classes, got one class: 1 \(-1 means unlabelled\).",
        ),
        (
            TriClassSVC(irrelevant_label=1),
            Y,
            r"y must hold at least two classes, got one class: 0 \(-1 means unlabelled, 1 means irrelevant\).",
        ),
        (TriClassSVC(), np.full(40, -1), r"TriClassSVC: y must hold at least two classes, got no class \(-1 means"),
        (TriClassSVC(), Y[:5], "TriClassSVC: y must have one entry per row, got 5 for 40 rows."),
        (TriClassSVC(balance=0.1), np.arange(40) % 2, "TriClassSVC: balance must be None unless there are two classes"),
        (
            S3VC(balance=0.1),
            THREE,
            "S3VC: balance must be None unless there are two classes and unlabelled rows, got 0.1",
        ),
        (S3VC(class_weight={0: 0.0}), Y, "S3VC: class_weight must leave every class a weight above 0"),
        (S3VC(class_weight={5: 1.0}), Y, r"S3VC: class_weight must name classes among \[0, 1\], got 5."),
        (
            TriClassSVC(irrelevant_label=5, class_weight={5: -1.0}),
            Y,
            "TriClassSVC: class_weight must hold numbers of at least 0, got -1.0 for class 5.",
        ),
        (TriClassSVC(kernel="precomputed"), Y, "TriClassSVC: a precomputed kernel must be a square matrix in fit"),
    ],
)
def test_refusals_are_one_sentence_and_change_nothing(model, y, said):
    fitted = type(model)().fit(X, Y)
    before = fitted.decision_function(X)
    attributes = set(vars(fitted))
    fitted.set_params(**model.get_params(deep=False))
    with pytest.raises(ValueError, match=said) as refusal:
        fitted.fit(X, y)
    assert "\n" not in str(refusal.value)
    fitted.set_params(**type(model)().get_params(deep=False))
    assert_array_equal(fitted.decision_function(X), before)
    assert set(vars(fitted)) == attributes


# --- names and files --------------------------------------------------------------------------------------------------


@methods
@pytest.mark.parametrize(
    "params", [{}, {"kernel": "linear"}, {"kernel": "precomputed"}, {"kernel": Polynomial(2, 0.5)}], ids=str
)
def test_files_keep_all_that_predicts(cls, params, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    given = X @ X.T if params.get("kernel") == "precomputed" else frame
    names = np.array(["no", "yes", "?"])[Y]
    more = {} if cls is S3VC else {"irrelevant_label": "neither"}
    model = cls(unlabelled_label="?", **params, **more).fit(given, names)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.decision_function(given), model.decision_function(given))
    assert_array_equal(again.predict(given), model.predict(given))
    assert_array_equal(again.objectives_, model.objectives_)
    assert (again.n_iter_, again.dual_gap_) == (model.n_iter_, model.dual_gap_)
    assert getattr(again, "feature_names_in_", np.array([])).tolist() == ([] if given is not frame else ["a", "b", "c"])
    if given is frame:
        with pytest.raises(ValueError, match="feature names"):
            again.predict(frame[["b", "a", "c"]])


def test_several_classes_come_back_from_a_file(three_classes, tmp_path):
    X, y = three_classes
    model = TriClassSVC(unlabelled_label="c", irrelevant_label=None).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    model = TriClassSVC(init="svm").fit(X, np.where(np.arange(60) > 30, "-1", y))
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert [each.tolist() for each in again.objectives_] == [each.tolist() for each in model.objectives_]
    assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("classes_", np.array([1, 0]), "classes_ must be at least two, in order"),
        ("classes_", np.array([[0, 1]]), "classes_ must hold labels"),
        ("classes_", np.array([0, 1, 2]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([1.0, 2.0]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([np.nan]), "intercept_ must be float64 of shape"),
        ("dual_coef_", np.ones((2, 5)), "dual_coef_"),
        ("support_", np.array([3, 1]), "support_"),
        ("dual_gap_", -1.0, "dual_gap_ must be a number of at least 0"),
        ("n_iter_", 0, "n_iter_ an integer of at least 1"),
        ("_objectives", [[1.0, -2.0]], "the objectives must be lists of numbers of at least 0"),
        ("_objectives", [[1.0], [1.0]], "the objectives must be lists of numbers of at least 0"),
    ],
)
def test_a_file_whose_parts_do_not_belong_together_is_refused(name, value, said, tmp_path):
    model = TriClassSVC().fit(X, Y)
    setattr(model, name, value)
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=said):
        load_model(tmp_path / "m")
