"""Pages from docs/*.md, the docstrings, and the gallery in examples/. Built by ``make docs``; warnings are errors."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "thresher"
author = "The thresher developers"
copyright = "The thresher developers, BSD-3-Clause"
version = release = installed("thresher")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "_site.mathml",
    "_site.names",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["figures", "_site"]
default_role = "literal"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# The pages of the reference are written by _site/api.py, which leaves tables to autosummary.
autosummary_generate = False
autodoc_typehints = "none"
maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,  # its table wants scripts from elsewhere
}

# Nothing is fetched from another host: fonts, scripts and search are files of the site, formulas are MathML.
html_theme = "pydata_sphinx_theme"
html_title = "thresher"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["thresher.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"start*": [], "which-method": [], "command-line": []}  # pages that stand alone
html_theme_options = {
    "logo": {"text": "thresher"},
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}


def _read(app: Any, docname: str, content: list[str]) -> None:
    """Files of the repository where a page includes them, links that hold, and the commands."""
    from _site.commands import MARK, commands_text
    from _site.repository import page_text

    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        whole = MARK.sub(lambda _: commands_text(), content[0])
        content[0] = page_text(page, whole, app.config.shown)


def _always_read(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Pages that show files of the repository may have changed although they did not."""
    pages = [
        page for page in app.config.shown.values() if page.suffix == ".md"
    ]  # those of the gallery see to it themselves
    return sorted({env.path2doc(str(page)) for page in pages} | {"command-line"})


def _mark_printed_tables(app: Any, doctree: Any) -> None:
    """Output with short lines, which keeps its columns in line also where the screen is narrower."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "text" and max(map(len, block.astext().splitlines()), default=0) <= 110:
            block["classes"].append("printed")


def setup(app: Any) -> None:
    from _site.api import write_pages
    from _site.repository import included

    write_pages(HERE)
    app.add_config_value("shown", included(HERE), "", [dict])
    app.connect("source-read", _read)
    app.connect("env-get-outdated", _always_read)
    app.connect("doctree-read", _mark_printed_tables)
