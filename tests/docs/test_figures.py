"""Figures have a source: tables are quoted as commands wrote them, and every command that a page names is there."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import click
import pytest

from thresher import registry
from thresher.cli import thresher as command_line

ROOT = Path(__file__).parents[2]
SECTIONS = pytest.importorskip("benchmarks.__main__").SECTIONS
SCRIPTS = pytest.importorskip("papers.__main__").scripts()
PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in (ROOT / "docs").rglob("*.md") if page.relative_to(ROOT).parts[1] != "gallery"),
    *(ROOT / "papers").rglob("*.md"),
    *(ROOT / "benchmarks").glob("*.md"),
    *(ROOT / "examples").glob("*.py"),
]
FENCE = re.compile(r"^```(\S*).*?\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`+([^`]+)`+")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands(page: Path) -> list[str]:
    """What stands in code: lines of blocks, and words between ticks, which may be broken by the end of a line."""
    text = text_of(page)
    blocks = [block for kind, block in FENCE.findall(text) if kind in ("", "sh")]
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    words = [" ".join(words.split()) for words in INLINE.findall(FENCE.sub("", text))]
    return [command for command in [*lines, *words] if command]


def named(pattern: str) -> list[tuple[str, str]]:
    """Where a pattern matches the beginning of a command: the page, and the group of the pattern."""
    found = [(page, re.match(pattern, said)) for page in PAGES for said in commands(page)]
    hits = [(page.relative_to(ROOT).as_posix(), match[1]) for page, match in found if match]
    assert hits, pattern
    return hits


@pytest.fixture(scope="module")
def quotes():
    spec = importlib.util.spec_from_file_location("quotes", ROOT / "docs" / "figures" / "quotes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [p for p in PAGES if "<!-- quote: " in text_of(p)], ids=lambda page: page.stem)
def test_quoted_tables_are_those_that_commands_wrote(quotes, page):
    """Where this fails, run python docs/figures/quotes.py."""
    text = text_of(page)
    sources = [found[1] for found in quotes.QUOTE.findall(text)]
    assert len(sources) == text.count("<!-- quote: ") == text.count("<!-- end of quote -->")
    assert all((ROOT / source).exists() for source in sources)
    assert quotes.written(text, lambda source: not source.startswith("docs/figures/")) == text


def test_a_quote_that_is_behind_is_noticed(quotes):
    page = "<!-- quote: benchmarks/README.md | Overhead of a round -->\n\n| old |\n\n<!-- end of quote -->\n"
    assert quotes.written(page, lambda source: True) != page
    with pytest.raises(LookupError, match="must have one 'No such table', found 0"):
        quotes.quoted("benchmarks/README.md", "No such table")


def test_defaults_go_from_the_benchmark_to_the_page_of_methods(quotes, tmp_path, monkeypatch):
    """By what ``python -m benchmarks newcomer --update`` and then ``python docs/figures/quotes.py`` do."""
    _report, newcomer = (pytest.importorskip(f"benchmarks.{name}") for name in ("_report", "newcomer"))
    score = pytest.importorskip("benchmarks._newcomer_runs").Score
    (tmp_path / "benchmarks").mkdir()
    for name, page in (("benchmarks/README.md", "_README"), ("README.md", "_FRONT_PAGE")):
        (tmp_path / name).write_text(text_of(ROOT / name), encoding="utf-8")
        monkeypatch.setattr(_report, page, tmp_path / name)
    theirs = {"text": score(90, 1.0), "wine": score(80, 1.0), "iris": score(82, 1.0)}
    ours = {"text": score(91.26, 2.0, 91.5), "wine": score(85.5, 2.0, 86.0), "iris": score(86.5, 2.0, 86.5)}
    table = newcomer._interval_table({newcomer.SGD: theirs, "arow": ours}, ["text"])
    report = _report.Report(
        "python -m benchmarks", ["a machine", "a core", "a day"], {"newcomer": [table]}, order=SECTIONS
    )
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    report.write_section("newcomer", 1.0)
    page = quotes.written(text_of(ROOT / "docs" / "which-method.md"), lambda source: True)
    # dense differences -5.5 and -4.5: 12.706 * 0.5 = 6.4; distances 0.24, 0.5 and 0 to tuned: 4.303 * 0.1444 = 0.6
    assert f"| {newcomer.SGD} | 3 | 90.0 | 81.0 | -1.3 | -5.0 ± 6.4 |  |\n" in page
    assert "| arow | 3 | 91.3 | 86.0 |  |  | +0.2 ± 0.6 |\n\n<!-- end of quote -->" in page
    assert quotes.NOT_YET not in page


def test_a_quote_waits_for_its_source_only_where_it_says_so(quotes):
    page = "<!-- quote: benchmarks/README.md | No such table | a, b -->\n{}\n<!-- end of quote -->\n"
    waiting = page.format(f"\n*{quotes.NOT_YET}.*\n")
    assert quotes.written(waiting, lambda source: True) == waiting
    with pytest.raises(LookupError, match="must have one 'No such table', found 0"):
        quotes.written(page.format("| old |"), lambda source: True)
    with pytest.raises(LookupError, match="The table must have a column 'colour', found"):
        quotes.quoted("benchmarks/README.md", "Overhead of a round | colour")


def test_the_front_page_has_the_figures_of_the_table_on_the_first_page_of_the_guide(quotes):
    """How many weights are needed: README.md has no room for the table itself."""
    table = re.search(r"weights needed -->\n(.*?)<!-- end", text_of(ROOT / "docs" / "index.md"), re.S)[1]
    medians = re.findall(r"^\| `.*? \| ([\d,]+) \|", table, re.M)
    said = re.search(r"To come within half a point.*? are enough\.", text_of(ROOT / "README.md"))[0]
    assert len(medians) == 5
    assert set(re.findall(r"(?<!L)\b\d+(?:,\d+)*", said)) == set(medians)


def test_every_script_behind_a_figure_is_named_in_a_page():
    scripts = {path.name for path in (ROOT / "docs" / "figures").glob("*.py")}
    assert {Path(name).name for _, name in named(r"(?:python )?(docs/figures/\w+\.py)")} == scripts


def test_sections_of_the_benchmarks_are_those_that_pages_name():
    for page, names in named(r"(?:python -m benchmarks|make bench) .*?--only ((?:[a-z]\w*[ ,]?)+)"):
        assert set(names.split()) <= set(SECTIONS), page
    overview = re.findall(r"^\| `(\w+)` \| \[\1\.py\]\(\1\.py\) \|", text_of(ROOT / "benchmarks" / "README.md"), re.M)
    assert overview == list(SECTIONS)


def test_scripts_of_the_papers_are_those_that_pages_name():
    for page, name in named(r"python -m papers\.(\S+)"):
        assert name in SCRIPTS, page
    known = {*SCRIPTS, *(script.partition(".")[0] for script in SCRIPTS)}
    for page, names in named(r"(?:python -m papers|make papers) .*?--only ((?:[a-z][\w.]* ?)+)"):
        assert set(names.split()) <= known, page


def test_modules_that_pages_run_are_there():
    for page, name in named(r"python -m (benchmarks[\w.]*|papers[\w.]*)"):
        path = ROOT.joinpath(*name.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), (page, name)


def test_verbs_of_make_are_there():
    targets = set(re.findall(r"^([\w-]+):", text_of(ROOT / "Makefile"), re.M))
    for page, words in named(r"make ((?:[a-z][a-z-]*(?: |$))+)"):
        assert set(words.split()) <= targets, page


def test_commands_and_their_options_are_there():
    context = click.Context(command_line)
    names = {name for method in registry.methods() for name in inspect.signature(method.cls).parameters}
    parameters = {f"--{name.replace('_', '-')}" for name in names}
    for page, said in named(r"thresher ([a-z].*)"):
        name, *words = said.partition(" | ")[0].split()
        command = command_line.get_command(context, name)
        assert command is not None, (page, said)
        own = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        given = {re.match(r"-{1,2}[\w-]*", word)[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
        also = parameters | {f"--no-{each[2:]}" for each in parameters} if name in ("train", "tune", "auto") else set()
        assert given <= own | also, (page, said)
