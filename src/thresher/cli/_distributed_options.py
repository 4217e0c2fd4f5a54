"""``--engine``: the same commands on a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from ._options import files
from ._phrases import python_for_rounds
from ._report_output import check_tests, finish, save
from ._screen import Screen, StopSignal
from ._structure_options import late_words
from ._train_command import checkpoint_of, how_to_go_on
from ._training_job import TrainingJob, check_task, number_of, typed_classes

_HEAD = 1 << 20  # bytes of the first file that are looked at


def train_in_rounds(data: tuple[str, ...], method: Any, given: dict[str, Any], screen: Screen) -> None:
    """``thresher train --engine``: this process reads the head of the first file, and test files."""
    from .. import training
    from ..distributed import remove_checkpoint
    from ..streams import names_of

    if not (method.streams or hasattr(method.cls, "_round")):
        raise click.UsageError(f"{method.name} needs all rows at once, so --engine cannot distribute them.")
    names = [str(name) for name in names_of(files(data))]
    job = TrainingJob((names[0],), method, given, screen, max_bytes=_HEAD)
    seen = job.seen
    wanted, count = typed_classes(given["classes"])
    classes = _classes(method, seen, wanted, job.stream)
    model = job.make_model(lambda weights: _class_weight(weights, seen))
    options = {
        "n_rounds": given["n_rounds"],
        "mode": given["mode"] or "auto",
        "classes": classes,
        "n_shards": given["n_shards"],
        "reading": job.options,
        "shuffle": given["shuffle"] or 0,
        "random_state": given["random_state"] if given["shuffle"] else 0,
    }
    record = job.record(python_for_rounds(files(data), model, given["engine"], options))
    check_tests(given, record, method.task)
    begin = time.perf_counter()
    model = _fitted(model, names, options, given, screen)
    seconds = time.perf_counter() - begin
    record["distributed"] = model.record_["distributed"]
    model.record_ = record
    training.name_hashed_columns(model, job.stream)
    if save(model, given["model_path"]):
        remove_checkpoint(checkpoint_of(given["model_path"]))  # not before, or a full disk would cost all rounds
    counted = record["distributed"]["data"]
    facts = training.Facts(**{key: counted[key] for key in vars(training.Facts()) if key in counted})
    screen.remark(f"{facts.n_rows:,} rows in {len(record['distributed']['shards'])} shards, {seconds:.1f} s.")
    if count is not None and len(model.classes_) != count:
        screen.remark(f"--classes names {count} classes, but the rows have {len(model.classes_)} labels.")
    screen.remark(late_words(model))
    sample = seen.first, None if seen.y is None else seen.y[: seen.first.shape[0]]
    run = training.Run(model, training.History(), facts, None, sample, 0)
    stream = SimpleNamespace(paths=[Path(name) for name in names], layout=job.stream.layout)
    finish(screen, run, stream, given, record, seconds=seconds)


def _fitted(model: Any, names: list[str], options: dict[str, Any], given: dict[str, Any], screen: Screen) -> Any:
    """The model after all rounds. Ctrl-C waits for the end of the round; a second one does not."""
    from .. import distributed
    from ..distributed import is_checkpoint

    path: Path | None = given["model_path"]
    checkpoint = None if path is None else checkpoint_of(path)
    if given["resume"] and checkpoint is not None and not is_checkpoint(checkpoint):
        screen.remark("There is no checkpoint, so the run starts from the beginning.")
    kept = {"checkpoint": checkpoint, "keep_checkpoint": checkpoint is not None, "resume": given["resume"]}
    watch = {"progress": screen.watched, **kept}
    try:
        with (
            _in_one_sentence(checkpoint),
            StopSignal("Stopping after this round; press Ctrl-C again to stop at once.") as stop,
        ):
            return distributed.fit(model, names, engine=given["engine"], should_stop=stop, **options, **watch)
    except KeyboardInterrupt:
        if checkpoint is not None and not is_checkpoint(checkpoint):
            raise KeyboardInterrupt("No round was completed, so nothing was saved.") from None
        raise KeyboardInterrupt(how_to_go_on(checkpoint)) from None


@contextmanager
def searching_on(engine: str | None, *share: Any) -> Iterator[None]:
    """``thresher tune --engine``: candidates and folds go to the engine."""
    if engine is None:
        yield
        return
    from .. import distributed

    with _in_one_sentence(), distributed.backend(engine, share=share):
        yield


@contextmanager
def _in_one_sentence(checkpoint: Path | None = None) -> Iterator[None]:
    """Report missing packages and lost shards as errors of one sentence."""
    from ..distributed import ShardError, is_checkpoint

    try:
        yield
    except ImportError as missing:
        raise ValueError(str(missing)) from None
    except ShardError as lost:
        kept = checkpoint is not None and is_checkpoint(checkpoint)
        raise OSError(f"{lost}{' The model so far is saved; --resume continues from there.' if kept else ''}") from None


def _classes(method: Any, seen: Any, wanted: list[Any] | None, stream: Any) -> list[Any] | None:
    """The classes if they are named; otherwise all shards are read for them, because the first rows may lack some."""
    one = seen.labels is not None and len(seen.labels) == 1
    if not (method.task == "classification" and wanted is None and one):
        check_task(method, seen, wanted, None, stream)
    return None if wanted is None else check_task(method, seen, wanted, None, stream)


def _class_weight(given: Any, seen: Any) -> Any:
    """Weights by label; JSON has only words as keys."""
    if isinstance(given, str):
        raise click.UsageError(f"--class-weight {given} needs all rows to be counted; give a weight for each class.")
    if not isinstance(given, dict) or seen.is_text:
        return given
    return {number_of(label, "--class-weight"): weight for label, weight in given.items()}
