"""The journal: what was written is there, what is cut off never was, and damage is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from thresher.web._journal import Journal

GROUPS = [
    [["learn", [["a", [1.5, "x"], "yes", None]]]],
    [["predict", []], ["learn", [[None, [float("inf")], 1, 2]]]],
    [[3]],
]


def written(folder: Path) -> Path:
    journal = Journal(folder)
    assert list(journal.read(0)) == []
    for group in GROUPS:
        journal.append(group)
    journal.close()
    return folder / "journal-000000000001"


def read(folder: Path, n_known: int = 0) -> list[object]:
    journal = Journal(folder)
    try:
        return list(journal.read(n_known))
    finally:
        journal.close()


def test_entries_come_back_in_order(tmp_path):
    written(tmp_path)
    entries = [entry for group in GROUPS for entry in group]
    assert read(tmp_path) == entries
    assert read(tmp_path, 3) == entries[3:]
    assert read(tmp_path, 4) == []


def test_a_journal_that_ends_anywhere_holds_the_groups_that_are_whole(tmp_path):
    path = written(tmp_path / "whole")
    data, ends, place = path.read_bytes(), [], 0
    for _ in GROUPS:
        place += 16 + int.from_bytes(data[place + 4 : place + 8], "little")
        ends.append(place)
    assert place == len(data)
    for length in range(0, len(data), 5):
        folder = tmp_path / str(length)
        folder.mkdir()
        (folder / path.name).write_bytes(data[:length])
        n_groups = sum(end <= length for end in ends)
        assert read(folder) == [entry for group in GROUPS[:n_groups] for entry in group]
        journal = Journal(folder)
        before = len(list(journal.read(0)))
        journal.append([["after"]])
        journal.close()
        assert read(folder)[before:] == [["after"]]


@pytest.mark.parametrize("place", range(0, 55, 7))
def test_a_byte_that_changed_before_the_end_is_refused(tmp_path, place):
    path = written(tmp_path)
    data = bytearray(path.read_bytes())
    data[place] ^= 0x40
    path.write_bytes(data)
    with pytest.raises(ValueError, match="the record at byte 0 is damaged"):
        read(tmp_path)


def test_segments_go_when_a_checkpoint_knows_them(tmp_path):
    journal = Journal(tmp_path)
    assert list(journal.read(0)) == []
    for number in range(1, 7):
        journal.append([number])
        if number % 2 == 0:
            journal.start_segment()
    journal.forget(3)
    names = sorted(path.name for path in tmp_path.glob("journal-*"))
    assert names == ["journal-000000000003", "journal-000000000005", "journal-000000000007"]
    journal.close()
    assert read(tmp_path, 3) == [4, 5, 6]
    with pytest.raises(ValueError, match="the entries from 2 on are missing"):
        read(tmp_path, 1)
    with pytest.raises(ValueError, match="ends before the checkpoint"):
        read(tmp_path, 9)
    (tmp_path / "journal-000000000005").unlink()
    with pytest.raises(ValueError, match="continues with entry 7, and 5 is missing"):
        read(tmp_path, 3)


def test_a_second_process_is_refused(tmp_path):
    first = Journal(tmp_path)
    with pytest.raises(ValueError, match="another service is using this folder"):
        Journal(tmp_path)
    first.close()
    Journal(tmp_path).close()
