"""Folders of texts: a class for each sub-folder, in a fixed mixed order."""

from __future__ import annotations

import itertools

import pytest
from numpy.testing import assert_array_equal

from stream_files import all_bits, rows_of, write
from thresher.streams import Table, _documents, open_stream


@pytest.fixture
def folder(tmp_path):
    """30 texts about cats, 20 about dogs."""
    for kind, n in (("cats", 30), ("dogs", 20)):
        (tmp_path / "texts" / kind).mkdir(parents=True)
        for i in range(n):
            write(tmp_path / "texts" / kind / f"{i}.txt", f"text {i} of {kind}\n")
    return tmp_path / "texts"


def texts(batches):
    return [text for batch in batches for text in batch.X["text"].to_list()]


def labels(batches):
    return [label for batch in batches for label in batch.y]


def test_sub_folders_are_classes(folder):
    stream = open_stream(folder, batch_size=8)
    assert stream.feature_names == ["text"]
    batches = list(stream)
    assert [len(batch) for batch in batches] == [8] * 6 + [2]
    assert all(isinstance(batch.X, Table) and batch.X.shape == (len(batch), 1) for batch in batches)
    assert all(batch.y.dtype == object and batch.path == folder for batch in batches)
    assert [batch.first_line for batch in batches] == list(range(1, 51, 8))
    pairs = [
        *((f"text {i} of cats\n", "cats") for i in range(30)),
        *((f"text {i} of dogs\n", "dogs") for i in range(20)),
    ]
    assert sorted(zip(texts(batches), labels(batches), strict=True)) == sorted(pairs)
    assert stream.bytes_read == stream.n_bytes == sum(len(text) for text, _ in pairs)


def test_the_order_is_mixed_and_always_the_same(folder):
    whole = all_bits(open_stream(folder, batch_size=8))
    assert all_bits(open_stream(folder, batch_size=8, prefetch=False)) == whole
    assert texts(open_stream(folder, batch_size=1)) == texts(open_stream(folder))
    order = labels(open_stream(folder))
    runs = [len(list(group)) for _, group in itertools.groupby(order)]
    assert len(runs) > 10
    assert max(runs) < 10
    assert all({*batch.y} == {"cats", "dogs"} for batch in open_stream(folder, batch_size=25))


def test_shuffling_mixes_anew(folder):
    plain, mixed = (rows_of(open_stream(folder, batch_size=10, shuffle=shuffle)) for shuffle in (0, 50))
    assert plain != mixed
    assert sorted(plain) == sorted(mixed)


def test_what_is_hidden_or_no_text_is_passed_over(folder):
    whole = all_bits(open_stream(folder))
    write(folder / ".DS_Store", "x")
    write(folder / "cats" / ".hidden", "x")
    write(folder / "README", "a file beside the classes")
    (folder / ".git").mkdir()
    write(folder / ".git" / "config", "x")
    (folder / "cats" / "more").mkdir()
    write(folder / "cats" / "more" / "1.txt", "too deep")
    (folder / "empty").mkdir()
    assert all_bits(open_stream(folder)) == whole


def test_a_folder_of_files_has_no_labels_and_the_order_of_names(tmp_path):
    for name in ("b", "a", "c", ".d"):
        write(tmp_path / name, f"this is {name}")
    stream = open_stream(tmp_path, batch_size=2)
    batches = list(stream)
    assert texts(batches) == ["this is a", "this is b", "this is c"]
    assert [batch.y for batch in batches] == [None, None]
    assert stream.layout()["target"] is None
    assert open_stream(str(tmp_path)).n_bytes == 27


def test_texts_that_are_no_utf_8_are_taken_as_latin_1(tmp_path):
    contents = {
        "a": "größe".encode(),
        "b": "größe".encode("latin-1"),
        "c": b"",
        "d": b"\xff\xfe",
        "e": "\ufeffx".encode(),
    }
    for name, content in contents.items():
        write(tmp_path / name, content)
    stream = open_stream(tmp_path, batch_size=2)
    batches = list(stream)
    assert texts(batches) == ["größe", "größe", "", "ÿþ", "\ufeffx"]
    assert all(bytes(batch.X["text"].data).decode() is not None for batch in batches)  # UTF-8 in all cases
    assert stream.bytes_read == stream.n_bytes == sum(map(len, contents.values()))


def test_progress_counts_bytes_on_disk(folder):
    for path in folder.rglob("*.txt"):
        write(path, b"\xe9" * 10)  # twice as long in UTF-8
    stream = open_stream([folder, folder], batch_size=10, max_iter=2)
    assert [stream.bytes_read for _ in stream] == list(range(100, 2001, 100))
    assert stream.bytes_read == stream.n_bytes == 2000


def test_several_folders_are_read_one_after_the_other(tmp_path):
    for name, kind in (("one", "u"), ("two", "v")):
        (tmp_path / name / kind).mkdir(parents=True)
        write(tmp_path / name / kind / "1", name)
    stream = open_stream([tmp_path / "one", tmp_path / "two"])
    batches = list(stream)
    assert texts(batches) == ["one", "two"]
    assert labels(batches) == ["u", "v"]
    assert stream.bytes_read == stream.n_bytes == 6


def test_a_table_can_be_read_as_documents_were(folder, tmp_path):
    layout = open_stream(folder).layout()
    assert layout == {"columns": ["text"], "kinds": "t", "target": "folder", "target_kind": "t"}
    stream = open_stream(write(tmp_path / "new.csv", "id,text,folder\n1,hello,cats\n2,17,dogs\n"), layout=layout)
    (batch,) = stream
    assert batch.X.columns == ["text"]
    assert batch.X["text"].to_list() == ["hello", "17"]
    assert_array_equal(batch.y, ["cats", "dogs"])


def test_a_folder_without_documents_is_refused(tmp_path):
    (tmp_path / "a" / "empty").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"^a: the folder holds no documents \(files in one subfolder per class\)\.$"):
        open_stream(tmp_path / "a")


def test_a_document_without_measure_is_refused(folder, monkeypatch):
    monkeypatch.setattr(_documents, "_LONGEST_TEXT", 1 << 20)
    write(folder / "cats" / "7.txt", b"x" * ((1 << 20) + 1))
    with pytest.raises(ValueError, match=r"^7\.txt: the document is larger than 1 MB\.$"):
        list(open_stream(folder))
