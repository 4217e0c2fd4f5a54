"""Linear classifiers of other libraries and ours, each as work for :func:`benchmarks._forked.forked`.

Every library gets rows in its preferred form, made before the clock starts: CSR for scikit-learn and us, CSC
for skglm, its own structure for LIBLINEAR, dicts for River, its binary cache for Vowpal Wabbit.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.svm import LinearSVC

from ._data import Problem
from ._forked import Clock
from ._learners import learners
from ._linear_data import LinearTask
from ._linear_models import Weights
from ._measure import installed
from ._vw_ftrl import Layout, vw_cache_of

N_WARM = 200  # rows of a first fit in every child, so that no page of code is met for the first time
RIVER_CHUNK = 2_000  # rows that are turned into dicts or frames at a time, outside of the clock


class Answer(NamedTuple):
    """What the child sends back."""

    accuracy: float
    n_weights: int | None  # None: not asked
    passes: str


Work = Callable[[Clock], Callable[[], Answer]]


class Contestant(NamedTuple):
    """``once``: many passes, fitted once; the others are run several times in turn."""

    library: str
    once: bool
    work: Work


def contestants(task: LinearTask, quick: bool) -> tuple[dict[str, Contestant], list[str]]:
    """All that suit the task, by name, ours last; and notes on those that do not."""
    warnings.simplefilter("ignore")
    p = task.problem
    found, notes = _scikit_learn(p), []
    for module, add in (("liblinear", _liblinear), ("skglm", _skglm), ("river", _river), ("vowpalwabbit", _vw)):
        if module == "skglm" and quick:
            notes.append("Skipped in a quick run: skglm, which compiles for half a minute.")
        elif installed(module):
            found |= add(task)
        else:
            notes.append(f"Skipped: {module} is not installed.")
    if not installed("lightning"):
        notes.append("Skipped: lightning is not installed; it has no wheel for this Python.")
    if not hasattr(linear_model, "PassiveAggressiveClassifier"):
        notes.append("PassiveAggressiveClassifier is gone from this scikit-learn.")
    return found | _ours(p), notes


def _estimator(model: Any, p: Problem, *, once: bool = False, library: str = "scikit-learn") -> Contestant:
    def work(clock: Clock) -> Callable[[], Answer]:
        clone(model).fit(p.X[:N_WARM], p.y[:N_WARM])
        with clock:
            model.fit(p.X, p.y)
        return lambda: Answer(model.score(p.X_test, p.y_test), int(np.count_nonzero(model.coef_)), _passes(model))

    return Contestant(library, once, work)


def _passes(model: Any) -> str:
    n_iter = getattr(model, "n_iter_", None)
    return "" if n_iter is None else f"{int(np.max(n_iter)):,}"


def _ours(p: Problem) -> dict[str, Contestant]:
    from thresher.stochastic import SparseSDCAClassifier

    models = {name: model.set_params(max_iter=1, random_state=0) for name, model in learners().items()}
    ours = {f"thresher {name}": _estimator(model, p, library="thresher") for name, model in models.items()}
    batch = SparseSDCAClassifier(random_state=0)
    return ours | {"thresher SparseSDCA": _estimator(batch, p, once=True, library="thresher")}


def _scikit_learn(p: Problem) -> dict[str, Contestant]:
    one_pass = {"max_iter": 1, "tol": None, "random_state": 0}
    stream = {
        "SGDClassifier, one pass": linear_model.SGDClassifier(**one_pass),
        "Perceptron, one pass": linear_model.Perceptron(**one_pass),
    }
    if hasattr(linear_model, "PassiveAggressiveClassifier"):
        stream["PassiveAggressiveClassifier, one pass"] = linear_model.PassiveAggressiveClassifier(**one_pass)
    batch = {
        "SGDClassifier, its own stop": linear_model.SGDClassifier(random_state=0),
        "LinearSVC": LinearSVC(random_state=0),
        "LogisticRegression, liblinear": linear_model.LogisticRegression(solver="liblinear", random_state=0),
        "LogisticRegression, saga, l1": linear_model.LogisticRegression(solver="saga", l1_ratio=1.0, random_state=0),
    }
    return {name: _estimator(model, p) for name, model in stream.items()} | {
        name: _estimator(model, p, once=True) for name, model in batch.items()
    }


def _liblinear(task: LinearTask) -> dict[str, Contestant]:
    """LIBLINEAR's own library: l2 and l1 with the squared hinge, l1 with the logistic loss; a constant by -B."""
    from liblinear import liblinearutil

    p = task.problem
    rows = np.ascontiguousarray(p.X) if task.dense else sparse.csr_matrix(p.X)

    def solver(number: int) -> Contestant:
        def work(clock: Clock) -> Callable[[], Answer]:
            given = liblinearutil.problem(p.y, rows, 1)
            with clock:
                model = liblinearutil.train(given, liblinearutil.parameter(f"-s {number} -B 1 -q"))
            return lambda: _of_weights(liblinear_weights(model, p.X.shape[1]), p)

        return Contestant("LIBLINEAR", True, work)

    return {f"LIBLINEAR -s {number}": solver(number) for number in (2, 5, 6)}


def liblinear_weights(model: Any, n_features: int) -> Weights:
    sign = 1 if model.get_labels()[0] == 1 else -1
    w = sign * np.ctypeslib.as_array(model.w, (n_features + (model.bias >= 0),)).copy()
    return Weights(w[None, :n_features], w[n_features:] if model.bias >= 0 else np.zeros(1))


