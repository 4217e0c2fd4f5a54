"""The profile of data as part of a report, as a page of its own, and as a table for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._figures import bytes_of, count, label, percent, plural, quoted
from ..training import DataWarning, Doubt, Profile
from ._subject import Section

MOST_COLUMNS = 200
_MOST_CLASSES = 40

Say = Callable[[DataWarning | Doubt], str]


def _as_sentence(remark: DataWarning | Doubt) -> str:
    return f"{remark.says}."


def profile_section(profile: Profile, say: Say = _as_sentence) -> Section:
    """The columns, doubts and warnings of a profile as plain values; `say` writes the sentences."""
    columns = [
        {
            "name": label(each.name),
            "kind": label(each.kind),
            "use": label(each.use),
            "example": label(each.example),
            "missing": each.missing,
            "n_distinct": each.n_distinct,
            "values": each.values,
            "frequent": {label(word): n for word, n in each.frequent.items()},
            "histogram": list(each.histogram),
            "span": each.span,
        }
        for each in profile.columns[:MOST_COLUMNS]
    ]
    return {
        "rows": profile.rows_in_words,
        "columns": columns,
        "n_columns": profile.n_columns,
        "doubts": list(map(say, profile.doubts)),
        "warnings": list(map(say, profile.warnings)),
    }


def profile_table(profile: Profile) -> str:
    """Return the profile as part of an HTML page, such as a notebook. Needs jinja2: ``pip install "thresher[lab]"``."""
    from ._page import fragment

    return fragment("profile.html", profile=profile_section(profile))


def profile_page(profile: Profile, title: str, files: Sequence[dict[str, Any]], say: Say = _as_sentence) -> str:
    """Return the profile as a self-contained HTML page. Needs jinja2: ``pip install "thresher[lab]"``.

    Parameters
    ----------
    profile : Profile
    title : str
    files : list of dict
        ``name`` and ``bytes`` of each file.
    say : callable, optional
        Writes a doubt or a warning as a sentence.
    """
    from ._page import page

    tiles = [
        {"label": "Rows", "value": count(profile.n_estimated), "note": profile.rows_in_words},
        {"label": "Columns", "value": count(profile.n_columns), "note": _kinds(profile)},
    ]
    if profile.target is not None:
        tiles.append({"label": "Target", "value": label(profile.target), "note": target_in_words(profile)})
    classes = dict(sorted(profile.classes.items(), key=lambda item: -item[1])[:_MOST_CLASSES])
    data = {
        "title": "The columns",
        "says": "What each column holds, how it is read, and what becomes of it.",
        "figures": {},
        "files": [{"name": label(f["name"]), "rows": None, "bytes": f["bytes"]} for f in files],
        "n_files": len(files),
        "classes": {label(name): n for name, n in classes.items()},
        "n_classes": len(profile.classes),
        "profile": profile_section(profile, say),
    }
    says = f"{profile.rows_in_words[0].upper()}{profile.rows_in_words[1:]}. {text_in_words(profile)}".strip()
    return page(title, {"says": says, "tiles": tiles}, {"data": data}, kind="thresher look")


def _kinds(profile: Profile) -> str:
    kinds: dict[str, int] = {}
    for each in profile.columns:
        kind = "left out" if each.use.startswith("left out") else each.kind.split(",")[0].split(" ")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items())


def text_in_words(profile: Profile) -> str:
    """Describe the notation of a text file in a sentence; empty for other data."""
    if not profile.text:
        return ""
    mark = {"\t": "tabs", " ": "blanks"}.get(profile.text["delimiter"], quoted(profile.text["delimiter"]))
    header = "the first row holds names" if profile.text["header"] else "without names in the first row"
    return f"Encoding {profile.text['encoding']}, fields separated by {mark}, {header}."


def target_in_words(profile: Profile, most: int = 6) -> str:
    """The classes of the target with their rows, or its range."""
    column = next(each for each in profile.columns if each.name == profile.target)
    missing = f"; missing in {percent(column.missing)} of rows" if column.missing else ""
    if profile.task != "classification":
        return f"{column.span}{missing}"
    total = sum(profile.classes.values()) or 1
    ordered = sorted(profile.classes.items(), key=lambda item: -item[1])
    shown = [f"{quoted(name)} {count(n)} ({percent(n / total)})" for name, n in ordered[:most]]
    more = f" and {plural(len(ordered) - most, 'more class', 'more classes')}" if len(ordered) > most else ""
    return f"{', '.join(shown)}{more}{missing}"


def file_in_words(names: Sequence[str], n_bytes: int) -> str:
    """Files by name and size."""
    more = f" and {plural(len(names) - 1, 'more file')}" if len(names) > 1 else ""
    return f"{label(names[0])}{more}, {bytes_of(n_bytes)}"
