"""Real file systems that are full or read-only: one sentence, nothing is lost, and a run goes on when there is room."""

from __future__ import annotations

import errno
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from thresher.cli import main
from thresher.online import AROWClassifier
from thresher.persistence import save_model
from thresher.streams import write_svmlight

FULL, READ_ONLY = os.strerror(errno.ENOSPC), os.strerror(errno.EROFS)


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """A file system of 256 kB with an old model in it, and rows beside it."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "small", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a file system is for root")
    try:
        X = np.random.default_rng(0).normal(size=(300, 400))
        with (tmp_path / "rows.svm").open("wb") as file:
            write_svmlight(file, X, np.sign(X[:, 0]))
        save_model(AROWClassifier(1.0).fit(X, np.sign(X[:, 0])), place / "old")
        monkeypatch.chdir(tmp_path)
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def content(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def fill(disk):
    with (disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 512):
            pass


OFTEN = "--method arow --quiet --checkpoint-seconds 0 --batch-size 20"
COMMANDS = {
    "train": "train rows.svm --method arow --quiet --model disk/old",
    "train with checkpoints": f"train rows.svm {OFTEN} --model disk/old",
    "predict": "predict disk/old rows.svm --output disk/predictions.csv",
    "card": "card disk/old --output disk/card.md",
    "export": "export disk/old --to json --output disk/model.json",
    "merge": "merge disk/old disk/old --model disk/merged",
    "look": "look rows.svm --report disk/look.html",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_sentence_and_loses_nothing(disk, capsys, name):
    fill(disk)
    before = content(disk)
    assert main(COMMANDS[name].split()) == 2
    said = capsys.readouterr().err
    assert FULL in said.splitlines()[-1]
    assert said.splitlines()[-1].startswith("thresher: disk/")
    assert "Traceback" not in said
    assert content(disk) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_disk_is_one_sentence(disk, capsys, name):
    before = content(disk)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert main(COMMANDS[name].split()) == 2
    said = capsys.readouterr().err
    assert READ_ONLY in said.splitlines()[-1] or said.endswith("disk/old: the folder is not writable.\n")
    assert said.splitlines()[-1].startswith("thresher: disk/")
    assert content(disk) == before


def test_a_run_that_met_a_full_disk_goes_on_when_there_is_room(disk):
    command = f"train rows.svm {OFTEN} --max-iter 3 --model"
    assert main([*command.split(), "whole"]) == 0
    (disk / "old").unlink()
    fill(disk)
    os.truncate(disk / "ballast", (disk / "ballast").stat().st_size - (4 << 10))
    assert main([*command.split(), "disk/new"]) == 2
    assert os.listdir(disk) == ["ballast"]  # no draft, no part of a checkpoint
    (disk / "ballast").unlink()
    assert main([*command.split(), "disk/new", "--resume"]) == 0
    assert (disk / "new").read_bytes() == Path("whole").read_bytes()
    assert os.listdir(disk) == ["new"]
