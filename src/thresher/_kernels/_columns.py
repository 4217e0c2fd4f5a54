"""The columns that a kernel compares: all of them, or some, by number or by name."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .._gate import at_least, beside, is_foreign_array, namespace

_MOST_NAMED = 4  # columns that a name lists one by one

says = "None, a column of X by number or name, or a list of different columns"


def as_features(features: Any) -> Any:
    """``features`` as a tuple of numbers or of names; other values as they are, for a rule to refuse."""
    if features is None:
        return None
    if isinstance(features, (str, Integral)):
        features = (features,)
    try:
        return tuple(one.item() if isinstance(one, np.generic) else one for one in features)
    except TypeError:
        return features


def are_features(features: Any) -> bool:
    if features is None:
        return True
    if not isinstance(features, tuple) or not features:
        return False
    of_one_kind = all(isinstance(one, str) for one in features) or all(map(at_least(0).holds, features))
    return of_one_kind and len(set(features)) == len(features)


def placed(features: Any, X: Any, names: Sequence[str] | None, who: str) -> tuple[int, ...] | None:
    """The numbers of the columns of ``X``, which has ``names``, that a kernel compares."""
    if features is None:
        return None
    if isinstance(features[0], str):
        if names is None:
            raise ValueError(f"{who}: features by name need rows with column names, got {features[0]!r}.")
        places = {str(name): place for place, name in enumerate(names)}
        for name in features:
            if name not in places:
                raise ValueError(f"{who}: features must be columns of X, got {name!r}.")
        features = tuple(places[name] for name in features)
    check_width(features, X.shape[1], who)
    return tuple(features)


def check_width(features: Any, width: int, who: str) -> None:
    if features is not None and max(features) >= width:
        raise ValueError(f"{who}: features must be columns of X, which has {width}, got {max(features)}.")


def pick(X: Any, features: tuple[int, ...] | None, who: str) -> Any:
    """The chosen columns, in the layout of ``X``."""
    if features is None:
        return X
    check_width(features, X.shape[1], who)
    if is_foreign_array(X):
        return namespace(X).take(X, beside(np.array(features), X), axis=1)
    return X[:, list(features)]


def describe_columns(features: Any, names: Sequence[str] | None) -> str:
    """Text for the name of a kernel, such as `` on petal width``."""
    if features is None:
        return ""
    if len(features) > _MOST_NAMED:
        return f" on {len(features)} columns"
    if names is not None or isinstance(features[0], str):
        return " on " + ", ".join(one if isinstance(one, str) or names is None else str(names[one]) for one in features)
    return f" on column{'s' if len(features) > 1 else ''} " + ", ".join(map(str, features))
