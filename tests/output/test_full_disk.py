"""A disk or quota that is full, and folders that take no files: one sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import re
import resource
from contextlib import contextmanager

import numpy as np
import pytest

from thresher.cli import main
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.streams import write_svmlight


@contextmanager
def room_for(n_bytes):
    """No file can become longer than this, as if the disk ended there; Python ignores the signal that says so."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def folder(tmp_path):
    """Data, and an old model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100))
    y = np.sign(X[:, 0])
    with (tmp_path / "data.svm").open("wb") as file:
        write_svmlight(file, X, y)
    save_model(AROWClassifier(1.0).fit(X, y), tmp_path / "old")
    return tmp_path


def content(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_a_model_that_does_not_fit_replaces_nothing(folder):
    before, model = content(folder), load_model(folder / "old")
    model.partial_fit(np.ones((1, 100)), [1])
    with room_for(500), pytest.raises(OSError, match="nothing was written") as refusal:
        save_model(model, folder / "old")
    assert (refusal.value.errno, refusal.value.filename) == (errno.EFBIG, str(folder / "old"))
    assert content(folder) == before


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG], ids=errno.errorcode.get)
def test_a_disk_or_quota_that_is_full_at_the_last_moment_replaces_nothing(folder, monkeypatch, reason):
    """Where a quota is on another machine, only the disk's own answer says that nothing more fits."""
    before, model = content(folder), load_model(folder / "old")

    def full(_):
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="nothing was written") as refusal:
        save_model(model, folder / "old")
    assert (refusal.value.errno, refusal.value.filename) == (reason, str(folder / "old"))
    assert content(folder) == before


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("train data.svm --method arow --quiet --model", "old"),
        ("predict old data.svm --output", "predictions.csv"),
    ],
)
def test_commands_say_so_in_a_sentence(folder, capsys, monkeypatch, command, output):
    monkeypatch.chdir(folder)
    before = content(folder)
    with room_for(500):
        assert main([*command.split(), output]) == 2
    assert re.fullmatch(rf"thresher: {output}: .+; nothing was written\.\n", capsys.readouterr().err)
    assert content(folder) == before


def test_a_full_device_is_a_sentence(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["predict", "old", "data.svm", "--output", "/dev/full"]) == 2
    assert capsys.readouterr().err == f"thresher: {os.strerror(errno.ENOSPC)}.\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="no folder is closed to root")
def test_a_folder_that_takes_no_files_is_named(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = content(folder)
    folder.chmod(0o500)
    try:
        assert main(["predict", "old", "data.svm", "--output", "predictions.csv"]) == 2
    finally:
        folder.chmod(0o700)
    assert capsys.readouterr().err == f"thresher: predictions.csv: {os.strerror(errno.EACCES)}.\n"
    assert content(folder) == before
