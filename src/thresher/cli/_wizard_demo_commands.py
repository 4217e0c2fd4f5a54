"""``thresher wizard`` and ``thresher demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("data", required=False)
@click.option("--answers", type=click.Path(dir_okay=False), help="A file of answers, for scripts.")
@click.option("--save-answers", type=click.Path(dir_okay=False), help="Where to write the answers, for the next time.")
@click.option("--model", "model_path", type=click.Path(dir_okay=False), help="Where to write the model.")
@click.option("--report", "report_path", type=click.Path(dir_okay=False), help="Where to write a report.")
@click.option("--json", "as_json", is_flag=True, help="Results as JSON.")
def wizard(
    data: str | None,
    answers: str | None,
    save_answers: str | None,
    model_path: str | None,
    report_path: str | None,
    as_json: bool,
) -> int:
    """A few questions about DATA, each with an explanation and a default; then a tuned model.

    At the end it prints the command and the Python that do the same without questions.
    """
    from ..wizard import main

    return main(data, answers=answers, save_answers=save_answers, model=model_path, report=report_path, as_json=as_json)


@click.command()
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("thresher-demo.html"),
    help="Where to write the report.",
)
def demo(report: Path) -> int:
    """Generate a stream, learn from it in one pass, find the features that matter, write a report."""
    from ..demo import main

    return main(report)