def _of_weights(weights: Weights, p: Problem, passes: str = "") -> Answer:
    accuracy = float(np.mean((weights.scores(p.X_test)[:, 0] > 0) == (p.y_test > 0)))
    return Answer(accuracy, weights.size, passes)


def _skglm(task: LinearTask) -> dict[str, Contestant]:
    """Compiled before the clock starts, on some rows of the same form."""
    from skglm import LinearSVC as HingeSVC
    from skglm import SparseLogisticRegression

    p = task.problem
    X = np.asfortranarray(p.X) if task.dense else sparse.csc_matrix(p.X)
    models = {"skglm SparseLogisticRegression": SparseLogisticRegression(alpha=1 / len(p.y))}
    if p.X.shape[0] <= 100_000 and not task.dense:  # it holds the transpose of the rows, and is slow with few columns
        models["skglm LinearSVC"] = HingeSVC()
    some = np.asfortranarray(p.X[:N_WARM]) if task.dense else sparse.csc_matrix(p.X[:N_WARM])
    for model in models.values():
        model.fit(some, p.y[:N_WARM])

    def run(model: Any) -> Contestant:
        def work(clock: Clock) -> Callable[[], Answer]:
            with clock:
                model.fit(X, p.y)
            return lambda: _of_weights(Weights(np.reshape(model.coef_, (1, -1)), np.atleast_1d(model.intercept_)), p)

        return Contestant("skglm", True, work)

    return {name: run(model) for name, model in models.items()}


def _river(task: LinearTask) -> dict[str, Contestant]:
    """``learn_one`` of dicts, and ``learn_many`` of data frames, which is for few columns.

    Its logistic regression learns hardly anything from rows of norm 1 with its default, SGD of step 0.01, so that
    a step of 1 stands beside it.
    """
    from river import linear_model as river
    from river import optim

    p = task.problem
    makes = {
        "LogisticRegression": river.LogisticRegression,
        "LogisticRegression, SGD(1)": lambda: river.LogisticRegression(optimizer=optim.SGD(1.0)),
        "PAClassifier": river.PAClassifier,
    }
    found = {f"river {name}, learn_one": Contestant("river", False, _by_one(make, p)) for name, make in makes.items()}
    if task.dense:
        found["river LogisticRegression, learn_many"] = Contestant(
            "river", False, _by_many(river.LogisticRegression, p)
        )
    return found


def _by_one(make: Any, p: Problem) -> Work:
    def work(clock: Clock) -> Callable[[], Answer]:
        model = make()
        for items, labels in _dicts(p.X, p.y):
            with clock:
                for x, y in zip(items, labels, strict=True):
                    model.learn_one(x, y)

        def answer() -> Answer:
            right = sum(
                model.predict_one(x) == y for xs, ys in _dicts(p.X_test, p.y_test) for x, y in zip(xs, ys, strict=True)
            )
            return Answer(right / len(p.y_test), sum(w != 0 for w in model.weights.values()), "1")

        return answer

    return work


def _by_many(make: Any, p: Problem) -> Work:
    import pandas as pd

    def work(clock: Clock) -> Callable[[], Answer]:
        model = make()
        for begin in range(0, len(p.y), RIVER_CHUNK):
            part = slice(begin, begin + RIVER_CHUNK)
            X, y = pd.DataFrame(p.X[part]), pd.Series(p.y[part] > 0)
            with clock:
                model.learn_many(X, y)

        def answer() -> Answer:
            said = model.predict_many(pd.DataFrame(p.X_test))
            return Answer(float(np.mean(said.to_numpy(dtype=bool) == (p.y_test > 0))), p.X.shape[1], "1")

        return answer

    return work


def _dicts(X: Any, y: Any) -> Iterator[tuple[list[dict[int, float]], list[bool]]]:
    for begin in range(0, len(y), RIVER_CHUNK):
        rows = sparse.csr_array(X[begin : begin + RIVER_CHUNK])
        columns, values = rows.indices.tolist(), rows.data.tolist()
        ends = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        items = [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in ends]
        yield items, (y[begin : begin + RIVER_CHUNK] > 0).tolist()


def _vw(task: LinearTask) -> dict[str, Contestant]:
    """From its own cache, so that no text is parsed."""
    p = task.problem
    name = f"linear-{task.key}-{len(p.y)}"
    y, y_test = (p.y > 0).astype(int), (p.y_test > 0).astype(int)
    layout = Layout.of(p.X, y)
    train, test = (
        vw_cache_of(f"{name}-{part}", sparse.csr_array(X), labels)
        for part, X, labels in (("train", p.X, y), ("test", p.X_test, y_test))
    )
    ways = {"": "--loss_function hinge", " --ftrl": "--ftrl --loss_function logistic"}

    def run(way: str) -> Contestant:
        def work(clock: Clock) -> Callable[[], Answer]:
            from vowpalwabbit import Workspace

            with clock:
                learned = Workspace(f"{way} -b {layout.bits} -d {train} --cache_file {train} --quiet")

            def answer() -> Answer:
                with tempfile.TemporaryDirectory() as folder:
                    model, said = Path(folder, "model"), Path(folder, "said")
                    learned.save(str(model))
                    Workspace(f"-t -i {model} -d {test} --cache_file {test} -p {said} --quiet").finish()
                    accuracy = np.mean((np.loadtxt(said) > 0) == (p.y_test > 0))
                return Answer(float(accuracy), None, "1")

            return answer

        return Contestant("Vowpal Wabbit", False, work)

    return {f"vw{shown}, cache": run(way) for shown, way in ways.items()}
