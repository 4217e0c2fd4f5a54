"""A command looks at its files once, makes only the estimator that it needs, and starts without scikit-learn."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import textwrap
from collections import Counter

import numpy as np
import pytest

from thresher import registry
from thresher.cli import main
from thresher.streams import _files

OPENED: Counter[str] = Counter()
WATCHED: set[str] = set()


def count(event, arguments):
    if event == "open" and WATCHED and (name := str(arguments[0]).rpartition("/")[2]) in WATCHED:
        OPENED[name] += 1


sys.addaudithook(count)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(3)
    rows = [f"{1 if x[0] > x[1] else -1} 1:{x[0]} 2:{x[1]} 3:{x[2]}\n" for x in X]
    (tmp_path / "x.svm").write_text("".join(rows))
    (tmp_path / "x.svm.gz").write_bytes(gzip.compress("".join(rows).encode()))
    (tmp_path / "rows.dat").write_text("".join(rows))  # the name does not tell the format
    table = [f"{x[0]},{x[1]},{'uv'[int(x[2] > 0)]},{'yes' if x[0] > x[1] else 'no'}\n" for x in X]
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "".join(table))
    WATCHED.update(("x.svm", "x.svm.gz", "rows.dat", "t.csv"))
    OPENED.clear()
    yield tmp_path
    WATCHED.clear()


@pytest.fixture
def looks(monkeypatch):
    """How often the beginning of a file is read to tell its format and columns."""
    seen = []
    monkeypatch.setattr(_files, "read_head", lambda path, read=_files.read_head: seen.append(path.name) or read(path))
    return seen


@pytest.fixture
def made(monkeypatch):
    """How many estimators of each class are made."""
    counted: Counter[str] = Counter()
    for cls in registry.estimators().values():

        def init(self, *args, _cls=cls, _init=cls.__init__, **params):
            counted[_cls.__name__] += type(self) is _cls
            _init(self, *args, **params)

        init.__wrapped__ = cls.__init__
        monkeypatch.setattr(cls, "__init__", init)
    return counted


@pytest.mark.parametrize("name", ["x.svm", "x.svm.gz", "rows.dat", "t.csv"])
def test_training_looks_once_and_opens_a_file_once_for_each_reading(files, looks, name):
    assert main(["train", name, "--max-iter", "1", "--model", "m.thresher", "--quiet"]) == 0
    assert looks == [name]
    assert dict(OPENED) == {name: 4}  # its beginning, the first rows, the fingerprint of the run, and to learn from it
    OPENED.clear()
    assert main(["train", name, "--max-iter", "3", "--shuffle", "100", "--model", "m.thresher", "--quiet"]) == 0
    assert dict(OPENED) == {name: 6}


def test_rows_that_are_looked_at_are_not_read_again(files, looks):
    assert main(["train", "t.csv", "--method", "lssvc", "--quiet"]) == 0  # in memory
    assert main(["tune", "t.csv", "--method", "arow", "--n-evaluations", "2", "--quiet"]) == 0
    assert main(["compare", "t.csv", "--methods", "arow,pa", "--repeats", "2", "--quiet"]) == 0
    assert looks == 3 * ["t.csv"]
    assert dict(OPENED) == {"t.csv": 6}


def test_predicting_opens_a_file_twice(files, looks):
    assert main(["train", "t.csv", "--model", "m.thresher", "--quiet"]) == 0
    looks.clear()
    OPENED.clear()
    assert main(["predict", "m.thresher", "t.csv", "--quiet"]) == 0
    assert looks == ["t.csv"]
    assert dict(OPENED) == {"t.csv": 2}


def test_groups_of_sparse_rows_widen_the_stream_without_another_look(files, looks):
    line = ["train", "x.svm", "--method", "grouprda", "--groups", "[[0, 1], [2, 9]]", "--model", "m.thresher"]
    assert main([*line, "--quiet"]) == 0
    assert looks == ["x.svm"]


def test_a_command_makes_the_estimators_that_it_needs(files, made):
    assert main(["train", "t.csv", "--method", "pegasos", "--test", "t.csv", "--model", "m.thresher", "--quiet"]) == 0
    assert made == {"PegasosClassifier": 2}  # to learn, and to see that what is saved loads
    assert main(["predict", "m.thresher", "t.csv", "--quiet"]) == 0
    assert made == {"PegasosClassifier": 3}
    assert main(["inspect", "m.thresher"]) == 0
    assert made == {"PegasosClassifier": 4}
    made.clear()
    assert main(["methods"]) == 0
    assert main(["methods", "arow"]) == 0
    assert main(["train", "--method", "arow", "--help"]) == 0
    assert not made
    assert main(["train", "x.svm", "--quiet"]) == 0
    assert set(made) == {"AROWClassifier"}  # and its copies for the folds


def test_commands_import_no_library_that_they_do_not_need(files):
    numbers = [line.split(",") for line in (files / "t.csv").read_text().splitlines()]
    (files / "n.csv").write_text("".join(f"{a},{b},{y}\n" for a, b, _, y in numbers))
    script = """
        import sys
        from thresher.cli import main
        for line, unneeded in (
            ("--help", {"numpy", "scipy", "matplotlib"}),
            ("train n.csv --model m.thresher", {"scipy", "matplotlib"}),
            ("predict m.thresher n.csv", {"scipy", "matplotlib"}),
            ("inspect m.thresher", {"scipy", "matplotlib"}),
            ("train t.csv --model t.thresher", {"scipy", "matplotlib"}),
            ("predict t.thresher t.csv", {"scipy", "matplotlib"}),
            ("train x.svm.gz --method l1rda --test x.svm", {"matplotlib"}),
            ("train t.csv --target a --method ftrl-regressor", {"matplotlib"}),
            ("train t.csv --model m.thresher --report r.html", set()),
        ):
            assert main(line.split() + ["--quiet"] * (line != "--help")) == 0, line
            found = {"sklearn", "pandas", "pyarrow", "scipy.stats", *unneeded} & set(sys.modules)
            assert not found, (line, found)
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, stdout=subprocess.DEVNULL)


