"""From the best parameters to the model: learn from all rows, keep the reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..streams import Stream
from ..training import History, Run, learner_of, predict_in_folds, train
from ._candidate_model import say_ids, say_preparation
from ._contest import Found, Plan
from ._data import Material

_MOST_SAMPLED = 1000


def finished(
    best: Found,
    material: Material,
    plan: Plan,
    reasons: list[str],
    history: list[dict[str, Any]],
    predict: bool,
    record: dict[str, Any],
) -> Run:
    """Learn with the parameters that were found, and write down how they were."""
    task = plan.task
    prepared = [
        *say_preparation(best.model, material, plan.wishes),
        *say_ids(material.X, task == "clustering", bool(material.files)),
    ]
    reasons = [*reasons, *prepared, _say_params(best, plan)]
    stream, why = _stream_to_learn_from(best, material, task)
    kept = {
        **record,
        "auto": {
            "task": task,
            "method": best.candidate.method.name,
            "kernel": best.candidate.kernel,
            "loss": getattr(learner_of(best.model), "loss", None),
            "criterion": plan.criterion,
            "params": to_json(best.params),
            "score": best.score,
            "n_evaluations": len(history),
            "reasons": reasons + why,
            "search": to_json(history),
        },
    }
    if material.layout:
        kept["layout"] = material.layout
    if stream is not None:
        classes = material.look.labels if task == "classification" else None
        return train(_for_stream(best.model, material), stream, classes=classes, predict_first=predict, record=kept)
    X, y = (material.X, material.y) if not isinstance(material.rest, tuple) else material.rest
    y = None if task == "clustering" else y
    model = clone(best.model).fit(X, y)
    if material.files and material.is_sparse and hasattr(learner := learner_of(model), "_grown"):
        learner._grown = True  # other files of this kind may be wider or narrower
    model.record_ = {**kept, "data": dict(vars(material.facts))}
    held_out = (
        predict_in_folds(best.model, material.X, material.y, plan.folds) if predict and task != "clustering" else None
    )
    return Run(model, History(), material.facts, held_out, _sample(material), material.n_skipped)


def _stream_to_learn_from(best: Found, material: Material, task: str) -> tuple[Stream | None, list[str]]:
    """The files, if there is more in them than in memory and the model can learn from a stream; and what to say."""
    n, part = material.facts.n_rows, material.X.shape[0]
    if material.rest is None:
        return None, []
    tuned = f"Parameters were tuned on {part:,} of {n:,} rows"
    if not isinstance(material.rest, Stream):
        return None, [f"{tuned}, and the model learned from all of them."]
    only = f"{tuned}, and the model learned from these only"
    if not best.candidate.method.streams:
        return None, [f"{only}, because {best.candidate.method.name} needs all rows in memory."]
    if task == "clustering":
        return None, [f"{only}, because {best.candidate.method.name} needs no more to place its centres."]
    if task == "classification" and not material.is_mixed:
        why = "the file is sorted by target, or in blocks alike, and one pass would forget; mix its lines to use all"
        return None, [f"{only}, because {why}."]
    return material.rest, [f"{tuned}, and the model learned from all of them in one pass."]


def _for_stream(model: Any, material: Material) -> Any:
    """A copy that knows what one batch does not tell: how often classes occur, and which rows are good landmarks."""
    model = clone(model)
    learner = learner_of(model)
    Z, before = material.X, [step for _, step in getattr(model, "steps", [])[:-1]]
    for step in before if any(getattr(step, "_stays", False) for step in before) else []:
        Z = step.fit(Z).transform(Z)
    if getattr(learner, "class_weight", None) == "balanced":
        counts, labels = material.facts.classes, material.look.labels or []
        even = sum(counts.values()) / len(counts)
        learner.set_params(class_weight={label: even / counts[str(label)] for label in labels})
    return model


def _say_params(best: Found, plan: Plan) -> str:
    said = ", ".join(f"{name.rpartition('__')[2]}={_short(value)}" for name, value in best.params.items())
    folds = f"{len(plan.folds)} folds"
    what = f"Parameters: {said}" if said else "There was nothing to tune"
    return f"{what}; in cross-validation ({folds}): {plan.says(best.score)}."


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def to_json(value: Any) -> Any:
    """A value in the types that JSON has."""
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _sample(material: Material) -> tuple[Any, Any]:
    """Some rows, evenly."""
    some = np.arange(0, material.X.shape[0], -(-material.X.shape[0] // _MOST_SAMPLED))
    return material.X[some], None if material.y is None else material.y[some]


# --- words ------------------------------------------------------------------------------------------------------------


def explain(model: Any) -> str:
    """Why :func:`auto` made the model as it is, in plain words.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        From :func:`auto`, or loaded from a file where such a model was saved.

    Returns
    -------
    str
        One reason per line.
    """
    found = (getattr(model, "record_", None) or {}).get("auto")
    if not isinstance(found, dict) or not isinstance(found.get("reasons"), list):
        raise ValueError("explain: model must come from thresher.auto, which keeps its reasons in record_.")
    return "\n".join(map(str, found["reasons"]))
