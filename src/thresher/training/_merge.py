"""One model from several that learned apart."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ._predictions import learner_of


def merge_models(models: Sequence[Any], start: Any = None, *, again: bool = False) -> Any:
    """Merge models that were trained separately, each on its own rows.

    Sums and precisions are added, means are weighted by precisions, and other weights are averaged in proportion to the
    numbers of rows. What the models have in common from the `start` counts once. The result differs from that of one
    pass over all rows, because each model learned from its own iterates.

    Parameters
    ----------
    models : list of estimators
        Models of the same type, with the same parameters and classes. Pipelines must have the same fitted transformers.
    start : estimator, optional
        The model that all of them started from; by default they started from scratch.
    again : bool, default=False
        Whether the start has learned from the same rows before. Adding up the changes of the models would then
        overshoot, so they are averaged instead; weights with variances in proportion to what each model gained in
        precision.

    Returns
    -------
    estimator
    """
    if not models:
        raise ValueError("merge_models: models must hold at least one model, got none.")
    for other in (*models[1:], *([] if start is None else [start])):
        _check_mergeable(models[0], other)
    learners = [learner_of(model) for model in models]
    begin = None if start is None else learner_of(start)
    if hasattr(learners[0], "_merged"):
        merged = deepcopy(models[0])
        learner_of(merged)._merged(learners[1:], begin)
    elif all(hasattr(learner, "state_") for learner in learners):
        widths = [learner.n_features_in_ for learner in learners]
        merged = deepcopy(models[widths.index(max(widths))])
        _merge_states(learner_of(merged), learners, begin, again)
    else:
        raise ValueError(f"merge_models: a {type(learners[0]).__name__} cannot be merged.")
    merged.record_ = {}
    return merged


def _merge_states(merged: Any, learners: list[Any], start: Any, again: bool) -> None:
    """Give a learner, which is one of the widest, the state that all of them make together."""
    states = [learner.state_ for learner in learners]
    begin = states[0].blank(merged.n_features_in_ + 1) if start is None else start.state_
    rows = [float(learner.n_samples_seen_ - begin.arrays["tally"][:, 0].max()) for learner in learners]
    if min(rows) < 0 or not sum(rows) > 0:
        raise ValueError("merge_models: the models must have learned from more rows than the start.")
    some = [i for i, n in enumerate(rows) if n > 0 or states[i].sizes != begin.sizes]  # no rows, no trace
    rule = merged._learner_now()
    merged.state_ = rule.merge(begin, [states[i] for i in some], [rows[i] for i in some], again)
    merged._weights_cache = None


def _check_mergeable(a: Any, b: Any) -> None:
    steps_a, steps_b = (list(dict(model.steps).values()) if hasattr(model, "steps") else [model] for model in (a, b))
    if [type(step) for step in steps_a] != [type(step) for step in steps_b]:
        raise ValueError("merge_models: the models must be of the same class.")
    for x, y in zip(steps_a, steps_b, strict=True):
        if repr(x) != repr(y):
            raise ValueError(f"merge_models: the parameters differ: {x!r} and {y!r}.")
        if not (x is steps_a[-1] and (hasattr(x, "state_") or hasattr(x, "_merged"))):
            _check_same_fit(x, y)
    for name, what in (("classes_", "classes"), ("tasks_", "tasks, in the same order")):
        if not np.array_equal(getattr(steps_a[-1], name, ()), getattr(steps_b[-1], name, ())):
            raise ValueError(f"merge_models: the models must have the same {what}.")
    names = [list(getattr(steps[0], "feature_names_in_", ())) for steps in (steps_a, steps_b)]
    n_both = min(map(len, names))
    if names[0][:n_both] != names[1][:n_both]:
        raise ValueError("merge_models: the models must have the same feature names, in the same order.")


def _check_same_fit(a: Any, b: Any) -> None:
    if not all(_equal(getattr(a, name, None), getattr(b, name, None)) for name in a._fitted):
        raise ValueError(
            f"merge_models: the {type(a).__name__} of the models saw different data, so their columns "
            "differ; train all models from one start, or without this step."
        )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)
