"""Maps of the rows as the model sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimators import plain_transform
from .._figures import label, percent, plural, quoted
from .._gate import sparse
from ._measures import Array
from ._subject import Section, Subject

Codes = NDArray[np.intp]

MOST_COLOURS = 8
_GRID = 120


def plane(subject: Subject) -> Section | None:
    """Put the sample on the plane of its two main directions."""
    sample = subject.sample
    if sample is None or sample.n_rows < 3 or sample.Z.shape[1] < 2 or subject.task == "regression":
        return None
    places, kept = _principal_plane(sample.Z)
    if places is None:
        return None
    names, predicted, true = _coded(subject, sample.predicted, sample.y)
    true, predicted, groups = _few(true, predicted, names)
    section: Section = {
        "title": "A map of the rows",
        "x": places[:, 0],
        "y": places[:, 1],
        "groups": groups,
        "true": true,
        "predicted": predicted,
        "kept": kept,
    }
    says = f"{plural(sample.n_rows, 'row')} of the sample, laid out so that similar rows are close; "
    says += f"the plane keeps {percent(kept)} of their spread."
    if true is not None:
        wrong = int(np.count_nonzero(true != predicted))
        says += (
            f" True classes are on the left, predictions on the right: {plural(wrong, 'row differs', 'rows differ')}."
        )
    return section | {"says": says}


def _coded(subject: Subject, predicted: Any, true: Any) -> tuple[list[str], Codes, Codes | None]:
    """Return the names of the groups, and the group of each row as predicted and, of classes, in truth."""
    if subject.task == "clustering":
        names, codes = np.unique(predicted, return_inverse=True)
        return [f"cluster {label(name)}" for name in names], codes, None
    return subject.classes, subject.codes(predicted), None if true is None else subject.codes(true)


def _few(true: Codes | None, predicted: Codes, names: list[str]) -> tuple[Codes | None, Codes, list[str]]:
    """Join the smallest groups if there are more than colours."""
    if len(names) <= MOST_COLOURS:
        return true, predicted, names
    sizes = np.bincount(predicted if true is None else true, minlength=len(names))
    kept = np.sort(np.argsort(-sizes, kind="stable")[: MOST_COLOURS - 1])
    place = np.full(len(names), MOST_COLOURS - 1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    others = f"{len(names) - len(kept)} others"
    return None if true is None else place[true], place[predicted], [names[k] for k in kept] + [others]


def _principal_plane(Z: Any) -> tuple[Array | None, float]:
    """Return coordinates on the two directions of largest spread, and the part of the spread they carry."""
    if sparse.issparse(Z):
        present = np.unique(Z.indices)  # a wide sample has few columns that hold anything
        if len(present) < 2:
            return None, 0.0
        Z = Z.tocsc()[:, present].astype(np.float64)
        if Z.shape[1] > 50 and min(Z.shape) > 3:
            return _sparse_plane(sparse.csr_array(Z))
        Z = Z.toarray()
    Z = np.asarray(Z, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    spread = Z.std(axis=0)
    Z = Z[:, spread > 0] / spread[spread > 0]
    if Z.shape[1] < 2:
        return None, 0.0
    # the smaller of the two squares, rows or columns, has the same directions
    if Z.shape[1] <= Z.shape[0]:
        values, vectors = np.linalg.eigh(Z.T @ Z)
        places = Z @ _signed(vectors[:, -2:][:, ::-1])
    else:
        values, vectors = np.linalg.eigh(Z @ Z.T)
        places = _signed(vectors[:, -2:][:, ::-1]) * np.sqrt(np.maximum(values[-2:][::-1], 0))
    return places, float(values[-2:].sum() / values.sum())


def _sparse_plane(Z: Any) -> tuple[Array, float]:
    """Do the same without filling in zeros: columns are centred on the fly."""
    from scipy.sparse.linalg import LinearOperator, svds

    middle = np.asarray(Z.mean(axis=0)).ravel()
    ones = np.ones(Z.shape[0])
    centred = LinearOperator(
        Z.shape,
        matvec=lambda v: Z @ np.ravel(v) - ones * (middle @ np.ravel(v)),
        rmatvec=lambda u: Z.T @ np.ravel(u) - middle * np.ravel(u).sum(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).normal(size=min(Z.shape))
    left, values, _ = svds(centred, k=2, v0=start)
    order = np.argsort(-values)
    total = float((Z.data**2).sum() - Z.shape[0] * (middle @ middle))
    return _signed(left[:, order]) * values[order], float((values**2).sum() / total)


def _signed(vectors: Array) -> Array:
    """Make the largest entry of each direction positive, so that a map does not flip."""
    largest_entry = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest_entry < 0, -1.0, 1.0)


def regions(subject: Subject) -> Section | None:
    """Show the answers of the model over the plane, when rows have exactly two numeric columns."""
    sample = subject.sample
    if sample is None or subject.task == "regression" or subject.has_tasks:
        return None
    numbers = _two_columns(sample.X)
    if numbers is None:
        return None
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    axes = [np.linspace(a, b, _GRID) for a, b in zip(low - margin, high + margin, strict=True)]
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
    Z = subject.passed(_rows_like(sample.X, grid))
    answers = np.asarray(subject.learner.predict(Z))
    if subject.task == "classification" and not subject.knows(answers):  # no class, where no row of the sample is
        return None
    found, codes, true = _coded(subject, np.concatenate([answers, sample.predicted]), sample.y)
    cells, predicted = codes[: len(answers)], codes[len(answers) :]
    if not 1 < len(found) <= MOST_COLOURS:
        return None
    shares = np.bincount(cells, minlength=len(found)) / len(cells)
    big = int(shares.argmax())
    says = "The colour of each point is the class that the model predicts there; "
    says += f"{quoted(found[big])} has {percent(shares[big])} of it."
    if true is not None:
        n_wrong = int(np.count_nonzero(true != predicted))
        says += f" {plural(n_wrong, 'row lies', 'rows lie')} in the region of another class."
    return {
        "title": "Decision regions",
        "says": says,
        "names": _column_names(subject, sample.X),
        "groups": found,
        "low": low - margin,
        "high": high + margin,
        "cells": cells.reshape(_GRID, _GRID),
        "_leads": _leads(subject, Z, cells, len(found)).reshape(len(found), _GRID, _GRID),
        "x": numbers[:, 0],
        "y": numbers[:, 1],
        "true": predicted if true is None else true,
    }


def _leads(subject: Subject, Z: Any, cells: Codes, n_groups: int) -> Array:
    """Return by how much each group leads the best of the others at each place; above 0 in its region."""
    learner = subject.learner
    answered = scores = np.where(cells[:, None] == np.arange(n_groups), 1.0, 0.0)
    if subject.task == "classification" and hasattr(learner, "decision_function"):
        found = np.asarray(learner.decision_function(Z), dtype=np.float64)
        scores = np.stack([-found, found], axis=1) if found.ndim == 1 else found
    elif subject.task == "clustering" and hasattr(learner, "transform"):
        scores = -np.asarray(plain_transform(learner, Z), dtype=np.float64)
    if scores.shape[1] != n_groups or (scores.argmax(axis=1) != cells).mean() > 0.01:  # of something else
        scores = answered
    best = np.sort(scores, axis=1)
    others = np.where(scores == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return (scores - others).T


def _two_columns(X: Any) -> Array | None:
    if getattr(X, "shape", (0, 0))[1] != 2 or getattr(X, "text", None):
        return None
    try:
        numbers = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _rows_like(X: Any, numbers: Array) -> Any:
    """Put numbers in the form in which the model takes rows."""
    if hasattr(X, "number_names"):
        return type(X)(X.columns, numbers)
    if hasattr(X, "columns"):
        return type(X)(numbers, columns=X.columns) if hasattr(X, "iloc") else type(X)(numbers, schema=X.columns)
    return sparse.csr_array(numbers) if sparse.issparse(X) else numbers


def _column_names(subject: Subject, X: Any) -> list[str]:
    names: Any = getattr(X, "columns", None)
    if names is None:
        names = getattr(subject.model, "feature_names_in_", ("x1", "x2"))
    return [label(name) for name in names]
