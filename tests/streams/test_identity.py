"""A file is the one that was opened: not wider than memory allows, not cut, not grown, not changed."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from thresher.cli import main
from thresher.online import AROWClassifier
from thresher.streams import open_stream, read_svmlight, version_of
from thresher.training import Interrupted, train

LINES = "1 1:1 3:2\n-1 2:1\n" * 3000


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.svm"
    path.write_text(LINES)
    return path


# --- width ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [300_000_000, 2**31, 2**31 - 1, 2**40, 2**63, 10**25])
def test_an_index_beyond_the_budget_is_refused_with_its_place(rows, index):
    rows.write_text(f"1 1:1\n-1 2:1 {index}:1\n")
    with pytest.raises(
        ValueError, match=rf'^rows.svm, line 2, column 8: index "{index}" is beyond max_features=33554432'
    ):
        list(open_stream(rows))


def test_the_budget_can_be_raised(rows):
    rows.write_text("1 1:1\n-1 2:1 300000000:1\n")
    for options in ({"max_features": 300_000_000}, {"n_features": 300_000_000}):
        (batch,) = open_stream(rows, **options)
        assert batch.X.shape == (2, 300_000_000)
    with pytest.raises(ValueError, match="is beyond max_features=299999999"):
        list(open_stream(rows, max_features=299_999_999))
    assert read_svmlight(rows)[0].shape == (2, 300_000_000)  # rows that are only read take no room for features


def test_commands_refuse_it_and_take_the_option(rows, capsys):
    rows.write_text("1 1:1\n-1 2:1 50000000:1\n" * 3)
    assert main(["train", "rows.svm", "--model", "m", "--quiet"]) == 2
    assert "line 2, column 8: index" in capsys.readouterr().err
    assert not os.path.exists("m")
    rows.write_text("1 1:1\n-1 2:1\n" * 30)
    assert main(["train", "rows.svm", "--model", "m", "--max-features", "2", "--quiet"]) == 0
    assert main(["predict", "m", "rows.svm", "--max-features", "1", "--quiet"]) == 2


# --- files that change ------------------------------------------------------------------------------------------------


def test_a_file_that_is_cut_short_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "long.svm"
    path.write_text("1 1:1 3:2\n" * 600_000)  # more than one block
    batches = iter(open_stream(path, batch_size=100, prefetch=False))
    next(batches)
    os.truncate(path, 5_000_003)
    with pytest.raises(
        ValueError, match=r"^long.svm: the file had 6,000,000 bytes when it was opened and has 5,000,003 now"
    ):
        list(batches)


def test_a_file_that_grows_or_changes_between_passes_is_refused(rows):
    stream = open_stream(rows, max_iter=2)
    batches = iter(stream)
    next(batches)
    rows.write_text(LINES + "1 1:1\n")
    with pytest.raises(ValueError, match=r"^rows.svm: the file had .* bytes when it was opened"):
        list(batches)
    stream = open_stream(rows, max_iter=2)
    os.utime(rows, ns=(0, 0))
    with pytest.raises(ValueError, match=r"^rows.svm: the file was changed while it was read\.$"):
        list(stream)


def test_a_file_that_another_one_replaces_between_passes_is_refused(rows):
    """Of the same size and time, so that only the file itself is another one."""
    other = rows.with_name("other.svm")
    other.write_text(LINES.replace("3:2", "3:5"))
    stream = open_stream(rows, max_iter=2)
    batches = iter(stream)
    next(batches)
    os.utime(other, ns=(rows.stat().st_atime_ns, rows.stat().st_mtime_ns))
    os.replace(other, rows)
    with pytest.raises(ValueError, match=r"^rows.svm: the file was changed while it was read\.$"):
        list(batches)


def test_an_arrow_file_that_is_cut_short_is_a_sentence_and_no_crash(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "rows.arrow"
    table = pyarrow.table({"a": np.arange(400_000.0), "y": np.arange(400_000) % 2})
    with pyarrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=10_000)
    script = """
        import os, sys
        from thresher.streams import open_stream
        batches = iter(open_stream(sys.argv[1], batch_size=1000, prefetch=False))
        next(batches)
        os.truncate(sys.argv[1], 100_000)
        try:
            list(batches)
        except ValueError as refusal:
            print(refusal)
    """
    lines = "\n".join(line[8:] for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", lines, path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rows.arrow: the file")


# --- identities -------------------------------------------------------------------------------------------------------


def test_every_byte_of_a_file_is_in_its_version(tmp_path):
    path = tmp_path / "rows.bin"
    content = bytearray(os.urandom(3_000_000))
    path.write_bytes(content)
    before = version_of(path)
    for place in (0, 70_000, 1_234_567, len(content) - 1):
        content[place] ^= 1
        path.write_bytes(content)
        assert version_of(path) != before
        content[place] ^= 1
    path.write_bytes(content)
    assert version_of(path) == before


def test_a_folder_of_documents_has_a_version(tmp_path):
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "a.txt").write_text("some words")
    before = version_of(tmp_path)
    assert version_of(tmp_path) == before
    (tmp_path / "ham" / "a.txt").write_text("some wards")
    changed = version_of(tmp_path)
    (tmp_path / "ham" / "a.txt").write_text("some words")
    (tmp_path / "ham" / "a.txt").rename(tmp_path / "ham" / "b.txt")
    assert len({str(each) for each in (before, changed, version_of(tmp_path))}) == 3


def test_resume_notices_documents_that_were_rewritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def write(noun):
        for label, verb in (("ham", "eats"), ("spam", "sells")):
            (tmp_path / "mail" / label).mkdir(parents=True, exist_ok=True)
            for i in range(40):
                (tmp_path / "mail" / label / f"{i}.txt").write_text(f"{noun} {i} {verb} pills")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    write("cat")
    command = ["train", "mail", "--model", "m", "--batch-size", "10", "--checkpoint-seconds", "0", "--max-iter", "3"]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.persistence.save_model", interrupted)  # checkpoints have it by another name
        assert main([*command, "--quiet"]) == 130
    assert (tmp_path / "m.checkpoint").exists()
    write("dog")  # the same names and sizes
    capsys.readouterr()
    assert main([*command, "--quiet", "--resume"]) == 2
    assert "m.checkpoint: this checkpoint was made with files" in capsys.readouterr().err
    write("cat")
    assert main([*command, "--quiet", "--resume"]) == 0


@pytest.mark.parametrize("place", [100, 20_000, 40_000])
def test_resume_notices_a_changed_byte(rows, place):
    options = {"classes": [-1, 1], "checkpoint": "kept", "checkpoint_seconds": 0}
    with pytest.raises(Interrupted):
        train(AROWClassifier(1.0), open_stream(rows, batch_size=100), should_stop=lambda: True, **options)
    content = rows.read_bytes()
    at = content.index(b"3:2", place) + 2
    rows.write_bytes(content[:at] + b"5" + content[at + 1 :])
    with pytest.raises(ValueError, match=r"^kept: this checkpoint was made with files"):
        train(AROWClassifier(1.0), open_stream(rows, batch_size=100), resume=True, **options)
    rows.write_bytes(content)
    run = train(AROWClassifier(1.0), open_stream(rows, batch_size=100), resume=True, **options)
    assert run.facts.n_rows == 6000
