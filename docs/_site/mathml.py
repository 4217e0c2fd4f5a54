"""Formulas as MathML, which browsers draw by themselves: no script, and nothing from another host."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

_SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)[lr]?(?![a-zA-Z])")  # browsers find the size of a bracket by themselves
_KNOWN_AS = {r"\dots": r"\ldots", r"\iff": r"\Longleftrightarrow", r"\!": "", r"\arg\min": r"\operatorname{arg\,min}"}


def mathml(formula: str, block: bool) -> str:
    formula = _SIZES.sub("", formula)
    for theirs, ours in _KNOWN_AS.items():
        formula = formula.replace(theirs, ours)
    if r"\\" in formula and r"\begin" not in formula:  # several lines, aligned at &
        formula = rf"\begin{{aligned}}{formula}\end{{aligned}}"
    return latex2mathml.tex2mathml(formula, as_block=block)


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
