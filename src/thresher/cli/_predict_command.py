"""``thresher predict``: apply a model to files of any size."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from ._device_option import device_of, device_option, takes_arrays
from ._options import FILE, FORMATS, check_data, files, option, output_options, reading_options
from ._report_output import same_stream_options
from ._screen import Screen


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1)
@option("--output -o", FILE, "Where to write predictions (default: stdout).")
@click.option("--scores", is_flag=True, help="Write decision values beside the predictions.")
@click.option("--probabilities", is_flag=True, help="Write the probability of each class beside the predictions.")
@option("--format", click.Choice(FORMATS), "Format of the files (default: by their name or first line).")
@reading_options
@device_option
@output_options
def predict(
    model_path: Path,
    data: tuple[str, ...],
    output: Path | None,
    scores: bool,
    probabilities: bool,
    device: str,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Predict each row of DATA with MODEL.

    Writes CSV with one prediction per row, in the order of the rows. Columns of tables are matched by name, and the
    target may be missing; if it is present, the error is reported, too. With --json, the summary is printed as JSON,
    and predictions need --output.
    """
    from .._gate import computing_on
    from ..persistence import load_model
    from ..streams import open_stream

    if as_json and output is None:
        raise click.UsageError("--json puts the summary on stdout; choose a file for the predictions with --output.")
    check_data(data, given)
    screen = Screen(as_json, quiet)
    place = device_of(device)
    model = load_model(model_path)
    if place is not None and not takes_arrays(model):
        raise click.UsageError("--device cuda must not be given: the model predicts on the CPU.")
    if probabilities and not hasattr(model, "predict_proba"):
        raise click.UsageError(f"--probabilities must not be given: {_lacks_probabilities(model)}.")
    source = {name: given[name] for name in ("format", "sheet", "sql", "database") if given[name] is not None}
    stream = open_stream(files(data), **same_stream_options(given, checked_record(model)), **source).without_scipy()
    inputs = [model_path, *stream.paths]
    with _opened(output, inputs) as file, screen.progress("predicting", stream.n_bytes) as show:
        writer = _PredictionWriter(model, csv.writer(file, lineterminator="\n"), scores, probabilities)
        for batch in stream.batches():
            with computing_on(place, predictions=True):
                writer.write(batch)
            show(stream.bytes_read, "")
        if writer.n_rows == 0:
            raise ValueError(f"{stream.path.name}: the file has no rows.")
    summary = writer.summary()
    if stream.n_skipped:
        screen.remark(f"{stream.n_skipped:,} malformed lines were skipped; they have no prediction.")
    if formulas := writer.formulas():
        screen.remark(f"The class {formulas[0]!r} is a formula to a spreadsheet; import the predictions there as text.")
    summary |= {"skipped": stream.n_skipped} | ({} if output is None else {"output": str(output)})
    if as_json:
        screen.result("", summary)
    else:
        screen.remark(_in_words(summary))


def _lacks_probabilities(model: Any) -> str:
    """The reason why a model has none."""
    from .._estimators import task_of

    if task_of(model) != "classification":
        return "the model has no classes"
    return "the model was trained without probabilities, or by a version that had none"


def _in_words(summary: dict[str, Any]) -> str:
    n_rows = summary["n_rows"]
    sentence = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'} predicted"
    if "n_of_no_class" in summary:
        sentence += f", {summary['n_of_no_class']:,} of them as belonging to no class"
    if "error" in summary:
        sentence += f"; {100 * summary['error']:.2f} % of the predictions with a known target are wrong"
    if "rmse" in summary:
        sentence += f"; root mean squared error {summary['rmse']:.6g}"
    return sentence + "."


def checked_record(model: Any) -> dict[str, Any]:
    """The record of the training data in a model file. Files are untrusted, so only entries of the right form are
    used."""
    record = getattr(model, "record_", None)
    record = record if isinstance(record, dict) else {}
    layout, stream = record.get("layout"), record.get("stream")
    good: dict[str, Any] = {}
    if isinstance(layout, dict):
        names, kinds, target = layout.get("columns"), layout.get("kinds"), layout.get("target")
        hashed = layout.get("hashed_columns")
        if (
            isinstance(layout.get("zero_based"), bool)
            or (type(hashed) is int and hashed >= 1)
            or (
                (names is None or (isinstance(names, list) and all(isinstance(n, str) for n in names)))
                and isinstance(kinds, str)
                and (target is None or isinstance(target, (str, int)))
            )
        ):
            good["layout"] = layout
    if isinstance(stream, dict):
        good["stream"] = {
            k: v for k, v in stream.items() if k in ("delimiter", "header") and isinstance(v, (str, bool))
        }
    return good


