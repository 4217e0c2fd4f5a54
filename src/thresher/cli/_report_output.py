"""The end of a command that learns: measure, report, and say where everything is."""

from __future__ import annotations

from typing import Any

from ._options import files
from ._phrases import command_line, typed
from ._screen import Screen
from ._structure_options import penalty_of

_SHOWN = (
    "measures",
    "no_class",
    "clusters",
    "groups",
    "tasks",
    "features",
    "rounds",
    "stream",
    "tuning",
)  # not the whole report


def finish(
    screen: Screen,
    run: Any,
    stream: Any,
    given: dict[str, Any],
    record: dict[str, Any],
    search: Any = None,
    seconds: float | None = None,
) -> None:
    """Measure, report, and say where everything is."""
    from .. import training
    from ..report import Report
    from ..streams import open_stream

    held_out, sample = run.held_out, run.sample
    if given["tests"]:
        test = open_stream(files(given["tests"]), **options_alike(given, record))
        with screen.progress("measuring", test.n_bytes) as show:
            held_out, sample = training.evaluate(run.model, test, lambda s: show(s.bytes_read, ""))
    facts = run.facts
    report = Report(
        run.model,
        asked={
            "command": command_line(typed()),
            "python": record["python"],
            "seed": given["seed"],
            **record.get("asked", {}),
        },
        data={
            "files": [{"name": p.name, "bytes": p.stat().st_size if p.is_file() else None} for p in stream.paths],
            "n_rows": facts.n_rows,
            "n_features": facts.n_features - (getattr(run.model, "task_column", None) is not None),
            "n_values": facts.n_values,
            "classes": facts.classes,
            "target": stream.layout().get("target"),
            "skipped": run.n_skipped,
            "distributed": record.get("distributed"),
        },
        history=run.history if run.history.rows else None,
        held_out=held_out,
        search=search,
        sample=sample,
    )
    if held_out is not None and held_out.scores is None and _loses_to_the_mean(held_out):
        screen.remark("The mean of the targets would predict better: try a larger --alpha, or `thresher tune`.")
    if chosen := penalty_of(run.model):
        screen.remark(f"The penalty with the least progressive loss is {chosen}.")
    if run.n_skipped:
        screen.remark(f"{run.n_skipped:,} malformed lines were skipped.")
    if given["report_path"] is not None:
        report.save(given["report_path"])
    written = {"model": given["model_path"], "report": given["report_path"]}
    text = report.to_text(_SHOWN) + "".join(f"\n{what} written to {where}" for what, where in written.items() if where)
    timed = {} if seconds is None else {"seconds": seconds}
    places = {what: str(where) for what, where in written.items() if where}
    screen.result(text, report.to_dict() | timed | {"written": places})
    if given["model_path"] is None:
        screen.remark("The model was not kept; --model FILE writes it.")


def _loses_to_the_mean(held_out: Any) -> bool:
    import numpy as np

    if held_out.y.dtype.kind != "f" or held_out.predicted.dtype.kind != "f":
        return False
    return bool(np.mean((held_out.y - held_out.predicted) ** 2) > np.var(held_out.y) > 0)


def options_alike(given: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """How to read files like those the model was trained on."""
    kept = dict(record.get("stream") or {})
    kept.pop("format", None)
    layout = record.get("layout")
    return {
        **kept,
        "layout": layout if layout else None,
        "batch_size": given.get("batch_size", 4096),
        "skip_malformed": given.get("skip_malformed", False),
    }


def check_tests(given: dict[str, Any], record: dict[str, Any], task: str) -> None:
    """Opens the test files, which refuses those that cannot be read."""
    from ..streams import open_stream

    if given["tests"] and task == "clustering" and record["layout"].get("target") is None:
        raise ValueError("--test needs a target, by which clusters are measured, but there is none.")
    if given["tests"]:
        open_stream(files(given["tests"]), **options_alike(given, record))
