"""Hostile text: the parsers survive it, and agree with a slow reader made of regular expressions on what is a row and
what is not, line by line. (Reading past a buffer is what `make sanitize` looks for.)"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from reference.csv_text import read_csv
from reference.vw_text import read_vw_line
from thresher import _core
from thresher._gate._table import Text

NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
TARGET = re.compile(NUMBER)
PAIR = re.compile(rb"([0-9]+):(" + NUMBER + rb")")

SVMLIGHT_SEEDS = [
    b"1 1:0.5 7:1e-3 30:-2.25 # note", b"-1 qid:3 2:1 5:.5 9:5.", b"+1.5e2\t3:0.0123456 4:12345678901234567890123",
    b"0", b"# only", b"1 4294967296:1 9223372036854775807:2", b"3 9:1 2:5 1:7", b"1 2:1 2:2",
    b"1 000000000000000000000000012:1.7976931348623157e308",
    b"1 1:123456789012345678e-27 2:4.9e-324 4:1e99999999999999999",
    b"1 1:inf", b"nan 1:2",
]  # fmt: skip
CSV_SEEDS = [
    b"1,2,3,4", b'"1.5", 2 ,,"4"', b'1,,"a,b",3', b'"""",1,2,3', b",,,", b"-0.5,1e5,.25,123456789012345678901",
    b'NA,"n/a",?,.', b'1,two words , "3\n,""4""\n", x',
    b'"a""b", "NaN","\xc3\xa4\xe2\x82\xff\xed\xa0\x80\xf0\x9f\x98\x80" ,7', b'"x\r\ny",none,"",inf',
]  # fmt: skip
VW_SEEDS = [
    b"1 |f a:0.5 b c:-2", b"-1 2.5 'tag|words good film |year:0.1 y:1990", b"| 3:1 7 3:.5",
    b"0.5 1 0 |a^b x:1e3 |a^b x:-1e3",
    b"1 1.0 zebra|Metric:3.28 height:1.5 |Says black |Other Legs:4.0", b"1|f a", b"1:2:0.5 |f a", b"  ", b"|",
    b"'t | :1 :2",
    b"1 |f a:1.7976931348623157e308 a:1.7976931348623157e308", b"3 0 |123 456 000000000000000000000 999999999999999999",
]  # fmt: skip
CSV_KINDS = ("nnnn", "tttt", "ntnt", "t-nt", "-nt-")
ALPHABET = b"00123456789" * 4 + b'    ::::....eE+-#\t\r\n,,""""qid\x00\xff\x80xnaif' + b"|||'"


