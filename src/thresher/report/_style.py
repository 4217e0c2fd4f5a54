"""The style of pages: colours, type and tables."""

from __future__ import annotations

from importlib import resources


def stylesheet() -> str:
    """The style of reports, for pages that are to look like them."""
    return resources.files(__package__).joinpath("style.css").read_text("utf-8")
