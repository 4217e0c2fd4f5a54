"""From the best parameters to the model: learn from all rows, keep the reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._estimators import clone, is_fitted, plain_transform
from .._figures import plain
from ..registry import Method
from ..streams import Stream
from ..training import History, Run, learner_of, name_hashed_columns, predict_in_folds, train
from ._candidate_model import describe_ids, describe_preparation
from ._compared_rows import sampled
from ._data import TrainingData
from ._evaluation import Clock, TunedCandidate
from ._plan import Plan
from ._yardsticks import describe_better, describe_yardsticks

_MOST_SAMPLED = 1000
_FEWER_ROWS = (10_000, 3_000, 1_000, 300)
_LESS_DATA = "for lack of time, these models learned from fewer rows than the final one, which may be better"


def final_fit(
    best: TunedCandidate,
    plan: Plan,
    reasons: list[str],
    history: list[dict[str, Any]],
    yardsticks: list[dict[str, Any]],
    predict: bool,
    record: dict[str, Any],
    clock: Clock,
) -> Run:
    """Learn from all rows with the best parameters, and write down how they were found."""
    data, task, method = plan.data, plan.task, best.candidate.method
    stream, tuned_on = _stream_to_learn_from(method, plan)
    prepared = [each for one in _models_of(best.model) for each in describe_preparation(one, plan)]
    prepared = list(dict.fromkeys(prepared))
    prepared += describe_ids(data.X, task == "clustering", bool(data.files), data.facts.n_rows)
    better = describe_better(yardsticks, plan)
    made = {
        "task": task,
        "method": method.name,
        "kernel": best.candidate.kernel,
        "sum": _sum_of(best),
        "loss": getattr(learner_of(best.model), "loss", None),
        "criterion": plan.criterion,
        "params": plain(best.params),
        "score": best.score if len(best.fold_scores) else None,
        "n_evaluations": len(history),
        "reasons": [
            *reasons,
            *prepared,
            _describe_params(best, plan),
            *tuned_on,
            *better,
            *describe_yardsticks(yardsticks, plan),
        ],
        "search": plain(history),
        "yardsticks": plain(yardsticks),
        "better": better,
    }
    kept = record | {"auto": made} | ({"layout": data.layout} if data.layout else {})
    if stream is not None:
        classes = data.look.labels if task == "classification" else None
        return train(_for_stream(best.model, data), stream, classes=classes, predict_first=predict, record=kept)
    return _fit_in_memory(best, plan, predict, kept, clock)


def _fit_in_memory(best: TunedCandidate, plan: Plan, predict: bool, record: dict[str, Any], clock: Clock) -> Run:
    model, data, is_clustering = best.model, plan.data, plan.task == "clustering"
    X, y = data.rest if isinstance(data.rest, tuple) else (data.X, data.y)
    fitted = clone(model).fit(X, None if is_clustering else y, **data.fit_options())
    for one in map(learner_of, _models_of(fitted)):
        if data.files and data.is_sparse and hasattr(one, "_grown"):
            one._grown = True  # other files of this kind may be wider or narrower
    fitted.record_ = {**record, "data": dict(vars(data.facts))}
    if data.stream is not None:
        name_hashed_columns(fitted, data.stream)
    held_out = None
    if predict and not is_clustering:
        clock.tell("predicting rows by models that have not seen them, for the report")
        seen = _plan_in_time(best, plan, clock)
        held_out = predict_in_folds(model, seen.data.X, seen.data.y, seen.folds, **seen.data.fit_options())
        if held_out is not None and seen.data.X.shape[0] < data.X.shape[0]:
            held_out = replace(held_out, name=f"{held_out.name}; {_LESS_DATA}")
    return Run(fitted, History(), data.facts, held_out, _sample(data), data.n_skipped)


def _models_of(model: Any) -> list[Any]:
    """The models of a sum, or the model itself."""
    if not hasattr(model, "models"):
        return [model]
    return model.models_ if is_fitted(model) else [one for _, one in model.models]


def _sum_of(best: TunedCandidate) -> list[dict[str, Any]]:
    """The models of a sum by their names, with what their scores count; none if the answer is one model."""
    if not best.parts:
        return []
    return [
        {"name": part.candidate.name, "weight": float(weight), "params": plain(part.params)}
        for part, weight in zip(best.parts, best.model.weights, strict=True)
    ]


def _plan_in_time(best: TunedCandidate, plan: Plan, clock: Clock) -> Plan:
    """The plan, or one of fewer rows if its folds would take longer than the time that is left."""
    for n_rows in (plan.data.X.shape[0], *_FEWER_ROWS):
        part = sampled(plan, n_rows)
        if best.seconds_to_finish(part.data.X.shape[0]) * len(plan.folds) < max(clock.left_for_predictions, 0.0):
            break
    return part


def _stream_to_learn_from(method: Method, plan: Plan) -> tuple[Stream | None, list[str]]:
    """The files, if they hold more than memory and the model can learn from a stream; and a sentence on that."""
    data = plan.data
    if data.rest is None:
        return None, []
    tuned = f"Parameters were tuned on {data.X.shape[0]:,} of {data.facts.n_labelled:,} rows"
    if not isinstance(data.rest, Stream):
        return None, [f"{tuned}, and the final model was trained on all of them."]
    if not method.streams:
        why_not = f"{method.name} needs all rows in memory"
    elif plan.task == "clustering":
        why_not = f"{method.name} needs no more to place its centres"
    elif plan.task == "classification" and not data.is_mixed:
        why_not = "the file is sorted by target, and one pass would forget the first rows; shuffle its lines to use all"
    else:
        return data.rest, [f"{tuned}, and the final model was trained on all of them in one pass."]
    return None, [f"{tuned}, and the final model was trained on these only, because {why_not}."]


def _for_stream(model: Any, data: TrainingData) -> Any:
    """A copy with facts that one batch does not provide: the frequencies of the classes, and good landmarks."""
    model = clone(model)
    learner = learner_of(model)
    Z, before = data.X, [step for _, step in getattr(model, "steps", [])[:-1]]
    if any(getattr(step, "_stays", False) for step in before):
        for step in before:
            Z = plain_transform(step.fit(Z), Z)
    if getattr(learner, "class_weight", None) == "balanced":
        counts, labels = data.facts.classes, data.look.labels or []
        even = sum(counts.values()) / len(counts)
        learner.set_params(class_weight={label: even / counts[str(label)] for label in labels})
    return model


def _describe_params(best: TunedCandidate, plan: Plan) -> str:
    named = [(part.candidate.name if best.parts else "", _in_words(part.params)) for part in best.parts or (best,)]
    params = "; ".join(f"{name}: {words}" if name else words for name, words in named if words)
    title = f"Parameters: {params}" if params else "The chosen method has nothing to tune"
    if not len(best.fold_scores):
        return "Parameters follow from the data; nothing was tuned."
    return f"{title}; in cross-validation ({len(best.fold_scores)} folds): {plan.score_text(best.score)}."


def _in_words(params: dict[str, Any]) -> str:
    short = {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in params.items()}
    return ", ".join(f"{name.rpartition('__')[2]}={value}" for name, value in short.items())


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
