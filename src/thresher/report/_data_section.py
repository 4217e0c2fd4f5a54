"""The request and the training data of a report."""

from __future__ import annotations

from typing import Any

from .. import __version__
from .._figures import count, label, lines, listed, one_in, percent, plural, quoted
from ._profile_section import profile_section
from ._subject import Section, Subject

_MOST_FILES = 50
_MOST_CLASSES = 40
_MEANINGS = {"outlier_label": "of no class", "irrelevant_label": "of no class", "unlabelled_label": "unlabelled"}


def data(subject: Subject) -> Section | None:
    known = subject.data
    counts = {label(k): int(v) for k, v in (known.get("classes") or {}).items()}
    files = [
        {"name": label(f.get("name", "?")), "rows": f.get("rows"), "bytes": f.get("bytes")}
        for f in known.get("files") or ()
    ]
    classes, others = _split_classes(subject, counts)
    sizes = [known.get(key) for key in ("n_rows", "n_features", "n_values")]
    if not files and not classes and sizes == [None] * 3:
        return None
    figures = {
        "rows": known.get("n_rows") or sum(classes.values()) + sum(others.values()) or None,
        "features": known.get("n_features"),
        "values stored": known.get("n_values"),
        "lines skipped": known.get("skipped") or None,
        "rows without a target": known.get("n_unlabelled") or None,
        **others,
    }
    fill = _share_stored(figures)
    sentences = [_size_sentence(figures, len(files), fill), _balance_sentence(classes), _others_sentence(others)]
    return {
        "title": "The data",
        "says": " ".join(filter(None, sentences)),
        "figures": {k: v for k, v in figures.items() if v is not None},
        "fill": fill,
        "files": files[:_MOST_FILES],
        "n_files": len(files),
        "classes": dict(sorted(classes.items(), key=lambda item: -item[1])[:_MOST_CLASSES]),
        "n_classes": len(classes),
        "profile": None if known.get("profile") is None else profile_section(known["profile"]),
    }


def _share_stored(figures: dict[str, Any]) -> float | None:
    """The share of values that are stored, because they are not zero."""
    stored, n_cells = figures["values stored"], (figures["rows"] or 0) * (figures["features"] or 0)
    return float(stored / n_cells) if stored and n_cells else None


def _split_classes(subject: Subject, counts: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Separate labels that are not classes from the counts, and name them by their meaning."""
    classes, others = dict(counts), dict[str, int]()
    for name, meaning in _MEANINGS.items():
        mark = getattr(subject.learner, name, None)
        if mark is not None and (n := classes.pop(label(mark), 0)):
            others[f"rows {meaning}"] = others.get(f"rows {meaning}", 0) + n
    n_rows = subject.data.get("n_rows")
    if "rows unlabelled" not in others and getattr(subject.learner, "unlabelled_label", None) is not None:
        counted = sum(classes.values()) + sum(others.values())
        if classes and isinstance(n_rows, int) and n_rows > counted:  # they were not counted as a class
            others["rows unlabelled"] = n_rows - counted
    return classes, others


def _size_sentence(figures: dict[str, Any], n_files: int, fill: float | None) -> str:
    parts = [plural(figures["rows"], "row")] if figures["rows"] else []
    if figures["features"]:
        parts.append(f"of {plural(figures['features'], 'feature')}")
    if n_files:
        parts.append(f"from {plural(n_files, 'file')}")
    says = " ".join(parts).capitalize() + "." if parts else ""
    if fill is not None and fill < 0.5:
        says += f" Most values are zero: {percent(fill)} are stored."
    if n := figures["rows without a target"]:
        have, were = ("has", "was") if n == 1 else ("have", "were")
        says += f" {count(n)} of {count(figures['rows'])} rows {have} no target and {were} left out."
    if figures["lines skipped"]:
        says += f" {plural(figures['lines skipped'], 'malformed line was', 'malformed lines were')} skipped."
    return says.strip()


def _balance_sentence(classes: dict[str, int]) -> str:
    """Describe the frequencies of the classes, and the error rate of a guess."""
    total = sum(classes.values())
    if len(classes) < 2 or not total:
        return ""
    ordered = sorted(classes.items(), key=lambda item: -item[1])
    (most, many), (least, few) = ordered[0], ordered[-1]
    lazy = f"always predicting {quoted(most)} would be wrong on {percent(1 - many / total)}"
    if few / total > 0.8 / len(classes):
        return f"The {len(classes)} classes are about equally frequent; {lazy}."
    share = one_in(few / total)
    return f"{share[0].upper()}{share[1:]} is {quoted(least)}; {lazy}."


def _others_sentence(others: dict[str, int]) -> str:
    rows = [
        f"{plural(n, 'row')} {'is' if n == 1 else 'are'} {name.removeprefix('rows ')}" for name, n in others.items()
    ]
    return f"{listed(rows)}." if rows else ""


def asked(subject: Subject) -> Section:
    request, target = subject.asked, subject.data.get("target")
    if subject.task == "classification":
        what = "the class of a row" if target is None else f"the class in the column {quoted(target)}"
        says = f"Predict {what}. {_classes(subject)}"
    elif subject.task == "regression":
        what = "the value of a row" if target is None else f"the value in the column {quoted(target)}"
        says = f"Predict {what}."
    else:
        says = "Find groups of similar rows. There are no targets to learn from."
    return {
        "title": "The task",
        "says": lines(request["question"]) if request.get("question") else says,
        "reasons": [" ".join(lines(reason).split()) for reason in request.get("reasons") or ()],
    }


def _classes(subject: Subject) -> str:
    outlier_label = getattr(subject.learner, "outlier_label", None)
    none = None if outlier_label is None else label(outlier_label)
    names = [quoted(name) for name in subject.classes if name != none]
    other = f"; rows of none of them are {quoted(none)}" if none is not None and subject.rejects else ""
    return f"The classes are {listed(names, 6)}{other}."


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
        "title": "How to reproduce it",
        "says": f"{named[0].upper()}{named[1:]} below {does} the same{seed}, on the same data and versions.",
        **blocks,
        "versions": {"thresher": __version__}
        | {label(name): label(version) for name, version in (request.get("versions") or {}).items()},
        "seed": request.get("seed"),
    }
