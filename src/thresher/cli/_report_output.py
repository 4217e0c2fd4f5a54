"""The end of a command that trains a model: measure, report, and name the files that were written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._options import files
from ._phrases import command_line, typed
from ._screen import Screen
from ._structure_options import penalty_of

# sections to print: not the whole report
_SHOWN = ("measures", "no_class", "clusters", "groups", "tasks", "features", "rounds", "stream", "tuning")


def finish(
    screen: Screen,
    run: Any,
    stream: Any,
    given: dict[str, Any],
    record: dict[str, Any],
    search: Any = None,
    seconds: float | None = None,
) -> None:
    """Measure, report, and name the files that were written."""
    from ..report import report_of
    from ..training import profile_run

    target = stream.layout().get("target")
    profile = profile_run(run, target, getattr(stream, "understood", None))
    if given["tests"]:
        run.held_out, run.sample = _evaluated(screen, run, given, record)
    asked = {"command": command_line(typed()), "python": record["python"], "seed": given["random_state"]}
    asked |= record.get("asked", {})
    report = report_of(
        run,
        [{"name": path.name, "bytes": path.stat().st_size if path.is_file() else None} for path in stream.paths],
        target=target,
        profile=profile,
        rounds=record.get("distributed"),
        asked=asked,
        search=search,
    )
    left_out = run.facts.describe_unlabelled()
    if left_out not in asked.get("reasons", ()):  # which are printed
        screen.remark(left_out)
    if chosen := penalty_of(run.model):
        screen.remark(f"The penalty with the smallest progressive loss is {chosen}.")
    if run.n_skipped:
        screen.remark(f"{run.n_skipped:,} malformed lines were skipped.")
    if given["report_path"] is not None:
        report.save(given["report_path"])
    written = {name: str(given[f"{name}_path"]) for name in ("model", "report") if given[f"{name}_path"] is not None}
    if screen.as_json:
        timed = {} if seconds is None else {"seconds": seconds}
        screen.result("", report.to_dict() | timed | {"written": written})
    else:
        where = "".join(f"\n{what} written to {where}" for what, where in written.items())
        screen.result(report.to_text(_SHOWN) + where, {})
    if "model" not in written:
        screen.remark("The model was not saved; --model FILE saves it.")


def save(model: Any, path: Path | None) -> bool:
    """Write the model if there is a place for it, and return whether there is."""
    from ..persistence import save_model

    if path is not None:
        save_model(model, path)
    return path is not None


def _evaluated(screen: Screen, run: Any, given: dict[str, Any], record: dict[str, Any]) -> Any:
    """Predictions of the test files, and a sample of their rows."""
    from ..streams import open_stream
    from ..training import evaluate

    test = open_stream(files(given["tests"]), **same_stream_options(given, record))
    with screen.progress("measuring", test.n_bytes) as show:
        return evaluate(run.model, test, lambda stream: show(stream.bytes_read, ""))


def same_stream_options(given: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments of ``open_stream`` for files like those the model was trained on."""
    kept = {name: value for name, value in (record.get("stream") or {}).items() if name != "format"}
    asked = {name: given[name] for name in ("batch_size", "encoding", "max_features") if given.get(name) is not None}
    return {**kept, **asked, "layout": record.get("layout") or None, "skip_malformed": given["skip_malformed"]}


def check_tests(given: dict[str, Any], record: dict[str, Any], task: str) -> None:
    """Refuse test files that cannot be read, by opening them."""
    from ..streams import open_stream

    if given["tests"] and task == "clustering" and record["layout"].get("target") is None:
        raise ValueError("--test needs a target, by which clusters are measured, but there is none.")
    if given["tests"]:
        open_stream(files(given["tests"]), **same_stream_options(given, record))