def mutated(rng: random.Random, seed: bytes) -> bytes:
    line = bytearray(seed)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        at = rng.randrange(len(line) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            line[at : at + 1] = bytes([rng.choice(ALPHABET)])
        elif kind == 1:
            line[at:at] = bytes([rng.choice(ALPHABET)])
        elif kind == 2:
            del line[at : at + 1]
        elif kind == 3:
            line[at:at] = bytes([rng.choice(ALPHABET)]) * rng.randrange(400 if rng.random() < 0.02 else 25)
        elif kind == 4:
            del line[at:]
        else:
            line[at : at + 1] = bytes([rng.randrange(256)])
    return bytes(line)


def read_svmlight_line(line: bytes):
    """(target, [(column, value)]), () for no row, None for a refusal."""
    target, *tokens = re.split(rb"[ \t]+", line.partition(b"#")[0].strip(b" \t"))
    if not target:
        return ()
    if not TARGET.fullmatch(target) or np.isinf(float(target)):
        return None
    row = {}
    for token in tokens:
        if re.fullmatch(rb"qid:[0-9]+", token):
            continue
        pair = PAIR.fullmatch(token)
        if not pair or not 1 <= int(pair[1]) <= 2**63 - 1 or int(pair[1]) - 1 in row or np.isinf(float(pair[2])):
            return None
        row[int(pair[1]) - 1] = float(pair[2])
    return float(target), sorted(row.items())


def expected_rows(text: bytes, read_line):
    """All rows, the number of the first refused line or None, and how many are refused."""
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    if not lines[-1]:
        del lines[-1]
    read = [read_line(line) for line in lines]
    bad = [number for number, row in enumerate(read, start=1) if row is None]
    return [row for row in read if row], bad[0] if bad else None, len(bad)


def check_svmlight(text: bytes) -> None:
    rows, first_bad, n_bad = expected_rows(text, read_svmlight_line)
    targets, values, columns, starts, _, consumed, _, skipped = _core.parse_svmlight(text, skip_malformed=True)
    assert (consumed, skipped) == (len(text), n_bad), text
    assert targets.tobytes() == np.array([target for target, _ in rows], dtype=np.float64).tobytes(), text
    assert np.diff(starts).tolist() == [len(pairs) for _, pairs in rows], text
    assert columns.tolist() == [j for _, pairs in rows for j, _ in pairs], text
    assert values.tobytes() == np.array([x for _, pairs in rows for _, x in pairs], dtype=np.float64).tobytes(), text
    check_refusal(text, first_bad, r"line (\d+), column \d+: [ -~]+\.", lambda: _core.parse_svmlight(text))


def check_vw(text: bytes) -> None:
    rng = random.Random(text)
    n_features = rng.choice((1, 100, 1 << 18, 1 << 30))
    rows, first_bad, n_bad = expected_rows(text, lambda line: read_vw_line(line, n_features))
    targets, weights, values, columns, starts, consumed, _, skipped = _core.parse_vw(
        text, n_features=n_features, skip_malformed=True
    )
    assert (consumed, skipped) == (len(text), n_bad), text
    assert targets.tobytes() == np.array([row[0] for row in rows], dtype=np.float64).tobytes(), text
    assert weights.tobytes() == np.array([row[1] for row in rows], dtype=np.float64).tobytes(), text
    assert np.diff(starts).tolist() == [len(row[2]) for row in rows], text
    assert columns.tolist() == [j for row in rows for j, _ in row[2]], text
    assert values.tobytes() == np.array([x for row in rows for _, x in row[2]], dtype=np.float64).tobytes(), text
    pattern = r"line (\d+), column \d+: [ -~]+\."
    check_refusal(text, first_bad, pattern, lambda: _core.parse_vw(text, n_features=n_features))


def check_csv(text: bytes) -> None:
    rng = random.Random(text)
    kinds = rng.choice(CSV_KINDS)
    target = rng.choice([-1, *(j for j, kind in enumerate(kinds) if kind != "-")])
    truth = read_csv(text, kinds, target)
    part = _core.parse_csv(text, kinds=kinds, target=target, skip_malformed=True)
    assert csv_rows(part, kinds, target) == truth.rows, (text, kinds, target)
    assert part[3:] == (len(text), truth.n_lines, len(truth.refused)), (text, kinds, target)
    check_in_pieces(text, kinds, target, rng, part)
    first_bad = truth.refused[0] if truth.refused else None
    pattern = r"line (\d+)(?:, field \d+)?: [ -~]+\."
    check_refusal(text, first_bad, pattern, lambda: _core.parse_csv(text, kinds=kinds, target=target))


def csv_rows(part, kinds: str, target: int):
    """Rows as the slow reader gives them; NaN is left as None, which equals itself."""
    targets, values, texts, *_ = part
    numbers, words = iter(values.T.tolist()), iter([Text(*column).to_list() for column in texts])
    columns = []
    for place, kind in enumerate(kinds):
        if place == target:
            columns.append(targets.tolist() if kind == "n" else Text(*targets).to_list())
        elif kind != "-":
            columns.append(next(numbers) if kind == "n" else next(words))
    return [Row(row) for row in zip(*columns, strict=True)]


class Row(tuple):
    def __eq__(self, other):
        return len(self) == len(other) and all(a == b or (a != a and b != b) for a, b in zip(self, other, strict=True))

    __hash__ = None


def check_in_pieces(text: bytes, kinds: str, target: int, rng: random.Random, whole) -> None:
    """Text that arrives bit by bit gives the rows, lines and refusals of the whole."""
    rows, line, skipped, rest, place = [], 1, 0, b"", 0
    while place < len(text) or rest:
        n = rng.randrange(1, 30)
        rest, place = rest + text[place : place + n], place + n
        final = place >= len(text)
        part = _core.parse_csv(
            rest, kinds=kinds, target=target, skip_malformed=True, final=final, max_rows=rng.choice((-1, 1, 2))
        )
        rows += csv_rows(part, kinds, target)
        rest, line, skipped = rest[part[3] :], line + part[4], skipped + part[5]
    assert (line - 1, skipped) == whole[4:], (text, kinds, target)
    assert rows == csv_rows(whole, kinds, target), (text, kinds, target)


def check_refusal(text: bytes, first_bad: int | None, pattern: str, parse) -> None:
    if first_bad is None:
        parse()
        return
    with pytest.raises(ValueError) as refusal:
        parse()
    said = re.fullmatch(pattern, str(refusal.value))
    assert said, (text, str(refusal.value))
    assert int(said[1]) == first_bad, text


def fuzz(check, seeds: list[bytes], n_lines: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(n_lines // 4):
        lines = [mutated(rng, rng.choice(seeds)) for _ in range(4)]
        check(rng.choice((b"\n", b"\r\n")).join(lines) + rng.choice((b"", b"\n")))


CHECKS = pytest.mark.parametrize(
    "check, seeds", [(check_svmlight, SVMLIGHT_SEEDS), (check_vw, VW_SEEDS), (check_csv, CSV_SEEDS)]
)


@CHECKS
def test_mutated_lines_are_read_or_refused_as_a_slow_reader_would(check, seeds):
    fuzz(check, seeds, n_lines=20_000, seed=1)


@pytest.mark.slow
@CHECKS
@pytest.mark.parametrize("seed", [2, 3])
def test_a_million_mutated_lines(check, seeds, seed):
    fuzz(check, seeds, n_lines=250_000, seed=seed)
