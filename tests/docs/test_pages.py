"""The pages hang together: every one can be reached, every link leads somewhere, every public name is described."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

from _site.api import ELSEWHERE, page_of, pages, rooms  # noqa: E402
from _site.commands import MARK, commands_text  # noqa: E402
from _site.repository import included, page_text  # noqa: E402

MADE = {"gallery/index", *(page for page, _ in pages())}  # when the site is built
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def written() -> list[Path]:
    return sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in ("gallery", "_site"))


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def trees(text: str) -> list[str]:
    """The entries of all toctrees of a page."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [line.partition("<")[2].rstrip(">") or line for line in lines]  # page, or: Title <page>


def below(page: str, entry: str) -> str:
    folder = page.rpartition("/")[0]
    return f"{folder}/{entry}" if folder else entry


def anchors(text: str) -> set[str]:
    """Those of its headings, as code hosts and MyST make them."""
    headings = re.findall(r"^#{1,3} (.+)$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_first():
    entries = {name_of(page): [below(name_of(page), e) for e in trees(page.read_text("utf-8"))] for page in written()}
    reached, todo = set(), ["index"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += entries.get(page, [])
    assert set(entries) <= reached
    assert reached <= {*entries, *MADE}


@pytest.mark.parametrize("page", [ROOT / "README.md", *written()], ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings(page):
    """As they stand, which is what a code host shows."""
    text = FENCE.sub("", page.read_text("utf-8"))
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file.suffix == ".rst":  # made when the site is built
            assert name_of(file) in MADE, target
            continue
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text("utf-8")), target


@pytest.mark.parametrize("page", sorted(p for p in included(DOCS).values() if p.suffix == ".md"), ids=name_of)
def test_links_of_files_that_pages_show_lead_to_pages_and_files(page):
    shown = included(DOCS)
    text = FENCE.sub("", page_text(page, page.read_text("utf-8"), shown))
    targets = [target.partition("#")[0] for target in LINK.findall(text) if "://" not in target]
    for target in filter(None, targets):
        file = (page.parent / target).resolve()
        left_out = file.suffix == ".svg" and not (ROOT / ".git").exists()  # an sdist has no pictures
        assert file.exists() or left_out or file in shown.values(), target  # the gallery is made with the site
        assert file not in shown, target  # a file that is a page is met as a page


def test_pages_that_show_files_have_their_text_and_rewritten_links(tmp_path):
    (tmp_path / "docs" / "more").mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "plot_a.py").touch()
    (tmp_path / "tools" / "README.md").write_text(
        "# Tools\n[code](a.py), [back](../docs/x.md#y)\n```sh\n[not](a.py)\n```\n"
    )
    page = tmp_path / "docs" / "more" / "tools.md"
    page.write_text("```{include} ../../tools/README.md\n```\n")
    other = tmp_path / "docs" / "x.md"
    other.write_text(
        "[tools](../tools/README.md#how), [far](https://host/a.md), [here](#y), [a](../examples/plot_a.py)"
    )
    shown = included(tmp_path / "docs")
    assert page_text(other, other.read_text(), shown) == (
        "[tools](more/tools.md#how), [far](https://host/a.md), [here](#y), [a](gallery/plot_a.rst)"
    )
    assert page_text(page, page.read_text(), shown) == (
        "# Tools\n[code](../../tools/a.py), [back](../x.md#y)\n```sh\n[not](a.py)\n```\n\n"
    )


def test_every_public_name_has_a_page():
    import thresher

    found = dict(pages())
    assert {room.name.removeprefix("thresher.") for room in rooms()} == {"thresher", *thresher._ROOMS} - set(ELSEWHERE)
    for room in rooms():
        module = sys.modules[room.name]
        names = [*room.classes, *room.functions, *room.values]
        assert set(names) == {n for n in module.__all__ if f"{room.name}.{n}" not in sys.modules}
        for name in names:
            assert f"{room.name}.{name}\n" in found[page_of(room, name)]


def test_the_index_of_the_reference_lists_every_module():
    index = (DOCS / "api" / "index.md").read_text("utf-8")
    for room in rooms():
        page = room.page.removeprefix("api/")
        assert page in trees(index)
        assert f"[{room.name}]({page}.rst)" in index


def test_every_method_of_ours_is_described_and_those_of_others_are_named():
    page = dict(pages())["api/online/AROWClassifier"]
    for name in ("fit", "partial_fit", "predict", "decision_function", "predict_proba"):
        assert f".. automethod:: thresher.online.AROWClassifier.{name}\n" in page
    assert "``get_params``" in page
    assert ".. automethod:: thresher.online.AROWClassifier.get_params" not in page


def test_every_command_and_option_is_on_its_page():
    import click

    from thresher.cli import thresher

    assert MARK.search((DOCS / "command-line.md").read_text("utf-8"))
    text = commands_text()
    context = click.Context(thresher)
    for name in thresher.list_commands(context):
        section = text.partition(f"## thresher {name}\n")[2].partition("\n## thresher")[0]
        assert section
        for option in thresher.get_command(context, name).params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in section


def test_errata_name_tests_that_are_there():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", (DOCS / "errata.md").read_text("utf-8"))
    assert named
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), test


def test_nothing_is_fetched_from_elsewhere():
    for page in written():
        assert not re.search(r"""(src|href)=["']https?://|!\[[^\]]*\]\(https?://""", page.read_text("utf-8")), page
    for style in (DOCS / "_static").iterdir():
        assert "//" not in style.read_text("utf-8"), style
    assert "_site.mathml" in (DOCS / "conf.py").read_text("utf-8")  # formulas without a script