SMALL = {
    "train x.svm --model s.thresher": {"scipy"},
    "predict s.thresher x.svm": {"scipy", "numpy.random", "thresher.training._train"},
    "train t.csv --model t.thresher": set(),
    "predict t.thresher t.csv": {"numpy.random", "thresher.training._train"},
}


def test_commands_on_small_files_import_no_module_that_they_do_not_need(files):
    unneeded = {"numpy.ma", "importlib.metadata", "email", "logging", "xml", "zipfile", "difflib"}
    unneeded |= {f"thresher.streams.{name}" for name in ("_arrow", "_documents", "_excel", "_folders", "_json_lines")}
    unneeded |= {f"thresher.report.{name}" for name in ("_curves", "_maps", "_race_section")}
    unneeded |= {"thresher._kernels", "thresher._figures._svg", "thresher._estimators._kernel_machine"}
    script = """
        import sys
        from thresher.cli import main
        unneeded, line = set(sys.argv[1].split()), sys.argv[2]
        assert main(line.split() + ["--quiet"]) == 0
        assert not unneeded & set(sys.modules), (line, sorted(unneeded & set(sys.modules)))
        """
    for line, more in SMALL.items():
        command = [sys.executable, "-c", textwrap.dedent(script), " ".join(unneeded | more), line]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("given", "used"), [(None, "20"), ("7", "7")])
def test_idle_threads_of_blas_sleep_soon_unless_the_user_has_a_wish(given, used):
    script = "import os; from thresher.cli import main; main(); print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    environment |= {} if given is None else {"OPENBLAS_THREAD_TIMEOUT": given}
    command = [sys.executable, "-c", script, "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == used


def test_a_method_is_found_without_importing_the_other_families():
    script = """
        import sys
        from thresher import registry
        assert registry.find("arow").cls.__name__ == "AROWClassifier"
        assert registry.component("StreamingPipeline") is not None
        assert registry.find("rbf") is None and registry.component("read_svmlight") is None
        families = [name for name in registry.FAMILIES if f"thresher.{name}" in sys.modules]
        assert families == ["online", "kernels"], families
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_the_registry_knows_every_name_that_the_families_export():
    import importlib

    for family in registry.FAMILIES:
        assert list(registry._exports(family)) == importlib.import_module(f"thresher.{family}").__all__
    for method in registry.methods():
        assert registry.find(method.name).cls is method.cls
    assert registry.find("nothing") is None
