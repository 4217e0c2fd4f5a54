"""Batch solvers with odd rows and odd options: an answer that is what it says, or one sentence."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from words import Finding, check

from thresher import solvers

ODD: list[Any] = [None, 0, -1, 1, 0.5, 2**62, 10**400, 1e99, 1e101, 1e-320, 1e308, float("nan"), float("inf"), True]
ODD += ["", "x", "auto", b"b", [], {}, [1.0], np.ones(4), np.ones((2, 2)), np.array(["a"]), (1, 2), object(), 1j]
LOSSES = ["squared", "logistic", "hinge", "squared_hinge", "huber", "epsilon_insensitive", "quantile", "smooth_hinge"]


def matrix(choose: random.Random) -> Any:
    """Rows in some layout, with something wrong in them now and then."""
    rng = np.random.default_rng(choose.randrange(1 << 30))
    n, d = choose.choice([(30, 5), (30, 5), (5, 30), (1, 1), (2, 3), (0, 3), (3, 0)])
    X: Any = rng.normal(size=(n, d)) * 10.0 ** choose.choice([0, 0, 0, 0, -8, 8, 50, 99, -99, -160, 101])
    if choose.random() < 0.2 and X.size:
        X[rng.integers(n), rng.integers(d)] = choose.choice([np.nan, np.inf, 1e99, 1e101, 1e-310, 0.0])
    if choose.random() < 0.2 and d:
        X[:, 0] = choose.choice([0.0, 1.0, 1e50])
    layouts: list[Callable[[Any], Any]] = [
        np.asarray,
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.csc_array,
    ]
    layouts += [sparse.coo_array, np.float32, lambda A: A[::-1], lambda A: A.tolist(), lambda A: A.astype(object)]
    layouts += [np.matrix, lambda A: np.ma.masked_array(A, mask=A > 1), lambda A: A.astype("f2"), lambda A: A[None]]
    layouts += [lambda A: A.astype(str), lambda A: A + 1j, lambda A: A > 0]
    with np.errstate(all="ignore"):
        X = choose.choice(layouts)(X)
    if sparse.issparse(X) and X.format in ("csr", "csc") and choose.random() < 0.3:
        place = choose.choice([X.indices, X.indptr])
        if len(place):
            place[choose.randrange(len(place))] = choose.choice([-1, 2**31 - 1, 2**30, 7, 0])
    return X


def vector(n: int, choose: random.Random) -> Any:
    rng = np.random.default_rng(choose.randrange(1 << 30))
    y = rng.normal(size=n) * 10.0 ** choose.choice([0, 0, 0, 50, 99, -99])
    kinds: list[Any] = [y, y, np.sign(y), np.sign(y), y > 0, y.astype(object), y.tolist(), y[:, None], y[:-1], y + 1j]
    kinds += [np.where(y > 0, np.nan, y), np.full(n, 1e200), np.array(["a", "b"] * n)[:n], np.zeros(n), y.astype("f4")]
    return choose.choice(kinds) if choose.random() < 0.5 else choose.choice(kinds[:4])


def options(choose: random.Random, usual: dict[str, list[Any]]) -> dict[str, Any]:
    given = {}
    for name, values in usual.items():
        if choose.random() < 0.4:
            given[name] = choose.choice(values if choose.random() < 0.75 else ODD)
    if "max_iter" not in given or not isinstance(given["max_iter"], int) or given["max_iter"] > 1000:
        given["max_iter"] = choose.choice([1, 10, 200])
    return given


USUAL: dict[str, list[Any]] = {
    **{"loss": LOSSES, "epsilon": [0.1, 0.0, 1.0], "fit_intercept": [True, False], "tol": [1e-8, 1e-2, 0.0]},
    "max_iter": [1, 10, 200],
}


def groups_for(d: int, choose: random.Random) -> Any:
    kinds: list[Any] = [np.arange(d) % 3, [[i] for i in range(d)], [list(range(d)), [0]], [[0, 0]], [[d]], [[-1]], []]
    kinds += [np.zeros(d), ["a"] * d, None, [[0.5]], np.full(d, 2**62), [list(range(d))], {"a": [0]}, "x"]
    return choose.choice(kinds[:2] if choose.random() < 0.6 else kinds)


def solve(choose: random.Random) -> tuple[str, Callable[[], Any]]:
    """A call of some solver, in words and as a function."""
    X = matrix(choose)
    shape = np.shape(X) if not sparse.issparse(X) else X.shape
    n, d = (*shape, 1, 1)[:2]
    y = vector(n, choose)
    alpha = choose.choice([0.1, 1.0, 1e-8, 0.0, 1e8]) if choose.random() < 0.8 else choose.choice(ODD)
    name = choose.choice(
        ["lasso", "group_lasso", "penalty_path", "alpha_max", "multi_task", "box_qp", "linear_qp", "prox"]
    )
    start = choose.choice([None] * 8 + [np.zeros(d), np.zeros(d + 1), np.full(d, np.nan), "x", (np.zeros(d), 0.0)])
    l1 = {"l1_weight": [0.0, 0.1, 1.0, -1.0]}
    if name == "lasso":
        given = options(choose, {**USUAL, "l2_weight": [0.0, 0.1, -1]})
        return f"lasso({alpha!r:.40}, {given})", lambda: solvers.lasso(X, y, alpha, start=start, **given)
    if name == "group_lasso":
        given, groups = options(choose, {**USUAL, **l1, "norm": [2, np.inf, 1]}), groups_for(d, choose)
        what = f"group_lasso({groups!r:.40}, {alpha!r:.40}, {given})"
        return what, lambda: solvers.group_lasso(X, y, groups, alpha, start=start, **given)
    if name == "penalty_path":
        more = {"n_alphas": [1, 3, 5], "smallest": [0.01, 1.0, 0.5], "l2_weight": [0.0, 0.1]}
        given = options(choose, {**USUAL, **l1, **more})
        given["n_alphas"] = given.get("n_alphas", 3)
        given["n_alphas"] = 3 if isinstance(given["n_alphas"], int) and given["n_alphas"] > 99 else given["n_alphas"]
        alphas = choose.choice([None, None, [1.0, 0.1], [0.1, 1.0], [], [0.0], ["x"], 3.0, np.ones((2, 2)), [np.nan]])
        return f"penalty_path({alphas}, {given})", lambda: solvers.penalty_path(X, y, alphas, **given)
    if name == "alpha_max":
        given, groups = options(choose, {**USUAL, **l1, "norm": [2, np.inf]}), groups_for(d, choose)
        given.pop("max_iter"), given.pop("tol", None)
        return f"alpha_max({groups!r:.40}, {given})", lambda: solvers.alpha_max(X, y, groups=groups, **given)
    if name == "multi_task":
        given = options(choose, {**USUAL, **l1, "penalty": ["l21", "l1inf", "lp", "trace"], "p": [2.0, 1.5, np.inf, 1]})
        tasks = choose.choice([([X, X], [y, y]), ([X], [y, y]), ([], []), (X, y), ([X, None], [y, y]), ("x", "y")])
        return f"multi_task({alpha!r:.40}, {given})", lambda: solvers.multi_task(*tasks, alpha, **given)
    if name == "box_qp":
        bounds = choose.choice(
            [(0.0, 1.0), (np.zeros(n), np.ones(n)), (1.0, 0.0), (-np.inf, np.inf), (0.0, np.nan), ("x", 1)]
        )
        K: Any = X if choose.random() < 0.3 else np.eye(n) + 0.1
        given = options(
            choose, {"epsilon": [0.0, 0.1], "signs": [1.0, -1.0, np.ones(n)], "total": [0.0, 1.0, 1e9], "tol": [1e-6]}
        )
        given["max_iter"] = 1000
        return f"box_qp({bounds}, {given})", lambda: solvers.box_qp(K, y, *bounds, start=start, **given)
    if name == "linear_qp":
        bounds = choose.choice(
            [(0.0, 1.0), (np.zeros(n), np.ones(n)), (1.0, 0.0), (-np.inf, np.inf), (0.0, np.nan), ("x", 1)]
        )
        given = options(choose, {"epsilon": [0.0, 0.1], "total": [0.0, 1.0, 1e9], "tol": [1e-6]})
        return f"linear_qp({bounds}, {given})", lambda: solvers.linear_qp(X, y, *bounds, start=start, **given)
    prox = choose.choice(
        [solvers.prox_linf, solvers.shrink, solvers.soft_threshold, lambda v, a: solvers.prox_lp(v, a, p)]
    )
    p = choose.choice([2.0, 1.0, 1.5, np.inf, 0.5, *ODD])
    a = choose.choice([0.1, 1.0, 1e99, *ODD])
    v = choose.choice([y, X, y, "x", None, 3.0, [], [[1.0, 2.0]]])
    return f"prox({v!r:.60}, {a!r:.40}, {p!r:.40})", lambda: prox(v, a)


def solution_is_sane(found: Any) -> bool:
    parts = found if isinstance(found, tuple) else (found,)
    with np.errstate(all="ignore"):
        return all(
            np.isfinite(np.asarray(part, dtype=float)).all() for part in parts if not isinstance(part, (bool, str))
        )


def solving(seed: int) -> str:
    choose = random.Random(seed)
    case, call = solve(choose)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = call()
        except Exception as error:
            return check(error, case)
    if not solution_is_sane(found):
        raise Finding(f"{case}: {found!r:.300}")
    return "works"
