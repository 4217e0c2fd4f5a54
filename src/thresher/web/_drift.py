"""An alarm when the mean of a stream of losses has risen: ADWIN (Bifet and Gavalda, SDM 2007)."""

from __future__ import annotations

import math
from typing import Any

_PER_SIZE = 5  # buckets of one size; two of them are merged when there is one more
_SHORTEST = 32  # losses, in either part of a window that is cut


class Adwin:
    """A window over losses in [0, 1] that drops its older part when the means of both parts differ.

    The window is kept as buckets of 1, 2, 4, ... losses, at most five of a size: a sum and a sum of squares each, so
    memory and time are logarithmic in its length. For each border between two buckets, with n0 losses before it and n1
    behind it, variance v of the whole window, m = 1 / (1/n0 + 1/n1) and d = ln(2 ln(n) / delta), the older part goes if

        |mean0 - mean1| > sqrt(2 v d / m) + 2 d / (3 m)

    An alarm is a cut whose newer part has the larger mean. If nothing changes, the chance of an alarm at a look is
    about `delta`, and less in practice, because the bound is loose.

    Parameters
    ----------
    delta : float
        Chance of a false alarm.
    """

    def __init__(self, delta: float = 0.002) -> None:
        self.delta = delta
        self.n_seen = self.n_alarms = 0
        self.last_alarm: int | None = None
        """The loss, counted from 1, at which the last alarm was given."""
        self._buckets: list[list[float]] = []  # size, sum and sum of squares; the oldest first

    @property
    def n_window(self) -> int:
        """Losses since the last change."""
        return int(sum(size for size, _, _ in self._buckets))

    @property
    def mean(self) -> float | None:
        """The mean loss since the last change."""
        n = self.n_window
        return sum(total for _, total, _ in self._buckets) / n if n else None

    def add(self, loss: float) -> bool:
        """Take in a loss; returns whether it gave an alarm."""
        self.n_seen += 1
        self._buckets.append([1.0, loss, loss * loss])
        self._merge()
        if self.n_seen % _SHORTEST:  # a look costs more than a loss
            return False
        has_risen = False
        while (cut := self._cut()) is not None:
            place, rose = cut
            del self._buckets[:place]
            has_risen |= rose
        if has_risen:
            self.n_alarms, self.last_alarm = self.n_alarms + 1, self.n_seen
        return has_risen

    def _merge(self) -> None:
        end = len(self._buckets)
        while end:
            size, begin = self._buckets[end - 1][0], end - 1
            while begin and self._buckets[begin - 1][0] == size:
                begin -= 1
            if end - begin <= _PER_SIZE:
                return
            older, newer = self._buckets[begin : begin + 2]
            self._buckets[begin : begin + 2] = [[a + b for a, b in zip(older, newer, strict=True)]]
            end = begin + 1

    def _cut(self) -> tuple[int, bool] | None:
        """The first border whose two sides differ, and whether the newer side is larger."""
        n, total, squares = (sum(column) for column in zip(*self._buckets, strict=True))
        if n < 2 * _SHORTEST:
            return None
        variance = max(0.0, squares / n - (total / n) ** 2)
        log_term = math.log(2 * math.log(n) / self.delta)
        n0 = total0 = 0.0
        for place, (size, part, _) in enumerate(self._buckets, 1):
            n0, total0 = n0 + size, total0 + part
            n1 = n - n0
            if n0 < _SHORTEST or n1 < _SHORTEST:
                continue
            m = 1 / (1 / n0 + 1 / n1)
            difference = (total - total0) / n1 - total0 / n0
            if abs(difference) > math.sqrt(2 * variance * log_term / m) + 2 * log_term / (3 * m):
                return place, difference > 0
        return None

    def to_dict(self) -> dict[str, Any]:
        """All that it remembers, in plain values."""
        kept = {"n_seen": self.n_seen, "n_alarms": self.n_alarms, "last_alarm": self.last_alarm}
        return {**kept, "buckets": self._buckets}

    def restore(self, kept: dict[str, Any]) -> None:
        """Continue from the values of another detector."""
        self.n_seen, self.n_alarms = int(kept["n_seen"]), int(kept["n_alarms"])
        self.last_alarm = None if kept["last_alarm"] is None else int(kept["last_alarm"])
        self._buckets = [[float(value) for value in bucket] for bucket in kept["buckets"]]
