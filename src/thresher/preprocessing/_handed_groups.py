"""Groups of features, handed from the transformers of a pipeline to its learner."""

from __future__ import annotations

from typing import Any


def hand_over_groups(transformers: list[Any], learner: Any) -> None:
    """Give a learner the groups of features that the step before it made of the same columns, if it asks for them, or
    the names of features, if its groups name them."""
    asked = getattr(learner, "groups", None)
    if asked is None or not transformers:
        return
    origins = _groups_of_features(transformers)
    if isinstance(asked, str) and asked == "encoder":
        if origins is not None:
            learner._groups_handed = origins
        return
    names = None
    for step in transformers:
        if not hasattr(step, "get_feature_names_out"):
            return
        names = step.get_feature_names_out(names)
    if names is not None:
        learner._columns_handed = [str(name) for name in names], origins


def _groups_of_features(transformers: list[Any]) -> list[str] | None:
    """For each feature of the last step the group that any of the steps put it in."""
    groups = getattr(transformers[-1], "groups_", None)
    earlier = [step for step in transformers[:-1] if hasattr(step, "groups_")]
    if groups is None and not earlier:
        return None
    names: Any = None
    known: dict[str, str] = {}
    for step in transformers:
        names = [str(name) for name in step.get_feature_names_out(names)]
        if step in earlier:
            known |= {name: group for name, group in zip(names, step.groups_, strict=True) if group}
    own = groups if groups is not None else [""] * len(names)
    return [group or known.get(name.removesuffix(" is missing"), "") for name, group in zip(names, own, strict=True)]
