"""Reasons for predictions: the parts of a score, with the values of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._estimators import Calibrated, task_of
from .._figures import plural
from .._gate import Text, sparse, written_date
from ._column_values import Array, as_table
from ._contributions import Contributions, contributions
from ._features import last_step

_CLEARLY = 0.01


class ScorePart(NamedTuple):
    """A part of a score: the column, its value in the row (None if there is no single one), and the part."""

    name: str
    value: Any
    part: float


class Reasons(NamedTuple):
    """The prediction for a row, and the parts of the score that lead to it, the largest first.

    Attributes
    ----------
    answer : object
        A class, or a value.
    against : object or None
        The class that the prediction is compared with: the best other one. None for a value.
    probability : float or None
        Probability of the prediction, if the model has probabilities.
    score : float
        The lead of the predicted class over the other one, or the value.
    baseline : float
        The score without parts.
    parts : list of ScorePart
        Parts above 0 favour the prediction, or raise the value.
    needed : float or None
        With two classes, the probability from which this class is predicted: 1/2, unless mistakes on one class count
        more than on the other.
    of_rows : bool
        Whether parts belong to training rows, and their values are similarities to these.
    n_background : int
        Number of training rows that parts of columns are averaged over; 0 if they are terms of a sum.
    """

    answer: Any
    against: Any
    probability: float | None
    score: float
    baseline: float
    parts: list[ScorePart]
    needed: float | None = None
    of_rows: bool = False
    n_background: int = 0

    @property
    def meaning(self) -> str:
        """What the parts of a model that compares rows are; empty for other models."""
        of_rows = "The model compares rows, so parts belong to training rows, each with its similarity to this row."
        of_columns = (
            "The model compares rows. The part of a column is the mean change of the score when this row's values "
            f"replace those of {plural(self.n_background, 'training row')}, column by column in many orders. Columns "
            "that act together share their effect."
        )
        return " ".join([of_rows] * self.of_rows + [of_columns] * (self.n_background > 0))

    @property
    def favoured(self) -> tuple[Any, float] | None:
        """The class that is predicted with a probability clearly below 1/2, and from which on; None if none is."""
        if self.needed is None or abs(self.needed - 0.5) < _CLEARLY:
            return None
        return (self.answer, self.needed) if self.needed < 0.5 else (self.against, 1 - self.needed)


def reasons(model: Any, X: Any) -> list[Reasons]:
    """The predictions for rows, and the parts of the scores that lead to them."""
    model = getattr(model, "best_estimator_", model)
    learner = last_step(model)
    found = contributions(model, X)
    answers = np.asarray(model.predict(X)).tolist()
    has_chances = task_of(learner) == "classification" and hasattr(model, "predict_proba")
    chances = np.asarray(model.predict_proba(X)) if has_chances else None
    border = None if chances is None else _border(learner)
    values = _Values(model, X, found)
    made = []
    for i, answer in enumerate(answers):
        against, parts, baseline = _compared(learner, found, i, answer)
        order = np.argsort(-np.abs(parts), kind="stable")
        listed = [ScorePart(found.names[k], values.of(i, k), float(parts[k])) for k in order.tolist() if parts[k] != 0]
        chance = None if chances is None else _chance(learner, chances[i], answer)
        needed = None if border is None else _chance(learner, border, answer)
        score, of_rows = float(baseline + parts.sum()), found.similarities is not None
        said = answer, against, chance, score, float(baseline), listed, needed
        made.append(Reasons(*said, of_rows, found.n_background))
    return made


def _compared(learner: Any, found: Contributions, i: int, answer: Any) -> tuple[Any, Array, float]:
    """The class to compare an answer with, and the parts and the baseline of its lead."""
    classes: list[Any] = learner.classes_.tolist() if hasattr(learner, "classes_") else []
    parts, baseline = found.parts[i], found.baseline
    if len(found.outputs) == 1:
        if len(classes) != 2 or answer not in classes:
            return None, parts[0], float(baseline[0])
        border = float(getattr(learner, "threshold_", 0.0))
        sign = 1.0 if answer == classes[1] else -1.0
        other = classes[0] if answer == classes[1] else classes[1]
        return other, sign * parts[0], sign * float(baseline[0] - border)
    scores = found.scores[i]
    now = classes.index(answer) if answer in classes else int(np.argmax(scores))
    other = int(np.argmax(np.where(np.arange(len(scores)) == now, -np.inf, scores)))
    return found.outputs[other], parts[now] - parts[other], float(baseline[now] - baseline[other])


def _border(learner: Any) -> Array | None:
    """The probabilities of two classes where predictions change from one to the other."""
    if len(learner.classes_) != 2 or not isinstance(learner, Calibrated):
        return None
    score = float(getattr(learner, "threshold_", 0.0))
    return learner._probabilities_of(np.full((1, 1), score))[0]


def _chance(learner: Any, chances: Array, answer: Any) -> float | None:
    classes = learner.classes_.tolist()
    return float(chances[classes.index(answer)]) if answer in classes else None


class _Values:
    """The values that rows have in columns; of rows of the training data, how similar they are."""

    def __init__(self, model: Any, X: Any, found: Contributions) -> None:
        self._found = found
        self._table = None if sparse.issparse(X) else as_table(model, X, "contributions")

    def of(self, i: int, k: int) -> Any:
        if self._found.similarities is not None and not np.isnan(self._found.similarities[i, k]):
            return float(self._found.similarities[i, k])
        name = self._found.names[k]
        if self._table is None or name not in self._table:
            return None
        column = self._table[name]
        if name in self._table.dates:
            return written_date(float(column[i]))
        return column[i] if isinstance(column, Text) else float(column[i])
