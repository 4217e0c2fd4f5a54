"""Files of the repository as pages, and links that lead to the right place here as well as on a code host.

A page says ``{include}`` with the path of a file; its text is read as if it stood in the page, with its links as seen
from where it stands. A link to a file that is such a page leads to the page, to any other file to a copy of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_INCLUDE = re.compile(r"^```\{include\} (?P<file>\S+)\n```$", re.M)
_LINK = re.compile(r"(?P<open>\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.M | re.S)


def included(docs: Path) -> dict[Path, Path]:
    """File of the repository -> the page that shows it; examples are shown by the gallery, README.md is the first."""
    front = {(docs / "../README.md").resolve(): docs.resolve() / "index.md"}
    gallery = {
        path.resolve(): docs.resolve() / f"gallery/{path.stem}.rst" for path in docs.glob("../examples/plot_*.py")
    }
    return (
        front
        | gallery
        | {
            (page.parent / match["file"]).resolve(): page.resolve()
            for page in docs.rglob("*.md")
            for match in _INCLUDE.finditer(page.read_text(encoding="utf-8"))
        }
    )


def page_text(page: Path, text: str, shown: dict[Path, Path]) -> str:
    """The text of a page with what it includes, all links as seen from the page."""

    def include(match: re.Match[str]) -> str:
        file = (page.parent / match["file"]).resolve()
        return links_from(file, page, file.read_text(encoding="utf-8"), shown)

    return _INCLUDE.sub(include, links_from(page, page, text, shown))


def links_from(origin: Path, page: Path, text: str, shown: dict[Path, Path]) -> str:
    """Links written in `origin`, for `page`; code between fences is left alone."""

    def link(match: re.Match[str]) -> str:
        if "://" in match["target"] or match["target"].startswith(("mailto:", "/")):
            return match[0]
        file = (origin.parent / match["target"]).resolve()
        target = os.path.relpath(shown.get(file, file), page.parent)
        return f"]({Path(target).as_posix()}{match['anchor'] or ''})"

    done, parts = 0, []
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[done : fence.start()]), fence[0]]
        done = fence.end()
    return "".join([*parts, _LINK.sub(link, text[done:])])
