"""What was asked, the data, the model, and how to do it again."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from .._figures import count, label, lines, listed, number, one_in, percent, plural, quoted
from . import _kept_section
from ._structure_section import penalty
from ._subject import Section, Subject

_MOST_FILES = 50
_MOST_CLASSES = 40
_ROLE = re.compile(r":\w+:`~?([^`]+)`")  # a link in the documentation


def asked(subject: Subject) -> Section:
    given = subject.asked
    target = subject.data.get("target")
    column = f" the column {quoted(target)}" if target is not None else ""
    says = {
        "classification": f"The question: which class does a row belong to? {_classes_said(subject)}",
        "regression": f"The question: which value does{column or ' a row'} have?",
        "clustering": "The question: which rows belong together? There are no answers to learn from.",
    }[subject.task]
    if column and subject.task == "classification":
        says = f"The question: which class is in{column}? {_classes_said(subject)}"
    return {
        "title": "What was asked",
        "says": lines(given["question"]) if given.get("question") else says,
        "reasons": [" ".join(lines(reason).split()) for reason in given.get("reasons") or ()],
    }


def _classes_said(subject: Subject) -> str:
    learner = subject.learner
    none = label(mark) if (mark := getattr(learner, "outlier_label", None)) is not None else None
    said = f"The answers are {listed([quoted(c) for c in subject.classes if c != none], 6)}"
    return (
        f"{said}; or {quoted(none)}, none of them."
        if none is not None and _kept_section.rejects(learner)
        else f"{said}."
    )


def data(subject: Subject) -> Section | None:
    given = subject.data
    classes = {label(k): int(v) for k, v in (given.get("classes") or {}).items()}
    files = [
        {"name": label(f.get("name", "?")), "rows": f.get("rows"), "bytes": f.get("bytes")}
        for f in given.get("files") or ()
    ]
    apart = _kept_section.without_class(subject, classes)
    if (
        not any(given.get(key) is not None for key in ("n_rows", "n_features", "n_values"))
        and not files
        and not classes
    ):
        return None
    n_rows = given.get("n_rows") or sum(classes.values()) + sum(apart.values()) or None
    figures = {
        "rows": n_rows,
        "features": given.get("n_features"),
        "values stored": given.get("n_values"),
        "lines skipped": given.get("skipped") or None,
        **apart,
    }
    return {
        "title": "The data",
        "says": f"{_data_said(figures, len(files), classes)} {_apart_said(apart)}".strip(),
        "figures": {k: v for k, v in figures.items() if v is not None},
        "fill": _fill(figures),
        "files": files[:_MOST_FILES],
        "n_files": len(files),
        "classes": dict(sorted(classes.items(), key=lambda item: -item[1])[:_MOST_CLASSES]),
        "n_classes": len(classes),
    }


def _fill(figures: dict[str, Any]) -> float | None:
    """The share of values that are stored, that is, not zero."""
    if not all(figures.get(key) for key in ("rows", "features", "values stored")):
        return None
    return float(figures["values stored"] / (figures["rows"] * figures["features"]))


def _data_said(figures: dict[str, Any], n_files: int, classes: dict[str, int]) -> str:
    parts = [plural(figures["rows"], "row")] if figures["rows"] else []
    if figures["features"]:
        parts.append(f"of {plural(figures['features'], 'feature')}")
    if n_files:
        parts.append(f"from {plural(n_files, 'file')}")
    says = " ".join(parts).capitalize() + "." if parts else ""
    fill = _fill(figures)
    if fill is not None and fill < 0.5:
        says += f" Most values are zero: {percent(fill)} are stored."
    if figures["lines skipped"]:
        says += f" {plural(figures['lines skipped'], 'malformed line was', 'malformed lines were')} skipped."
    return f"{says} {imbalance(classes)}".strip()


def _apart_said(apart: dict[str, int]) -> str:
    """Rows beside those of the classes."""
    said = [f"{plural(n, 'row')} {'is' if n == 1 else 'are'} {name.removeprefix('rows ')}" for name, n in apart.items()]
    return f"{listed(said)}." if said else ""


def imbalance(classes: dict[str, int]) -> str:
    """How often the classes occur, and what that means for an error rate."""
    total = sum(classes.values())
    if len(classes) < 2 or not total:
        return ""
    ordered = sorted(classes.items(), key=lambda item: -item[1])
    (most, many), (least, few) = ordered[0], ordered[-1]
    lazy = f"always answering {quoted(most)} would err on {percent(1 - many / total)}"
    if few / total > 0.8 / len(classes):
        return f"The {len(classes)} classes are about equally frequent; {lazy}."
    if few == 0:
        return f"No row is {quoted(least)}; {lazy}."
    said = f"{one_in(few / total)} is {quoted(least)}; {lazy}."
    return said[0].upper() + said[1:]


def model(subject: Subject) -> Section:
    learner = subject.learner
    steps = [
        {"name": label(name), "kind": type(step).__name__, "about": _about(step)}
        for name, step in getattr(subject.model, "steps", [])[:-1]
    ]
    section: Section = {
        "title": "The model",
        "says": "",
        "kind": type(learner).__name__,
        "about": _about(learner),
        "task": subject.task,
        "steps": steps,
        "params": _params(learner),
        "figures": {},
    }
    used = n_used(subject)
    n_features = int(learner.n_features_in_)
    says = f"{type(learner).__name__}: {section['about']}" if section["about"] else f"{type(learner).__name__}."
    if used is not None:
        section["figures"] = {"features in use": used, "features": n_features}
        share = f", {percent(used / n_features)} of them" if n_features > used else ""
        says += f" It uses {plural(used, 'feature')} of {count(n_features)}{share}."
    for chosen in (penalty(subject), _kept_section.kept(subject)):
        says += chosen.pop("says", "")
        section["figures"] |= chosen
    if steps:
        says += f" Rows first pass through {listed([step['kind'] for step in steps])}."
    passes = "steps of the solver" if _kept_section.is_kernel_machine(learner) else "passes"
    for name, attribute in (("rows learned from", "n_samples_seen_"), (passes, "n_iter_"), ("steps", "n_updates_")):
        value = getattr(learner, attribute, None)
        if isinstance(value, (int, np.integer)):
            section["figures"][name] = int(value)
    return section | {"says": says}


def n_used(subject: Subject) -> int | None:
    """Features whose weight is not 0."""
    support = getattr(subject.learner, "support_", None)
    if support is not None and not _kept_section.is_kernel_machine(subject.learner):
        return len(support)
    return None if subject.weights is None else int(np.count_nonzero(subject.weights.rows.any(axis=0)))


def _about(thing: Any) -> str:
    """The first sentence of its documentation."""
    text = " ".join((inspect.getdoc(type(thing)) or "").split("\n\n")[0].split())
    text = _ROLE.sub(lambda m: m.group(1).split(".")[-1], text).replace("``", "")
    sentence = text.split(". ")[0].split("; see ")[0].rstrip(".")
    return sentence + "." if sentence else ""


def _params(estimator: Any) -> list[dict[str, Any]]:
    """Parameters; those that are not at their default are marked."""
    signature = inspect.signature(type(estimator)).parameters
    found = []
    for name, value in estimator.get_params(deep=False).items():
        default = signature[name].default if name in signature else inspect.Parameter.empty
        shown = number(value) if isinstance(value, float) else label(_repr(value))
        found.append({"name": name, "value": shown, "changed": repr(value) != repr(default)})
    return sorted(found, key=lambda p: not p["changed"])


def _repr(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(repr(value).split())


def reproduce(subject: Subject) -> Section | None:
    given = subject.asked
    versions = {label(k): label(v) for k, v in (given.get("versions") or {}).items()}
    from .. import __version__

    section = {
        "title": "How to do it again",
        "says": "",
        "command": lines(given["command"]) if given.get("command") else None,
        "python": lines(given["python"]) if given.get("python") else None,
        "versions": {"thresher": __version__} | versions,
        "seed": given.get("seed"),
    }
    ways = [name for key, name in (("command", "the command"), ("python", "the Python lines")) if section[key]]
    if not ways:
        return None
    seed = f" with seed {label(section['seed'])}" if section["seed"] is not None else ""
    does = "does" if len(ways) == 1 and section["command"] else "do"
    says = f"{' or '.join(ways)} below {does} the same again{seed}, on the same data and versions."
    return section | {"says": says[0].upper() + says[1:]}
