"""Compilers without the features of GCC and Clang compute the same bits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("plain_forms.cpp")


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_plain_forms_give_the_same_bits(tmp_path):
    said = []
    for name, flags in {"gnu": [], "plain": ["-DTHRESHER_PLAIN"]}.items():
        strict = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        subprocess.run(["g++", *strict, *flags, str(SOURCE), "-o", str(tmp_path / name)], check=True)
        said.append(subprocess.run([tmp_path / name], capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) > 6000
