"""Compressed files give the batches of the plain ones; damage is told, and what stands before it comes out."""

from __future__ import annotations

import bz2
import functools
import gzip
import itertools
import struct
import sys
import tracemalloc

import numpy as np
import pytest
import zstandard

from stream_files import COMPRESSORS, all_bits, bits, csv_text, svmlight_text, write
from thresher.streams import _compression, _source, open_stream, read_svmlight
from thresher.streams._compression import TextBytes

DAMAGED = r"^[^ ]+: the compressed file is damaged or cut short \(.+\)\.$"


def parts_of(text: bytes, n: int = 4) -> list[bytes]:
    """Cut anywhere, also within lines; one part is empty."""
    cuts = [0, *sorted(np.random.default_rng(1).integers(0, len(text), n - 1).tolist()), len(text)]
    return [*(text[a:b] for a, b in itertools.pairwise(cuts)), b""]


def skippable(content: bytes, number: int = 0) -> bytes:
    return struct.pack("<II", 0x184D2A50 + number, len(content)) + content


def frames(text: bytes) -> list[bytes]:
    return [COMPRESSORS[".zst"](part) for part in parts_of(text)]


FORMS = {
    "gzip": COMPRESSORS[".gz"],
    "gzip, stored": lambda text: gzip.compress(text, 0),
    "gzip, members": lambda text: b"".join(map(gzip.compress, parts_of(text))),
    "gzip, padded": lambda text: gzip.compress(text) + bytes(1000),
    "gzip, padded members": lambda text: b"".join(gzip.compress(part) + bytes(77) for part in parts_of(text)),
    "bzip2": bz2.compress,
    "bzip2, streams": lambda text: b"".join(map(bz2.compress, parts_of(text))),
    "bzip2, small blocks": lambda text: bz2.compress(text, 1),
    "zstd": COMPRESSORS[".zst"],
    "zstd, frames": lambda text: b"".join(frames(text)),
    "zstd, of unknown size": lambda text: b"".join(
        [(c := zstandard.ZstdCompressor().compressobj()).compress(text), c.flush()]
    ),
    "zstd, a skippable frame first": lambda text: skippable(b"hello", 15) + COMPRESSORS[".zst"](text),
    "zstd, skippable frames": lambda text: skippable(b"") + b"".join(f + skippable(b"x" * 99) for f in frames(text)),
}


@pytest.fixture(params=FORMS)
def compress(request):
    return FORMS[request.param]


@pytest.fixture(params=["one block", "small blocks"])
def blocks(request, monkeypatch):
    if request.param == "small blocks":
        for module, name, size in (
            (_compression, "_CHUNK", 101),
            (_compression, "_BLOCK", 64),
            (_compression, "_SIP", 7),
            (_source, "_BLOCK", 37),
        ):
            monkeypatch.setattr(module, name, size)


# ----------------------------------------------------------------------------------------------------- the same rows


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("make, name", [(svmlight_text, "data.svm"), (csv_text, "data.csv")])
def test_batches_are_those_of_the_plain_file_at_every_size(tmp_path, compress, make, name, prefetch):
    text = make(57)
    (tmp_path / "plain").mkdir()
    plain = write(tmp_path / "plain" / name, text)
    packed = write(tmp_path / name, compress(text))  # the content tells, not the suffix
    for batch_size in (1, 8, 57, 1000):
        stream = open_stream(packed, batch_size=batch_size, prefetch=prefetch)
        assert all_bits(stream) == all_bits(open_stream(plain, batch_size=batch_size))
        assert stream.bytes_read == stream.n_bytes == packed.stat().st_size


def test_a_whole_file_is_read_as_the_plain_one(tmp_path, compress):
    text = svmlight_text(57)
    X, y = read_svmlight(write(tmp_path / "data.svm.x", compress(text)))
    expected, targets = read_svmlight(write(tmp_path / "data.svm", text))
    assert bits(X) == bits(expected)
    assert bits(y) == bits(targets)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst", ".zstd", ".GZ"])
