"""Drift: ADWIN against a twin that keeps every loss, and what it takes for a change."""

from __future__ import annotations

import json

import numpy as np
import pytest

from thresher.web._drift import Adwin
from thresher.web._live_measures import LiveMeasures


class Twin:
    """ADWIN with its window as a list of losses, and the sizes of the buckets that the exponential histogram would
    have: the borders where it may be cut."""

    def __init__(self, delta: float) -> None:
        self.delta, self.losses, self.sizes, self.alarms, self.n = delta, [], [], [], 0

    def add(self, loss: float) -> None:
        self.n += 1
        self.losses.append(loss)
        self.sizes.append(1)
        size = 1
        while self.sizes.count(size) > 5:
            first = self.sizes.index(size)
            self.sizes[first : first + 2] = [2 * size]
            size *= 2
        if self.n % 32 == 0:
            rose = False
            while (cut := self.cut()) is not None:
                n0 = sum(self.sizes[:cut])
                rose |= bool(np.mean(self.losses[n0:]) > np.mean(self.losses[:n0]))
                del self.losses[:n0], self.sizes[:cut]
            if rose:
                self.alarms.append(self.n)

    def cut(self) -> int | None:
        n = len(self.losses)
        if n < 64:
            return None
        for k in range(1, len(self.sizes)):
            n0 = sum(self.sizes[:k])
            n1 = n - n0
            if min(n0, n1) < 32:
                continue
            m, d = 1 / (1 / n0 + 1 / n1), np.log(2 * np.log(n) / self.delta)
            bound = np.sqrt(2 / m * np.var(self.losses) * d) + 2 / (3 * m) * d
            if abs(np.mean(self.losses[:n0]) - np.mean(self.losses[n0:])) > bound:
                return k
        return None


@pytest.mark.parametrize("seed", range(3))
def test_adwin_is_its_twin_that_keeps_every_loss(seed):
    rng = np.random.default_rng(seed)
    chances = np.repeat(rng.uniform(0.05, 0.6, size=5), 400)
    losses = (rng.random(len(chances)) < chances).astype(float) * rng.choice([1.0, 0.5], size=len(chances))
    ours, twin, alarms = Adwin(0.002), Twin(0.002), []
    for number, loss in enumerate(losses, 1):
        if ours.add(loss):
            alarms.append(number)
        twin.add(loss)
        if number % 50 == 0:
            assert ours.n_window == len(twin.losses)
            assert ours.mean == pytest.approx(np.mean(twin.losses))
    assert alarms == twin.alarms
    assert ours.last_alarm == (alarms[-1] if alarms else None)


def test_a_rise_is_an_alarm_and_a_fall_is_none():
    rng = np.random.default_rng(0)
    for chances, rises in (((0.1, 0.4), True), ((0.4, 0.1), False), ((0.2, 0.2), False)):
        adwin = Adwin()
        for loss in rng.random(4000) < np.repeat(chances, 2000):
            adwin.add(float(loss))
        assert bool(adwin.n_alarms) == rises
        if chances[0] != chances[1]:
            assert adwin.n_window < 2400
            assert adwin.mean == pytest.approx(chances[1], abs=0.05)


def test_false_alarms_are_rare():
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(20):
        adwin = Adwin()
        for loss in rng.random(2000) < 0.3:
            adwin.add(float(loss))
        alarms += adwin.n_alarms
    assert alarms <= 2


@pytest.mark.parametrize("is_classifier", [True, False])
def test_measures_go_on_from_plain_values(is_classifier):
    rng = np.random.default_rng(2)
    whole, first = LiveMeasures(is_classifier), LiveMeasures(is_classifier)
    pairs = [(bool(a), bool(b)) if is_classifier else (a, b) for a, b in rng.random((900, 2)).round().tolist()]
    second = LiveMeasures(is_classifier)
    for number, pair in enumerate(pairs):
        whole.add(*pair)
        (first if number < 500 else second).add(*pair)
        if number == 499:
            second.restore(json.loads(json.dumps(first.to_dict())))
    assert second.summary() == whole.summary()
    losses = [(a - b) ** 2 for a, b in pairs]
    name, value = ("error", np.mean(losses)) if is_classifier else ("rmse", np.mean(losses) ** 0.5)
    assert whole.summary()[name] == pytest.approx(value)


def test_errors_of_values_are_drift_when_they_grow():
    rng, measures = np.random.default_rng(3), LiveMeasures(False)
    for number in range(3000):
        measures.add(0.0, 1e6 * rng.normal() * (1 if number < 1500 else 5))
    found = measures.summary()
    assert found["drift"]["alarms"] >= 1
    assert found["drift"]["last_alarm_at_row"] > 1500
