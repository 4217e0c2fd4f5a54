"""``thresher train``: learn from files of any size."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ._classes import check_task, class_weights, typed_classes
from ._options import (
    MethodCommand,
    check_places,
    check_rounds,
    data_options,
    files,
    method,
    method_params,
    output_options,
    preparation_options,
    round_options,
    stream_options,
)
from ._phrases import command_line, essential, python_for_train, typed
from ._report_output import check_tests, finish
from ._screen import Screen, Stop
from ._structure_options import Columns, check_structure, late_words, structure_options, usual_groups

_LARGE = 1 << 26
_SMALL = 20_000  # rows, up to which a model is measured in folds


@click.command(cls=MethodCommand)
@data_options
@click.option("--method", "method_name", metavar="NAME", default="arow", show_default=True, help="Which learner.")
@structure_options
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
@preparation_options
@click.option(
    "--checkpoint-every", type=click.FloatRange(0), default=30.0, show_default=True, help="Seconds between checkpoints."
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of a run that was stopped.")
@round_options
@output_options
def train(data: tuple[str, ...], method_name: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn from DATA: files, patterns or folders of texts.

    Rows are read in chunks, so that files may be larger than memory. With --model, a checkpoint is kept beside the
    model: a run that was killed goes on with --resume, and ends in the same model bit for bit. With --engine, each file
    is learned from where the engine wills, and the models are merged, in as many --rounds as you like.
    """
    from sklearn.base import clone

    from .. import training
    from ..persistence import save_model
    from ..preprocessing import prepared
    from ..streams import open_stream

    given["quiet"] = quiet
    screen = Screen(as_json, quiet)
    found = method(method_name)
    check_structure(found, given)
    check_places(data, given)
    if check_rounds(given):
        from ._distributed_options import train_in_rounds

        return train_in_rounds(data, found, given, screen)
    options = stream_options({**given, "data": data}, found.task)
    plain = open_stream(files(data), **options)
    wanted, count = typed_classes(given["classes"])
    seen = training.look(plain, _LARGE, count)
    params = method_params(given, found.cls, seen)
    columns = Columns(data, options)
    task_column = columns.task(given["task_column"])
    params |= groups_for(found, columns, seen, given, screen)
    options |= columns.width(params.get("groups"), seen)
    plain = open_stream(files(data), **options)
    if "random_state" in found.cls._param_rules:
        params["random_state"] = given["seed"]
    classes = check_task(found, seen, wanted, count, plain.path.name)
    if isinstance(params.get("class_weight"), (str, dict) if found.streams else dict):
        params["class_weight"] = class_weights(params["class_weight"], seen, classes)
    learner = found.cls(**params)
    model = prepared(learner, seen.first, scale=given["scale"], categories=given["categories"], task_column=task_column)
    at_once = not found.streams or (found.task == "clustering" and seen.whole)  # clusters are better for many steps
    passes, shuffle = (1, 0) if at_once else _order(given, seen, learner, found, len(plain.paths), screen)
    stream = open_stream(files(data), **options, max_iter=passes, shuffle=shuffle, random_state=given["seed"])
    record = {
        "layout": stream.layout(),
        "stream": {key: value for key, value in options.items() if key in ("delimiter", "header", "format")},
        "command": command_line(essential(typed())),
        "python": python_for_train(files(data), options, model, classes, passes, shuffle, given["seed"], at_once),
    }
    check_tests(given, record, found.task)
    small = seen.whole and seen.n_rows <= _SMALL and not given["tests"] and found.task != "clustering"
    begin = time.perf_counter()
    if not at_once:
        rare = seen.rare_class(classes) if hasattr(model, "decision_function") else None
        predict_first = not given["tests"] and not small
        run = _streamed(model, stream, classes, record, given, predict_first, rare)
    else:
        X, y = training.read_all(stream)
        run = fitted(model.fit(X, y), X, y, stream, record)
    seconds = time.perf_counter() - begin
    screen.remark(f"{stream.n_bytes / 1e6:,.1f} MB learned from in {seconds:.1f} s.")
    if late_words(run.model):
        screen.remark(late_words(run.model))
    path: Path | None = given["model_path"]
    if path is not None:
        save_model(run.model, path)
        checkpoint_of(path).unlink(missing_ok=True)
    if small:
        X, y = training.read_all(plain)
        asked = model.get_params() if found.streams else {}  # what needs all rows decides on its passes alone
        passed = {name: passes for name in asked if name.rpartition("__")[2] == "max_iter"}
        run.held_out = training.predict_in_folds(clone(model).set_params(**passed), X, y, random_state=given["seed"])
    finish(screen, run, stream, given, record, seconds=seconds)


