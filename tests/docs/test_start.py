"""The commands of docs/start.md, docs/start-streams.md and docs/look.md are run one after the other in empty folders,
and say what the pages say; so do those of README.md, which shows some of the first page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from thresher.persistence import load_model

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


def run_page(page: Path, folder: Path) -> list[tuple[Step, str]]:
    return [(step, run(step.commands, folder)) for step in steps(page.read_text(encoding="utf-8"))]


def assert_said(said: str, answer: str) -> None:
    """The answer holds the block of the page, in which a line of three dots leaves lines out."""
    assert said.strip()
    for part in untimed(said).split("\n...\n"):
        assert part in untimed(answer)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    return folder, run_page(PAGE, folder)


def test_the_commands_say_what_the_page_says(told):
    _, answers = told
    shown = [(step.said, answer) for step, answer in answers if step.said is not None]
    assert len(shown) == 5
    for said, answer in shown:
        assert_said(said, answer)


def test_the_front_page_shows_what_its_commands_say(told):
    """They are commands of the start page, so that none is run twice."""
    answers = {step.commands.strip(): answer for step, answer in told[1]}
    shown = steps((PAGE.parents[1] / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == 3
    for step in shown:
        assert step.said is not None
        assert_said(step.said, answers[step.commands.strip()])


def test_the_commands_about_a_stream_say_what_their_page_says(tmp_path):
    """And a model that goes on after it was loaded is the one of a single run."""
    answers = run_page(PAGE.with_name("start-streams.md"), tmp_path)
    assert [step.said is not None for step, _ in answers] == [True] * 5
    for step, answer in answers:
        assert step.said is not None
        assert_said(step.said, answer)
    run("thresher train 'day-?.svm' --method arow --n-features-to-select 60 --model whole.thresher --quiet", tmp_path)
    whole, continued = (load_model(tmp_path / f"{name}.thresher") for name in ("whole", "clicks"))
    assert np.array_equal(whole.coef_, continued.coef_)


def test_a_new_user_gets_from_the_file_to_an_explained_answer(told):
    """The page leads there: a file, a model, predictions, and the reasons for one of them, whose parts add up."""
    commands = "".join(step.commands for step, _ in told[1])
    order = [commands.index(f"thresher {command} ") for command in ("auto", "predict", "explain")]
    assert order == sorted(order)
    text = next(answer for step, answer in told[1] if "thresher explain" in step.commands)
    parts = [float(word) for word in re.findall(r" ([+-][.\d]+)(?: |$)", text.replace("−", "-"), re.MULTILINE)]
    (lead,) = re.findall(r"lead over 'no' +([.\d]+)", text)
    assert sum(parts) == pytest.approx(float(lead), abs=0.02)
    assert "the answer would be 'no'" in text


def test_the_wizard_asks_what_the_page_says(told):
    """Up to the last question, so that nothing is learned."""
    (block,) = re.findall(r"<!-- questions -->\n```text\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    typed = re.findall(r"\] >(.*)", block)
    assert len(typed) == 4
    answers = "".join(f"{answer.strip()}\\n" for answer in typed[:-1])
    said = run(f"printf '{answers}' | thresher wizard customers.csv || true", told[0])
    assert block.strip() in "\n".join(map(str.rstrip, said.splitlines()))


def test_the_commands_about_a_look_say_what_their_page_says(tmp_path):
    page = PAGE.with_name("look.md").read_text(encoding="utf-8")
    answers = [(step.said, run(step.commands, tmp_path)) for step in steps(page)]
    assert [said is not None for said, _ in answers] == [True, False, True]
    assert all(said.strip() in answer for said, answer in answers if said is not None)


def test_the_commands_leave_a_report_a_model_and_predictions(told):
    folder, _ = told
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "customers.thresher").stat().st_size > 0
    assert len((folder / "predictions.csv").read_text().splitlines()) == 4


def test_every_block_of_commands_is_run_but_the_installation():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("```sh\n") == len(steps(page)) + 1
    assert "pip install" not in "".join(step.commands for step in steps(page))
