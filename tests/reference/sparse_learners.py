"""The l1 learners and their kin, every weight of them computed in every step; a number of features, and debiasing.

A rule holds what it sums, takes a step with one dense gradient, and says its weights, the constant's last. Jumutc
(2016), section 7; McMahan et al. (2013), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from .dual_averaging import soft
from .losses import loss as find_loss
from .online import Array, with_constant


class L1:
    """w = -soft(G / t, alpha + rho / (eta0 sqrt t)) / (l2_weight + 1 / (eta0 sqrt t))"""

    def __init__(self, n: int, free: bool, *, alpha: float, eta0: float, rho: float, l2_weight: float) -> None:
        self.alpha, self.eta0, self.rho, self.l2_weight, self.free = alpha, eta0, rho, l2_weight, free
        self.G, self.t = np.zeros(n), 0

    def step(self, g: Array) -> None:
        self.G, self.t = self.G + g, self.t + 1

    def weights(self) -> Array:
        return self.cut_by(self.alpha * self.t + self.rho * np.sqrt(self.t) / self.eta0)

    def cut_by(self, cut: float) -> Array:
        """The weights if those of |G| up to the cut were 0."""
        if self.t == 0:
            return np.zeros(len(self.G))
        w = -soft(self.G / self.t, cut / self.t) / (self.l2_weight + 1 / (self.eta0 * np.sqrt(self.t)))
        if self.free:
            w[-1] = -self.eta0 * self.G[-1] / np.sqrt(self.t)
        return np.where(self.held(cut), 0, w)

    def held(self, cut: float) -> Array:
        """Which are 0, without the rounding of G / t."""
        return (np.abs(self.G) <= cut) & ~((np.arange(len(self.G)) == len(self.G) - 1) & self.free)

    def order(self) -> Array:
        return np.abs(self.G)

    def follow(self, order: float) -> None:
        """The penalty that would put the cut there now."""
        self.alpha = order / self.t


class Adaptive(L1):
    """w = -soft(G, alpha t) / (l2_weight t + H / eta0),  H = smoothing + sqrt(sum of g^2)"""

    def __init__(self, n: int, free: bool, *, alpha: float, eta0: float, smoothing: float, l2_weight: float) -> None:
        super().__init__(n, free, alpha=alpha, eta0=eta0, rho=0.0, l2_weight=l2_weight)
        self.squares, self.smoothing = np.zeros(n), smoothing

    def step(self, g: Array) -> None:
        super().step(g)
        self.squares = self.squares + g**2

    def cut_by(self, cut: float) -> Array:
        H = self.smoothing + np.sqrt(self.squares)
        w = -soft(self.G, cut) / (self.l2_weight * self.t + H / self.eta0)
        if self.free:
            w[-1] = -self.eta0 * self.G[-1] / H[-1]
        return w


class FTRL:
    """w = -soft(z, l1) / (l2 + (beta + sqrt n) / alpha);  z += g - sigma w, sigma how much sqrt(n) / alpha grows"""

    def __init__(self, n: int, free: bool, *, alpha: float, beta: float, l1: float, l2: float) -> None:
        self.alpha, self.beta, self.l1, self.l2, self.free = alpha, beta, l1, l2, free
        self.z, self.n = np.zeros(n), np.zeros(n)

    def step(self, g: Array) -> None:
        sigma = (np.sqrt(self.n + g**2) - np.sqrt(self.n)) / self.alpha
        self.z, self.n = self.z + g - sigma * self.weights(), self.n + g**2

    def weights(self) -> Array:
        return self.cut_by(self.l1)

    def cut_by(self, cut: float) -> Array:
        """Weights of |z| up to the cut are 0; others shrink by the penalty they were learned with, if it is less."""
        l1, l2 = np.full(len(self.z), min(self.l1, cut)), np.full(len(self.z), self.l2)
        held = np.abs(self.z) <= cut
        if self.free:
            l1[-1] = l2[-1] = held[-1] = 0
        pulled = np.where(held, 0, soft(self.z, l1))
        curve = l2 + (self.beta + np.sqrt(self.n)) / self.alpha
        return np.divide(-pulled, curve, out=np.zeros(len(pulled)), where=pulled != 0)

    def order(self) -> Array:
        return np.abs(self.z)

    def follow(self, order: float) -> None:
        self.l1 = order


class ReweightedL1:
    """w = -(eta0 / sqrt t) soft(G, alpha Q + rho sqrt(t) / eta0);  Q += 1 / (|w| + smoothing), in the first step 1"""

    def __init__(self, n: int, free: bool, *, alpha: float, eta0: float, rho: float, smoothing: float) -> None:
        self.alpha, self.eta0, self.rho, self.smoothing, self.free = alpha, eta0, rho, smoothing, free
        self.G, self.Q, self.t = np.zeros(n), np.zeros(n), 0

    def step(self, g: Array) -> None:
        theta = 1.0 if self.t == 0 else 1 / (np.abs(self.weights()) + self.smoothing)
        self.G, self.Q, self.t = self.G + g, self.Q + theta, self.t + 1

    def weights(self) -> Array:
        return self._shrunk(self.alpha * self.Q + self.rho * np.sqrt(self.t) / self.eta0)

    def cut_by(self, cut: float) -> Array:
        w = self._shrunk(cut * self.Q)
        held = self.order() <= cut  # without the rounding of cut * Q
        held[-1] &= not self.free
        return np.where(held, 0, w)

    def _shrunk(self, h: Array) -> Array:
        if self.t == 0:
            return np.zeros(len(self.G))
        w = -self.eta0 / np.sqrt(self.t) * soft(self.G, h)
        if self.free:
            w[-1] = -self.eta0 / np.sqrt(self.t) * self.G[-1]
        return w

    def order(self) -> Array:
        return np.abs(self.G) / np.maximum(self.Q, 1)

    def follow(self, order: float) -> None:
        self.alpha = order


class ReweightedL2:
    """w = -G / (alpha t + Q);  Q += 1 / (w^2 + smoothing), in the first step 1"""

    def __init__(self, n: int, *, alpha: float, smoothing: float) -> None:
        self.alpha, self.smoothing = alpha, smoothing
        self.G, self.Q, self.t = np.zeros(n), np.zeros(n), 0

    def step(self, g: Array) -> None:
        theta = 1.0 if self.t == 0 else 1 / (self.weights() ** 2 + self.smoothing)
        self.G, self.Q, self.t = self.G + g, self.Q + theta, self.t + 1

    def weights(self) -> Array:
        return np.zeros(len(self.G)) if self.t == 0 else -self.G / (self.alpha * self.t + self.Q)


class Selection:
    """A rule that is read, and perhaps driven, as asked: K features, a second rule that weighs them, a threshold."""

    def __init__(self, rule: Any, second: Any = None, k: int | None = None, threshold: float | None = None) -> None:
        self.rule, self.second, self.k, self.threshold = rule, second, k, threshold
        self.refresh = 64
        self.t = 0

    def score(self, x: Array) -> float:
        return float(self._in_use(self.rule.weights()) @ x)

    def step(self, g: Array, g2: Array | None = None) -> None:
        if self.second is not None:
            used = self.rule.weights() != 0
            used[-1] = True
            self.second.step(g2 * used)
        self.rule.step(g)
        self.t += 1
        if self.k is not None and self.t == self.refresh:
            self.rule.follow(self.cut())
            self.refresh *= 2

    def cut(self) -> float:
        """The (K + 1)-th largest order of the features; of those that the second rule knows, if there is one."""
        order = self.rule.order()[:-1]
        if self.second is not None:
            order = np.where(self.second.weights()[:-1] == 0, 0, order)
        return 0.0 if self.k >= len(order) else float(np.sort(order)[::-1][self.k])

    def weights(self) -> Array:
        """Those that a prediction uses."""
        w = self.rule.weights() if self.k is None else self.rule.cut_by(self.cut())
        if self.threshold is not None:
            w[:-1] = np.where(np.abs(w[:-1]) <= self.threshold, 0, w[:-1])
        return self._in_use(w)

    def _in_use(self, w: Array) -> Array:
        if self.second is None:
            return w
        used = w != 0
        used[-1] = True
        return np.where(used, self.second.weights(), 0)


def selection(model: Any, n: int) -> Selection:
    """The rules of an estimator, by its name and parameters."""
    given = model.get_params()
    name = type(model).__name__.removesuffix("Classifier").removesuffix("Regressor")
    if name == "ReweightedL2RDA":
        return Selection(
            ReweightedL2(n, alpha=model.alpha, smoothing=model.smoothing), threshold=float(model.threshold)
        )
    rule: Any = {"L1RDA": L1, "AdaptiveL1RDA": Adaptive, "FTRL": FTRL, "ReweightedL1RDA": ReweightedL1}[name]
    letters = {
        L1: ("alpha", "eta0", "rho", "l2_weight"),
        Adaptive: ("alpha", "eta0", "smoothing", "l2_weight"),
        FTRL: ("alpha", "beta", "l1", "l2"),
        ReweightedL1: ("alpha", "eta0", "rho", "smoothing"),
    }[rule]
    penalty = "l1" if rule is FTRL else "alpha"
    names = {"alpha": "eta0", "l1": "alpha"} if rule is FTRL else {}  # the letters of its paper
    params = {letter: given[names.get(letter, letter)] for letter in letters}
    if params.get("beta") == "auto":  # beside a number for the step
        params["beta"] = 1.0
    k, free = given["n_features_to_select"], not model.penalize_intercept
    first = rule(n, free, **(params | ({} if k is None else {penalty: 0.0})))
    second = None
    if model.debias:  # the same without an l1 penalty; the reweighted one has then no weights left
        again, plain = (L1, {"eta0": model.eta0, "l2_weight": 0.0}) if rule is ReweightedL1 else (rule, params)
        second = again(n, free, **(plain | {penalty: 0.0} | ({"rho": 0.0} if again is L1 else {})))
    return Selection(first, second, k)


def twin(
    model: Any,
    X: Array,
    y: Array,
    weight: Array | None = None,
    looks: Container[int] | None = None,
    close_after: Container[int] = (),
) -> Iterator[tuple[float, Any]]:
    """After every row its score before it was learned, and the weights that a prediction uses then.

    ``looks`` are rows after which the weights are wanted; all, if not given. ``close_after`` are rows after which an
    unfinished mini-batch makes a step with the rows it has.
    """
    find = find_loss(model.loss, model.tau, getattr(model, "epsilon", 0.0))
    X = with_constant(X.astype(float), model.intercept_scaling if model.fit_intercept else 0.0)
    weight = np.ones(len(y)) if weight is None else weight
    batch_size = getattr(model, "batch_size", 1)
    rules = selection(model, X.shape[1])
    gradient, n_waiting = np.zeros(X.shape[1]), 0
    for i, (x, target, share) in enumerate(zip(X, y, weight, strict=True)):
        score = rules.score(x)
        if share > 0:
            own = score if rules.second is None else rules.rule.weights() @ x
            gradient = gradient + share * find.slope(own, target) * x
            n_waiting += 1
        if n_waiting == batch_size or (n_waiting > 0 and i in close_after):
            rules.step(gradient / n_waiting, share * find.slope(score, target) * x)
            gradient, n_waiting = np.zeros(X.shape[1]), 0
        yield score, rules.weights() if looks is None or i in looks else None
