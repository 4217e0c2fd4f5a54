"""Classes as they are typed, and the check that data suit a method."""

from __future__ import annotations

from typing import Any

import click


def typed_classes(text: str | None) -> tuple[list[Any] | None, int | None]:
    """Labels, or how many there are."""
    if text is None:
        return None, None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        if not parts[0].isdigit() or int(parts[0]) < 2:
            raise click.UsageError(f"--classes must be a number of at least 2, or labels such as no,yes, got {text!r}.")
        return None, int(parts[0])
    return parts, None


def check_task(method: Any, seen: Any, wanted: list[Any] | None, count: int | None, name: str) -> list[Any] | None:
    """The classes, for a classifier; data that do not suit the method are refused."""
    if method.task == "clustering":
        return None
    if seen.y is None:
        raise ValueError(f"{name}: no target column; name one with --target.")
    if method.task == "regression" and seen.is_text:
        raise ValueError(f"{name}: the target holds words, but {method.name} predicts numbers; choose a classifier.")
    if method.task == "regression":
        return None
    if wanted is not None:
        return sorted(wanted) if seen.is_text else sorted(number_of(label, name) for label in wanted)
    return _found_classes(seen, count, name)


def _found_classes(seen: Any, count: int | None, name: str) -> list[Any]:
    labels: list[Any] | None = seen.labels
    if labels is None and seen.is_text:
        raise ValueError(f"{name}: the target has more than 1,000 different values; is it the right column?")
    if labels is None or (seen.task == "regression" and (len(labels) > 50 or not seen.has_whole_numbers)):
        raise ValueError(
            f"{name}: the target looks like a number to predict, not a class; "
            "choose a method that ends in -regressor, or list --classes."
        )
    if count is not None and len(labels) != count:
        raise ValueError(f"{name}: --classes says {count}, but the rows looked at have {len(labels)} labels.")
    if len(labels) < 2:
        raise ValueError(f"{name}: all rows have the same class, {labels[0]!r}; two are needed.")
    return labels


def number_of(label: str, name: str) -> float:
    from ..training import plain_label

    try:
        return plain_label(float(label))  # type: ignore[no-any-return]
    except ValueError:
        raise ValueError(f"{name}: the labels are numbers, but --classes holds {label!r}.") from None


def class_weights(given: Any, seen: Any, classes: list[Any] | None, streams: bool) -> Any:
    """Weights by label: as given (JSON has only words as keys), or, for a stream, equal totals of all classes."""
    import numpy as np

    assert classes is not None
    if isinstance(given, dict):
        known = {str(label): label for label in classes}
        return {known.get(str(key), key): value for key, value in given.items()}
    if not isinstance(given, str) or not streams:
        return given
    counts = {label: int(np.sum(seen.y == label)) for label in classes}
    return {label: seen.n_rows / (len(counts) * max(count, 1)) for label, count in counts.items()}
