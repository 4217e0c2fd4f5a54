"""Public names between backticks are links to their page of the reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

_NAME = re.compile(r"^(?:thresher\.)?(?P<name>[A-Za-z_][\w.]*)(?:\(.*\))?$", re.S)
_NOT_IN = (nodes.reference, nodes.title, nodes.term)


def link_names(app: Any, doctree: nodes.document, docname: str) -> None:
    if docname.startswith(("api/", "gallery/")) or app.builder.format != "html":
        return
    objects = app.env.domains["py"].objects
    bare = _bare_names(objects)
    for literal in list(doctree.findall(nodes.literal)):
        match = _NAME.match(literal.astext())
        if match is None or any(isinstance(parent, _NOT_IN) for parent in _parents(literal)):
            continue
        name = match["name"]
        full = f"thresher.{name}" if f"thresher.{name}" in objects else bare.get(name)
        if full is None or objects[full].docname == docname or _may_mean_another(objects[full], literal.astext()):
            continue
        found = objects[full]
        literal.replace_self(make_refnode(app.builder, docname, found.docname, found.node_id, literal.deepcopy(), full))


def _may_mean_another(entry: Any, said: str) -> bool:
    """A module by one word alone, such as `tuning`."""
    return bool(entry.objtype == "module" and not said.startswith("thresher"))


def _bare_names(objects: dict[str, Any]) -> dict[str, str]:
    """Classes by their name alone, where no other has it."""
    found: dict[str, list[str]] = {}
    for full, entry in objects.items():
        if entry.objtype == "class" and not entry.aliased:
            found.setdefault(full.rpartition(".")[2], []).append(full)
    return {name: full[0] for name, full in found.items() if len(full) == 1}


def _parents(node: nodes.Node) -> list[nodes.Node]:
    above = []
    while (node := node.parent) is not None:
        above.append(node)
    return above


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