def test_the_suffix_below_that_of_the_compression_tells_the_format(tmp_path, suffix):
    pack = COMPRESSORS[{".zstd": ".zst"}.get(suffix, suffix.lower())]
    (batch,) = open_stream(write(tmp_path / f"a.tsv{suffix}", pack(b"1 2\t3\n")), header=False)
    assert [text.to_list() for text in batch.X.text.values()] == [["1 2"]]  # a space is no tab
    (batch,) = open_stream(write(tmp_path / f"a{suffix}", pack(b"1 1:5\n")))
    assert batch.X.toarray().tolist() == [[5]]
    (batch,) = open_stream(write(tmp_path / f"a.svm{suffix}", b"1 1:6\n"))  # plain, whatever its name
    assert batch.X.toarray().tolist() == [[6]]


def test_a_byte_order_mark_and_windows_line_ends_are_understood_within(tmp_path):
    text = b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4"
    for suffix, pack in COMPRESSORS.items():
        stream = open_stream(write(tmp_path / f"a.csv{suffix}", pack(text)))
        assert stream.feature_names == ["a"]
        (batch,) = stream
        assert batch.X.numbers.tolist() == [[1], [3]]
        assert batch.first_line == 2


def test_a_column_name_may_look_like_the_beginning_of_a_bzip2_file(tmp_path):
    assert open_stream(write(tmp_path / "a.csv", "BZh9,BZ\n1,2\n")).feature_names == ["BZh9"]


def test_progress_follows_the_compressed_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(_compression, "_CHUNK", 5000)
    monkeypatch.setattr(_compression, "_BLOCK", 20_000)
    text = svmlight_text(5000)
    for suffix, pack in COMPRESSORS.items():
        stream = open_stream(write(tmp_path / f"a.svm{suffix}", pack(text)), batch_size=100)
        seen = [stream.bytes_read for _ in stream]
        assert seen == sorted(seen)
        assert seen[0] > 0
        assert stream.bytes_read == stream.n_bytes < len(text)
        if suffix != ".bz2":  # which is one block
            assert seen[0] < 0.6 * stream.n_bytes
            assert len(set(seen)) >= 3


# --------------------------------------------------------------------------------------------------------- not a text


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_a_compressed_nothing_has_no_rows(tmp_path, suffix):
    path = write(tmp_path / f"a.svm{suffix}", COMPRESSORS[suffix](b""))
    assert list(open_stream(path)) == []
    with pytest.raises(ValueError, match=r": the file has no rows.$"):
        read_svmlight(path)
    with pytest.raises(ValueError, match=r": the file has no rows.$"):
        open_stream(write(tmp_path / f"a.csv{suffix}", COMPRESSORS[suffix](b"")))


def test_a_zip_archive_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^a.svm.zip: zip archives are not read; unpack it"):
        open_stream(write(tmp_path / "a.svm.zip", b"PK\x03\x04" + bytes(100)))


