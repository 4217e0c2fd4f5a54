"""The report for a terminal of 80 columns, or as Markdown."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._figures import bytes_of, count, formatter, low_to_high, markdown_text, number, percent
from ._subject import Section

_WIDTH = 80
_MOST_LINES = 12
_LEFT_OUT = ("map", "regions")  # shown by pictures only


def text(title: str, summary: dict[str, Any], sections: dict[str, Section]) -> str:
    """Write the whole report, with a line break at its end."""
    parts = [_title(title, "="), *map(_wrapped, [summary["says"], *summary["better"]]), _tiles(summary["tiles"])]
    for name, section in sections.items():
        if name not in _LEFT_OUT:
            says = "" if section["says"] == summary["says"] else _wrapped(section["says"])
            parts += [_title(section["title"], "-"), says, _TABLES[name](section) if name in _TABLES else ""]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(title: str, summary: dict[str, Any], sections: dict[str, Section]) -> str:
    """Write the same as Markdown: tables are blocks of code, which show any text as it is."""
    parts = [f"# {markdown_text(title)}", *map(markdown_text, [summary["says"], *summary["better"]])]
    parts.append(_as_block(_tiles(summary["tiles"])))
    for name, section in sections.items():
        if name not in _LEFT_OUT:
            says = "" if section["says"] == summary["says"] else markdown_text(section["says"])
            table = _as_block(_TABLES[name](section)) if name in _TABLES else ""
            parts += [f"## {markdown_text(section['title'])}", says, table]
    return "\n\n".join(part for part in parts if part) + "\n"


def _as_block(table: str) -> str:
    return textwrap.indent(textwrap.dedent(table), "    ")


def _title(words: str, line: str) -> str:
    words = _cut(words, _WIDTH)
    return f"{words}\n{line * _width(words)}"


def _wrapped(words: str, indent: str = "") -> str:
    glued = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", words)
    filled = textwrap.fill(glued, _WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent))
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def _width(words: str) -> int:
    """Count columns on a terminal: letters of some scripts take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in words)


def _cut(words: str, width: int) -> str:
    if _width(words) <= width:
        return words
    while _width(words) > width - 1:
        words = words[:-1]
    return words + "…"


def _table(rows: Sequence[Sequence[str]], right: str = "", widest: int = 30) -> str:
    """Set rows in columns; ``right`` has an r for each column that is set flush right."""
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
    """Draw a bar in eighths of a column."""
    eighths = int(8 * width * max(0.0, min(1.0, share)) + 0.5)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _spark(values: Any, width: int = 60) -> str:
    """Draw a line of columns as high as the values."""
    values = np.asarray(values, dtype=np.float64)
    if len(values) > width:
        values = values[np.linspace(0, len(values) - 1, width).astype(np.intp)]
    top = float(values.max()) or 1.0
    heights = [min(7, int(8 * max(float(v), 0.0) / top)) for v in values]
    return "".join("▁▂▃▄▅▆▇█"[height] for height in heights)


def _list(
    rows: Sequence[Sequence[str]], right: str, total: int, what: str, *, head: Sequence[str] = (), widest: int = 30
) -> str:
    """Set the first rows in columns, below a head, and count the others."""
    shown = rows[:_MOST_LINES]
    table = _table([head, *shown] if head else shown, right, widest)
    return f"{table}{_more(len(shown), total, what)}" if shown else ""


def _more(shown: int, total: int, what: str) -> str:
    return f"\n  and {count(total - shown)} more {what}" if total > shown else ""


def _tiles(tiles: list[dict[str, str]]) -> str:
    return _table([(t["label"], t["value"], t["note"]) for t in tiles], "lrl", 48)


def _asked(section: Section) -> str:
    return "\n".join(_wrapped(reason, "  * ") for reason in section["reasons"])


def _data(section: Section) -> str:
    sizes = section["classes"]
    total, most = sum(sizes.values()) or 1, max(sizes.values(), default=0) or 1
    classes = [(name, count(n), percent(n / total), _bar(n / most)) for name, n in sizes.items()]
    files = []
    for file in section["files"]:
        rows = "" if file["rows"] is None else f"{count(file['rows'])} rows"
        files.append((file["name"], rows, "" if file["bytes"] is None else bytes_of(file["bytes"])))
    tables = [
        _profile(section["profile"]) if section["profile"] else "",
        _list(classes, "lrr", section["n_classes"], "classes"),
        _list(files, "lrr", section["n_files"], "files", widest=44),
    ]
    return "\n\n".join(filter(None, tables))


