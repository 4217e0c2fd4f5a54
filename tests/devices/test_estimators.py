"""Estimators that learn where rows lie: the answers of NumPy to 1e-8, attributes of the kind of the rows, and the same
model files."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from thresher._gate import is_foreign_array, on_host
from thresher.cluster import KernelSpectralClustering, SparseKMeans
from thresher.kernels import (
    LSSVC,
    FixedSizeNystroem,
    LeastSquaresClassifier,
    LeastSquaresRegressor,
    LogisticClassifier,
)
from thresher.novelty import LSSNDClassifier
from thresher.persistence import load_model, save_model
from thresher.persistence._rebuilding import tensors_of
from thresher.semi_supervised import BiSemiKSC, LapSVC, SemiKSC

RNG = np.random.default_rng(0)
RING = RNG.normal(size=(150, 2))
RING *= np.where(np.arange(150) % 3, 1.0, 3.0)[:, None] / np.linalg.norm(RING, axis=1, keepdims=True)
RING += 0.1 * RNG.normal(size=RING.shape)
INSIDE = (np.arange(150) % 3 > 0).astype(np.int64)
THREE = INSIDE + (RING[:, 0] > 1)
FEW = np.where(np.arange(150) < 20, INSIDE, -1)
AMOUNT = RING[:, 0] ** 2 - RING[:, 1]


class Case(NamedTuple):
    model: Any
    y: Any
    methods: tuple[str, ...]


_CLASSES = ("decision_function", "predict", "predict_proba", "predict_log_proba")
_SCORES = ("decision_function", "predict", "transform")
CASES = {
    **{
        f"map by {selection}, {kernel}": Case(
            FixedSizeNystroem(kernel, n_components=20, selection=selection, random_state=0), None, ("transform",)
        )
        for selection, kernel in [
            ("entropy", "rbf"),
            ("random", "polynomial"),
            ("kmeans", "cosine"),
            ("entropy", "linear"),
        ]
    },
    "least squares": Case(LeastSquaresClassifier(), THREE, _CLASSES),
    "least squares, given penalty": Case(LeastSquaresClassifier(0.1, fit_intercept=False), INSIDE, _CLASSES),
    "regression": Case(LeastSquaresRegressor(), AMOUNT, ("predict",)),
    "logistic": Case(LogisticClassifier(), THREE, _CLASSES),
    "logistic without a constant": Case(LogisticClassifier(0.1, fit_intercept=False), INSIDE, _CLASSES),
    "LSSVC": Case(LSSVC(C=10.0, gamma=1.0), INSIDE, _CLASSES),
    "LSSVC of three": Case(LSSVC(C=100.0, fit_intercept=False), THREE, _CLASSES),
    "KSC": Case(KernelSpectralClustering(2, gamma=3.0), None, _SCORES),
    "KSC by neighbours": Case(KernelSpectralClustering(3), None, _SCORES),
    "KSC in blocks": Case(
        KernelSpectralClustering(2, gamma=3.0, eigen_solver="lanczos", cache_size=0.1), None, _SCORES
    ),
    "KSC by landmarks": Case(KernelSpectralClustering(2, gamma=3.0, n_components=40, random_state=0), None, _SCORES),
    "KSC by anchors": Case(KernelSpectralClustering(3, n_components=40, random_state=0), None, _SCORES),
    "SemiKSC": Case(SemiKSC(gamma=3.0, fit_intercept=True), FEW, _CLASSES),
    "SemiKSC by landmarks": Case(SemiKSC(gamma=3.0, n_components=40, random_state=0), FEW, _CLASSES),
    "SemiKSC by anchors": Case(SemiKSC(n_components=40, random_state=0), FEW, _CLASSES),
    "BiSemiKSC by landmarks": Case(
        BiSemiKSC(gamma=3.0, n_components=40, outlier_label=7, random_state=0), FEW, ("class_scores", "predict")
    ),
}
CASES |= {
    "LapSVC": Case(LapSVC(gamma=3.0), FEW, _CLASSES),
    "LapSVC by products": Case(LapSVC(gamma=3.0, solver="primal", inner="cg", tol=1e-12), FEW, _CLASSES),
    "LapSVC by landmarks": Case(
        LapSVC(gamma=3.0, solver="primal", n_components=40, weights="heat", graph_power=2, random_state=0),
        FEW,
        _CLASSES,
    ),
    "LapSVC of directions": Case(
        LapSVC(gamma=3.0, solver="primal", n_components=40, graph="full", metric="cosine", random_state=0),
        FEW,
        _CLASSES,
    ),
    "LS-SND": Case(LSSNDClassifier(), FEW, ("class_scores", "decision_function", "predict")),
    "LS-SND of a width": Case(
        LSSNDClassifier(gamma=3.0), THREE, ("class_scores", "decision_function", "predict_proba")
    ),
    "K-means": Case(SparseKMeans(3, random_state=0), None, ("predict", "transform")),
    "K-means of few features": Case(
        SparseKMeans(4, alpha=0.3, n_init=2, random_state=0), None, ("predict", "transform")
    ),
    "K-means of directions": Case(
        SparseKMeans(3, alpha=0.01, metric="cosine", init="random", random_state=0), None, ("predict", "transform")
    ),
}
COURSES = ("objective_history_", "objectives_", "_objectives/all")  # on the way there, rounding counts for more
INDICES = {
    "cluster_weights_",
    "objective_history_",
    "objectives_",
    "support_",
    "component_indices_",
    "classes_",
    "_indices",
    "_chosen",
    "_score_bins",
    "_score_clock",
}


def fitted(case, make=np.asarray, y=None):
    y = case.y if y is None else y
    model = clone(case.model)
    return model.fit(make(RING)) if y is None else model.fit(make(RING), y)


def public_arrays(model):
    names = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    return {name: value for name in names if hasattr(value := getattr(model, name), "dtype")}


def close(found, expected, rtol=1e-8):
    assert_allclose(on_host(found), on_host(expected), rtol=rtol, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_numpy(name, make):
    case = CASES[name]
    expected, found = fitted(case), fitted(case, make)
    for attribute, value in public_arrays(expected).items():
        here = getattr(found, attribute)
        close(here, value, 1e-5 if attribute in COURSES else 1e-8)
        assert is_foreign_array(here) == (attribute not in INDICES), attribute
    for method in case.methods:
        answers = getattr(found, method)(make(RING[:50]))
        assert is_foreign_array(answers)
        assert answers.device == make(RING).device
        close(answers, getattr(expected, method)(RING[:50]))


@pytest.mark.parametrize("name", CASES)
def test_model_files_are_those_of_numpy(name, make, tmp_path):
    case = CASES[name]
    expected, found = tensors_of(fitted(case)), fitted(case, make)
    assert expected.keys() == tensors_of(found).keys()
    for key, array in tensors_of(found).items():
        assert type(array) is np.ndarray
        assert (array.dtype, array.shape) == (expected[key].dtype, expected[key].shape)
        close(array, expected[key], 1e-5 if key.endswith(COURSES) else 1e-8)
    save_model(found, tmp_path / "model.thresher")
    loaded = load_model(tmp_path / "model.thresher")
    for method in case.methods:
        here = getattr(loaded, method)(RING)
        assert type(here) is np.ndarray
        close(getattr(found, method)(make(RING)), here)
        close(getattr(loaded, method)(make(RING)), here)  # what was saved works anywhere
        close(getattr(found, method)(RING), here)


@pytest.mark.parametrize("name", ["LSSVC", "SemiKSC by landmarks"])
def test_words_as_labels_and_weights_anywhere(name, make):
    case, weight = CASES[name], RNG.random(len(RING)) * (np.arange(150) % 7 > 0)
    words = np.array(["no", "yes", "-1"])[case.y]
    expected = clone(case.model).fit(RING, words, sample_weight=weight)
    found = clone(case.model).fit(make(RING), words, sample_weight=make(weight))
    close(found.dual_coef_, expected.dual_coef_)
    assert_array_equal(found.predict(make(RING)), expected.predict(RING))


@pytest.mark.parametrize(
    "name, attribute",
    [
        ("K-means of few features", "cluster_centers_"),
        ("logistic without a constant", "coef_"),
        ("LS-SND of a width", "dual_coef_"),
        ("LapSVC by landmarks", "dual_coef_"),
    ],
)
def test_weights_count_as_in_numpy(name, attribute, make):
    case, weight = CASES[name], np.random.default_rng(1).random(len(RING)) * (np.arange(150) % 7 > 0)
    options = {} if name.startswith("K-means") else {"probability": "none"}
    expected = clone(case.model).set_params(**options).fit(RING, case.y, sample_weight=weight)
    found = clone(case.model).set_params(**options).fit(make(RING), case.y, sample_weight=make(weight))
    close(getattr(found, attribute), getattr(expected, attribute))
    unweighted = clone(case.model).set_params(**options).fit(RING, case.y)
    assert not np.array_equal(getattr(unweighted, attribute), getattr(expected, attribute))


def test_clusters_of_batches(make):
    expected, found = (SparseKMeans(3, alpha=0.1, batch_size=40, random_state=0) for _ in range(2))
    for start in range(0, 150, 50):
        expected.partial_fit(RING[start : start + 50])
        found.partial_fit(make(RING[start : start + 50]))
    close(found.cluster_centers_, expected.cluster_centers_)
    close(found.labels_, expected.labels_)
    sums = found.cluster_sums(make(RING))
    close(sums.sums, expected.cluster_sums(RING).sums)
    close(found.move_centres(sums).cluster_centers_, expected.move_centres(sums).cluster_centers_)
    assert found.score(make(RING)) == pytest.approx(expected.score(RING), rel=1e-10)


def test_labels_anywhere(make):
    case = CASES["LSSVC"]
    model = fitted(case, make, make(INSIDE))
    close(model.dual_coef_, fitted(case).dual_coef_)
    assert model.score(make(RING), make(INSIDE)) == fitted(case).score(RING, INSIDE)


def test_batches_are_sampled_as_rows_at_once_are(make):
    expected = FixedSizeNystroem(gamma=1.0, n_components=12, random_state=0).fit(RING)
    found = FixedSizeNystroem(gamma=1.0, n_components=12, random_state=0)
    for start in range(0, 150, 50):
        found.partial_fit(make(RING[start : start + 50]))
    assert_array_equal(found.component_indices_, expected.component_indices_)
    close(found.transform(make(RING)), expected.transform(RING))


def test_a_pipeline_stays_where_its_rows_lie(make):
    pipeline = make_pipeline(
        FixedSizeNystroem(n_components=20, random_state=0), LeastSquaresClassifier(probability="none")
    )
    found = clone(pipeline).fit(make(RING), INSIDE)
    assert is_foreign_array(found[-1].coef_)
    close(found.decision_function(make(RING)), pipeline.fit(RING, INSIDE).decision_function(RING))


def test_models_are_pickled_with_their_arrays():
    torch = pytest.importorskip("torch")
    model = pickle.loads(pickle.dumps(fitted(CASES["KSC"], torch.asarray)))
    close(model.transform(torch.asarray(RING)), fitted(CASES["KSC"]).transform(RING))
