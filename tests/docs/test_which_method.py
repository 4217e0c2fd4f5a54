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


def test_every_end_has_a_first_choice_that_exists_two_others_at_most_and_a_page(script):
    for end in ends(script.TREE):
        assert len(end.others) <= 2
        assert (ROOT / "docs" / end.page.partition("#")[0]).exists()
        for name in (end.first, *end.others):
            room, cls = re.match(r"(\w+)\.(\w+)", name).groups()
            assert cls in importlib.import_module(f"thresher.{room}").__all__, name


def test_names_in_the_table_exist():
    rows = re.findall(r"^\|.*\|$", PAGE, flags=re.MULTILINE)
    for room, name in re.findall(r"`(\w+)\.(\w+)`", "\n".join(rows)):
        assert hasattr(importlib.import_module(f"thresher.{room}"), name), (room, name)
