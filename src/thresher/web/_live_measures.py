"""Measures of a service that learns: answers given before the label was learned, compared with it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..training import written_label
from ._drift import Adwin

_MOST_CLASSES = 20  # whose mistakes are counted one by one
_TO_SCALE = 200  # squared errors that say what is large


class LiveMeasures:
    """Progressive measures: the error of a classifier, the squared error of a regressor, and an alarm when it rises.

    Squared errors have no bound, and ADWIN needs one: an error e counts as e / (e + s) there, s being the mean of the
    first 200, which are not looked at.
    """

    def __init__(self, is_classifier: bool) -> None:
        self._is_classifier = is_classifier
        self.n_rows, self._total, self._scale = 0, 0.0, 0.0
        self._of_label: Counter[str] = Counter()
        self._answers: Counter[tuple[str, str]] = Counter()
        self.drift = Adwin()

    def add(self, label: Any, answer: Any) -> None:
        """Take in the label of a row and the answer that was given before it was known."""
        loss = float(label != answer) if self._is_classifier else (label - answer) ** 2
        self.n_rows += 1
        self._total += loss
        if self._is_classifier:
            true, said = str(written_label(label)), str(written_label(answer))
            self._of_label[true] += 1
            if len(self._of_label) <= _MOST_CLASSES:
                self._answers[true, said] += 1
            self.drift.add(loss)
        elif self.n_rows <= _TO_SCALE:
            self._scale = self._total / self.n_rows
        else:
            self.drift.add(loss / (loss + self._scale) if loss else 0.0)

    def summary(self) -> dict[str, Any]:
        """The measures, by name."""
        made: dict[str, Any] = {"rows": self.n_rows}
        if self.n_rows and self._is_classifier:
            made["error"] = self._total / self.n_rows
            made["error_of_guessing"] = 1 - max(self._of_label.values()) / self.n_rows
            if len(self._of_label) <= _MOST_CLASSES:
                made["answers"] = [
                    {"label": true, "answer": said, "rows": n} for (true, said), n in sorted(self._answers.items())
                ]
        elif self.n_rows:
            made["rmse"] = (self._total / self.n_rows) ** 0.5
        mean = self.drift.mean
        recent: dict[str, Any] = {"rows": self.drift.n_window}
        if mean is not None:
            # e / (e + s) = mean, solved for the error that it stands for
            recent |= {"error": mean} if self._is_classifier else {"rmse": _root(mean, self._scale)}
        made["since_last_change"] = recent
        made["drift"] = {"alarms": self.drift.n_alarms, "last_alarm_at_row": self._last_alarm()}
        return made

    def _last_alarm(self) -> int | None:
        at = self.drift.last_alarm
        return at if at is None or self._is_classifier else at + _TO_SCALE

    def to_dict(self) -> dict[str, Any]:
        """All that is remembered, in plain values."""
        return {
            "rows": self.n_rows,
            "total": self._total,
            "scale": self._scale,
            "labels": dict(self._of_label),
            "answers": [[*pair, n] for pair, n in self._answers.items()],
            "drift": self.drift.to_dict(),
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Continue from saved values."""
        self.n_rows, self._total, self._scale = int(kept["rows"]), float(kept["total"]), float(kept["scale"])
        self._of_label = Counter({str(label): int(n) for label, n in kept["labels"].items()})
        self._answers = Counter({(str(true), str(said)): int(n) for true, said, n in kept["answers"]})
        self.drift.restore(kept["drift"])


def _root(mean: float, scale: float) -> float | None:
    return (scale * mean / (1 - mean)) ** 0.5 if mean < 1 else None
