"""The writer: the new file or the old one, links and pipes stay what they are, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import stat
import threading

import pytest

from thresher import _output
from thresher._output import write_whole, writing


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(_output._whole_files, "_swept", set())


def names(folder):
    return sorted(os.listdir(folder))


def test_a_file_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "out"
    write_whole(path, b"old")
    path.chmod(0o640)
    with writing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["out"]


def test_after_an_error_nothing_has_changed(tmp_path):
    path = tmp_path / "out"
    write_whole(path, b"old")

    def write_half():
        with writing(path) as file:
            file.write(b"half of")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    (tmp_path / "models").mkdir()
    link, target = tmp_path / "current", tmp_path / "models" / "v1"
    link.symlink_to(target)
    for content in (b"made", b"replaced"):
        write_whole(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(10)
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_is_written_to(capfd):
    write_whole("/dev/stdout", b"shown\n")
    assert capfd.readouterr().out == "shown\n"


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(_output._whole_files.os, "urandom", lambda n: bytes(n))
    (tmp_path / f".out.{bytes(8).hex()}.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "out", b"new")
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_an_input_is_never_replaced(tmp_path, link):
    data = tmp_path / "data"
    data.write_bytes(b"rows")
    link(data, tmp_path / "same")
    for path in (data, tmp_path / "same"):
        with pytest.raises(ValueError, match=f"{path.name}: this file is read as input; write to another one."):
            write_whole(path, b"new", inputs=[tmp_path / "other", data])
    assert data.read_bytes() == b"rows"


def test_drafts_of_the_dead_are_deleted_and_those_of_the_living_stay(tmp_path):
    path = tmp_path / "out"
    ready = os.pipe()
    child = os.fork()
    if child == 0:
        with writing(path) as file:
            file.write(b"never finished")
            os.write(ready[1], b".")
            signal.pause()
    os.read(ready[0], 1)
    write_whole(path, b"by another")
    assert len(names(tmp_path)) == 2  # the child is at it still
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _output._whole_files._swept.clear()
    write_whole(path, b"by the next run")
    assert names(tmp_path) == ["out"]


def test_a_name_as_long_as_a_disk_takes(tmp_path):
    path = tmp_path / ("é" * 127)
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"
