"""Multiple kernel learning by name, ours and MKLpy's, on the same stacks of kernel matrices.

A method takes C, a stack of mean diagonal 1 and labels -1 and 1, and returns the fit as a call. Ours scale kernels to
trace 1, so that their C is that of MKLpy's machines times the number of rows. They count no scores for probabilities,
which the peers do not offer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.mkl import GMKLClassifier, LpMKLClassifier, UniformMKLClassifier, simple_mkl_kernels

Array = np.ndarray[Any, Any]
Method = Callable[[float, Array, Array], Callable[[], Any]]
GRAM_STEPS = 20


def stacks(X: Array, train: Array, test: Array, which: Array | None = None) -> tuple[Array, Array]:
    """Kernel matrices of the training rows, and of test rows with them; columns standardised, mean diagonals 1."""
    X = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-12)
    kernels = simple_mkl_kernels(X[train])
    kernels = kernels if which is None else [kernels[k] for k in which]
    K, K_test = [], []
    for kernel in kernels:
        matrix = kernel(X[train])
        scale = np.trace(matrix) / len(matrix)
        if scale > 0:
            K.append(matrix / scale)
            K_test.append(kernel(X[test], X[train]) / scale)
    return np.array(K), np.array(K_test)


def kernels_in_use(model: Any) -> int:
    weights = model.weights_ if hasattr(model, "weights_") else np.asarray(model.model.solution.weights)
    return int((weights > 1e-9 * weights.max()).sum())


def _ours(make: Callable[[float], Any]) -> Method:
    def method(C: float, K: Array, y: Array) -> Callable[[], Any]:
        model = make(C)
        return lambda: _Ours(model.fit(K, y))

    return method


class _Ours:
    def __init__(self, model: Any) -> None:
        self.model, self.weights_ = model, model.weights_.ravel()

    def predict(self, K: Array) -> Array:
        return np.asarray(self.model.predict(K))


def _sum_and_svc(C: float, K: Array, y: Array) -> Callable[[], Any]:
    from sklearn.svm import SVC

    def fit() -> Any:
        mean = K.sum(axis=0)
        mean /= len(K)
        return _OfMean(SVC(C=C / K.shape[1], kernel="precomputed").fit(mean, y), np.full(len(K), 1 / len(K)))

    return fit


class _OfMean:
    """scikit-learn's SVC on the mean of all matrices."""

    def __init__(self, model: Any, weights: Array) -> None:
        self.model, self.weights_ = model, weights

    def predict(self, K: Array) -> Array:
        return np.asarray(self.model.predict(K.mean(axis=0)))


class _FromMKLpy:
    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, K: Array) -> Array:
        import torch

        return np.asarray(self.model.predict([torch.as_tensor(one) for one in K]))


def _mklpy(name: str, **options: Any) -> Method:
    def method(C: float, K: Array, y: Array) -> Callable[[], Any]:
        import torch
        from MKLpy import algorithms
        from sklearn.svm import SVC

        model = getattr(algorithms, name)(learner=SVC(C=C / K.shape[1]), **options)
        stack, labels = [torch.as_tensor(one) for one in K], torch.as_tensor(y)
        return lambda: _FromMKLpy(model.fit(stack, labels))

    return method


OURS: dict[str, Method] = {
    "GMKLClassifier, v=0.5": _ours(lambda C: GMKLClassifier("precomputed", 0.5, C, probability="none")),
    "GMKLClassifier, v=1 (L1-MKL)": _ours(lambda C: GMKLClassifier("precomputed", 1.0, C, probability="none")),
    "LpMKLClassifier, p=2": _ours(lambda C: LpMKLClassifier("precomputed", 2.0, C, probability="none")),
    "UniformMKLClassifier": _ours(lambda C: UniformMKLClassifier("precomputed", C, probability="none")),
}
MKLPY: dict[str, Method] = {
    "MKLpy EasyMKL": _mklpy("EasyMKL"),
    "MKLpy AverageMKL": _mklpy("AverageMKL"),
    f"MKLpy GRAM, {GRAM_STEPS} steps": _mklpy("GRAM", max_iter=GRAM_STEPS),
}
PLAIN: dict[str, Method] = {"sum, then SVC": _sum_and_svc}
METHODS = OURS | PLAIN | MKLPY
