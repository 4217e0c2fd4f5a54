"""``thresher inspect``, ``merge`` and ``methods``: the contents of model files, and all methods."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from .._figures import unmarked
from ._method_options import find_method
from ._options import FILE, Integer, option, output_options
from ._screen import Screen


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--n-features", type=Integer(0), default=20, help="Features to list.")
@output_options
def inspect(model_path: Path, n_features: int, as_json: bool, quiet: bool) -> None:
    """Show the contents of a model file: method, parameters, training data, and the features that matter."""
    from ..inspection import features_that_matter
    from ..persistence import load_model
    from ..training import learner_of

    model = load_model(model_path)
    learner = learner_of(model)
    features = features_that_matter(model, n_features) if n_features and hasattr(learner, "coef_") else []
    record = getattr(model, "record_", None) or {}
    facts = _learner(model, learner) | _structure(model, learner)
    if isinstance(record.get("training"), dict):
        facts["checkpoint"] = "of an unfinished run; continue with thresher train ... --resume"
    facts |= {key: record[key] for key in ("command", "python") if isinstance(record.get(key), str)}
    rows = [
        {"name": f.name, "weights": {str(k): v for k, v in f.weights.items()}, "deviation": f.deviation}
        for f in features
    ]
    Screen(as_json, quiet).result(_as_text(facts, rows), facts | {"features": rows, "record": record})


def _learner(model: Any, learner: Any) -> dict[str, Any]:
    """The class, its parameters, and the course of learning."""
    from ..training import written_label

    facts: dict[str, Any] = {
        "class": type(learner).__name__,
        "steps": [type(step).__name__ for _, step in getattr(model, "steps", [("", model)])],
        "parameters": {k: _shown(v) for k, v in learner.get_params(deep=False).items()},
        "n_features": int(learner.n_features_in_),
    }
    if hasattr(learner, "classes_"):
        facts["classes"] = [written_label(label) for label in learner.classes_.tolist()]
    if hasattr(learner, "state_"):
        facts["n_samples_seen"] = learner.n_samples_seen_
        facts["progressive_loss"] = learner.progressive_loss_
        facts["n_features_used"] = len(learner.support_)
        if hasattr(learner, "n_mistakes_"):
            facts["progressive_error"] = learner.n_mistakes_ / max(learner.n_samples_seen_, 1)
    return facts


def _structure(model: Any, learner: Any) -> dict[str, Any]:
    """Describe what training selected: groups in use, tasks and their shared features."""
    from ..inspection import groups_in_use, kernels_in_use

    facts: dict[str, Any] = {}
    if hasattr(learner, "race_") and len(learner.race_["n_rows"]) > 1:
        facts["chosen"] = learner._settled() | {"candidates": len(learner.race_["n_rows"])}
    if getattr(learner, "alpha", None) == "auto" and hasattr(learner, "penalty_"):
        facts["penalty"] = learner.penalty_
    if hasattr(learner, "selected_groups_"):
        facts["n_groups"] = len(learner.groups_) - len(learner.groups_.alone)
        facts["groups_in_use"] = [group.name for group in groups_in_use(model)]
    if hasattr(learner, "kernel_names_"):
        facts["n_kernels"] = len(learner.kernel_names_)
        facts["kernels_in_use"] = [kernel.name for kernel in kernels_in_use(model)]
    if hasattr(learner, "tasks_"):
        used = learner.coef_ != 0
        facts["tasks"] = learner.tasks_.tolist()
        facts["task_column"] = getattr(model, "task_column", None)
        facts["n_features_shared"] = int(used.all(axis=0).sum())
    return facts


def _shown(value: Any) -> Any:
    is_plain = isinstance(value, (bool, int, float, str, type(None), list, dict))
    return value if is_plain else " ".join(repr(value).split())


def _as_text(facts: dict[str, Any], features: list[dict[str, Any]]) -> str:
    lines = [f"{k.replace('_', ' '):18} {_in_line(v)}".rstrip() for k, v in facts.items() if k != "python"]
    if features:
        width = min(50, max(len(f["name"]) for f in features))
        lines += ["", "features that matter", *(_feature_line(f, width) for f in features)]
    return "\n".join(lines)


def _in_line(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{k}={_short(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value[:20])) + (", ..." if len(value) > 20 else "")
    return f"{value:.6g}" if isinstance(value, float) else value


def _feature_line(feature: dict[str, Any], width: int) -> str:
    weights = list(feature["weights"].items())
    shown = "  ".join(f"{k}: {v:+.4g}" if len(weights) > 1 else f"{v:+.4g}" for k, v in weights[:8])
    more = "  ..." if len(weights) > 8 else ""
    doubt = "" if feature["deviation"] is None else f"  (± {feature['deviation']:.2g})"
    name = " ".join(feature["name"].split())[:50]
    return f"  {name:{width}}  {shown}{more}{doubt}"


def _short(value: Any) -> str:
    text = repr(float(f"{value:.6g}") if isinstance(value, float) else value)
    return text if len(text) <= 200 else f"{text[:200]}..."


@click.command()
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--model model_path", FILE, "Where to write the model.", required=True)
@click.option("--start", type=click.Path(path_type=Path), help="The model that all of them started from.")
@output_options
def merge(models: tuple[Path, ...], model_path: Path, start: Path | None, as_json: bool, quiet: bool) -> None:
    """Merge MODELS that were trained separately, each on its own rows.

    They must have the same method, parameters and classes. Sums and precisions are added, other weights are averaged.
    """
    from .._output import check_no_input
    from ..persistence import load_model, save_model
    from ..training import learner_of, merge_models

    check_no_input(model_path, [*models, *([] if start is None else [start])])
    loaded = [load_model(path) for path in models]
    merged = merge_models(loaded, None if start is None else load_model(start))
    merged.record_ = {k: v for k, v in getattr(loaded[0], "record_", {}).items() if k in ("layout", "stream")}
    save_model(merged, model_path)
    n_rows, n_used = learner_of(merged).n_samples_seen_, len(learner_of(merged).support_)
    facts = {"models": len(loaded), "n_samples_seen": n_rows, "n_features_used": n_used, "model": str(model_path)}
    text = f"{len(loaded)} models of {n_rows:,} rows in all, merged into {model_path}"
    Screen(as_json, quiet).result(text, facts)


@click.command()
@click.argument("name", required=False)
@output_options
def methods(name: str | None, as_json: bool, quiet: bool) -> None:
    """List all methods, or the parameters of one."""
    Screen(as_json, quiet).result(*(_all_methods() if name is None else _one_method(find_method(name))))


def _all_methods() -> tuple[str, dict[str, Any]]:
    from .. import registry

    found = registry.methods()
    shown = ("name", "task", "streams", "needs", "losses")
    data = [{name: getattr(m, name) for name in shown} | {"summary": unmarked(m.summary)} for m in found]
    lines = []
    for task in dict.fromkeys(m.task for m in found):
        lines += [task, *(f"  {m.name:20} {_summary(m)}" for m in found if m.task == task), ""]
    lines.append(
        "`thresher methods NAME` shows the parameters of one. Those that do not need the whole file learn from streams."
    )
    return "\n".join(lines), {"methods": data}


def _one_method(m: Any) -> tuple[str, dict[str, Any]]:
    from .._gate import boolean

    parameters = {name: {"default": p.default, "is": unmarked(p.doc)} for name, p in m.cls._params.items()}
    lines = [f"{m.name}: {m.cls.__name__} in thresher.{m.family}, for {m.task}", _summary(m), ""]
    for name, p in m.cls._params.items():
        flag, rule = name.replace("_", "-"), re.sub("[\"']", "", p.rule.says) + "; "
        if p.rule is boolean:
            flag, rule = f"{flag}, --no-{flag}", ""
        tuned = f"; tuned in {m.space[name]!r}" if name in m.space else ""
        lines += [f"  --{flag}  [{rule}default: {p.default}{tuned}]", f"      {unmarked(p.doc)}"]
    return "\n".join(lines), {"name": m.name, "class": m.cls.__name__, "task": m.task, "parameters": parameters}


def _summary(m: Any) -> str:
    """The first line of a method's docstring, and the options for what it needs beside rows and targets."""
    from .._auto import STRUCTURE

    options = {need: "--" + option.replace("_", "-") for need, option in STRUCTURE.items()}
    asks = " and ".join(options.get(need, need) for need in m.needs)
    return unmarked(m.summary) + (f" [{asks}]" if asks else "")
