"""Online classifiers on a budget of features, and active ones, one row after the other. Labels are -1 and +1.

The constant feature is appended last; it is learned like any other, and never counted nor cut. Each yields, after every
row, the score of the row before it was learned and all that is known after it. A row of weight 0 is absent. Tan (2016)
and Liu (2019), section 6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .dropout import uniform_draw
from .online import with_constant

Array = np.ndarray


def truncated(w: Array, B: int) -> Array:
    """The B features of largest |w_j|, of equal ones the first, and the constant."""
    w = w.copy()
    w[np.argsort(-np.abs(w[:-1]), kind="stable")[B:]] = 0
    return w


def projected(w: Array, alpha: float) -> Array:
    """w min(1, 1 / (sqrt(alpha) |w|))"""
    length = np.linalg.norm(w)
    return w if length == 0 else w * min(1.0, 1 / (np.sqrt(alpha) * length))


def ofs(
    X: Array,
    y: Array,
    *,
    B: int,
    alpha: float = 0.01,
    eta0: float = 0.2,
    shrink: bool = True,
    intercept: float = 0.0,
    weight: Array | None = None,
) -> Iterator[tuple[float, Array]]:
    """if y f <= 1:  w = (1 - alpha eta) w + eta y x, projected, truncated;  else w = (1 - alpha eta) w

    The weight of a row multiplies eta.
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w = np.zeros(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = w @ x
        if share > 0:
            eta = eta0 * share
            kept = max(0.0, 1 - alpha * eta) if shrink else 1.0
            w = kept * w
            if label * score <= 1:
                w = truncated(projected(w + eta * label * x, alpha), B)
        yield score, w


def petrun(
    X: Array, y: Array, *, B: int, eta0: float = 1.0, intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array]]:
    """if y f <= 0:  w = w + eta y x, truncated.  The weight of a row multiplies eta."""
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w = np.zeros(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = w @ x
        if share > 0 and label * score <= 0:
            w = truncated(w + eta0 * share * label * x, B)
        yield score, w


def mbpa(
    X: Array,
    y: Array,
    *,
    B: int,
    C: float = 1.0,
    alpha: float = 0.01,
    cost: float | None = None,
    intercept: float = 0.0,
    weight: Array | None = None,
) -> Iterator[tuple[float, Array]]:
    """loss = max(0, rho_y - y f);  if loss > 0:  w = w + min(C, loss / |x|^2) y x, projected, truncated

    rho_- = 1; rho_+ = cost, or (1 + negatives) / (1 + positives) of the rows before. The weight of a row
    multiplies C.
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w, count = np.zeros(X.shape[1]), {1: 0, -1: 0}
    for x, label, share in zip(X, y, weight, strict=True):
        score, square = w @ x, x @ x
        loss = max(0.0, _rho(label, cost, count) - label * score)
        if share > 0:
            count[label] += 1
            if loss > 0 and square > 0:
                w = truncated(projected(w + min(C * share, loss / square) * label * x, alpha), B)
        yield score, w


def sofs(
    X: Array,
    y: Array,
    *,
    B: int,
    r: float = 1.0,
    intercept: float = 0.0,
    weight: Array | None = None,
    advantage: float = 1.0,
) -> Iterator[tuple[float, Array, Array]]:
    """Diagonal AROW, 1 / s_j += x_j^2 / r;  then each feature of the row that has no weight, the first first,

    enters if there is room, or if advantage s_j is below the largest of those inside, which leaves (of equal ones, the
    last); else its weight is 0 again. The weight of a row divides r.
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    mu, s = np.zeros(X.shape[1]), np.ones(X.shape[1])
    inside: set[int] = set()
    for x, label, share in zip(X, y, weight, strict=True):
        score = mu @ x
        loss = max(0.0, 1 - label * score)
        if share > 0 and loss > 0:
            mu = mu + loss / (x @ (s * x) + r / share) * label * s * x
            s = 1 / (1 / s + x**2 / (r / share))
            for j in np.flatnonzero(x[:-1]).tolist():
                if j in inside:
                    continue
                if len(inside) == B:
                    last = max(inside, key=lambda k: (s[k], k))
                    leaves = last if advantage * s[j] < s[last] else j
                    mu[leaves] = 0
                    inside = (inside | {j}) - {leaves}
                else:
                    inside = inside | {j}
        yield score, mu, s


def csoal(
    X: Array,
    y: Array,
    *,
    seed: float,
    delta: float = 1.0,
    cost_kind: str = "margin",
    query_budget: int | None = None,
    C: float = 1.0,
    cost: float | None = None,
    intercept: float = 0.0,
    weight: Array | None = None,
) -> Iterator[tuple[float, Array, int]]:
    """Row t is asked about if u_t < delta / (delta + |f|), and then learned from:

    margin  loss = max(0, rho_y - y f);  w += min(C, loss / |x|^2) y x
    weight  loss = max(0, 1 - y f);      w += min(C rho_y, loss / |x|^2) y x

    rho as in mbpa, from the labels asked for. Yields the number of these as well.
    """
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    w, count, t = np.zeros(X.shape[1]), {1: 0, -1: 0}, 0
    for x, label, share in zip(X, y, weight, strict=True):
        score, square, asked = w @ x, x @ x, sum(count.values())
        if share > 0:
            t += 1
            may_ask = query_budget is None or asked < query_budget
            if may_ask and uniform_draw(seed, 0, t) < delta / (delta + abs(score)):
                rho = _rho(label, cost, count)
                count[label] += 1
                loss = max(0.0, (rho if cost_kind == "margin" else 1) - label * score)
                if loss > 0 and square > 0:
                    most = C * share * (1 if cost_kind == "margin" else rho)
                    w = w + min(most, loss / square) * label * x
        yield score, w, sum(count.values())


def _rho(label: int, cost: float | None, count: dict[int, int]) -> float:
    if label < 0:
        return 1.0
    return (1 + count[-1]) / (1 + count[1]) if cost is None else cost
