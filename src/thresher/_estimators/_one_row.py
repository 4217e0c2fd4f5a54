"""Rows that come one by one, as dicts or as column numbers with values, without arrays in between."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._core import RowDoor, RowModels, RowReader, Rows
from .._dataclasses import dataclass
from .._engine import Learner, Lesson, RowSession, Target, in_turn, turn_of

_LEARNED, _LEFT = RowModels.LEARNED, RowModels.LEFT


@dataclass(frozen=True)
class _Bound:
    """What was looked up for single rows, while parameters and the arrays of the state stay as they are."""

    session: RowSession | None
    door: RowDoor
    taker: RowReader
    """Reads the rows of matrices."""
    stays: bool
    """Whether there is no session for such a model."""


class LearnsRows:
    """Mixin of learners with ``partial_fit`` for rows that come one by one.

    ``x`` is a dict, from names of features or from column numbers to values, or a pair of column numbers and values.
    Features that are not in it are 0. A model goes by names or by numbers, as its first row does. New names get the
    next columns; ``feature_names_in_`` has them in order.
    """

    def learn_one(self, x: Any, y: Any, classes: Any = None, sample_weight: float | None = None) -> Self:
        """Learn from one row, as :meth:`partial_fit` with ``grow=True`` does: the same model, bit for bit.

        Parameters
        ----------
        x : dict or tuple
            The values of features by name or by column number, or a pair of column numbers and values. Others are 0.
        y : object
            The class or the value of the row.
        classes : array-like, optional
            All classes that will ever occur; needed in the first call of a classifier.
        sample_weight : float, optional
            The weight of the row, at least 0.
        """
        with turn_of(self):
            door = self._row_door()
            if classes is not None:
                door.reader.read(x, True)
                return self._learn_row(door.reader, y, sample_weight, {"classes": classes})
            outcome = door.learn(self.__dict__, x, y, sample_weight)
            if outcome == _LEFT:
                return self._learn_row(door.reader, y, sample_weight, {})
            if outcome != _LEARNED:
                self._leave_out(door.reader)
            return self

    def predict_one(self, x: Any) -> Any:
        """Predict the class or the value of one row; features that the model does not know are ignored.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        """
        with turn_of(self):
            door = self._row_door()
            found = door.predict(x)
            return self._first("predict", door.reader) if found is None else found

    def score_one(self, x: Any) -> Any:
        """Return the score of one row. For classifiers it is that of :meth:`decision_function`: a number with two
        classes, and an array with more.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        """
        with turn_of(self):
            door = self._row_door()
            found = door.score(x)
            return self._first(self._scoring, door.reader) if found is None else found

    # --- the general way ----------------------------------------------------------------------------------------------

    @property
    def _scoring(self) -> str:
        """The method that makes scores."""
        return "decision_function" if hasattr(self, "decision_function") else "predict"

    @in_turn
    def _leave_out(self, reader: RowReader) -> None:
        """Leave out candidates whose weights overflowed at the last row, in steps that Ctrl-C must not separate."""
        try:
            self.__dict__["_bound_rows"].session.leave_out()
        except FloatingPointError:
            self._refuse_divergence(reader.rows(), 0)  # type: ignore[attr-defined]

    @in_turn
    def _learn_row(self, reader: RowReader, y: Any, sample_weight: float | None, options: dict[str, Any]) -> Self:
        """Learn from the row that was read last by :meth:`partial_fit`, and know its features from now on."""
        if reader.width == 0:
            raise ValueError(f"{type(self).__name__}: x must have at least one value in the first row, got none.")
        weights = {} if sample_weight is None else {"sample_weight": [sample_weight]}
        self._learn_rows(reader.rows(), [y], **options, **weights)
        self._know(reader.accept())
        return self

    def _learn_rows(self, rows: Rows, y: list[Any], **options: Any) -> None:
        kept = vars(self)
        grows = rows.n_features > kept.get("n_features_in_", rows.n_features)
        type(self).partial_fit(self, rows, y, **options, grow=grows)  # type: ignore[attr-defined]

    def _learn_alone(self, learner: Learner, lesson: Lesson) -> bool:
        """Learn from a batch of one sparse row as :meth:`learn_one` does. False, and nothing done, if it cannot."""
        rows, target, kept = lesson.rows, lesson.target, vars(self)
        bound: _Bound | None = kept.get("_bound_rows")
        if rows.n_rows == 1 and rows.columns is not None and learner is kept.get("_learner_of_state"):
            if bound is None or not bound.door.holds(kept):
                kept["_bound_rows"] = bound = self._bind()
            reader = bound.taker
            if bound.session is not None and rows.n_features == reader.n_features:
                reader.take(rows)
                y, weight = float(target.y[0]), 1.0 if lesson.weight is None else float(lesson.weight[0])
                y = y if target.classes is None else 2 * y - 1
                if bound.session.learn(reader, y, weight, lesson.is_new):
                    return True
        if bound is not None and not bound.stays:  # what was looked up changes with the state
            del kept["_bound_rows"]
        return False

    def _know(self, new: list[str]) -> None:
        """Keep the names of new features, in an array with room for more of them."""
        if new:
            known = vars(self).get("feature_names_in_", ())
            n, room = len(known) + len(new), known.base if isinstance(known, np.ndarray) else None
            if room is None or len(room) < n:
                room = np.empty(2 * n, dtype=object)
                room[: len(known)] = known
            room[len(known) : n] = new
            vars(self)["feature_names_in_"] = room[:n]

    def _first(self, method: str, reader: RowReader, **options: Any) -> Any:
        """Return the result of a method for the last row, as a plain object or a row of an array."""
        first = getattr(self, method)(reader.rows(), **options)[0]
        return first.item() if isinstance(first, np.generic) else first

    # --- what stays the same from row to row --------------------------------------------------------------------------

    def _row_door(self) -> RowDoor:
        """The way of single rows into this model. There is nothing behind it before the first row."""
        kept = self.__dict__
        bound: _Bound | None = kept.get("_bound_rows")
        reader: RowReader | None = kept.get("_row_reader")
        if reader is None or bound is None or not bound.door.holds(kept):
            n_features = kept.get("n_features_in_", 0)
            if reader is None or reader.n_features != n_features:
                names = kept.get("feature_names_in_", ())
                kept["_row_reader"] = RowReader(type(self).__name__, names, n_features)
            kept["_bound_rows"] = bound = self._bind()
        return bound.door

    def _read_row(self, x: Any, learns: bool = False) -> RowReader:
        """Read a row."""
        reader = self._row_door().reader
        reader.read(x, learns)
        return reader

    def _bind(self) -> _Bound:
        me: Any = self
        kept, who = vars(self), type(self).__name__
        reader = kept.get("_row_reader")
        if "state_" not in kept:
            nothing = RowDoor(reader, None, None, (), (), None, None, None)
            return _Bound(None, nothing, RowReader(who, (), 0), False)
        learner: Learner = me._learner_now()
        names = tuple(me._params)
        params = tuple(map(kept.get, names))
        same = learner is kept.get("_learner_of_state") and me.class_weight != "balanced"
        can_hold = RowSession.can_hold(learner, me.state_)
        session = RowSession(learner, me.state_) if same and can_hold else None
        learns = None if getattr(self, "_counts_as_they_come", False) else session  # it counts by one weight
        classes = kept.get("classes_")
        targets = labels = None
        if classes is not None:
            codes = np.arange(len(classes), dtype=np.float64)
            factors = None if me.class_weight == "balanced" else me._weigh(None, Target(codes, classes))
            weights = [1.0] * len(classes) if factors is None else factors.tolist()
            pairs = zip(classes.tolist(), zip((-1.0, 1.0), weights, strict=False), strict=False)
            targets = dict(pairs)  # of two classes; for more there is no session
            labels = classes.tolist() if len(classes) == 2 and me.threshold is None else None
        models = None if session is None else session.models
        reads = models if session is not None and session.can_score() else None
        door = RowDoor(reader, models if learns else None, reads, names, params, me.state_.views, targets, labels)
        return _Bound(learns, door, RowReader(who, (), me.n_features_in_), not can_hold)

    def _forget_reader(self, X: Any) -> None:
        """Other rows than those of :meth:`learn_one` may have other features."""
        if type(X) is not Rows:
            vars(self).pop("_row_reader", None)
