"""The report for a terminal of 80 columns."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._figures import Estimate, bytes_of, count, formatter, number, percent
from ._cluster_section import in_words
from ._shard_section import table as rounds_table

_WIDTH = 80
_MOST_LINES = 12
_LEFT_OUT = ("map", "regions")  # which are for the eye


def text(title: str, summary: dict[str, Any], facts: dict[str, Any]) -> str:
    """The whole report, with a line break at its end."""
    parts = [_title(title, "="), _wrapped(summary["says"]), _tiles(summary["tiles"])]
    for name, section in facts.items():
        if name in _LEFT_OUT:
            continue
        parts.append(_title(section["title"], "-"))
        if section["says"] != summary["says"]:
            parts.append(_wrapped(section["says"]))
        make = _TABLES.get(name)
        parts.append(make(section) if make is not None else "")
    return "\n\n".join(part for part in parts if part) + "\n"


# --- lines and columns -----------------------------------------------------------------------------------------------


def _title(words: str, line: str) -> str:
    words = _cut(words, _WIDTH)
    return f"{words}\n{line * _width(words)}"


def _wrapped(words: str, indent: str = "") -> str:
    glued = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", words)
    return textwrap.fill(glued, _WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent)).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def _width(words: str) -> int:
    """Columns on a terminal: letters of some scripts take two, marks above others none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in words)


def _cut(words: str, width: int) -> str:
    if _width(words) <= width:
        return words
    while _width(words) > width - 1:
        words = words[:-1]
    return words + "…"


