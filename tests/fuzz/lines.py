"""Damaged lines of svmlight and CSV: read or refused with their number, never more."""

from __future__ import annotations

import random

from words import Finding

from thresher import _core

SVMLIGHT = [b"1 1:0.5 3:2", b"-1 2:1e3 # note", b"+1 qid:3 1:1 7:-2.5e-3", b"0"]
CSV = [b'1,2.5,"a ""b""",c', b"-1,,x y,z", b"3,1e9,,\xc3\xa9"]
BYTES = b'0123456789:.,-+eE#"\r\n\t \0\xffqidnaINF;'
LINES = 100


def text_of(choose: random.Random, good: list[bytes]) -> bytes:
    lines = [choose.choice(good) for _ in range(LINES)]
    for place in range(LINES):
        line = bytearray(lines[place])
        for _ in range(choose.choice([0, 0, 1, 1, 2, 5])):
            at = choose.randrange(len(line) + 1)
            how = choose.random()
            if how < 0.4:
                line[at:at] = bytes([choose.choice(BYTES)])
            elif how < 0.7:
                line[at : at + 1] = bytes([choose.choice(BYTES)]) * choose.choice([1, 1, 1, 30])
            else:
                del line[at : at + choose.randrange(4)]
        lines[place] = bytes(line)
    return choose.choice([b"\n", b"\r\n"]).join(lines)


def lines(seed: int) -> str:
    """A hundred lines: what is good is read, what is not is counted."""
    choose = random.Random(seed)
    skip = choose.random() < 0.7
    try:
        if choose.random() < 0.5:
            text = text_of(choose, SVMLIGHT)
            width = choose.choice([None, None, 5])
            found = _core.parse_svmlight(text, skip_malformed=skip, n_features=width, max_features=1 << 20)
            starts, columns = found[3], found[2]
            if starts[-1] != len(columns) or (len(columns) and columns.max() >= (width or 1 << 20)):
                raise Finding(f"svmlight: {text!r:.200}")
        else:
            _core.parse_csv(text_of(choose, CSV), kinds="nntt", skip_malformed=skip)
    except ValueError as refusal:
        if skip or not str(refusal).startswith("line ") or len(str(refusal)) > 600:
            raise Finding(f"{refusal}") from refusal
        return "refused"
    return "works"
