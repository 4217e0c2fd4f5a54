"""The gate looks first: sparse matrices of every format, values, labels and parameters, for every estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from thresher import registry
from thresher.metrics import support_f1
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler
from thresher.streams import write_svmlight

N, D = 12, 5
Y = np.arange(N) % 2
GOOD = sparse.random_array((N, D), density=0.5, format="csr", rng=np.random.default_rng(0))
MODEL = AROWClassifier(1.0, random_state=0).fit(GOOD, Y)
GROWN = AROWClassifier(1.0).partial_fit(GOOD, Y, classes=[0, 1], grow=True)
USES = {
    "fit": lambda X: AROWClassifier(1.0).fit(X, Y),
    "predict": MODEL.predict,
    "any width": GROWN.predict,
    "scale": lambda X: RunningScaler().fit(X),
    "write": lambda X: write_svmlight("/dev/null", X, Y),
    "measure": lambda X: support_f1(X, X),
}


def damaged():
    """Sparse matrices that SciPy would follow out of bounds."""
    for name in ("csr", "csc", "bsr"):
        for array in ("indices", "indptr"):
            for wrong in (2**30, -1, -(2**30)):
                X = GOOD.asformat(name, copy=True)
                getattr(X, array)[-1] = wrong
                yield pytest.param(X, id=f"{name} {array} {wrong}")
        X = GOOD.asformat(name, copy=True)
        X.indptr = X.indptr[:-1]
        yield pytest.param(X, id=f"{name} short")
    for axis in (0, 1):
        for wrong in (2**30, -1):
            X = GOOD.tocoo(copy=True)
            coords = [c.copy() for c in X.coords]
            coords[axis][0] = wrong
            X.coords = tuple(coords)
            yield pytest.param(X, id=f"coo {axis} {wrong}")
    X = GOOD.tolil()
    X.rows[0] = [2**30]
    X.data[0] = [1.0]
    yield pytest.param(X, id="lil")
    X = GOOD.tolil()
    X.rows[0] = list(range(D))
    X.data[0] = [1.0]
    yield pytest.param(X, id="lil uneven")
    for key in ((2**30, 0), (-1, 0), (2**62, 2**62)):
        X = GOOD.todok()
        X._dict[key] = 1.0
        yield pytest.param(X, id=f"dok {key}")
    X = GOOD.todia()
    X.offsets = X.offsets[:1]
    yield pytest.param(X, id="dia")


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("X", list(damaged()))
def test_an_index_that_is_not_there_is_refused(X, use):
    with pytest.raises(ValueError, match=r"^[\w ]+: .*(of sparse X|sparse X).*\.$"):
        use(X)


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_every_format_is_read_alike(name):
    X = GOOD.asformat(name)
    assert np.array_equal(MODEL.decision_function(X), MODEL.decision_function(GOOD))
    assert np.array_equal(AROWClassifier(1.0, random_state=0).fit(X, Y).coef_, MODEL.coef_)


@pytest.mark.parametrize("cls", registry.estimators().values(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_fit_refuses_the_values_that_predict_refuses(cls, layout):
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[3, 1] = 1e101
    y = X[:, 0] if cls.__name__.endswith("Regressor") else (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=r"X must hold numbers up to 1e100 in size, got 1e\+101 in row 3, column 1\."):
        cls().fit(layout(X), y)


LABELS = [[b"no", b"yes"], ["no", "yes"], [2, 7], [True, False], [0.0, 3.0], np.array([1, 2], dtype=object)]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_labels_that_fit_takes_are_saved(tmp_path, labels):
    y = np.asarray(labels)[Y]
    model = AROWClassifier(1.0).fit(GOOD, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m").predict(GOOD)
    assert again.dtype == model.classes_.dtype
    assert np.array_equal(again, model.predict(GOOD))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([(0, 1), (2, 3), None], dtype=object)[:2],
        np.array([2**70, 1], dtype=object),
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
        np.array([b"a", b"b"], dtype=object),
        np.array([1 + 2j, 3]),
    ],
    ids=["tuples", "integers of 70 bits", "dates", "bytes among objects", "complex"],
)
def test_labels_that_could_not_be_saved_are_refused_at_once(labels):
    with pytest.raises(ValueError, match=r"^AROWClassifier: .*"):
        AROWClassifier(1.0).fit(GOOD, labels[Y])


@pytest.mark.parametrize("cls", registry.estimators().values(), ids=lambda cls: cls.__name__)
def test_parameters_of_no_sane_size_are_refused_in_one_sentence(cls):
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = X[:, 0] if cls.__name__.endswith("Regressor") else (X[:, 0] > 0).astype(int)
    for name, declared in cls._params.items():
        if type(declared.default) not in (int, float):
            continue
        for value in (10**400, 1e101, -(10**5000)):
            model = cls(**{name: value})
            with pytest.raises(ValueError, match=rf"^{cls.__name__}: {name} must be .*\.$"):
                model.fit(X, y)
