"""Sets of the papers: files are read as they are, and generated rows stand in for those that are not there."""

import gzip

import numpy as np
import pytest
from scipy import sparse

_data = pytest.importorskip("papers._data")
_report = pytest.importorskip("papers._report")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(_report.DATA, str(tmp_path))

    def write(path, text):
        path = tmp_path / path
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())

    return write


@pytest.fixture
def nothing(monkeypatch):
    monkeypatch.delenv(_report.DATA, raising=False)


TABLES = {  # name: files, the rows and the labels in them
    "sonar": ({"sonar/sonar.all-data": "0.5,-1,R\n2,3e-1,M\n"}, [[0.5, -1], [2, 0.3]], ["R", "M"]),
    "zoo": ({"zoo/zoo.data": "bear,1,0,4,1\nwasp,0,1,6,6\n"}, [[1, 0, 4], [0, 1, 6]], [1, 6]),
    "wdbc": ({"wdbc/wdbc.data": "84,M,1.5,2\n85,B,3,4\n"}, [[1.5, 2], [3, 4]], ["M", "B"]),
    "seeds": ({"seeds/seeds.txt": "id  area   group\n1   15.26  1\n2   14.88  3\n"}, [[15.26], [14.88]], [1, 3]),
    "ecoli": (
        {"ecoli/ecoli.arff": "% remark\n@RELATION e\n@DATA\n0.1,0.2,cp\n3,4,im\n"},
        [[0.1, 0.2], [3, 4]],
        ["cp", "im"],
    ),
    "breast": (
        {"breast_wisconsin_original/breast-cancer-wisconsin.data": "7,5,1,2\n8,?,4,2\n9,6,7,4\n"},
        [[5, 1], [6, 7]],
        [2, 4],
    ),
    "magic": ({"magic/magic04.data.gz": "1,2,g\n3,4,h\n"}, [[1, 2], [3, 4]], ["g", "h"]),
    "heart": ({"heart_statlog/heart.dat": "70.0 1.0 2\n67.0 0.0 1\n"}, [[70, 1], [67, 0]], [2, 1]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_as_they_are(name, folder):
    files, X, y = TABLES[name]
    for path, text in files.items():
        folder(path, text)
    rows = _data.load(name)
    assert rows.real
    assert rows.title == name
    assert rows.note == ""
    np.testing.assert_array_equal(rows.X, X)
    np.testing.assert_array_equal(rows.y, y)
    assert rows.X_test is None


def test_the_second_file_has_the_test_rows(folder):
    folder("r_mass/synth.tr.csv", '"xs","ys","yc"\n0.5,1,0\n2,3,1\n')
    folder("r_mass/synth.te.csv", '"xs","ys","yc"\n4,5,1\n')
    rows = _data.load("ripley")
    np.testing.assert_array_equal(rows.X_test, [[4, 5]])
    np.testing.assert_array_equal(rows.y_test, [1])
    X, y = rows.all()
    np.testing.assert_array_equal(X, [[0.5, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(y, [0, 1, 1])


def test_a_set_with_a_file_missing_is_generated(folder):
    folder("r_mass/synth.tr.csv", '"xs","ys","yc"\n0.5,1,0\n2,3,1\n')
    assert not _data.load("ripley").real


@pytest.mark.parametrize("name", _data.SETS)
def test_generated_rows_stand_in_for_every_set(name, nothing):
    rows, again = _data.load(name), _data.load(name)
    assert not rows.real
    assert rows.title == f"generated rows in place of {name}"
    assert "published figures do not apply" in rows.note
    assert rows.X.shape[0] == len(rows.y)
    for ours, same in ((rows.X, again.X), (rows.X_test, again.X_test), (rows.y, again.y)):
        if sparse.issparse(ours):
            assert ours.indices.dtype == ours.indptr.dtype == np.int32
            assert (ours != same).nnz == 0
        elif ours is not None:
            np.testing.assert_array_equal(ours, same)
    if rows.X_test is not None:
        assert rows.X_test.shape == (len(rows.y_test), rows.X.shape[1])
        assert set(np.unique(rows.y_test)) <= set(np.unique(rows.y))


def test_stand_ins_have_the_classes_and_splits_of_the_set(nothing):
    assert set(_data.load("ecoli").y) == {"cp", "im", "imL", "imS", "imU", "om", "omL", "pp"}
    assert set(_data.load("shuttle").y) == {1, 2, 3, 4, 5, 6, 7}
    few = _data.load("BCI")
    assert {n: places.shape for n, places in few.splits.items()} == {10: (12, 10), 100: (12, 100)}
    for split in few.splits.values():
        assert all(len(np.unique(places)) == len(places) for places in split)
        assert all(len(np.unique(few.y[places])) == 2 for places in split)
    assert len(np.unique(_data.load("school").tasks)) > 10


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"load: name must be one of iris, .*, got 'mnist'\."):
        _data.load("mnist")
