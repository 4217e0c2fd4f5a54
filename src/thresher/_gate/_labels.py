"""Labels <-> codes. A code is the place of a label in the sorted ``classes_``, as float64, which the core takes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._rules import non_negative, shown
from ._types import Array
from ._validation import as_column

Labels = np.ndarray[Any, Any]

_NO_LABELS = "Unknown label type: y must hold text, booleans or whole numbers"
_TABLE = 1 << 16  # integer labels closer together than this are looked up instead of searched


def _readable(y: Any, who: str) -> Labels:
    """Labels of supported types: integers, booleans, text, or whole numbers. Others could not be saved."""
    labels = as_column(y, who)
    if labels.dtype.kind == "O":
        labels = _of_objects(labels, who)
    if labels.dtype.kind not in "biufUSO":
        raise ValueError(f"{who}: {_NO_LABELS}, got {labels.dtype}.")
    if labels.dtype.kind == "f":
        whole = np.floor(labels) == labels
        if not whole.all():
            bad = labels[~whole][0]
            if np.isnan(bad):
                raise ValueError(f"{who}: y must hold labels, got NaN: Input y contains NaN.")
            raise ValueError(
                f"{who}: Unknown label type: y holds continuous values such as {bad}; maybe you want a regressor."
            )
        if np.isinf(labels).any():
            raise ValueError(f"{who}: y must hold labels, got infinity: Input y contains infinity.")
    return labels


def _of_objects(labels: Labels, who: str) -> Labels:
    """Text as it is, numbers as an array of numbers."""
    if any(label is None or not isinstance(label == label, bool | np.bool_) or label != label for label in labels):
        raise ValueError(f"{who}: y must hold labels, got None or NaN: Input y contains NaN.")
    strangers = [label for label in labels if not isinstance(label, str)]
    if not strangers:
        return labels
    odd = next((label for label in strangers if not isinstance(label, bool | np.bool_ | Real)), None)
    if odd is not None:
        raise ValueError(f"{who}: {_NO_LABELS}, got {odd!r:.60}.")
    if len(strangers) < len(labels):  # a mark for rows without a class, among words
        return labels
    numbers = np.array(labels.tolist())
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"{who}: {_NO_LABELS} of at most 64 bits, got {max(strangers, key=abs)!r:.60}.")
    return numbers


def find_classes(y: Any, who: str) -> tuple[Labels, Array]:
    """The sorted classes of ``y`` and the code of every row."""
    if (pair := _two_numbers(y)) is not None:
        return pair
    labels = _readable(y, who)
    if labels.dtype.kind in "iuf" and len(labels):
        low, high = labels.min(), labels.max()
        if int(high) - int(low) < _TABLE and abs(int(low)) < 2**62 and abs(int(high)) < 2**62:  # counting beats sorting
            places = labels.astype(np.int64) - int(low)
            values = np.flatnonzero(np.bincount(places))
            table = np.zeros(int(high) - int(low) + 1)
            table[values] = np.arange(len(values))
            return (values + int(low)).astype(labels.dtype), table[places]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(f"{who}: Unknown label type: y mixes labels that cannot be put in order.") from None
    return classes, codes.astype(np.float64)


def _two_numbers(y: Any) -> tuple[Labels, Array] | None:
    """The common case, in three sweeps: an array of numbers with two distinct values."""
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "iuf" or not len(y):
        return None
    low, high = y.min(), y.max()
    if low == high or not (np.isfinite(low) and np.isfinite(high) and low == np.floor(low) and high == np.floor(high)):
        return None
    codes = y == high
    if np.count_nonzero(y == low) + np.count_nonzero(codes) != len(y):
        return None
    return np.array([low, high], dtype=y.dtype), codes.astype(np.float64)


def encode(y: Any, classes: Labels, who: str) -> Array:
    """The code of every row; a label that is not among ``classes`` is refused."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuf"  # the everyday case
    labels = y if plain else _readable(y, who)
    if labels.dtype.kind in "US" and classes.dtype.kind == "O":
        labels = labels.astype(object)
    try:
        codes = np.minimum(classes.searchsorted(labels), len(classes) - 1)
        known = classes[codes] == labels
    except TypeError:  # words and numbers, which cannot be put in order
        known = np.array([label in classes.tolist() for label in labels.tolist()])
    if not np.logical_and.reduce(known):  # once per batch: all() is a call more
        if plain:
            _readable(y, who)  # which has more to say of NaN and fractions
        stranger = np.asarray(labels)[~np.asarray(known)][0]
        stranger = stranger.item() if isinstance(stranger, np.generic) else stranger
        among = shown(classes.tolist(), 300)
        advice = "; leave out rows without a label" if stranger in ("", None) else ""
        raise ValueError(f"{who}: y must hold labels among classes {among}, got {shown(stranger)}{advice}.")
    return codes.astype(np.float64)


