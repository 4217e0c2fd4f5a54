"""The commands of docs/start.md are run one after the other in an empty folder, and say what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "start.md"
BLOCK = re.compile(r"(?:<!-- (run: not|output)[^\n]*-->\n)?```(sh|text)\n(.*?)```\n", re.DOTALL)


class Step(NamedTuple):
    commands: str
    said: str | None  # what the page shows below them


def steps(page: str) -> list[Step]:
    """The blocks of commands in order, each with the block of output that follows it."""
    found: list[Step] = []
    for mark, kind, text in BLOCK.findall(page):
        if mark == "output":
            found[-1] = found[-1]._replace(said=text)
        elif kind == "sh" and not mark:
            found.append(Step(text, None))
    return found


def run(commands: str, folder: Path) -> str:
    bin_first = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=os.environ | {"PATH": bin_first, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    return found.stdout


def untimed(text: str) -> str:
    """Without what differs from run to run, and from machine to machine in the last digits."""
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "? s", text)
    return re.sub(r"(\.\d{4})\d+", r"\1", text).strip()


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    return folder, [(step, run(step.commands, folder)) for step in steps(PAGE.read_text(encoding="utf-8"))]


def test_the_commands_say_what_the_page_says(told):
    _, answers = told
    shown = [(step.said, answer) for step, answer in answers if step.said is not None]
    assert len(shown) == 4
    for said, answer in shown:
        assert said.strip()
        for part in untimed(said).split("\n...\n"):  # an ellipsis on a line of its own leaves lines out
            assert part in untimed(answer)


def test_the_commands_leave_a_report_a_model_and_predictions(told):
    folder, _ = told
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "customers.thresher").stat().st_size > 0
    assert len((folder / "predictions.csv").read_text().splitlines()) == 6


def test_every_block_of_commands_is_run_but_the_installation():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("```sh\n") == len(steps(page)) + 1
    assert "pip install" not in "".join(step.commands for step in steps(page))