def _table(rows: Sequence[Sequence[str]], right: str = "", widest: int = 30) -> str:
    """Rows in columns; ``right`` has an r for each column that is set flush right."""
    cells = [[_cut(cell, widest) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        line = ""
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - _width(cell))
            line += "  " + (gap + cell if right[place : place + 1] == "r" else cell + gap)
        lines.append(_cut(line.rstrip(), _WIDTH))
    return "\n".join(lines)


def _bar(share: float, width: int = 16) -> str:
    """A bar in eighths of a column."""
    eighths = int(8 * width * max(0.0, min(1.0, share)) + 0.5)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _spark(values: Any, width: int = 60) -> str:
    """A line of columns as high as the values."""
    values = np.asarray(values, dtype=np.float64)
    if len(values) > width:
        values = values[np.linspace(0, len(values) - 1, width).astype(np.intp)]
    top = float(values.max()) or 1.0
    heights = [min(7, int(8 * max(float(v), 0.0) / top)) for v in values]
    return "".join("▁▂▃▄▅▆▇█"[height] for height in heights)


def _more(shown: int, total: int, what: str) -> str:
    return f"\n  and {count(total - shown)} more {what}" if total > shown else ""


# --- sections --------------------------------------------------------------------------------------------------------


def _tiles(tiles: list[dict[str, str]]) -> str:
    return _table([(t["label"], t["value"], t["note"]) for t in tiles], "lrl", 48)


def _asked(section: dict[str, Any]) -> str:
    return "\n".join(_wrapped(reason, "  * ") for reason in section["reasons"])


def _data(section: dict[str, Any]) -> str:
    parts = []
    if section["classes"]:
        shown = list(section["classes"].items())[:_MOST_LINES]
        total, most = sum(section["classes"].values()) or 1, max(section["classes"].values()) or 1
        rows = [(name, count(n), percent(n / total), _bar(n / most)) for name, n in shown]
        parts.append(_table(rows, "lrr") + _more(len(shown), section["n_classes"], "classes"))
    if section["files"]:
        files = section["files"][:_MOST_LINES]
        lines = [(f["name"], _or(f["rows"], count, "rows"), _or(f["bytes"], bytes_of)) for f in files]
        parts.append(_table(lines, "lrr", 44) + _more(len(files), section["n_files"], "files"))
    return "\n\n".join(parts)


def _or(value: Any, say: Callable[[Any], str], unit: str = "") -> str:
    return "" if value is None else f"{say(value)} {unit}".rstrip()


def _model(section: dict[str, Any]) -> str:
    changed = [f"{p['name']} = {p['value']}" for p in section["params"] if p["changed"]]
    return _wrapped("Set: " + ", ".join(changed) + ".", "  ") if changed else ""


def _measures(section: dict[str, Any]) -> str:
    rows = [("", "value", "95 % interval", "a guess" if section["unit"] == "share" else "the mean")]
    for name, e in section["measures"].items():
        say = formatter(name)
        guess = section["guesses"].get(name)
        rows.append((name, say(e.value), f"{say(e.low)} to {say(e.high)}", "" if guess is None else say(guess)))
    parts = [_table(rows, "lrlr")]
    classes = section.get("classes") or []
    if classes:
        kinds = ("precision", "recall", "F1")
        lines = [("class", "rows", *kinds)]
        lines += [(c["class"], count(c["rows"]), *(percent(c[k].value) for k in kinds)) for c in classes[:_MOST_LINES]]
        parts.append(_table(lines, "lrrrr") + _more(len(lines) - 1, len(classes), "classes"))
    return "\n\n".join([*parts, _wrapped(section["note"], "  ")])


def _confusion(section: dict[str, Any]) -> str:
    names = section["classes"]
    if len(names) > 8:
        return ""
    rows = [("true \\ predicted", *names)]
    rows += [(name, *map(count, counts)) for name, counts in zip(names, section["counts"], strict=True)]
    return _table(rows, "l" + "r" * len(names), max(6, 60 // len(names)))


def _groups(section: dict[str, Any]) -> str:
    shown = section["groups"][:_MOST_LINES]
    rows = [
        (g["name"], _bar(g["strength"] / (shown[0]["strength"] or 1.0), 12), f"{g['n_used']} of {g['n_features']}",
         ", ".join(g["features"]))
        for g in shown
    ]  # fmt: skip
    return _table(rows, "llrl", 27) + _more(len(shown), section["n_used"], "groups") if rows else ""


def _kernels(section: dict[str, Any]) -> str:
    shown = section["kernels"][:_MOST_LINES]
    rows = [(k["name"], _bar(k["weight"] / (shown[0]["weight"] or 1.0), 12), number(k["weight"], 3)) for k in shown]
    return _table(rows, "llr", 50) + _more(len(shown), section["n_used"], "kernels") if rows else ""


def _tasks(section: dict[str, Any]) -> str:
    shown = section["tasks"][:_MOST_LINES]
    rows = [(t["name"], f"{count(t['n_used'])} features") for t in shown]
    return _table(rows, "lr", 27) + _more(len(shown), section["n_tasks"], "tasks")


def _features(section: dict[str, Any]) -> str:
    single = len(section["outputs"]) == 1
    rows = []
    for f in section["features"]:
        row = [f["name"], _bar(f["importance"], 12)]
        if single:
            row.append(number(f["weights"][0], 3))
        if f["deviation"] is not None:
            row.append(f"± {number(f['deviation'], 3)}")
        rows.append([*row, f["effect"]])
    return _table(rows, "ll" + "r" * (len(rows[0]) - 3), 27)


def _sparsity(section: dict[str, Any]) -> str:
    say = percent if section["measure"] == "error" else (lambda v: number(v, 3))
    top = max(e.value for e in section["error"]) or 1.0
    rows = [("features", section["measure"], "")]
    pairs: list[tuple[int, Estimate]] = list(zip(section["kept"], section["error"], strict=True))
    rows += [(count(k), say(e.value), _bar(e.value / top)) for k, e in pairs]
    return _table(rows, "rr")


def _stream(section: dict[str, Any]) -> str:
    parts = []
    if len(section["rows"]) > 2:
        parts.append(f"  {_spark(section['so far'])}  {section['measure']} so far")
    if len(section["files"]) > 1:
        shown = section["files"][:_MOST_LINES]
        rows = []
        for f in shown:
            row = [f["name"], f"{count(f['rows'])} rows"]
            if "error" in f:
                row += [percent(f["error"].value), f"{percent(f['error'].low)} to {percent(f['error'].high)}"]
            rows.append(row if len(row) > 2 else [*row, f"mean loss {number(f['loss'], 3)}"])
        parts.append(_table(rows, "lrr") + _more(len(shown), section["n_files"], "files"))
    return "\n\n".join(parts)


def _tuning(section: dict[str, Any]) -> str:
    good = sorted((e for e in section["evaluations"] if e["score"] is not None), key=lambda e: -e["score"])
    if not good:
        return ""
    names = list(section["params"])[:5]
    rows = [["number", "stage", "score", *names]] + [
        [str(e["evaluation"]), e["stage"], number(e["score"]), *(number(e["params"].get(n, "")) for n in names)]
        for e in good[:5]
    ]
    return _table(rows, "rlr" + "r" * len(names), 14)


def _clusters(section: dict[str, Any]) -> str:
    most = max(section["sizes"].values())
    rows = [("cluster", "rows", "silhouette", "")]
    for name, size in list(section["sizes"].items())[:30]:
        inside = section["silhouettes"].get(name)
        rows.append((name, count(size), "" if inside is None else f"{inside:.2f}", _bar(size / most)))
    table = _table(rows, "lrr") + _more(len(rows) - 1, len(section["sizes"]), "clusters")
    beside = [(name, number(value, 3)) for name, value in section["with the labels"].items()]
    return f"{table}\n\n{_table(beside, 'lr')}" if beside else table


def _profiles(section: dict[str, Any]) -> str:
    parts = []
    for one in section["clusters"][:_MOST_LINES]:
        lines = [_wrapped(in_words(one["features"]), f"  {one['cluster']}: ")]
        for kind, rows in (("typical", one["typical"][:1]), ("on the border", one["border"][:1])):
            lines += [_wrapped(f"{kind}, row {row['row']}: {_values(row)}", "     ") for row in rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + _more(len(parts), section["n_clusters"], "clusters")


def _values(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row["values"].items())


def _reproduce(section: dict[str, Any]) -> str:
    blocks = [section[key] for key in ("command", "python") if section[key]]
    return "\n\n".join("\n".join(f"  {line}".rstrip() for line in block.splitlines()) for block in blocks)


def _rounds(section: dict[str, Any]) -> str:
    shown = rounds_table(section)[: 1 + _MOST_LINES]
    return _table(shown, "rrrrr") + _more(len(shown) - 1, section["n_rounds"], "rounds")


_TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "asked": _asked,
    "data": _data,
    "model": _model,
    "measures": _measures,
    "confusion": _confusion,
    "groups": _groups,
    "kernels": _kernels,
    "tasks": _tasks,
    "features": _features,
    "sparsity": _sparsity,
    "rounds": _rounds,
    "stream": _stream,
    "tuning": _tuning,
    "clusters": _clusters,
    "profiles": _profiles,
    "reproduce": _reproduce,
}
