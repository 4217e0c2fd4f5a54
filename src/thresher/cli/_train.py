"""``thresher train``: learn from files of any size."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from ._options import MethodCommand, data_options, files, method, method_params, output_options, stream_options
from ._screen import Screen, Stop
from ._words import command_line, essential, python_for_train, typed

_LARGE = 1 << 26
_SHOWN = ("measures", "clusters", "features", "stream", "tuning")  # the rest is in the report


@click.command(cls=MethodCommand)
@data_options
@click.option("--method", "method_name", metavar="NAME", default="arow", show_default=True, help="Which learner.")
@click.option("--classes", help="Number of classes, or their labels: 2, or no,yes (default: by looking).")
@click.option("--test", "tests", multiple=True, help="Files to measure the model on; may be repeated.")
@click.option(
    "--model", "model_path", type=click.Path(path_type=Path, dir_okay=False), help="Where to write the model."
)
@click.option(
    "--report",
    "report_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write a report: .html, .txt or .json.",
)
@click.option(
    "--passes",
    type=click.IntRange(1),
    help="How often to read the files (default: once; small files as often as the method likes).",
)
@click.option(
    "--shuffle",
    type=click.IntRange(0),
    help="Mix rows in runs of so many (default: one small file is mixed, all else stays in order).",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all that is random.")
@click.option("--scale/--no-scale", default=None, help="Standardise the columns (default: tables yes, sparse rows no).")
@click.option(
    "--categories",
    type=click.Choice(["onehot", "hash"]),
    default="onehot",
    show_default=True,
    help="How words become features.",
)
@click.option(
    "--checkpoint-every", type=click.FloatRange(0), default=30.0, show_default=True, help="Seconds between checkpoints."
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of a run that was stopped.")
@output_options
def train(data: tuple[str, ...], method_name: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn from DATA: files, patterns or folders of texts.

    Rows are read in chunks, so that files may be larger than memory. With --model, a checkpoint is kept beside the
    model: a run that was killed goes on with --resume, and ends in the same model bit for bit.
    """
    from .. import training
    from ..persistence import load_model, save_model
    from ..preprocessing import prepared
    from ..streams import open_stream

    screen = Screen(as_json, quiet)
    found = method(method_name)
    options = stream_options(given)
    plain = open_stream(files(data), **options)
    wanted, count = _classes(given["classes"])
    seen = training.look(plain, _LARGE, count)
    params = method_params(given, found.cls)
    if "random_state" in found.cls._param_rules:
        params["random_state"] = given["seed"]
    classes = _check_task(found, seen, wanted, count, plain.path.name)
    if params.get("class_weight") == "balanced" and found.streams:
        params["class_weight"] = _balanced(seen, classes)
    learner = found.cls(**params)
    model = prepared(learner, seen.first, scale=given["scale"], categories=given["categories"])
    passes, shuffle = _order(given, seen, learner, found, len(plain.paths), screen)
    stream = open_stream(files(data), **options, n_passes=passes, shuffle=shuffle, random_state=given["seed"])
    path: Path | None = given["model_path"]
    checkpoint = None if path is None else path.with_name(path.name + ".checkpoint")
    _check_places(path, given["report_path"])
    record = {
        "layout": stream.layout(),
        "stream": {key: value for key, value in options.items() if key in ("delimiter", "header", "format")},
        "command": command_line(essential(typed())),
        "python": python_for_train(files(data), options, model, classes, passes, shuffle, given["seed"]),
    }
    run: training.Run
    begin = time.perf_counter()
    if not found.streams:
        X, y = training.read_all(stream)
        model.fit(X, y)
        model.record_ = record
        facts = training.Facts(X.shape[0], X.shape[1])
        run = training.Run(model, training.History(), facts, None, (X, y), stream.n_skipped)
    else:
        if (
            given["resume"]
            and path is not None
            and path.exists()
            and checkpoint is not None
            and not checkpoint.exists()
        ):
            done = load_model(path)
            if getattr(done, "record_", {}).get("fingerprint") == training.fingerprint(model, stream, classes):
                screen.remark(f"{path.name} is complete; there is nothing left to do.")
                return
        try:
            with Stop() as stop, screen.progress("learning", stream.n_bytes) as show:

                def on_batch(history: Any, stream: Any) -> None:
                    rate = (
                        f"error so far {history.mistakes[-1] / history.rows[-1]:.2%}"
                        if found.task == "classification"
                        else ""
                    )
                    show(stream.bytes_read, rate)

                run = training.train(
                    model,
                    stream,
                    classes=classes,
                    checkpoint=checkpoint,
                    checkpoint_seconds=given["checkpoint_every"],
                    resume=given["resume"],
                    predict_first=not given["tests"],
                    record=record,
                    on_batch=on_batch,
                    should_stop=stop,
                )
        except training.Interrupted:
            raise KeyboardInterrupt(_how_to_go_on(checkpoint)) from None
    seconds = time.perf_counter() - begin
    screen.remark(f"{stream.n_bytes / 1e6:,.1f} MB learned from in {seconds:.1f} s.")
    if path is not None:
        save_model(run.model, path)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
    finish(screen, run, stream, given, record, seconds=seconds)


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
            "n_features": facts.n_features,
            "n_values": facts.n_values,
            "classes": facts.classes,
            "target": stream.layout().get("target"),
            "skipped": run.n_skipped,
        },
        history=run.history if run.history.rows else None,
        held_out=held_out,
        search=search,
        sample=sample,
    )
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


