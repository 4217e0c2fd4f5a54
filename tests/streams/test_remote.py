"""Files by their URLs: which are meant, a copy of each on this machine, and one sentence when there is none."""

from __future__ import annotations

import functools
import gzip
import http.server
import importlib
import multiprocessing
import os
import sys
import threading
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pytest

from thresher.cli import main
from thresher.streams import open_stream
from thresher.streams._files import files_of, names_of
from thresher.streams._remote import expand, fetch, is_url


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own, to be looked into."""
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def parts(tmp_path):
    """Parts 1, 2 and 10, with the targets 1, 2 and 10."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for n in (10, 2, 1):
        with gzip.open(folder / f"part-{n}.svm.gz", "wt") as file:
            file.write(f"{n} 1:0.5 3:{n}\n" * 2)
    return folder


@pytest.fixture
def web(parts):
    """The address of a real server of these files, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(f"{self.command} {self.path}")

        def do_GET(self):
            if self.path == "/secret.svm":
                self.send_error(403)
                return
            if self.path == "/broken.svm":  # promises more than it gives
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(b"1 1:1\n")
                return
            super().do_GET()

        def do_HEAD(self):
            if self.path in ("/broken.svm", "/secret.svm"):
                self.do_GET()
                return
            super().do_HEAD()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(parts)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def copies(cache):
    return sorted(path for path in cache.rglob("*") if path.is_file())


def targets(source):
    return np.concatenate([batch.y for batch in open_stream(source)]).tolist()


# ---------------------------------------------------------------------------------------------- what is meant by a name


@pytest.mark.parametrize(
    "url", ["s3://bucket/a", "http://host/a", "file:///a", "simplecache::s3://b/c", "zip://a.csv::/b.zip"]
)
def test_these_are_urls(url):
    assert is_url(url)


@pytest.mark.parametrize(
    "name", ["a:b.svm", "C:\\data\\a.svm", "C://data", "a::b", "://a", "day-*.svm", Path("s3://b/c")]
)
def test_these_are_not(name):
    assert not is_url(name)


def test_a_local_file_with_a_colon_stays_local(tmp_path, monkeypatch, cache):
    monkeypatch.chdir(tmp_path)
    Path("12:30.svm").write_text("1 1:1\n")
    assert files_of("12:30.svm") == [Path("12:30.svm")]
    assert not cache.exists()


def test_local_files_do_without_fsspec(parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)  # an import would fail
    assert len(files_of(str(parts / "part-*.svm.gz"))) == 3


# -------------------------------------------------------------------------------------------------- listing and reading


def test_a_pattern_lists_in_natural_order_and_reads_nothing(web, cache):
    address, asked = web
    found = expand(f"{address}/part-*.svm.gz")
    assert found == [f"{address}/part-{n}.svm.gz" for n in (1, 2, 10)]
    assert names_of([f"{address}/part-*.svm.gz"]) == found
    assert not any(line.startswith("GET /part-1.") for line in asked)
    assert not cache.exists()


def test_a_stream_reads_over_http_what_it_reads_from_the_disk(web, parts):
    address, _ = web
    stream = open_stream(f"{address}/part-*.svm.gz")
    assert [path.name for path in stream.paths] == ["part-1.svm.gz", "part-2.svm.gz", "part-10.svm.gz"]
    local = open_stream(str(parts / "part-*.svm.gz"))
    for here, there in zip(local, stream, strict=True):
        assert (here.X != there.X).nnz == 0
        assert here.y.tobytes() == there.y.tobytes()


def test_lists_may_mix_paths_and_urls(web, parts):
    address, _ = web
    mixed = [parts / "part-10.svm.gz", f"{address}/part-[12].svm.gz", f"file://{parts}/part-1.svm.gz"]
    assert targets(mixed) == [10, 10, 1, 1, 2, 2, 1, 1]


def test_file_urls_are_read_in_place(parts, cache):
    assert files_of(f"file://{parts}/part-*.svm.gz") == [parts / f"part-{n}.svm.gz" for n in (1, 2, 10)]
    assert not cache.exists()


def test_chains_keep_what_is_behind_them(parts, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for n in (10, 2):
            archive.write(parts / f"part-{n}.svm.gz", f"in/part-{n}.svm.gz")
    pattern = f"zip://in/part-*.svm.gz::file://{tmp_path}/all.zip"
    assert expand(pattern) == [f"zip://in/part-{n}.svm.gz::file://{tmp_path}/all.zip" for n in (2, 10)]
    assert targets(pattern) == [2, 2, 10, 10]
    cached = f"simplecache::file://{parts}/part-1*"
    assert expand(cached) == [f"simplecache::file://{parts}/part-{n}.svm.gz" for n in (1, 10)]
    assert targets(cached) == [1, 1, 10, 10]


def test_a_pattern_of_a_file_system_without_hosts():
    with fsspec.open("memory://rows/a-2.svm", "wt") as file:
        file.write("2 1:1\n")
    assert expand("memory://rows/a-?.svm") == ["memory://rows/a-2.svm"]
    assert targets("memory://rows/a-?.svm") == [2]


def test_a_question_mark_over_http_begins_a_query(web):
    address, asked = web
    assert expand(f"{address}/part-1.svm.gz?version=3") == [f"{address}/part-1.svm.gz?version=3"]
    assert asked == []  # no pattern, so nobody need be asked
    assert fetch(f"{address}/part-1.svm.gz?version=3").name == "part-1.svm.gz"


# ------------------------------------------------------------------------------------------------------------ the cache


def test_a_file_is_fetched_once_until_it_changes(web, parts, cache):
    address, asked = web
    url = f"{address}/part-1.svm.gz"
    first = fetch(url)
    assert fetch(url) == first
    assert asked.count("GET /part-1.svm.gz") == 1
    (parts / "part-1.svm.gz").write_bytes(gzip.compress(b"7 1:1\n"))
    os.utime(parts / "part-1.svm.gz", (1, 1))
    second = fetch(url)
    assert second != first
    assert targets(url) == [7]
    assert copies(cache) == sorted([first, second])  # no drafts


def test_the_same_size_and_another_time_is_another_file(web, parts):
    address, _ = web
    path = parts / "x.svm"
    for second, text in ((1000, "1 1:1\n"), (2000, "2 1:1\n")):
        path.write_text(text)
        os.utime(path, (second, second))
        assert targets(f"{address}/x.svm") == [float(text[0])]


def test_a_download_that_breaks_off_leaves_nothing(web, cache):
    address, _ = web
    with pytest.raises(OSError, match=r"/broken\.svm: (cannot be read|only 6 of 1,000 bytes arrived)"):
        fetch(f"{address}/broken.svm")
    assert copies(cache) == []


def test_what_arrives_short_without_a_word_is_refused(monkeypatch, cache):
    """File systems that read until the end come, whenever it comes."""
    with fsspec.open("memory://short.svm", "wt") as file:
        file.write("1 1:1\n" * 10)
    system = type(fsspec.filesystem("memory"))
    monkeypatch.setattr(system, "get_file", lambda self, path, to, **_: Path(to).write_text("1 1:1\n"))
    with pytest.raises(OSError, match=r"memory://short\.svm: only 6 of 60 bytes arrived\."):
        fetch("memory://short.svm")
    assert copies(cache) == []


def test_several_processes_may_fetch_at_once(web, cache):
    address, _ = web
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(fetch, [f"{address}/part-10.svm.gz"] * 6, chunksize=1)
    assert copies(cache) == [found[0]]
    assert len(set(found)) == 1


def test_without_a_name_the_cache_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.delenv("THRESHER_CACHE")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with fsspec.open("memory://own.svm", "wt") as file:
        file.write("1 1:1\n")
    folder = fetch("memory://own.svm").parent.parent
    assert folder == tmp_path / f"thresher-{os.getuid()}"
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    with pytest.raises(
        PermissionError, match=r"other users can write to it; delete it, or set THRESHER_CACHE to another"
    ):
        fetch("memory://own.svm")
    monkeypatch.setattr("os.getuid", lambda: 12345678)
    (tmp_path / "thresher-12345678").mkdir()
    with pytest.raises(
        PermissionError, match=r"the folder belongs to another user; set THRESHER_CACHE to one of yours\."
    ):
        fetch("memory://own.svm")


def test_a_folder_that_is_named_may_be_shared(cache):
    """Whoever comes second may read the copy, as other files of whoever came first."""
    with fsspec.open("memory://common.svm", "wt") as file:
        file.write("1 1:1\n")
    before = os.umask(0o022)
    try:
        copy = fetch("memory://common.svm")
    finally:
        os.umask(before)
    assert copy.stat().st_mode & 0o777 == 0o644
    assert copy.parent.stat().st_mode & 0o777 == 0o755


def test_names_are_cut_where_a_disk_would_not_take_them(cache):
    for name in ("ü" * 150 + ".svm", "a" * 300 + ".svm", "x" + "ü" * 150 + ".svm"):
        with fsspec.open(f"memory://{name}", "wt") as file:
            file.write("3 1:1\n")
        copy = fetch(f"memory://{name}")
        assert name.endswith(copy.name)
        assert copy.name.endswith(".svm")
        assert targets(f"memory://{name}") == [3]


# ------------------------------------------------------------------------------------------------------------- refusals


def test_what_is_not_there_is_named(web):
    address, _ = web
    with pytest.raises(FileNotFoundError, match=r"^http://.*/nothing\.svm: no such file\.$"):
        open_stream(f"{address}/nothing.svm")
    with pytest.raises(FileNotFoundError, match=r"^No file matches 'http://.*/nothing-\*\.svm'\.$"):
        open_stream(f"{address}/nothing-*.svm")
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_stream("file:///nothing.svm")


def test_a_folder_is_not_fetched():
    fsspec.filesystem("memory").pipe("/rows/a.svm", b"1 1:1\n")
    with pytest.raises(
        ValueError, match=r"this is a folder; name its files, by a pattern such as memory://rows/\*\.svm\."
    ):
        fetch("memory://rows")


@pytest.mark.parametrize("name", ["a.svm", "*.svm"])
def test_a_host_that_is_not_there(name):
    with pytest.raises(
        OSError, match=r"http://127\.0\.0\.1:1/.*svm: cannot be read, ClientConnectorError: Cannot connect"
    ):
        open_stream(f"http://127.0.0.1:1/{name}")


def test_a_server_that_would_not_is_not_a_file_that_is_not_there(web):
    address, _ = web
    with pytest.raises(OSError, match=r"/secret\.svm: cannot be read, ClientResponseError: 403"):
        fetch(f"{address}/secret.svm")


def test_missing_packages_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"^weather://a: fsspec does not support weather://\.$"):
        open_stream("weather://a")
    original = importlib.import_module

    def without(name, *args):
        if name.split(".")[0] == "s3fs":
            raise ImportError(name)
        return original(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    for url in ("s3://bucket/part-*.svm", "simplecache::s3://bucket/part-1.svm"):
        with pytest.raises(ValueError, match=r"needs s3fs: pip install s3fs\.$"):
            open_stream(url)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ValueError, match=r'^s3://a needs fsspec: pip install "thresher\[lab\]"\.$'):
        open_stream("s3://a")


def test_the_command_line_takes_urls(web, tmp_path, monkeypatch, capsys):
    address, _ = web
    monkeypatch.chdir(tmp_path)
    data = f"{address}/part-*.svm.gz"
    assert main(["train", data, "--test", f"{address}/part-1.svm.gz", "--model", "m.thresher", "--json"]) == 0
    assert '"name": "part-10.svm.gz"' in capsys.readouterr().out
    assert main(["predict", "m.thresher", f"{address}/part-2.svm.gz"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "prediction"
    assert main(["train", f"{address}/none.svm"]) == 2
    assert capsys.readouterr().err == f"thresher: {address}/none.svm: no such file.\n"
