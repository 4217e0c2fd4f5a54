"""``thresher train``: learn from files of any size."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from . import _options as common
from ._device_option import check_method, device_of, device_option
from ._method_options import MethodCommand, find_method
from ._options import COUNT, Integer, Number, option
from ._phrases import command_line, python_for_train, typed
from ._report_output import check_tests, finish, save
from ._screen import Screen, StopSignal
from ._structure_options import check_structure, late_words, structure_options
from ._training_job import TrainingJob, check_task, class_weights, typed_classes

_SMALL = 20_000  # rows, up to which a model is measured in folds


@click.command(cls=MethodCommand)
@common.data_options
@option("--method method_name", None, "The learner.", metavar="NAME", default="arow")
@structure_options
@option("--classes", None, "Number of classes, or their labels: 2, or no,yes (default: detected).")
@common.result_options
@option("--max-iter", COUNT, "Passes over the rows (default: one, or the method's default for a small file).")
@option(
    "--shuffle",
    Integer(0),
    "Shuffle rows within blocks of this many (default: a single small file is shuffled, other data stay in order).",
)
@common.preparation_options
@click.option("--splines", is_flag=True, help="Learn a curve for each column of numbers: an additive model.")
@option("--checkpoint-seconds", Number(0), "Time between checkpoints.", default=30.0)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint of a run that was stopped.")
@common.round_options
@device_option
@common.output_options
def train(data: tuple[str, ...], method_name: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn from DATA: files, patterns, folders of tables or texts, or - for standard input.

    Rows are read in batches, so files may be larger than memory. With --model, a checkpoint is kept next to the model.
    If the run is killed, --resume continues it and gives the same model, bit for bit. With --engine, a model is trained
    on each file, on a cluster if you have one, and the models are merged.
    """
    from .. import _gate, training

    screen = Screen(as_json, quiet)
    method = find_method(method_name)
    check_structure(method, given)
    common.check_places(data, given)
    device = device_of(given["device"])
    if device is not None and given["engine"] is not None:
        raise click.UsageError("--device cuda is for one machine; --engine learns on the CPUs of a cluster.")
    if common.check_rounds(given):
        from ._distributed_options import train_in_rounds

        return train_in_rounds(data, method, given, screen)
    labels, n_labels = typed_classes(given["classes"])
    job = TrainingJob(data, method, given, screen, own_rows=True, n_labels=n_labels, keep_rows=_SMALL)
    seen = job.seen
    check_method(device, method, seen.first)
    classes = check_task(method, seen, labels, n_labels, job.stream)
    model = job.make_model(lambda weights: class_weights(weights, seen, classes, method.streams))
    at_once = not method.streams or (method.task == "clustering" and seen.whole)  # clusters are better for many steps
    at_once = at_once or device is not None
    order = {"max_iter": 1, "shuffle": 0} if at_once else _order(job, model)
    order["random_state"] = given["random_state"]
    record = job.record(python_for_train(job, model, classes, order, at_once))
    check_tests(given, record, method.task)
    small = seen.rows is not None and not given["tests"] and method.task != "clustering"
    begin = time.perf_counter()
    if at_once:
        X, y, weight = job.rows()
        with _gate.computing_on(device):
            model.fit(X, y, **weight)
        if not _gate.bring_home(model) and device is not None:
            screen.remark(
                "The model was trained on the CPU: text columns make rows sparse, which --device does not support."
            )
        run = fitted(model, X, y, job, record)
        training.name_hashed_columns(run.model, job.stream)
    else:
        run = _streamed(job, model, job.stream.replace(**order), classes, record)
    seconds = time.perf_counter() - begin
    size = f"{job.stream.n_bytes * order['max_iter'] / 1e6:,.1f} MB" if job.stream.n_bytes else "the rows of the query"
    screen.remark(f"Learned from {size} in {seconds:.1f} s.")
    screen.remark(late_words(run.model))
    if save(run.model, given["model_path"]):
        checkpoint_of(given["model_path"]).unlink(missing_ok=True)
    if small:
        with _gate.computing_on(device):
            run.held_out = _cross_validated(job, model, order["max_iter"])
    finish(screen, run, job.stream, given, record, seconds=seconds)


