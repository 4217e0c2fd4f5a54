"""What the benchmarks compute beside times: slopes, tables, lines of the front page, the guard's verdict. No clock."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
if not (REPOSITORY / "benchmarks").exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY))

from benchmarks import _report, guard, guard_registry  # noqa: E402
from benchmarks.__main__ import SECTIONS  # noqa: E402
from benchmarks._front import FrontLine, cell, front_table, has, headlines, number  # noqa: E402
from benchmarks._growth import slope  # noqa: E402
from benchmarks._guard_cases import N_CLASSES, WIDTHS, names, watched  # noqa: E402
from benchmarks._penalties import worst_line  # noqa: E402
from benchmarks._report import Table  # noqa: E402

from thresher import _core, onepass, registry  # noqa: E402

LINE = FrontLine("text", "SGDClassifier", "AROW", 30.0, 10.0, "accuracy", "0.88", "0.89")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_can_be_run_without_its_peers(name):
    assert callable(import_module(f"benchmarks.{name}").run)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_slope_is_the_power_that_costs_grow_by(power):
    sizes = [10, 100, 1000, 10_000]
    assert slope(sizes, [3e-6 * size**power for size in sizes]) == pytest.approx(power, abs=1e-12)


def test_a_table_is_markdown_with_its_notes_and_picture():
    table = Table("Title", ["learner", "ms"], [["AROW", "1.5"]], ["A note."], picture="growth_rows")
    assert table.markdown().splitlines() == [
        *("**Title**", "", "| learner | ms |", "| --- | ---: |", "| AROW | 1.5 |", "", "A note.", ""),
        *("![Title](pictures/growth_rows.svg)",),
    ]


def test_cells_are_found_by_row_and_column():
    table = Table("Title", ["learner", "ms"], [["AROW", "1,500.5"], ["PA", "2"]])
    assert cell(table, "PA", "ms") == "2"
    assert number(table, "AROW", "ms") == 1500.5
    assert has(table, "AROW", "PA")
    assert not has(table, "AROW", "SGDClassifier")
    with pytest.raises(KeyError, match="no row 'FTRL' in 'Title'"):
        cell(table, "FTRL", "ms")


@pytest.mark.parametrize(
    "theirs, ours, shown",
    [
        (30, 10, "3.0"),
        (1234, 100, "12"),
        (99.9, 10, "10"),
        (10, 10, "1.0"),
        (6, 10, "0.6 (slower)"),
        (1, 80, "0.013 (slower)"),
    ],
)
def test_a_line_says_how_many_times_the_peer_takes_and_where_we_are_slower(theirs, ours, shown):
    assert FrontLine("", "", "", theirs, ours, "", "", "").ratio == shown


def test_the_lines_of_a_section_are_replaced_and_those_of_others_stay():
    other = FrontLine("a file", "vw", "AROW", 4.0, 2.0, "accuracy", "0.9", "0.9")
    first = front_table("", {"fit": [LINE], "out_of_core": [other]}, ("fit", "out_of_core"))
    assert [line.split(" | ")[4] for line in first.splitlines()[2:]] == ["3.0", "2.0"]

    slower = FrontLine("text", "SGDClassifier", "AROW", 5.0, 10.0, "accuracy", "0.88", "0.89")
    second = front_table(f"words\n\n{first}\n\nmore words\n", {"fit": [slower]}, ("fit", "out_of_core"))
    assert [line.split(" | ")[4] for line in second.splitlines()[2:]] == ["0.5 (slower)", "2.0"]
    gone = front_table(second, {"fit": []}, ("fit", "out_of_core"))
    assert [line.split(" | ")[1] for line in gone.splitlines()[2:]] == ["a file"]


def test_lines_stand_in_the_order_of_the_sections():
    table = front_table("", {"b": [LINE], "a": [LINE]}, ("a", "b"))
    assert [line[3] for line in table.splitlines()[2:]] == ["a", "b"]


def test_the_line_of_three_penalties_is_the_worst_of_them():
    rows = [
        ["/ 10", "10.0", "30.0", "", "3.00"],
        ["/ 30", "20.0", "90.0", "15.0", "0.75"],
        ["/ 100", "50.0", "", "", ""],
    ]
    table = Table("Three penalties", ["problem", "thresher", "celer", "skglm", "best peer / ours"], rows)
    (line,) = worst_line([Table("Other", []), table], "Three", "lasso", "solvers.lasso")
    assert (line.what, line.peer) == ("lasso, the worst of 2 problems: / 30", "skglm")
    assert line.ratio == "0.75 (slower)"
    assert worst_line([Table("None", table.columns, rows[2:])], "None", "lasso", "solvers.lasso") == []


def test_the_guard_names_what_became_slower_by_how_much():
    baseline = {"pass, CSR, Pa": 2.0, "pass, CSR, Ftrl": 10.0}
    ratios = {"pass, CSR, Pa": 3.01, "pass, CSR, Ftrl": 15.0}
    assert guard.slower(ratios, baseline, 1.5) == ["pass, CSR, Pa"]
    assert guard.complaints(ratios, baseline, 1.5) == [
        "pass, CSR, Pa: 3.01 products X @ w, the baseline is 2.00 (1.50 times; 1.5 are allowed)."
    ]
    assert guard.complaints(baseline, baseline, 1.5) == []


def test_the_guard_takes_the_least_of_several_runs():
    assert guard.least({"a": 3.0, "b": 1.0}, {"a": 2.0}, {"a": 2.5, "c": 4.0}) == {"a": 2.0, "b": 1.0, "c": 4.0}


def test_a_baseline_holds_medians():
    assert guard.typical({"a": 3.0}, {"a": 1.0}, {"a": 2.004}) == {"a": 2.0}


def test_the_guard_asks_for_a_baseline_of_what_it_does_not_know_and_of_what_is_gone():
    said = guard.complaints({"new": 1.0}, {"old": 1.0})
    assert [each.partition(":")[0] for each in said] == ["new", "old"]
    assert all("--update" in each for each in said)


def test_the_guard_watches_every_compiled_learner():
    compiled = {name for name in dir(_core) if hasattr(getattr(_core, name), "run_pass")}
    n_outputs = {name: N_CLASSES if name.endswith("Joint") else 1 for name in watched(28)}
    learners = {name: onepass.learner(each, WIDTHS["dense"], n_outputs[name]) for name, each in watched(28).items()}
    reached = {name: learner.core.__name__ for name, learner in learners.items()}
    assert reached == {name: name for name in compiled}


def test_the_baseline_holds_what_the_guard_measures():
    assert set(json.loads(guard.BASELINE.read_text())) == set(names())


def test_the_registry_guard_watches_every_streaming_method():
    watched_names = {method.name for method in guard_registry.watched()}
    streaming = {m.name for task in ("classification", "regression") for m in registry.methods(task) if m.streams}
    assert watched_names | set(guard_registry.NOT_WIDE) == streaming
    assert set(guard_registry.OWN_LIMITS) <= watched_names


def test_the_registry_guard_fails_what_exceeds_its_limit():
    cost = guard_registry.Cost
    costs = {
        "pa": cost(12.1, 5.0),
        "arow": cost(11.9, 30.1),
        "l1rda": cost(12.0, 30.0),
        "reweightedl1rda-regressor": cost(18.0, 33.0),
    }
    assert [row[-1] for row in guard_registry.cost_table(costs).rows] == ["FAIL", "FAIL", "PASS", "slow, see below"]


def test_tables_are_read_back_as_they_were_written(monkeypatch, tmp_path):
    table = Table("Title: 2 x 3", ["learner", "ms"], [["AROW", "1.5"], ["PA", ""]], ["A note."])
    page = tmp_path / "README.md"
    page.write_text(
        "words\n<!-- figures: begin -->\n\nrun\n\n"
        f"### fit\n\n`run`\n\n{table.markdown()}\n{table.markdown()}\n"
        f"### one_row\n\n{table.markdown()}<!-- figures: end -->\n"
    )
    monkeypatch.setattr(_report, "_README", page)
    found = _report.read_sections()
    assert {name: len(tables) for name, tables in found.items()} == {"fit": 2, "one_row": 1}
    assert found["fit"][1] == Table(table.title, table.columns, table.rows)


def test_the_front_page_has_six_lines_of_the_summary_the_slowest_last():
    whole = _report._marked(REPOSITORY / "benchmarks" / "README.md", "speed").strip().partition("\n\n")[0]
    lines = whole.splitlines()[2:]
    assert set(re.findall(r"^\| \[(\w+)\]", "\n".join(lines), re.M)) <= set(_report.read_sections())
    shown = _report._marked(REPOSITORY / "README.md", "speed").strip().partition("\n\n")[0]
    assert shown == headlines(whole)
    assert len(shown.splitlines()) == 2 + 6
    ratios = [float(line.split(" | ")[4].split()[0]) for line in lines]
    assert lines[ratios.index(min(ratios))].split(" | ")[1:] == shown.splitlines()[-1].split(" | ")[1:]
