"""The 3C-SVM, the U-SVM and the S3VM by a general convex solver between two looks at the pieces. Yang (2011), (5.2):

J(w, b) = |w|^2 / 2 + sum_{+-1} c_i H_1(y_i f_i) + sum_{0} c_i I_eps(f_i) + sum_{unlabelled} c_i M(f_i),   f = w.phi + b
"""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np

from .objectives import solve

Array = np.ndarray


def H(u: Array, s: float = 1.0) -> Array:
    """[s - u]+"""
    return np.maximum(s - u, 0.0)


def band(u: Array, epsilon: float) -> Array:
    """I_eps: [|u| - eps]+"""
    return np.maximum(np.abs(u) - epsilon, 0.0)


def M(u: Array, epsilon: float, method: str = "tri") -> Array:
    """What an unlabelled row costs: the cheaper of a class and no class, or the only one of them that a method has."""
    relevant, irrelevant = H(np.abs(u)), band(u, epsilon)
    return {"tri": np.minimum(relevant, irrelevant), "universum": irrelevant, "s3": relevant}[method]


class Rows(NamedTuple):
    """Features whose products are a kernel matrix; +1, -1, 0 (irrelevant) or nan (unlabelled); and what a row costs."""

    phi: Array
    y: Array
    cost: Array
    epsilon: float
    balance: float | None = None


class Machine(NamedTuple):
    w: Array
    b: float
    value: float  # of the convex problem


def features(K: Array) -> Array:
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def machine(rows: Rows, pieces: Array) -> Machine:
    """The convex problem with the piece +1, -1 or 0 of every row; nan is a row that does not count."""
    w, b = cp.Variable(rows.phi.shape[1]), cp.Variable()
    f = rows.phi @ w + b
    relevant, irrelevant = np.abs(pieces) == 1, pieces == 0
    total = cp.sum_squares(w) / 2
    total += rows.cost[relevant] @ cp.pos(1 - cp.multiply(pieces[relevant], f[relevant]))
    if irrelevant.any():
        total += rows.cost[irrelevant] @ cp.pos(cp.abs(f[irrelevant]) - rows.epsilon)
    ties = [] if rows.balance is None else [cp.sum(f[np.isnan(rows.y)]) == rows.balance * np.isnan(rows.y).sum()]
    value = solve(total, 1e-11, ties)
    return Machine(w.value, float(b.value), value)


def scores(rows: Rows, found: Machine) -> Array:
    return rows.phi @ found.w + found.b


def objective(rows: Rows, found: Machine, method: str) -> float:
    total = found.w @ found.w / 2
    for f, y, cost in zip(scores(rows, found), rows.y, rows.cost, strict=True):
        loss = M(f, rows.epsilon, method) if np.isnan(y) else band(f, rows.epsilon) if y == 0 else H(y * f)
        total += cost * float(loss)
    return float(total)


def cheapest(f: float, epsilon: float, method: str) -> float:
    """The piece that costs a row with this score the least."""
    if method == "universum":
        return 0.0
    pieces = {"tri": (1.0, -1.0, 0.0), "s3": (1.0, -1.0)}[method]
    return min(pieces, key=lambda piece: float(band(f, epsilon)) if piece == 0 else float(H(piece * f)))


def descend(rows: Rows, method: str, init: str, max_iter: int = 50) -> tuple[list[Array], list[Machine], list[float]]:
    """Pieces, machines and objectives on the way, until the pieces repeat."""
    unlabelled = np.isnan(rows.y)
    pieces = [np.where(unlabelled, 0.0 if init == "universum" else np.nan, rows.y)]
    machines = [machine(rows, pieces[0])]
    values = [objective(rows, machines[0], method)]
    for _ in range(max_iter):
        f = scores(rows, machines[-1])
        now = np.where(unlabelled, [cheapest(u, rows.epsilon, method) for u in f], rows.y)
        if np.array_equal(now, pieces[-1]):
            break
        pieces.append(now)
        machines.append(machine(rows, now))
        values.append(objective(rows, machines[-1], method))
    return pieces, machines, values
