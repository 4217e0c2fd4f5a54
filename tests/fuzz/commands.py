"""Damaged model files, as the command line wrote them, given to the commands that read them: a result, or one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import struct
import tempfile
from functools import cache
from pathlib import Path

from damage import changed, changed_header
from words import Finding, check

from thresher.cli import main

ROWS = "age,sold,job,rich\n" + "".join(
    f"{30 + i % 17}.5,{1 + i % 28:02d}.03.2024,{('cook', 'smith', 'judge')[i % 3]},{'yes' if i % 17 > 8 else 'no'}\n"
    for i in range(60)
)
MODELS = {
    "arow": "train rows.csv --method arow --quiet --model model",
    "ftrl": "train rows.csv --target age --drop rich --method ftrl-regressor --quiet --model model",
    "splines": "auto rows.csv --n-evaluations 2 --quiet --model model",
}
COMMANDS = [
    "inspect model",
    "inspect model --json",
    "card model",
    "explain model rows.csv --row 2",
    "explain model rows.csv --json",
    "predict model rows.csv",
    "predict model rows.csv --json",
    "export model --to json",
    "export model --to sql",
    "export model --to c",
    "train rows.csv --resume --model model --method arow --quiet",
    "merge model model --model merged",
]


@contextlib.contextmanager
def silent() -> object:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        yield said


@cache
def trained(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), silent():
        Path("rows.csv").write_text(ROWS)
        assert main(MODELS[name].split()) == 0
        return Path("model").read_bytes()


def with_other_record(content: bytes, choose: random.Random) -> bytes:
    """Damage in what a model file says of its training: how columns are read, measures, options."""
    (size,) = struct.unpack("<Q", content[:8])
    outer = json.loads(content[8 : 8 + size])
    inner = json.loads(outer["__metadata__"]["thresher"])
    for _ in range(choose.choice([1, 1, 2, 4])):
        inner["record"] = changed_header(inner["record"], choose)
    outer["__metadata__"]["thresher"] = json.dumps(inner)
    text = json.dumps(outer).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size :]


def command(seed: int) -> str:
    choose = random.Random(seed)
    content = trained(choose.choice(list(MODELS)))
    typed = choose.choice(COMMANDS)
    os.environ["THRESHER_TRACEBACK"] = "1"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), silent():
        Path("rows.csv").write_text(ROWS)
        damage = with_other_record if choose.random() < 0.8 else changed
        Path("model").write_bytes(damage(content, choose))
        try:
            code = main(typed.split())
        except Exception as error:
            return check(error, typed)
    if code not in (0, 2):
        raise Finding(f"{typed}: exit code {code}")
    return "works" if code == 0 else "refused"