def _profile(profile: Section) -> str:
    """Set warnings and columns below each other."""
    rows = [
        (
            c["name"],
            c["kind"].split(",")[0],
            percent(c["missing"]),
            _spark(c["histogram"]) if c["histogram"] else "",
            c["span"],
        )
        for c in profile["columns"]
    ]
    head = ("column", "kind", "missing", "", "values")
    warnings = [_wrapped(says, "  ! ") for says in profile["warnings"]]
    table = _list(rows, "llrll", profile["n_columns"], "columns", head=head, widest=24)
    return "\n\n".join(filter(None, ["\n".join(warnings), table]))


def _model(section: Section) -> str:
    changed = [f"{p['name']} = {p['value']}" for p in section["params"] if p["changed"]]
    return _wrapped("Set: " + ", ".join(changed) + ".", "  ") if changed else ""


def _measures(section: Section) -> str:
    rows = [("", "value", "95 % interval", "a guess" if section["unit"] == "share" else "the mean")]
    for name, e in section["measures"].items():
        form, guess = formatter(name), section["guesses"].get(name)
        rows.append((name, form(e.value), low_to_high(e, form), "" if guess is None else form(guess)))
    kinds, classes = ("precision", "recall", "F1"), section.get("classes") or []
    lines = [(c["class"], count(c["rows"]), *(percent(c[k].value) for k in kinds)) for c in classes]
    by_class = _list(lines, "lrrrr", len(classes), "classes", head=("class", "rows", *kinds))
    return "\n\n".join(filter(None, [_table(rows, "lrlr"), by_class, _wrapped(section["note"], "  ")]))


