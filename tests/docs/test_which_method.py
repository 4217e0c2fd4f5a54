"""The page "Which method?" knows every method, and its chart and list are of one tree."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from thresher import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("which_method", ROOT / "docs" / "figures" / "which_method.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ends(question):
    for then in question.answers.values():
        yield from ends(then) if hasattr(then, "answers") else [then]


def test_chart_and_list_are_what_the_script_writes(script):
    script.main(check=True)


def test_a_changed_tree_is_noticed(script, monkeypatch):
    monkeypatch.setattr(script, "TREE", script.TREE._replace(text="What else?"))
    with pytest.raises(SystemExit, match=r"which_method.svg and which-method.md must be made anew"):
        script.main(check=True)


@pytest.mark.parametrize("method", registry.methods(), ids=lambda method: method.name)
def test_every_estimator_is_in_the_table(method):
    table = PAGE.partition("## All methods")[2]
    assert f"`{method.family}.{method.cls.__name__}`" in table


def test_every_end_has_a_first_choice_two_others_at_most_and_a_page(script):
    for end in ends(script.TREE):
        assert 1 <= len(end.methods()) <= 3
        assert (ROOT / "docs" / end.page.partition("#")[0]).exists()


def test_every_declared_aim_is_an_end_of_the_tree(script):
    aims = {(end.task, end.aim) for end in ends(script.TREE)}
    declared = {(m.task, good.aim) for m in registry.methods() for good in m.advice.good_for if good.aim}
    assert declared == aims


def test_names_in_the_table_exist():
    rows = re.findall(r"^\|.*\|$", PAGE, flags=re.MULTILINE)
    for room, name in re.findall(r"`(\w+)\.(\w+)`", "\n".join(rows)):
        assert hasattr(importlib.import_module(f"thresher.{room}"), name), (room, name)
