"""The prose of the pages and of the package: short sentences on pages, and no phrases that we do not want anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START = [ROOT / "README.md", *sorted((ROOT / "docs").glob("start*.md"))]
EDITED = re.findall(
    r"\S+",  # pages that follow the rules for prose in CONTRIBUTING.md; add yours
    """
    add-a-learner additive-models architecture clustering clusters-of-machines coming-from coming-from-libol
    coming-from-liblinear coming-from-mklpy coming-from-river coming-from-salsa-jl coming-from-scikit-learn-sgd
    coming-from-vowpal-wabbit command-line comparing devices errata few-labels files-and-models guide
    imbalanced-streams index kernel-clustering lab look many-kernels merging multi-task outside-python
    probabilities project reports service sparse-models-from-streams tuning unknown-classes vocabulary
    which-method wizard
    """,
)
PAGES = [*START, ROOT / "CONTRIBUTING.md", *((ROOT / "docs" / name).with_suffix(".md") for name in EDITED)]
BLOCK = re.compile(r"^(`{3,}|:{3,}|~{3,}).*?^\1\s*$|<!--.*?-->", re.M | re.S)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)|\{\w+\}(?=`)")
END = re.compile(r"(?<=[.?!])[*_\")]*\s+(?=[\"(*`\[]*[A-Z0-9])|\n\n")
ABBREVIATED = re.compile(r"\b(e\.g|i\.e|et al|vs|Eq|Fig|No|Alg|Sec)\. ")
NAME = re.compile(r"`[^`]*`")

FORBIDDEN = (
    "the engine wills",
    "and a doubt",
    "How that comes",
    "is another thing",
    "taken care of",
    "Bad input gets one sentence",
    "may be there or not",
    "outgrow floating point",
    "utilize",
    "in order to",
    "simply put",
    "blazing",
    "state-of-the-art",
    "seamless",
)
FORBIDDEN_IN_THE_PACKAGE = (  # in messages, help texts, docstrings and comments; each has a plainer form
    "outgrow floating",
    "outgrew floating",
    "be content with",
    "nobody says",
    "nobody knows",
    "nobody answers",
    "somebody asks",
    "anybody",
    "whoever",
    "errs on",
    "would err ",
    "one at least",
    "made to measure",
    "has no meaning",
    "is not there:",
    "does the talking",
    "came to nothing",
    "gone on with",
    "goes on from",
    "best there is",
    "smallest there is",
    "mind that",
    "hopes for",
    "as good as none",
    "was asked for",
    "as asked.",
    "is no file",
    "is no address",
    "are no tables",
    "taken for missing",
    "features at most",
    "is about files",
)


def passages(page: str) -> Iterator[str]:
    """Paragraphs, items of lists, headings and cells of tables, without code and markup."""
    text = BLOCK.sub("\n\n", page)
    text = re.sub(r"^\|[ :|-]+\|$", "", text, flags=re.M)
    text = re.sub(
        r"^\|(.*)\|\s*$", lambda row: "\n\n".join(["", *re.split(r"(?<!\\)\|", row[1]), ""]), text, flags=re.M
    )
    text = re.sub(r"^ *(?:[-*+]|\d+\.) ", "\n\n", text, flags=re.M)
    text = re.sub(r"^#+ (.*)$", r"\n\n\1\n\n", text, flags=re.M)
    yield from (" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())


def sentences(page: str) -> Iterator[str]:
    """A link counts as its text, a name in code as one word."""
    for passage in passages(page):
        named = LINK.sub(lambda link: link[1] or "", NAME.sub("`Name`", passage))
        plain = ABBREVIATED.sub(r"\1 ", re.sub(r"</?\w+>", "", named))
        yield from filter(None, END.split(plain))


def n_words(sentence: str) -> int:
    return len(re.findall(r"\w[\w'’.,-]*", sentence))


def too_long(page: Path, limit: int) -> list[str]:
    return [sentence for sentence in sentences(page.read_text("utf-8")) if n_words(sentence) > limit]


@pytest.mark.parametrize("page", START, ids=lambda page: page.stem)
def test_sentences_of_the_first_pages_have_at_most_30_words(page):
    assert not too_long(page, 30)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in START], ids=lambda page: page.stem)
def test_sentences_of_other_pages_have_at_most_40_words(page):
    assert not too_long(page, 40)


def test_the_front_page_has_at_most_120_lines():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_no_page_has_a_forbidden_phrase(page):
    text = " ".join(page.read_text("utf-8").split()).lower()
    assert not [phrase for phrase in FORBIDDEN if phrase.lower() in text]


def package_texts() -> Iterator[tuple[str, str]]:
    """The source of the package in one line per file, without the marks between the lines of a text."""
    package = ROOT / "src" / "thresher"
    for file in sorted(file for file in package.rglob("*") if file.suffix in {".py", ".html", ".js"}):
        text = re.sub(r"[\"']\s+[rf]*[\"']|\n\s*#\s", " ", file.read_text("utf-8"))
        yield file.relative_to(ROOT).as_posix(), " ".join(text.split()).lower()


def test_no_text_of_the_package_has_a_forbidden_phrase():
    found = [(file, phrase) for file, text in package_texts() for phrase in FORBIDDEN_IN_THE_PACKAGE if phrase in text]
    assert not found


def test_texts_of_the_package_are_found_over_several_lines():
    learners = dict(package_texts())["src/thresher/_estimators/_online_linear.py"]
    assert 'got "balanced", because one batch does not show how often the classes occur.' in learners


def test_sentences_are_found_where_they_end():
    page = """# A title

One sentence, with [a link (of words)](a.md#b) and `code that is one word`. Another
one, e.g. this. 3 rows follow:

- an item
- another. With two sentences.

| head | of a table |
| --- | ---: |
| a cell. Two. | one |

```sh
not. This. One.
```
"""
    found = [(sentence, n_words(sentence)) for sentence in sentences(page)]
    assert [words for _, words in found] == [2, 9, 4, 3, 2, 1, 3, 1, 3, 2, 1, 1]
    assert found[1][0].startswith("One sentence, with a link (of words) and `Name`.")