def _confusion(section: Section) -> str:
    names = section["classes"]
    if len(names) > 8:
        return ""
    rows = [("true \\ predicted", *names)]
    rows += [(name, *map(count, counts)) for name, counts in zip(names, section["counts"], strict=True)]
    return _table(rows, "l" + "r" * len(names), max(6, 60 // len(names)))


def _probabilities(section: Section) -> str:
    rows = [("predicted", "observed", "95 % interval", "rows")]
    for each in section["bins"]:
        observed = each["observed"]
        shares = percent(round(each["predicted"], 6)), percent(observed.value), low_to_high(observed, percent)
        rows.append((*shares, count(each["rows"])))
    return _table(rows, "rrlr")


def _decisions(section: Section) -> str:
    from ._decisions import table as decisions_table

    table = _table(decisions_table(section), "rl" + "r" * (3 + len(section["costs"])))
    return f"{table}\n\n  Costs are per row, in false alarms; at 5, a missed row costs five of them."


def _groups(section: Section) -> str:
    rows = []
    for group in section["groups"]:
        bar = _bar(group["strength"] / (section["groups"][0]["strength"] or 1.0), 12)
        used = f"{group['n_used']} of {group['n_features']}"
        rows.append((group["name"], bar, used, ", ".join(group["features"])))
    return _list(rows, "llrl", section["n_used"], "groups", widest=27)


def _kernels(section: Section) -> str:
    most = section["kernels"][0]["weight"] or 1.0 if section["kernels"] else 1.0
    rows = [(k["name"], _bar(k["weight"] / most, 12), number(k["weight"], 3)) for k in section["kernels"]]
    return _list(rows, "llr", section["n_used"], "kernels", widest=50)


def _tasks(section: Section) -> str:
    rows = [(t["name"], f"{count(t['n_used'])} features") for t in section["tasks"]]
    return _list(rows, "lr", section["n_tasks"], "tasks", widest=27)


def _features(section: Section) -> str:
    single = len(section["features"][0]["weights"]) == 1
    longest = 12 if section["features"][0]["deviation"] is None else 8  # so that the effect fits into the line
    rows = []
    for f in section["features"]:
        row = [_cut(f["name"], 27), _bar(f["importance"], longest)]
        if single:
            row.append(number(f["weights"][0], 3))
        if f["deviation"] is not None:
            row.append(f"± {number(f['deviation'], 3)}")
        rows.append([*row, f["effect"]])
    return _table(rows, "ll" + "r" * (len(rows[0]) - 3), _WIDTH)


def _curves(section: Section) -> str:
    from ._curves import rows_of_curves

    rows, total = rows_of_curves(section)
    return _list(rows, "lrrrr", total, "columns", head=("column", "least at", "part", "most at", "part"), widest=20)


def _explained_rows(section: Section) -> str:
    from ._explained_rows import title_of

    found = []
    for row in section["rows"]:
        parts = [(part["name"], part["value"], number(part["part"], 3)) for part in row["parts"]]
        found.append(f"{_wrapped(title_of(row))}\n{_table(parts, 'lrr', 36)}")
    if section["meaning"]:
        found.append(_wrapped(section["meaning"]))
    return "\n\n".join(found)


def _sparsity(section: Section) -> str:
    form, values = formatter(section["measure"]), [e.value for e in section["error"]]
    top = max(values) or 1.0
    rows = [(count(k), form(v), _bar(v / top)) for k, v in zip(section["kept"], values, strict=True)]
    return _table([("features", section["measure"], ""), *rows], "rr")


def _stream(section: Section) -> str:
    parts = []
    if len(section["rows"]) > 2:
        parts.append(f"  {_spark(section['so far'])}  {section['measure']} so far")
    if len(section["files"]) > 1:
        rows = []
        for f in section["files"]:
            loss = [f"mean loss {number(f['loss'], 3)}"]
            error = [percent(f["error"].value), low_to_high(f["error"], percent)] if "error" in f else loss
            rows.append([f["name"], f"{count(f['rows'])} rows", *error])
        parts.append(_list(rows, "lrr", section["n_files"], "files"))
    return "\n\n".join(parts)


def _tuning(section: Section) -> str:
    from ._course import setting

    good = sorted((e for e in section["evaluations"] if e["score"] is not None), key=lambda e: -e["score"])
    if not good:
        return ""
    names, form = list(section["params"])[:5], formatter(section["measure"])
    if section["best"]["model"]:  # of several models, each with its own parameters
        settings = [[str(e["evaluation"]), form(e["value"]), setting(e)] for e in good[:5]]
        return _table([["number", section["measure"], "setting"], *settings], "rr", _WIDTH)
    rows = [
        [str(e["evaluation"]), e["stage"], form(e["value"]), *(number(e["params"].get(n, "")) for n in names)]
        for e in good[:5]
    ]
    return _table([["number", "stage", section["measure"], *names], *rows], "rlr" + "r" * len(names), 14)


def _clusters(section: Section) -> str:
    most = max(section["sizes"].values())
    rows = [("cluster", "rows", "silhouette", "")]
    for name, size in list(section["sizes"].items())[:30]:
        inside = section["silhouettes"].get(name)
        rows.append((name, count(size), "" if inside is None else f"{inside:.2f}", _bar(size / most)))
    table = _table(rows, "lrr") + _more(len(rows) - 1, len(section["sizes"]), "clusters")
    beside = [(name, number(value, 3)) for name, value in section["with the labels"].items()]
    return f"{table}\n\n{_table(beside, 'lr')}" if beside else table


def _profiles(section: Section) -> str:
    from ._cluster_section import in_words

    parts = []
    for one in section["clusters"][:_MOST_LINES]:
        lines = [_wrapped(in_words(one["features"]), f"  {one['cluster']}: ")]
        for kind, rows in (("typical", one["typical"]), ("on the border", one["border"])):
            for row in rows[:1]:
                values = ", ".join(f"{name} {value}" for name, value in row["values"].items())
                lines.append(_wrapped(f"{kind}, row {row['row']}: {values}", "     "))
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + _more(len(parts), section["n_clusters"], "clusters")


def _reproduce(section: Section) -> str:
    blocks = [section[key] for key in ("command", "python") if section[key]]
    return "\n\n".join("\n".join(f"  {line}".rstrip() for line in block.splitlines()) for block in blocks)


def _rounds(section: Section) -> str:
    from ._course import table as rounds_table

    head, *rows = rounds_table(section)
    return _list(rows, "rrrrr", section["n_rounds"], "rounds", head=head)


def _race(section: Section) -> str:
    from ._race_section import table as race_table

    lines = race_table(section)
    return _table(lines, "r" * (len(lines[0]) - 1))


_TABLES: dict[str, Callable[[Section], str]] = {
    "asked": _asked,
    "data": _data,
    "model": _model,
    "measures": _measures,
    "confusion": _confusion,
    "decisions": _decisions,
    "probabilities": _probabilities,
    "groups": _groups,
    "kernels": _kernels,
    "tasks": _tasks,
    "features": _features,
    "curves": _curves,
    "explained_rows": _explained_rows,
    "sparsity": _sparsity,
    "rounds": _rounds,
    "stream": _stream,
    "race": _race,
    "tuning": _tuning,
    "clusters": _clusters,
    "profiles": _profiles,
    "reproduce": _reproduce,
}