_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # signs that a cell begins with


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _PredictionWriter:
    """Writes a row of CSV for each prediction, and compares with the targets where they are known."""

    def __init__(self, model: Any, writer: Any, scores: bool, probabilities: bool) -> None:
        from .._estimators import task_of

        self._model, self._writer, self._scores, self._probabilities = model, writer, scores, probabilities
        self._regression = task_of(model) == "regression"
        self.n_rows = self._n_known = self._n_rejected = 0
        self._wrong = 0.0

    def write(self, batch: Any) -> None:
        from .._gate import on_host
        from ..training import is_no_class, predict_with_scores, written_label

        predicted, scores = map(on_host, predict_with_scores(self._model, batch.X))
        columns: list[Any] = [[written_label(p) for p in predicted.tolist()]]
        header = ["prediction"]
        if self._scores and scores is not None:
            several = scores.ndim > 1
            columns += list(zip(*scores.tolist(), strict=True)) if several else [scores.tolist()]
            header += [f"score {written_label(k)}" for k in self._model.classes_.tolist()] if several else ["score"]
        if self._probabilities:
            columns += on_host(self._model.predict_proba(batch.X)).T.tolist()
            header += [f"probability {written_label(k)}" for k in self._model.classes_.tolist()]
        if self.n_rows == 0:
            self._writer.writerow(header)
        self._writer.writerows(zip(*columns, strict=True))
        self.n_rows += len(batch)
        if not self._regression:
            self._n_rejected += int(is_no_class(self._model, predicted).sum())
        if batch.y is not None and (self._regression or hasattr(self._model, "classes_")):
            measured = batch.row_weights() > 0
            self._compare(predicted[measured], batch.y[measured])

    def formulas(self) -> list[str]:
        """The classes that a spreadsheet would compute instead of showing them."""
        words = [str(each) for each in getattr(self._model, "classes_", ()) if isinstance(each, str)]
        return [each for each in words if each.startswith(_FORMULA) and not _is_number(each)]

    def _compare(self, predicted: Any, y: Any) -> None:
        import numpy as np

        from ..streams import has_target
        from ..training import is_known_label, match_labels

        there = has_target(y)
        predicted, truth = predicted[there], match_labels(y[there], self._model)
        wrong = (predicted - truth) ** 2 if self._regression else predicted != truth
        known = ~np.isnan(truth) if self._regression else is_known_label(self._model, truth)  # a folder may be no class
        wrong = wrong[known]
        self._n_known += len(wrong)
        self._wrong += float(wrong.sum())

    def summary(self) -> dict[str, Any]:
        from ..training import learner_of

        summary: dict[str, Any] = {"n_rows": self.n_rows, "n_known": self._n_known}
        marks = [getattr(learner_of(self._model), name, None) for name in ("outlier_label", "irrelevant_label")]
        if not self._regression and any(mark is not None for mark in marks):  # some rows may be of no class
            summary["n_of_no_class"] = self._n_rejected
        if self._n_known:
            mean = self._wrong / self._n_known
            summary |= {"rmse": mean**0.5} if self._regression else {"error": mean}
        return summary


@contextlib.contextmanager
def _opened(path: Path | None, inputs: list[Path]) -> Iterator[Any]:
    """The place for predictions; a file appears when it is complete."""
    from .._output import writing

    if path is None:
        yield _Terminal(sys.stdout) if sys.stdout.isatty() else sys.stdout
        return
    with writing(path, inputs=inputs) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(ValueError, OSError):  # what could not be written is known by now
                text.detach()


class _Terminal:
    """A terminal, on which labels from files must not act: signs that control it are written as they are in Python."""

    def __init__(self, screen: IO[str]) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        return self._screen.write("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text))
