"""Names of columns: read from data frames, kept by estimators, compared in scikit-learn's words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._frames import frame_names

_MOST, _LONGEST = 5, 40


def column_names(X: Any) -> np.ndarray[Any, Any] | None:
    """The names of the columns, if all of them are text."""
    found = frame_names(X)
    if found is None:
        return None
    names = np.empty(len(found), dtype=object)
    names[:] = found
    kinds = sorted({type(name).__name__ for name in names})
    if len(kinds) > 1 and "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you "
            "must convert them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you "
            "can remove feature / column names from your input data, or convert them all to a non-string data type."
        )
    return names if kinds == ["str"] else None


def similar_names(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a wrong name: those that are spelled much like it; empty if none is."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=3)
    return f"; similar names: {', '.join(close)}" if close else ""


def keep_names(estimator: Any, X: Any) -> None:
    """Remember the names of the columns, or that there are none."""
    names = column_names(X)
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_names(estimator: Any, X: Any) -> None:
    """Refuse columns that are not those of the fit, or not in their order."""
    known, names = getattr(estimator, "feature_names_in_", None), column_names(X)
    who = type(estimator).__name__
    if known is None and names is None:
        return
    if known is None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", UserWarning, stacklevel=4)
        return
    if names is None:
        warnings.warn(
            f"X does not have valid feature names, but {who} was fitted with feature names", UserWarning, stacklevel=4
        )
        return
    if len(known) == len(names) and (known == names).all():
        return
    message = "The feature names should match those that were passed during fit.\n"
    new, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if new:
        message += "Feature names unseen at fit time:\n" + _listed(new)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    if not new and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _listed(names: list[str]) -> str:
    lines = [f"- {name if len(name) <= _LONGEST else name[: _LONGEST - 3] + '...'}\n" for name in names[:_MOST]]
    return "".join(lines) + ("- ...\n" if len(names) > _MOST else "")
