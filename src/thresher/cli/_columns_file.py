"""The small YAML file that says how the columns of a table are read: read, and written to be changed by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

KEYS = ("target", "encoding", "delimiter", "header", "decimal", "date", "missing", "keep_identifiers", "columns")
_NO_YAML = "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # which YAML has only as escapes
_HEAD = """\
# How the columns of {file} are read. Correct what is wrong, and use it with
#     --columns {path}
# A kind is number, date, time, boolean, category, text (prose, counted word by word) or drop (left out);
# an identifier is left out, too. A number may have decimal ("." or ","), thousands and unit; a date or time
# needs a pattern of Y or y (year), M (month), D (day), h, m and s, such as "D.M.Y" or "h:m"; a boolean needs
# the words for yes and no. Any column may list words for missing values: "missing": ["unknown"].
"""


def read_columns_file(path: Path) -> dict[str, Any]:
    """Parameters of ``open_stream`` from a file such as ``thresher look --write`` makes."""
    try:
        import yaml
    except ImportError:
        raise ValueError(f'{path.name}: YAML files need PyYAML: pip install "thresher[lab]".') from None
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name}: not a readable YAML file ({reason}).") from None
    if not isinstance(found, dict) or not found:
        raise ValueError(f"{path.name}: expected entries such as decimal: ',' or columns: ..., got {found!r}.")
    unknown = [key for key in found if key not in KEYS]
    if unknown:
        raise ValueError(f"{path.name}: there is no entry {unknown[0]!r}; the entries are {', '.join(KEYS)}.")
    given = {key: value for key, value in found.items() if value is not None}
    if not isinstance(given.get("columns", {}), dict):
        raise ValueError(f"{path.name}: columns must name each column with its kind, got {given['columns']!r}.")
    return given


def columns_file(stream: Any, given: dict[str, Any], path: str) -> str:
    """The YAML that ``--columns`` takes: what holds for the whole file, then a line for each column.

    Parameters
    ----------
    stream : Stream
        Of a table.
    given : dict
        The options of the command; those about all columns are written down.
    path : str
        The name of the file that is to hold it.
    """
    understood = stream.understood
    if understood is None:
        raise ValueError(f"{stream.path.name}: --write is for tables, whose columns can be read in several ways.")
    whole = {name: getattr(understood, name) for name in ("encoding", "delimiter", "header")}
    whole = whole if understood.encoding is not None else {}
    whole |= {name: given[name] for name in ("decimal", "date", "missing") if given.get(name)}
    whole["target"] = _key(understood.target, list(understood.columns))
    lines = [_HEAD.format(file=" ".join(stream.path.name.split()), path=path)]
    lines += [f"{name}: {_scalar(value)}" for name, value in whole.items()]
    lines += ["", "columns:"]
    for name, found in understood.columns.items():
        remark = f"  # {' '.join(found.example.split())[:40]}" if found.example else ""
        key = _key(name, list(understood.columns))
        lines.append(f"  {_scalar(key)}: {_scalar(found.reading.to_dict())}{re.sub(_NO_YAML, '?', remark)}")
    return "\n".join(lines) + "\n"


def _key(name: str | None, names: list[str]) -> str | int | None:
    """The name of a column, or its number if the header has the name twice."""
    return names.index(name) if name is not None and f"{name}_2" in names else name


def _scalar(value: Any) -> str:
    """A value as JSON writes it, which YAML reads."""
    written = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return re.sub(_NO_YAML, lambda found: f"\\u{ord(found[0]):04x}", written)
