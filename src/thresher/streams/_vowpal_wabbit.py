"""The text of Vowpal Wabbit: ``label importance 'tag|namespace feature:value ...``, one row a line, features hashed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import SparseRows
from .._gate import Text as TextColumn
from ._source import BYTE_ORDER_MARK, Head, NamingFormat, Parsed, ReadOptions, Text, TextFormat
from ._svmlight import joined, joined_rows

_USUAL_COLUMNS, _MOST_COLUMNS = 1 << 18, 1 << 30
_BYTES_TO_LOOK_AT = 1 << 16
_LONGEST_NAME = 60

_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FEATURE = re.compile(rb"[^:]*(:%b)?" % _NUMBER)
_BEFORE_THE_BAR = (
    re.compile(  # label, importance and initial prediction, then 'tag; or a tag behind at least two of them
        rb"(?:%(number)b(?:[ \t]+%(number)b){0,2}[ \t]+)?(?:'\S*[ \t]*)?|(?:%(number)b[ \t]+){2,3}\S+"
        % {b"number": _NUMBER}
    )
)


class VowpalWabbitFormat(TextFormat):
    """Lines of Vowpal Wabbit to CSR arrays of hashed features, with their labels and importance weights.

    The column of a feature depends on its name, its namespace and `n_features` alone, so that all files agree. A line
    without a label has the target NaN; if none of the first lines has one, the file has no targets.
    """

    def __init__(self, name: str, head: Head, options: ReadOptions, layout: dict[str, Any] | None = None) -> None:
        width = int(options.n_features or _USUAL_COLUMNS) if layout is None else layout["hashed_columns"]
        if type(width) is not int or not 1 <= width <= _MOST_COLUMNS:
            raise ValueError(f"{name}: features are hashed into at most 2^30 columns, got n_features={width!r}.")
        if options.n_features is not None and options.n_features != width:
            raise ValueError(f"{name}: n_features={options.n_features}, but features were hashed into {width} columns.")
        self.n_features = width
        self.float32 = options.float32
        first = head.text.removeprefix(BYTE_ORDER_MARK)
        targets, *_ = self.parse(first, final=head.complete, skip_malformed=True, max_rows=1000).rows
        self._has_targets = not np.isnan(targets).all()

    def layout(self) -> dict[str, Any]:
        return {"hashed_columns": self.n_features}

    def parse(self, text: Text, **limits: Any) -> Parsed:
        *rows, consumed, lines, skipped = _core.parse_vw(
            text, n_features=self.n_features, float32=self.float32, **limits
        )
        return Parsed(tuple(rows), len(rows[0]), consumed, lines, skipped)

    def join(self, pieces: Sequence[Parsed]) -> tuple[SparseRows, NDArray[np.float64] | None]:
        targets, _, values, columns, starts = zip(*(piece.rows for piece in pieces), strict=True)
        X = joined_rows(values, columns, starts, self.n_features)
        return X, joined(targets) if self._has_targets else None

    def weights(self, pieces: Sequence[Parsed]) -> NDArray[np.float64] | None:
        weight = joined([piece.rows[1] for piece in pieces])
        return None if (weight == 1).all() else weight

    def naming(self, columns: NDArray[np.int32]) -> VowpalWabbitNames:
        return VowpalWabbitNames(self.n_features, columns)


class VowpalWabbitNames(NamingFormat):
    """Lines of Vowpal Wabbit to the names of the features behind some columns, two for each."""

    def __init__(self, n_features: int, columns: NDArray[np.int32]) -> None:
        self._n_features, self._columns = n_features, columns
        self._seen = np.zeros((len(columns), 3), dtype=np.uint32)
        self._found: list[list[str]] = [[] for _ in columns]

    def parse(self, text: Text, **limits: Any) -> Parsed:
        places, offsets, data, consumed, lines = _core.name_vw(
            text, n_features=self._n_features, wanted=self._columns, seen=self._seen, final=limits["final"]
        )
        for place, name in zip(places.tolist(), TextColumn(offsets, data).to_list(), strict=True):
            short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
            self._found[place // 2].append(short)
        return Parsed((), lines, consumed, lines, 0)

    def names(self) -> dict[int, str]:
        """Names by column: ``namespace^feature``, two of them if they share the column, ``...`` for more."""
        for place in np.flatnonzero(self._seen[:, 2]).tolist():
            self._found[place].append("...")
        pairs = zip(self._columns.tolist(), self._found, strict=True)
        return {column: " | ".join(names) for column, names in pairs if names}


def looks_like_vw(text: bytes) -> bool:
    """Whether the first lines are those of Vowpal Wabbit, and not those of a table with ``|`` between its fields.

    Each line must be well-formed, with a label that does not touch the bar, with a feature, and with at most one
    namespace without a name. Tables that meet this are recognised by their contents: in Vowpal Wabbit's text, most
    lines have features with values, or all lines have the same few namespaces, or one text of any number of words
    follows each label.
    """
    if len(text) > _BYTES_TO_LOOK_AT and (cut := text.rfind(b"\n", 0, _BYTES_TO_LOOK_AT)) > 0:
        text = text[:cut]
    lines = [_namespaces(line) for line in map(bytes.strip, text.splitlines()) if line]
    if not lines or not all(lines):
        return False
    n_valued = sum(any(b":" in feature for _, features in line for feature in features) for line in lines)
    names = {name.partition(b":")[0] for line in lines for name, _ in line}
    n_words = {len(features) for line in lines for _, features in line}
    if 2 * n_valued >= len(lines):
        return True
    if names == {b""}:
        return max(map(len, lines)) == 1 and len(n_words) > 1
    return len(names) <= max(map(len, lines))


def _namespaces(line: bytes) -> list[tuple[bytes, list[bytes]]]:
    """The namespaces of a line, each with its features; none if Vowpal Wabbit would not write such a line."""
    head, *spaces = line.split(b"|")
    words = [space.split() for space in spaces]
    unnamed = [not space or space[:1].isspace() for space in spaces]
    if not spaces or sum(unnamed) > 1 or not _BEFORE_THE_BAR.fullmatch(head):
        return []
    if not all(_FEATURE.fullmatch(word) for some in words for word in some):
        return []
    found = [(b"", some) if bare else (some[0], some[1:]) for bare, some in zip(unnamed, words, strict=True)]
    return found if any(features for _, features in found) else []