def _streamed(job: TrainingJob, model: Any, stream: Any, classes: Any, record: dict[str, Any]) -> Any:
    """Learn from the stream with checkpoints; a model that is complete already is taken as it is."""
    from .. import training
    from .._output import delete_drafts

    given = job.given
    path: Path | None = given["model_path"]
    checkpoint = None if path is None else checkpoint_of(path)
    if path is not None and checkpoint is not None and given["resume"]:
        delete_drafts(checkpoint)
        done = _complete(path, model, stream, classes) if path.exists() and not checkpoint.exists() else None
        if done is not None:
            job.screen.remark(f"{path.name} is complete; there is nothing left to learn.")
            return done

    def on_batch(history: Any, stream: Any) -> None:
        show(stream.bytes_read, so_far(history) if classes is not None else "")

    try:
        with StopSignal() as stop, job.screen.progress("learning", stream.n_bytes) as show:
            return training.train(
                model,
                stream,
                classes=classes,
                checkpoint=checkpoint,
                checkpoint_seconds=given["checkpoint_seconds"],
                resume=given["resume"],
                predict_first=not given["tests"] and job.seen.rows is None,
                positive=job.seen.rare_class(classes) if hasattr(model, "decision_function") else None,
                record=record,
                on_batch=on_batch,
                should_stop=stop,
            )
    except training.Interrupted:
        raise KeyboardInterrupt(how_to_go_on(checkpoint)) from None


def _complete(path: Path, model: Any, stream: Any, classes: Any) -> Any:
    """The run that wrote a model, if it was this one; else None."""
    from .. import training
    from ..persistence import load_model

    kept = getattr(done := load_model(path), "record_", {})
    if kept.get("fingerprint") != training.fingerprint(model, stream, classes):
        return None
    try:
        facts, history = training.Facts(**kept["data"]), training.History(**kept["history"])
    except (LookupError, TypeError):
        raise ValueError(f"{path.name}: the training record in the model file is damaged.") from None
    sample = training.read_all(stream.replace(max_iter=1), 1000, model=done)
    return training.Run(done, history, facts, None, sample, 0)


def _cross_validated(job: TrainingJob, model: Any, max_iter: int) -> Any:
    """Predictions of all rows by models of as many passes, each of which has not seen them."""
    from .._estimators import clone
    from ..training import predict_in_folds

    params = model.get_params() if job.method.streams else {}  # methods that need all rows choose their passes
    passes = {name: max_iter for name in params if name.rpartition("__")[2] == "max_iter"}
    X, y, weight = job.rows()
    model = clone(model).set_params(**passes)
    return predict_in_folds(model, X, y, random_state=job.given["random_state"], **weight)


def so_far(history: Any) -> str:
    """Progressive measures in one line."""
    error = f"error so far {100 * history.mistakes[-1] / history.rows[-1]:.2f} %"
    if not history.measures:
        return error
    f1, area, precision = (history.measures[name][-1] for name in ("f1", "roc_auc", "average_precision"))
    return f"{error}, F1 {f1:.3f}, AUROC {area:.3f}, AUPRC {precision:.3f}"


def fitted(model: Any, X: Any, y: Any, job: TrainingJob, record: dict[str, Any]) -> Any:
    """The run of a model that was fitted in memory."""
    from .. import training
    from .._gate import sparse

    if sparse.issparse(X) and "_grown" in getattr(model, "_fitted", ()):
        model._grown = True  # other files of this kind may be wider or narrower
    model.record_ = record
    facts = training.Facts.of(X, None)
    if hasattr(model, "classes_"):
        X, y = training.drop_unlabelled(model, X, y)  # rows without a label count, but are not a class
        facts = replace(facts, classes=training.Facts.of(X, y).classes)
    if job.n_unlabelled:
        n_values = facts.n_values * job.n_rows // (job.n_rows - job.n_unlabelled)
        facts = replace(facts, n_rows=job.n_rows, n_values=n_values, n_unlabelled=job.n_unlabelled)
    return training.Run(model, training.History(), facts, None, (X, y), job.n_skipped)


def checkpoint_of(path: Path) -> Path:
    return path.with_name(path.name + ".checkpoint")


def _order(job: TrainingJob, model: Any) -> dict[str, Any]:
    """Passes and shuffling: those given, or those of a small file that is read like rows in memory."""
    from ..training import learner_of

    given, seen = job.given, job.seen
    small = seen.whole and len(job.stream.paths) == 1
    passes = getattr(learner_of(model), "_n_passes", lambda n_rows: 1)
    max_iter = given["max_iter"] or (passes(seen.n_rows) if small else 1)
    shuffle = given["shuffle"] if given["shuffle"] is not None else seen.n_rows if small else 0
    if not shuffle and not seen.mixed:
        job.screen.remark("Rows seem to be sorted by target; shuffle them with --shuffle 100000, or shuffle the file.")
    return {"max_iter": max_iter, "shuffle": shuffle}


def how_to_go_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "No --model was given, so nothing was saved."
    again = command_line([arg for arg in typed() if arg != "--resume"] + ["--resume"])
    return f"The model so far is saved in {checkpoint}; continue with:\n  {again}"
