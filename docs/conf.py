"""Pages from docs/*.md, the docstrings, and the gallery in examples/. Built by ``make docs``; warnings are errors."""

from __future__ import annotations

from importlib.metadata import version as installed

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
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["figures"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "thresher"
html_show_sourcelink = False
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
