"""``thresher wizard`` and ``thresher demo``."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(dir_okay=False)


@click.command()
@click.argument("data", required=False)
@click.option("--answers", type=_FILE, help="A file of answers, for scripts.")
@click.option("--save-answers", type=_FILE, help="Where to write the answers, for the next time.")
@click.option(
    "--model",
    "model_path",
    type=click.Path(dir_okay=False),
    help="Where to write the model (default: a free name like DATA).",
)
@click.option("--report", "report_path", type=_FILE, help="Where to write a report (default: likewise).")
@click.option("--json", "as_json", is_flag=True, help="Results as JSON.")
def wizard(
    data: str | None,
    answers: str | None,
    save_answers: str | None,
    model_path: str | None,
    report_path: str | None,
    as_json: bool,
) -> int:
    """Answer four questions about DATA, each with a default, to get a tuned model and a report.

    Answer more to be asked for all other options. At the end, it prints the command and the Python code that do the
    same without questions. With --answers, files are written only where you name them.
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
@click.option("--lab", "in_lab", is_flag=True, help="Open the lab on a generated table of customers instead.")
@click.option("--open/--no-open", "opens", default=True, help="With --lab: whether to open the page in a browser.")
def demo(report: Path, in_lab: bool, opens: bool) -> int:
    """Generate a stream, learn from it in one pass, find the features that matter, write a report.

    With --lab, a table of customers is written to the folder thresher-demo, and the lab opens there.
    """
    from ..demo import main, write_customers

    if not in_lab:
        return main(report)
    from ..web import ServerAddress, run_lab

    folder = Path("thresher-demo")
    folder.mkdir(exist_ok=True)
    if not (folder / "customers.csv").exists():
        write_customers(folder / "customers.csv")
    run_lab(folder, ServerAddress(), opens=opens)
    return 0
