"""Sections made of the user's request."""

from __future__ import annotations

from .. import __version__
from .._figures import label, lines, listed, quoted
from ._subject import Section, Subject


def asked(subject: Subject) -> Section:
    request, target = subject.asked, subject.data.get("target")
    if subject.task == "classification":
        which = "does a row belong to" if target is None else f"is in the column {quoted(target)}"
        says = f"The question: which class {which}? {_classes(subject)}"
    elif subject.task == "regression":
        which = "a row" if target is None else f"the column {quoted(target)}"
        says = f"The question: which value does {which} have?"
    else:
        says = "The question: which rows belong together? There are no answers to learn from."
    return {
        "title": "What was asked",
        "says": lines(request["question"]) if request.get("question") else says,
        "reasons": [" ".join(lines(reason).split()) for reason in request.get("reasons") or ()],
    }


def _classes(subject: Subject) -> str:
    outlier_label = getattr(subject.learner, "outlier_label", None)
    none = None if outlier_label is None else label(outlier_label)
    names = [quoted(name) for name in subject.classes if name != none]
    other = f"; or {quoted(none)}, none of them" if none is not None and subject.rejects else ""
    return f"The answers are {listed(names, 6)}{other}."


def reproduce(subject: Subject) -> Section | None:
    request = subject.asked
    blocks = {key: lines(request[key]) if request.get(key) else None for key in ("command", "python")}
    if not any(blocks.values()):
        return None
    ways = {"command": "the command", "python": "the Python lines"}
    named = " or ".join(name for key, name in ways.items() if blocks[key])
    seed = "" if request.get("seed") is None else f" with seed {label(request['seed'])}"
    does = "do" if blocks["python"] else "does"
    return {
        "title": "How to do it again",
        "says": f"{named[0].upper()}{named[1:]} below {does} the same again{seed}, on the same data and versions.",
        **blocks,
        "versions": {"thresher": __version__}
        | {label(name): label(version) for name, version in (request.get("versions") or {}).items()},
        "seed": request.get("seed"),
    }
