"""From the best parameters to the model: learn from all rows, keep the reasons."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._estimators import clone
from .._figures import plain
from ..registry import Method
from ..streams import Stream
from ..training import History, Run, learner_of, predict_in_folds, train
from ._candidate_model import describe_ids, describe_preparation
from ._contest import TunedCandidate
from ._data import TrainingData
from ._plan import Plan

_MOST_SAMPLED = 1000


def final_fit(
    best: TunedCandidate,
    plan: Plan,
    reasons: list[str],
    history: list[dict[str, Any]],
    predict: bool,
    record: dict[str, Any],
) -> Run:
    """Learn from all rows with the best parameters, and write down how they were found."""
    data, task, method = plan.data, plan.task, best.candidate.method
    stream, tuned_on = _stream_to_learn_from(method, plan)
    prepared = describe_preparation(best.model, plan) + describe_ids(data.X, task == "clustering", bool(data.files))
    made = {
        "task": task,
        "method": method.name,
        "kernel": best.candidate.kernel,
        "loss": getattr(learner_of(best.model), "loss", None),
        "criterion": plan.criterion,
        "params": plain(best.params),
        "score": best.score,
        "n_evaluations": len(history),
        "reasons": [*reasons, *prepared, _describe_params(best, plan), *tuned_on],
        "search": plain(history),
    }
    kept = record | {"auto": made} | ({"layout": data.layout} if data.layout else {})
    if stream is not None:
        classes = data.look.labels if task == "classification" else None
        return train(_for_stream(best.model, data), stream, classes=classes, predict_first=predict, record=kept)
    return _fit_in_memory(best.model, plan, predict, kept)


def _fit_in_memory(model: Any, plan: Plan, predict: bool, record: dict[str, Any]) -> Run:
    data, is_clustering = plan.data, plan.task == "clustering"
    X, y = data.rest if isinstance(data.rest, tuple) else (data.X, data.y)
    fitted = clone(model).fit(X, None if is_clustering else y)
    if data.files and data.is_sparse and hasattr(learner := learner_of(fitted), "_grown"):
        learner._grown = True  # other files of this kind may be wider or narrower
    fitted.record_ = {**record, "data": dict(vars(data.facts))}
    held_out = predict_in_folds(model, data.X, data.y, plan.folds) if predict and not is_clustering else None
    return Run(fitted, History(), data.facts, held_out, _sample(data), data.n_skipped)


def _stream_to_learn_from(method: Method, plan: Plan) -> tuple[Stream | None, list[str]]:
    """The files, if they hold more than memory and the model can learn from a stream; and a sentence on that."""
    data = plan.data
    if data.rest is None:
        return None, []
    tuned = f"Parameters were tuned on {data.X.shape[0]:,} of {data.facts.n_rows:,} rows"
    if not isinstance(data.rest, Stream):
        return None, [f"{tuned}, and the model learned from all of them."]
    if not method.streams:
        why_not = f"{method.name} needs all rows in memory"
    elif plan.task == "clustering":
        why_not = f"{method.name} needs no more to place its centres"
    elif plan.task == "classification" and not data.is_mixed:
        why_not = "the file is sorted by target, and one pass would forget the first rows; shuffle its lines to use all"
    else:
        return data.rest, [f"{tuned}, and the model learned from all of them in one pass."]
    return None, [f"{tuned}, and the model learned from these only, because {why_not}."]


def _for_stream(model: Any, data: TrainingData) -> Any:
    """A copy that knows what one batch does not tell: the frequencies of the classes, and good landmarks."""
    model = clone(model)
    learner = learner_of(model)
    Z, before = data.X, [step for _, step in getattr(model, "steps", [])[:-1]]
    if any(getattr(step, "_stays", False) for step in before):
        for step in before:
            Z = step.fit(Z).transform(Z)
    if getattr(learner, "class_weight", None) == "balanced":
        counts, labels = data.facts.classes, data.look.labels or []
        even = sum(counts.values()) / len(counts)
        learner.set_params(class_weight={label: even / counts[str(label)] for label in labels})
    return model


def _describe_params(best: TunedCandidate, plan: Plan) -> str:
    short = {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in best.params.items()}
    params = ", ".join(f"{name.rpartition('__')[2]}={value}" for name, value in short.items())
    title = f"Parameters: {params}" if params else "There was nothing to tune"
    return f"{title}; in cross-validation ({len(plan.folds)} folds): {plan.score_text(best.score)}."


def _sample(data: TrainingData) -> tuple[Any, Any]:
    """Some rows, evenly."""
    some = np.arange(0, data.X.shape[0], -(-data.X.shape[0] // _MOST_SAMPLED))
    return data.X[some], None if data.y is None else data.y[some]


# --- reasons ----------------------------------------------------------------------------------------------------------


def explain(model: Any) -> str:
    """Explain in plain words why :func:`auto` chose a model and its parameters.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        From :func:`auto`, or loaded from a file where such a model was saved.

    Returns
    -------
    str
        One reason per line.
    """
    record = (getattr(model, "record_", None) or {}).get("auto")
    if not isinstance(record, dict) or not isinstance(record.get("reasons"), list):
        raise ValueError("explain: model must come from thresher.auto, which keeps its reasons in record_.")
    return "\n".join(map(str, record["reasons"]))