def check_classes(classes: Any, who: str) -> Labels:
    """The classes given in the first ``partial_fit``."""
    if classes is None:
        raise ValueError(f"{who}: classes must be passed on the first call to partial_fit.")
    if isinstance(classes, (set, frozenset)) or np.ndim(classes) != 1 or len(classes) == 0:
        raise ValueError(f"{who}: classes must be a list of at least two labels, got {shown(classes)}.")
    try:
        labels, _ = find_classes(classes, who)
    except ValueError as error:
        raise ValueError(f"{who}: classes must be different labels: {error}") from None
    return at_least_two(labels, who)


def at_least_two(classes: Labels, who: str) -> Labels:
    if len(classes) < 2:
        raise ValueError(f"{who}: y must hold at least two classes, got one class: {classes.tolist()[0]!r}.")
    return classes


def check_loaded(classes: Any, who: str) -> None:
    """Refuse classes, as a file holds them, that are not such."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.dtype.kind not in "biufOUS":
        raise ValueError(f"{who}: classes_ must hold labels.")
    if len(classes) < 2 or not np.all(classes[1:] > classes[:-1]):
        raise ValueError(f"{who}: classes_ must be at least two, in order.")


def class_factors(class_weight: Any, classes: Labels, codes: Array, who: str) -> Array | None:
    """The weight that ``class_weight`` gives to each class, or None when it gives none."""
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        factors = np.ones(len(classes))
        for label, weight in class_weight.items():
            place = np.flatnonzero(classes == label)
            if not len(place):
                among = shown(classes.tolist(), 300)
                raise ValueError(f"{who}: class_weight must name classes among {among}, got {shown(label)}.")
            if not non_negative.holds(weight):
                raise ValueError(
                    f"{who}: class_weight must hold numbers of at least 0, got {weight!r} for class {label!r}."
                )
            factors[place[0]] = weight
        return factors
    return balanced(np.bincount(codes.astype(np.int64), minlength=len(classes)))


def balanced(counts: NDArray[Any]) -> Array:
    """The weights that balance classes with these counts."""
    return counts.sum() / (len(counts) * np.maximum(counts, 1.0))


def carrying(labels: Labels, label: Any) -> NDArray[np.bool_]:
    """The rows that carry a label: among words, the word for it ("-1" for -1); None is carried by no row."""
    none = np.zeros(len(labels), dtype=bool)
    if label is None or (labels.dtype.kind in "biuf" and isinstance(label, str)):
        return none
    word = str(int(label)) if not isinstance(label, str) and float(label).is_integer() else str(label)
    if labels.dtype.kind in "US":
        return np.asarray(labels.astype(str) == word)
    if labels.dtype.kind == "O":
        return np.array([one == (word if isinstance(one, str) else label) for one in labels], dtype=bool)
    numbers = labels.astype(np.int8) if labels.dtype.kind == "b" else labels  # NumPy takes no large integer for truth
    return np.asarray(numbers == label) if labels.dtype.kind in "biuf" else none


def joined(classes: Labels, label: Any) -> Labels:
    """Labels with one more at the end, as an array that holds them unchanged: of their type, if that can hold it."""
    one = np.asarray([label])
    kinds = {classes.dtype.kind, one.dtype.kind}
    if kinds <= set("iuf"):
        with np.errstate(invalid="ignore"):  # a number beyond the type becomes another one
            same = one.astype(classes.dtype)
        if same[0] == label:
            return np.append(classes, same)
    if len(kinds) == 1 or kinds <= set("iuf"):
        return np.concatenate([classes, one])
    return np.array([*classes.tolist(), label], dtype=object)
