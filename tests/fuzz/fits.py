"""Random fits: every estimator, with parameters and rows at the edge of sense and beyond."""

from __future__ import annotations

import inspect
import random
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from words import Finding, scratch

from thresher import registry
from thresher.kernels import RBF, Linear
from thresher.persistence import load_model, save_model

ESTIMATORS = sorted(registry.estimators().items())
NUMBERS: list[Any] = [0, 1, 2, 3, 7, -1, 0.0, 0.5, 1.0, 1e-8, 1e8, 1e-99, 1e99, 1e-101, 1e101, 1e-320, 1e308, 10**400]
NUMBERS += [2**31, 2**62, 2**63, np.float32(0.1), np.int64(3), float("nan"), float("inf"), True]
OTHERS: list[Any] = [
    None,
    "auto",
    "x",
    "",
    [],
    {},
    [1.0],
    np.ones(4),
    np.full(4, 1e200),
    (1, 2),
    b"b",
    RBF(0.5),
    Linear(),
]


def params_of(cls: type[Any], choose: random.Random) -> dict[str, Any]:
    """Parameters, most of them as they are by default or nearly so."""
    params = {}
    for name, declared in cls._params.items():
        if choose.random() < 0.8:
            continue
        likely = [*cls._param_rules[name].options, declared.default] * 3
        if isinstance(declared.default, float):
            likely += [declared.default * 10.0 ** choose.uniform(-12, 12) for _ in range(9)]
        if name in ("max_iter", "n_steps") or (type(declared.default) is int and declared.default > 1):
            likely += [1, 2, 3, 5]  # not 2**62 passes, which are a wish and no mistake
            params[name] = choose.choice(likely)
        else:
            params[name] = choose.choice(likely if choose.random() < 0.7 else NUMBERS + OTHERS)
    return params


def rows(choose: random.Random) -> tuple[Any, Any]:
    """A small table of some size and layout, and labels or numbers."""
    rng = np.random.default_rng(choose.randrange(1 << 30))
    n, d = choose.choice([(60, 4), (60, 4), (12, 3), (1, 4), (3, 1)])
    X = rng.normal(size=(n, d)) * 10.0 ** choose.choice([0, 0, 0, 0, -8, 8, 50, 99, -99, -150, 101, 200])
    if choose.random() < 0.2:
        X[rng.integers(n), rng.integers(d)] = choose.choice([np.nan, np.inf, 1e99, 1e101, -1e200, 1e-310, 0.0])
    if choose.random() < 0.2:
        X[:, 0] = X[0, 0]
    y = (X[:, 0] > np.median(X[:, 0])).astype(int) + (rng.random(n) < 0.1)
    labels: list[Any] = [y, y, y, y % 2, np.array(["a", "b", "c"])[y], y.astype(float), y.astype(object), X[:, 0]]
    labels += [np.array([b"a", b"b", b"c"])[y], np.array([2**70, 1, 2], dtype=object)[y], y.astype("M8[D]"), y == 1]
    layout = choose.choice([np.asarray, np.asarray, sparse.csr_array, sparse.csc_array, np.float32])
    with np.errstate(all="ignore"):
        return layout(X), choose.choice(labels)


def weights(choose: random.Random, n: int) -> Any:
    """Weights of rows, or none."""
    some = np.random.default_rng(choose.randrange(1 << 30)).exponential(size=n)
    sane: list[Any] = [some, np.ones(n), np.arange(n) % 2.0, some * 10.0 ** choose.uniform(-99, 99)]
    odd: list[Any] = [np.full(n, 1e-300), np.full(n, 1e120), np.where(np.arange(n), 1.0, np.nan), -some, np.zeros(n)]
    return choose.choice([None] * 9 + sane * 2 + odd + [np.ones(n + 1), np.full(n, "x"), "x"])


def fit(seed: int) -> str:
    """One random fit, saved and loaded if it succeeds."""
    choose = random.Random(seed)
    _, cls = choose.choice(ESTIMATORS)
    params = params_of(cls, choose)
    X, y = rows(choose)
    weight = weights(choose, X.shape[0]) if "sample_weight" in inspect.signature(cls.fit).parameters else None
    return attempt(cls, params, X, y, weight)


def attempt(cls: type[Any], params: dict[str, Any], X: Any, y: Any, weight: Any = None) -> str:
    case = f"{cls.__name__}({', '.join(f'{k}={v!r:.40}' for k, v in params.items())}) of {y[:1]!r:.30}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model = cls(**params).fit(X, y, **({} if weight is None else {"sample_weight": weight}))
            before = used(model, X, y)
        except (ValueError, TypeError, FloatingPointError, MemoryError) as refusal:
            check_refusal(refusal, cls.__name__, case)
            return "refused"
        except Exception as error:
            raise Finding(f"{case}: {type(error).__name__}: {error}") from error
        if before.dtype.kind == "f" and not np.isfinite(before).all():
            raise Finding(f"{case}: predictions are not finite")
        return saved_and_loaded(model, X, before, case)


def used(model: Any, X: Any, y: Any) -> Any:
    """The predictions of a model that is asked all that it can be, and perhaps learns the rows once more."""
    for name in ("decision_function", "predict_proba", "predict_log_proba", "transform"):
        if hasattr(model, name):
            getattr(model, name)(X)
    if hasattr(model, "classes_"):
        model.score(X, y)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
    return model.predict(X)


def saved_and_loaded(model: Any, X: Any, before: Any, case: str) -> str:
    path = scratch() / "model"
    try:
        save_model(model, path)
    except ValueError as refusal:
        if "would not load" in str(refusal):
            raise Finding(f"{case}: {refusal}") from None
        return "not saved"
    after = load_model(path).predict(X)
    if not np.array_equal(before, after):
        raise Finding(f"{case}: the model predicts something else after it was loaded")
    return "works"


def check_refusal(refusal: Exception, who: str, case: str) -> None:
    """One sentence in our own words: the name of the estimator stands in it, or scikit-learn does."""
    said = str(refusal)
    ours = who in said or said.startswith(("X has ", "This ", "Found ", "Unknown", "Input ", "RBF: ", "Polynomial: "))
    if not ours or "\n" in said or len(said) > 600:
        raise Finding(f"{case}: {type(refusal).__name__}: {said[:200]}") from refusal