def _classes(text: str | None) -> tuple[list[Any] | None, int | None]:
    """Labels, or how many there are."""
    if text is None:
        return None, None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        if not parts[0].isdigit() or int(parts[0]) < 2:
            raise click.UsageError(f"--classes must be a number of at least 2, or labels such as no,yes, got {text!r}.")
        return None, int(parts[0])
    return parts, None


def _check_task(found: Any, seen: Any, wanted: list[Any] | None, count: int | None, name: str) -> list[Any] | None:
    if found.task == "clustering":
        return None
    if seen.y is None:
        raise ValueError(f"{name}: no target column; name one with --target.")
    if found.task == "regression":
        if seen.is_text:
            raise ValueError(f"{name}: the target holds words, but {found.name} predicts numbers; choose a classifier.")
        return None
    if wanted is not None:
        return sorted(wanted) if seen.is_text else sorted(_number(label, name) for label in wanted)
    if seen.labels is None or (seen.task == "regression" and len(seen.labels) > 50):
        raise ValueError(
            f"{name}: the target looks like a number to predict, not a class; "
            "choose a method that ends in -regressor, or list --classes."
        )
    if count is not None and len(seen.labels) != count:
        raise ValueError(f"{name}: --classes says {count}, but the rows looked at have {len(seen.labels)} labels.")
    if len(seen.labels) < 2:
        raise ValueError(f"{name}: all rows have the same class, {seen.labels[0]!r}; two are needed.")
    labels: list[Any] = seen.labels
    return labels


def _number(label: str, name: str) -> float:
    from ..training import plain

    try:
        return plain(float(label))  # type: ignore[no-any-return]
    except ValueError:
        raise ValueError(f"{name}: the labels are numbers, but --classes holds {label!r}.") from None


def _balanced(seen: Any, classes: list[Any] | None) -> dict[Any, float]:
    import numpy as np

    assert classes is not None
    counts = {label: int(np.sum(seen.y == label)) for label in classes}
    return {label: seen.n_rows / (len(counts) * max(count, 1)) for label, count in counts.items()}


def _order(given: dict[str, Any], seen: Any, learner: Any, found: Any, n_files: int, screen: Screen) -> tuple[int, int]:
    small = seen.whole and n_files == 1
    passes = given["passes"] or (getattr(learner, "max_iter", 1) if small and found.streams else 1)
    shuffle = given["shuffle"] if given["shuffle"] is not None else seen.n_rows if small and found.streams else 0
    if not shuffle and not seen.mixed and found.streams:
        screen.remark("Rows seem to be sorted by target; learners like them mixed (--shuffle 100000, or mix the file).")
    return passes, shuffle


def _check_places(*paths: Path | None) -> None:
    """Before hours of work: can the results be written?"""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist.")


def _how_to_go_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "No --model was given, so nothing is kept."
    again = command_line([arg for arg in typed() if arg != "--resume"] + ["--resume"])
    return f"What was learned is kept in {checkpoint}; go on with:\n  {again}"
