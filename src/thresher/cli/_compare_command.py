"""``thresher compare``: several methods over repeated runs on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import _options as common
from ._method_options import check_param, find_method
from ._options import COUNT, FILE, Number, option
from ._screen import Screen
from ._training_job import check_task

_PICTURES = (".svg", ".png", ".pdf")


@click.command()
@common.data_options
@option(
    "--methods names",
    None,
    "The learners, separated by commas, with parameters after colons: arow,l1rda:alpha=0.01.",
    metavar="NAMES",
    required=True,
)
@option("--repeats", COUNT, "Number of repeats.", default=10)
@option(
    "--vary",
    click.Choice(["splits", "orders"]),
    "Test each run on other rows (splits), or on the same rows after training in another order (orders).",
    default="splits",
)
@option("--test-size", Number(0, 1, True, True), "The share of the rows to test on.", default=0.25)
@option(
    "--scoring",
    None,
    "The measure: a criterion of `thresher tune` or a scorer of scikit-learn; may be repeated.",
    multiple=True,
)
@option("--plot", FILE, "Where to write a box plot: .svg, .png or .pdf.")
@common.sample_options
@common.preparation_options
@common.output_options
def compare(data: tuple[str, ...], as_json: bool, quiet: bool, **given: Any) -> None:
    """Compare methods on DATA over repeated runs. In each run, all methods learn from the same rows.

    Methods have their default parameters unless you give others; `thresher tune` finds better ones.
    """
    from .. import training
    from .._auto import CRITERIA
    from ..compare import compare as repeated
    from ..preprocessing import prepared
    from ..streams import open_stream

    screen = Screen(as_json, quiet)
    common.check_data(data, given)
    wanted = _methods(given["names"])
    _check_picture(given["plot"])
    first = next(iter(wanted.values()))[0]
    stream = open_stream(common.files(data), **common.stream_options(data, given, first.task))
    seen = training.look(stream, keep_rows=given["max_rows"])
    for method, _ in wanted.values():
        check_task(method, seen, None, None, stream)
    made = {"scale": given["scale"], "categories": given["categories"]}
    learners = {name: prepared(method.cls(**params), seen.first, **made) for name, (method, params) in wanted.items()}
    learner = next(iter(learners.values()))
    if seen.rows is None:
        X, y = training.read_all(stream, given["max_rows"], model=learner)
    else:
        X, y = training.rows_to_learn(learner, *seen.rows)
    if first.task != "clustering":
        screen.remark(seen.describe_unlabelled())
    runs = repeated(
        learners,
        X,
        y,
        scoring=list(given["scoring"]) or [next(iter(CRITERIA[first.task]))],
        progress=screen.watched,
        **{name: given[name] for name in ("repeats", "vary", "test_size", "random_state", "n_jobs")},
    )
    if given["plot"] is not None:
        runs.plot(given["plot"])
        screen.remark(f"Box plot of {runs.measures[0]} written to {given['plot']}.")
    screen.result(str(runs), runs.as_dict())


def _methods(text: str) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each learner as it is typed -> the method and its parameters."""
    wanted = {}
    for typed in filter(None, (part.strip() for part in text.split(","))):
        name, *settings = typed.split(":")
        method = find_method(name)
        if method.needs:
            raise click.UsageError(f"{name} needs more than rows and targets ({', '.join(method.needs)}); use Python.")
        wanted[typed] = method, dict(_setting(method, setting) for setting in settings)
    if len({method.task for method, _ in wanted.values()}) != 1:
        tasks = ", ".join(f"{name} for {method.task}" for name, (method, _) in wanted.items())
        raise click.UsageError(f"--methods must name methods for one task, got {tasks or 'none'}.")
    return wanted


def _setting(method: Any, text: str) -> tuple[str, Any]:
    name, sign, typed = text.partition("=")
    name, value = name.strip().replace("-", "_"), common.literal(typed)
    rules = method.cls._param_rules
    if not sign or name not in rules:
        raise click.UsageError(f"{method.name} has the parameters {', '.join(sorted(rules))}, got {text!r}.")
    check_param(f"{method.name}: {name}", rules[name], value)
    return name, value


def _check_picture(path: Path | None) -> None:
    """Check, before the work, that the picture can be written."""
    if path is None:
        return
    if path.suffix.lower() not in _PICTURES:
        raise click.UsageError(f"--plot must end in {', '.join(_PICTURES)}, got {str(path)!r}.")
    common.check_folder(path)
    from .._figures import matplotlib_for

    matplotlib_for("--plot")
