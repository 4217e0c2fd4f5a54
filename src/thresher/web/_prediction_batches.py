"""Predictions for many requests at once: rows that arrive together are scored together."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any, NamedTuple

import numpy as np

from ..training import predict_with_scores, written_label
from ._live_model import LiveModel
from ._row_form import Row
from ._row_scorer import row_scorer

_MOST_ROWS = 1024
_STALE = 1.0  # seconds after which a scorer is made again, if the model has changed
_SPARED = 50  # times the time of making a scorer, that passes before the next


class ServedAnswer(NamedTuple):
    """The answer for a row: the prediction, its score (one for each class, if there are several), and the
    probabilities of the classes, if they were asked for."""

    prediction: Any
    score: Any
    probabilities: Any

    def to_dict(self, classes: list[str]) -> dict[str, Any]:
        """The answer as JSON has it."""
        made = {"prediction": written_label(self.prediction)}
        if self.score is not None:
            several = isinstance(self.score, list)
            made["score"] = _by_class(classes, self.score) if several else _finite(self.score)
        if self.probabilities is not None:
            made["probabilities"] = _by_class(classes, self.probabilities)
        return made


class _Asked(NamedTuple):
    rows: list[Row]
    probabilities: bool
    answer: asyncio.Future[list[ServedAnswer]]


class PredictionBatches:
    """Collects the rows of requests as long as more of them arrive, and predicts them in one call.

    A call of a pipeline takes as long for one row as for fifty, so many clients cost little more than one. All rows of
    a call are predicted by the same state of the model.
    """

    def __init__(self, live: LiveModel) -> None:
        self._live = live
        self._asked: list[_Asked] = []
        self.n_rows = 0
        self._made_of, self._made_at, self._took = 0, 0.0, 0.0
        self._scorer = row_scorer(live.model, live.form)
        row = live.form.empty_row()
        (known,) = self.answers(live.form.matrix([row]), False)  # which also imports what is needed
        if self._scorer is not None:
            score = known.prediction if known.score is None else known.score
            if not math.isclose(self._scorer.score(row), score, rel_tol=1e-9, abs_tol=1e-9):
                self._scorer = None
        self.n_rows = 0

    def predict_now(self, row: Row) -> ServedAnswer | None:
        """The answer for one row without waiting for others, if the model is one that is quick with single rows.

        While the model learns, this is the answer of the state that it had up to a second ago.
        """
        if self._scorer is None:
            return None
        if self._made_of != self._live.n_steps and self._is_stale():
            begin, self._made_of = time.monotonic(), self._live.n_steps
            self._scorer = row_scorer(self._live.model, self._live.form)
            self._made_at = time.monotonic()
            self._took = self._made_at - begin
            return self.predict_now(row)
        score = self._scorer.score(row)
        if not math.isfinite(score):
            return None
        self.n_rows += 1
        answer = self._scorer.answer(score)
        return ServedAnswer(answer, None if answer is score else score, None)

    def _is_stale(self) -> bool:
        return time.monotonic() - self._made_at > max(_STALE, _SPARED * self._took)

    async def predict(self, rows: list[Row], probabilities: bool = False) -> list[ServedAnswer]:
        """The answers for some rows."""
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._wait_for_more, 0)
        asked = _Asked(rows, probabilities, loop.create_future())
        self._asked.append(asked)
        return await asked.answer

    def _wait_for_more(self, n_before: int) -> None:
        """Predict as soon as a turn of the loop has brought no more requests."""
        if n_before < len(self._asked) < _MOST_ROWS:
            asyncio.get_running_loop().call_soon(self._wait_for_more, len(self._asked))
        else:
            self._predict_all()

    def _predict_all(self) -> None:
        asked, self._asked = self._asked, []
        n_rows = 0
        for place, each in enumerate(asked):
            n_rows += len(each.rows)
            if n_rows > _MOST_ROWS and place:  # the others get their turn after what else there is to do
                asked, self._asked = asked[:place], asked[place:]
                asyncio.get_running_loop().call_soon(self._predict_all)
                break
        try:
            self._answer(asked)
        except Exception as error:
            if len(asked) == 1:
                _fail(asked[0], error)
                return
            for each in asked:  # a row that cannot be predicted is the fault of one of them
                try:
                    self._answer([each])
                except Exception as its_error:
                    _fail(each, its_error)

    def _answer(self, asked: list[_Asked]) -> None:
        has_chances = any(each.probabilities for each in asked)
        answers = self.answers(self._live.form.matrix([row for each in asked for row in each.rows]), has_chances)
        begin = 0
        for each in asked:
            end = begin + len(each.rows)
            if not each.answer.done():  # whose client may have gone
                mine = answers[begin:end]
                if has_chances and not each.probabilities:
                    mine = [answer._replace(probabilities=None) for answer in mine]
                each.answer.set_result(mine)
            begin = end

    def answers(self, X: Any, probabilities: bool) -> list[ServedAnswer]:
        """The answers for rows as the model takes them."""
        model = self._live.model
        predicted, scores = predict_with_scores(model, X)
        n_rows = X.shape[0]
        self.n_rows += n_rows
        listed = [None] * n_rows if scores is None else scores.tolist()
        chances: list[Any] = [None] * n_rows
        if probabilities:
            chances = np.asarray(model.predict_proba(X)).tolist()
        return list(map(ServedAnswer, np.asarray(predicted).tolist(), listed, chances))


def _fail(asked: _Asked, error: Exception) -> None:
    if not asked.answer.done():
        asked.answer.set_exception(error)


def _by_class(classes: list[str], values: list[float]) -> dict[str, float | None]:
    return dict(zip(classes, map(_finite, values), strict=False))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