def groups_for(found: Any, columns: Columns, seen: Any, given: dict[str, Any], screen: Screen) -> dict[str, Any]:
    """The groups of columns, given or usual, as a parameter of the method."""
    groups, remark = columns.groups(given["groups"]), ""
    if groups is None:
        groups, remark = usual_groups(found.cls, seen.first, given["categories"])
    if remark:
        screen.remark(remark)
    return {} if groups is None else {"groups": groups}


def _streamed(
    model: Any, stream: Any, classes: Any, record: dict[str, Any], given: dict[str, Any], predict_first: bool, rare: Any
) -> Any:
    """Learn from the stream with checkpoints; what is complete already is taken as it is."""
    from .. import training
    from ..persistence import load_model

    path: Path | None = given["model_path"]
    checkpoint = None if path is None else checkpoint_of(path)
    screen = Screen(False, given["quiet"])
    if path is not None and checkpoint is not None and given["resume"]:
        for draft in checkpoint.parent.glob(f".{checkpoint.name}.*"):  # of a write that was killed
            draft.unlink(missing_ok=True)
        if path.exists() and not checkpoint.exists():
            kept = getattr(done := load_model(path), "record_", {})
            if kept.get("fingerprint") == training.fingerprint(model, stream, classes):
                screen.remark(f"{path.name} is complete; there is nothing left to learn.")
                facts, history = training.Facts(**kept["data"]), training.History(**kept["history"])
                return training.Run(done, history, facts, None, training.sample_of(stream), 0)
    try:
        with Stop() as stop, screen.progress("learning", stream.n_bytes) as show:

            def on_batch(history: Any, stream: Any) -> None:
                show(stream.bytes_read, so_far(history) if classes is not None else "")

            return training.train(
                model,
                stream,
                classes=classes,
                checkpoint=checkpoint,
                checkpoint_seconds=given["checkpoint_every"],
                resume=given["resume"],
                predict_first=predict_first,
                positive=rare,
                record=record,
                on_batch=on_batch,
                should_stop=stop,
            )
    except training.Interrupted:
        raise KeyboardInterrupt(how_to_go_on(checkpoint)) from None


def so_far(history: Any) -> str:
    """Progressive measures in one line."""
    error = f"error so far {history.mistakes[-1] / history.rows[-1]:.2%}"
    if not history.measures:
        return error
    f1, area, precision = (history.measures[name][-1] for name in ("f1", "roc_auc", "average_precision"))
    return f"{error}, F1 {f1:.3f}, AUROC {area:.3f}, AUPRC {precision:.3f}"


def fitted(model: Any, X: Any, y: Any, stream: Any, record: dict[str, Any]) -> Any:
    """What is known of a model that was fitted in memory."""
    from scipy import sparse

    from .. import training

    if sparse.issparse(X) and "_grown" in getattr(model, "_fitted", ()):
        model._grown = True  # other files of this kind may be wider or narrower
    model.record_ = record
    if not hasattr(model, "classes_"):
        return training.Run(model, training.History(), training.Facts.of(X, None), None, (X, y), stream.n_skipped)
    known, labels = training.drop_unlabelled(model, X, y)
    facts = training.Facts.of(known, labels)
    if len(labels) < len(y):  # rows without a label count, but are no class
        facts = replace(training.Facts.of(X, None), classes=facts.classes)
    return training.Run(model, training.History(), facts, None, (known, labels), stream.n_skipped)


def checkpoint_of(path: Path) -> Path:
    return path.with_name(path.name + ".checkpoint")


def _order(given: dict[str, Any], seen: Any, learner: Any, found: Any, n_files: int, screen: Screen) -> tuple[int, int]:
    small = seen.whole and n_files == 1
    passes = given["passes"] or (getattr(learner, "max_iter", 1) if small and found.streams else 1)
    shuffle = given["shuffle"] if given["shuffle"] is not None else seen.n_rows if small and found.streams else 0
    if not shuffle and not seen.mixed and found.streams:
        screen.remark("Rows seem to be sorted by target; learners like them mixed (--shuffle 100000, or mix the file).")
    return passes, shuffle


def how_to_go_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "No --model was given, so nothing is kept."
    again = command_line([arg for arg in typed() if arg != "--resume"] + ["--resume"])
    return f"What was learned is kept in {checkpoint}; go on with:\n  {again}"
