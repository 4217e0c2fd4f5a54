"""``thresher predict``: apply a model to files of any size."""

from __future__ import annotations

import contextlib
import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from ._options import files, output_options
from ._report_output import options_alike
from ._screen import Screen


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write predictions (default: stdout).",
)
@click.option("--scores", is_flag=True, help="Write decision values beside the predictions.")
@click.option("--skip-malformed", is_flag=True, help="Skip lines that cannot be read, and count them.")
@click.option(
    "--chunk", "batch_size", type=click.IntRange(1), default=4096, show_default=True, help="Rows read at a time."
)
@output_options
def predict(
    model_path: Path, data: tuple[str, ...], output: Path | None, scores: bool, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Predict each row of DATA with the model in MODEL.

    Writes CSV: a prediction per row, in the order of the rows. Columns of tables are found by name, and the target may
    be missing; where it is there, the error is reported too. With --json the summary comes as JSON; predictions then
    need --output.
    """
    from ..persistence import load_model
    from ..streams import open_stream

    if as_json and output is None:
        raise click.UsageError("--json puts the summary on stdout; give the predictions a place with --output.")
    screen = Screen(as_json, quiet)
    model = load_model(model_path)
    stream = open_stream(files(data), **options_alike(given, checked_record(model)))
    with _opened(output) as file, screen.progress("predicting", stream.n_bytes) as show:
        summary = _write(model, stream, csv.writer(file, lineterminator="\n"), scores, show)
    if stream.n_skipped:
        screen.remark(f"{stream.n_skipped:,} malformed lines were skipped; they have no prediction.")
    summary |= {"skipped": stream.n_skipped} | ({} if output is None else {"output": str(output)})
    if as_json:
        screen.result("", summary)
    else:
        said = f"{summary['n_rows']:,} rows predicted"
        if "n_of_no_class" in summary:
            said += f", {summary['n_of_no_class']:,} of them to be of no class"
        if "error" in summary:
            said += f"; {summary['error']:.2%} of those with a known answer are wrong"
        if "rmse" in summary:
            said += f"; root mean squared error {summary['rmse']:.6g}"
        screen.remark(said + ".")


def checked_record(model: Any) -> dict[str, Any]:
    """What a model file says of the data it was trained on. Files come from anywhere: only what has the right form is
    taken."""
    record = getattr(model, "record_", None)
    record = record if isinstance(record, dict) else {}
    layout, stream = record.get("layout"), record.get("stream")
    good: dict[str, Any] = {}
    if isinstance(layout, dict):
        names, kinds, target = layout.get("columns"), layout.get("kinds"), layout.get("target")
        if isinstance(layout.get("zero_based"), bool) or (
            (names is None or (isinstance(names, list) and all(isinstance(n, str) for n in names)))
            and isinstance(kinds, str)
            and (target is None or isinstance(target, (str, int)))
        ):
            good["layout"] = layout
    if isinstance(stream, dict):
        good["stream"] = {
            k: v for k, v in stream.items() if k in ("delimiter", "header") and isinstance(v, (str, bool))
        }
    return good


def _write(model: Any, stream: Any, writer: Any, scores: bool, show: Any) -> dict[str, Any]:
    import numpy as np
    from sklearn.base import is_regressor

    from ..training import is_known_label, is_no_class, match_labels, plain_label, predict_with_scores

    n_rejected = 0
    n_rows = n_known = 0
    wrong = 0.0
    regression = is_regressor(model)
    for batch in stream.batches():
        predicted, values = predict_with_scores(model, batch.X)
        if n_rows == 0:
            writer.writerow(_header(model, values if scores else None))
        columns: list[Any] = [[plain_label(p) for p in predicted.tolist()]]
        if scores and values is not None:
            columns += [values.tolist()] if values.ndim == 1 else list(zip(*values.tolist(), strict=True))
        writer.writerows(zip(*columns, strict=True))
        n_rows += len(batch)
        n_rejected += 0 if regression else int(is_no_class(model, predicted).sum())
        if batch.y is not None and (regression or hasattr(model, "classes_")):
            truth = match_labels(batch.y, model)
            # a folder may be no class
            known = np.ones(len(truth), bool) if regression else is_known_label(model, truth)
            n_known += int(known.sum())
            off = (predicted - truth) ** 2 if regression else predicted != truth
            wrong += float(np.sum(off[known]))
        show(stream.bytes_read, "")
    if n_rows == 0:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    summary: dict[str, Any] = {"n_rows": n_rows, "n_known": n_known}
    if not regression and _may_reject(model):
        summary["n_of_no_class"] = n_rejected
    if n_known:
        summary |= {"rmse": (wrong / n_known) ** 0.5} if regression else {"error": wrong / n_known}
    return summary


def _may_reject(model: Any) -> bool:
    """Whether some rows may be of no class."""
    from ..training import learner_of

    return any(getattr(learner_of(model), name, None) is not None for name in ("outlier_label", "irrelevant_label"))


def _header(model: Any, values: Any) -> list[str]:
    from ..training import plain_label

    if values is None:
        return ["prediction"]
    if values.ndim == 1:
        return ["prediction", "score"]
    return ["prediction", *(f"score {plain_label(label)}" for label in model.classes_.tolist())]


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[IO[str]]:
    """The place for predictions; a file appears when it is complete."""
    if path is None:
        yield sys.stdout
        return
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("w", newline="", encoding="utf-8") as file:
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