def test_without_zstandard_it_is_asked_for(tmp_path, monkeypatch):
    path = write(tmp_path / "a.svm.zst", COMPRESSORS[".zst"](b"1 1:2\n"))
    other = write(tmp_path / "a.svm.gz", COMPRESSORS[".gz"](b"1 1:2\n"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    message = r'^a.svm.zst: Zstandard files need zstandard: pip install "thresher\[lab\]".$'
    for read in (open_stream, read_svmlight):
        with pytest.raises(ValueError, match=message):
            read(path)
    assert len(list(open_stream(other))) == 1
    with pytest.raises(ValueError, match=DAMAGED):
        list(open_stream(write(other, other.read_bytes()[:-1]), zero_based=False))


# ------------------------------------------------------------------------------------------------------------- damage


def outcome(path, **options):
    """The batches that come out, and what is said then."""
    batches: list = []
    try:
        batches.extend(open_stream(path, zero_based=False, **options))
    except ValueError as refusal:
        return all_bits(batches), str(refusal)
    return all_bits(batches), None


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("form", ["gzip", "gzip, members", "bzip2", "bzip2, streams", "zstd", "zstd, frames"])
def test_a_file_cut_short_is_told_wherever_the_cut_is(tmp_path, form, prefetch):
    text = svmlight_text(40)
    packed = FORMS[form](text)
    whole, _ = outcome(write(tmp_path / "data.svm", text), batch_size=5)
    *_, last = parts_of(text)[:-1]
    empty = len(FORMS[form.partition(",")[0]](b""))  # "members" and the like end with an empty part
    borders = {len(packed) - empty, len(packed) - empty - len(FORMS[form.partition(",")[0]](last))}
    near_the_end = range(len(packed) - 45, len(packed))
    for cut in [*near_the_end, *range(12, len(packed) - 45, 37)]:
        batches, said = outcome(write(tmp_path / "data.svm.x", packed[:cut]), batch_size=5, prefetch=prefetch)
        if cut in borders and "," in form:
            continue  # a whole file in itself
        assert said is not None
        assert said.startswith("data.svm.x: the compressed file is damaged or cut short (")
        assert said.endswith(").")
        assert "\n" not in said
        assert [b[:2] for b in batches] == [b[:2] for b in whole[: len(batches)]]  # never a row of a cut line


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_flipped_bits_are_told_or_do_no_harm(tmp_path, suffix):
    text = svmlight_text(40)
    packed = COMPRESSORS[suffix](text)
    whole, _ = outcome(write(tmp_path / "data.svm", text))
    rng = np.random.default_rng(2)
    n_told = 0
    for place in [*range(len(packed) - 12, len(packed)), *rng.integers(0, len(packed), 60)]:
        flipped = bytearray(packed)
        flipped[place] ^= 1 << rng.integers(8)
        batches, said = outcome(write(tmp_path / "data.svm.x", bytes(flipped)))
        if said is None:  # in a field that says nothing of the text, such as the time of a gzip file
            assert [b[:2] for b in batches] == [b[:2] for b in whole]
        else:
            assert said.startswith("data.svm.x")
            assert said.endswith(".")
            assert "\n" not in said
            n_told += 1
    assert n_told > 50


@pytest.mark.parametrize("garbage", [b"x", b"1 1:1\n", b"\x1f\x8b", b"\0\0junk", b"BZ"])
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_garbage_behind_the_end_is_told(tmp_path, suffix, garbage):
    path = write(tmp_path / f"a.svm{suffix}", COMPRESSORS[suffix](svmlight_text(40)) + garbage)
    _, said = outcome(path)
    assert said is not None
    assert said.startswith(f"a.svm{suffix}: the compressed file is damaged or cut short (")
    with pytest.raises(ValueError, match=DAMAGED):
        read_svmlight(path)


@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_batches_before_the_damage_come_out(tmp_path, suffix, prefetch, monkeypatch):
    monkeypatch.setattr(_compression, "_CHUNK", 1000)
    monkeypatch.setattr(_compression, "_BLOCK", 2000)
    text = svmlight_text(1500)
    packed = bytearray(b"".join(COMPRESSORS[suffix](text[a : a + 20_000]) for a in range(0, len(text), 20_000)))
    packed[len(packed) // 2 :] = bytes(byte ^ 255 for byte in packed[len(packed) // 2 :])
    whole, _ = outcome(write(tmp_path / "data.svm", text), batch_size=20)
    batches, said = outcome(write(tmp_path / f"data.svm{suffix}", bytes(packed)), batch_size=20, prefetch=prefetch)
    assert said is not None
    assert 10 < len(batches) < 60
    assert [b[:2] for b in batches] == [b[:2] for b in whole[: len(batches)]]
    assert [b[3:] for b in batches] == [b[3:] for b in whole[: len(batches)]]  # lines and positions


# -------------------------------------------------------------------------------------------------------------- bombs


@functools.cache
def bomb(suffix: str, n_megabytes: int) -> bytes:
    pack = {
        ".gz": lambda text: gzip.compress(text, 9),
        ".bz2": bz2.compress,
        ".zst": zstandard.ZstdCompressor(level=19).compress,
    }[suffix]
    return pack(bytes(n_megabytes << 20))


@pytest.mark.parametrize("threaded", [True, False])
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_a_bomb_is_unpacked_little_by_little(tmp_path, suffix, threaded):
    packed = bomb(suffix, 300)
    assert len(packed) < 600_000
    path = write(tmp_path / f"a.svm{suffix}", packed)
    buffer = memoryview(bytearray(1 << 20))
    tracemalloc.start()
    try:
        with TextBytes(path, threaded=threaded) as text:
            n = sum(iter(lambda: text.readinto(buffer), 0))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n == 300 << 20
    assert peak < 128 << 20


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_a_bomb_that_is_one_line_is_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(_source, "_LONGEST_LINE", 8 << 20)
    path = write(tmp_path / f"a.svm{suffix}", bomb(suffix, 100))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"^a.svm{suffix}, line 1: the line does not end within 8 MB.$"):
            list(open_stream(path, zero_based=False))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 90 << 20
