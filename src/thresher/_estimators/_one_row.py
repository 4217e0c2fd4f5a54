"""Rows that come one by one, as dicts or as column numbers with values, without arrays in between."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._core import RowReader, Rows, same_entries
from .._dataclasses import dataclass
from .._engine import Learner, Lesson, RowSession, Target, in_turn, turn_of
from .._gate import HUGE

_LONGEST = 300  # characters of an error


@dataclass(frozen=True)
class _Bound:
    """A session, and what a model makes of targets and scores while its parameters stay as they are."""

    session: RowSession | None
    names: tuple[str, ...]
    params: tuple[Any, ...]
    views: Any
    """Those of the state for which all this was looked up."""
    width: int
    targets: dict[Any, tuple[float, float]] | None
    """For each label, what is learned and the weight of the class; None for values."""
    labels: list[Any] | None
    """The classes of scores up to 0 and above, if nothing else decides."""
    reads: RowSession | None
    """The session, if it makes scores, too."""
    taker: RowReader
    """Reads the rows of matrices."""
    stays: bool
    """Whether there is no session for such a model."""

    def holds(self, model: dict[str, Any]) -> bool:
        """Whether nothing that was looked up has changed in a model with these attributes."""
        session_ended = self.session is not None and self.session.has_ended
        same_state = model["state_"].views is self.views
        return same_state and not session_ended and same_entries(model, self.names, self.params)


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
            bound, reader = self._read_row(x, learns=True)
            if bound is not None and bound.session is not None and reader.width == bound.width and classes is None:
                kept, target = self.__dict__, _target(bound, y, sample_weight)
                if target is not None:
                    kept["_weights_cache"] = None
                    learn = bound.session.learn if bound.session.learns_at_once else self._learn_in_race
                    try:
                        learned = learn(reader, *target, not kept.get("_sees_again"))
                    except FloatingPointError:
                        self._refuse_divergence(reader.rows(), 0)  # type: ignore[attr-defined]
                    if learned:
                        return self
            return self._learn_row(reader, y, sample_weight, {} if classes is None else {"classes": classes})

    def predict_one(self, x: Any) -> Any:
        """Predict the class or the value of one row; features that the model does not know are ignored.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        """
        with turn_of(self):
            bound, reader = self._read_row(x)
            if bound is not None and bound.reads is not None:
                score = bound.reads.score(reader)
                if bound.targets is None:
                    return score
                if bound.labels is not None:
                    return bound.labels[score > 0]
            return self._first("predict", reader)

    def score_one(self, x: Any) -> Any:
        """Return the score of one row. For classifiers it is that of :meth:`decision_function`: a number with two
        classes, and an array with more.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        """
        with turn_of(self):
            bound, reader = self._read_row(x)
            if bound is not None and bound.reads is not None:
                return bound.reads.score(reader)
            return self._first(self._scoring, reader)

    # --- the general way ----------------------------------------------------------------------------------------------

    @property
    def _scoring(self) -> str:
        """The method that makes scores."""
        return "decision_function" if hasattr(self, "decision_function") else "predict"

    @in_turn
    def _learn_in_race(self, reader: RowReader, y: float, weight: float, is_new: bool) -> bool:
        """Learn in more than one step, which Ctrl-C must not separate."""
        return bool(self.__dict__["_bound_rows"].session.learn(reader, y, weight, is_new))

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
            if bound is None or not bound.holds(kept):
                kept["_bound_rows"] = bound = self._bind()
            if bound.session is not None and rows.n_features == bound.width:
                reader = bound.taker
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

    def _read_row(self, x: Any, learns: bool = False) -> tuple[_Bound | None, RowReader]:
        """Read a row; also what was looked up for it. There is nothing before the first row."""
        kept = self.__dict__
        bound: _Bound | None = kept.get("_bound_rows")
        reader: RowReader | None = kept.get("_row_reader")
        if reader is None or bound is None or not bound.holds(kept):
            n_features = kept.get("n_features_in_", 0)
            if reader is None or reader.n_features != n_features:
                names = kept.get("feature_names_in_", ())
                kept["_row_reader"] = reader = RowReader(type(self).__name__, names, n_features)
            kept["_bound_rows"] = bound = self._bind() if "state_" in kept else None
        if x is None:
            raise ValueError(
                f"{type(self).__name__}: x must be a dict, or a pair of column numbers and values, got NoneType."
            )
        try:
            reader.read(x, learns)
        except ValueError as refusal:
            said = str(refusal)  # with values of any length in it
            raise ValueError(said if len(said) <= _LONGEST else said[: _LONGEST - 3] + "...") from None
        return bound, reader

    def _bind(self) -> _Bound:
        me: Any = self
        learner: Learner = me._learner_now()
        names = tuple(me._params)
        params = tuple(map(vars(self).get, names))
        same = learner is vars(self).get("_learner_of_state") and me.class_weight != "balanced"
        can_hold = RowSession.can_hold(learner, me.state_)
        session = RowSession(learner, me.state_) if same and can_hold else None
        learns = None if getattr(self, "_counts_as_they_come", False) else session  # it counts by one weight
        classes = vars(self).get("classes_")
        targets = labels = None
        if classes is not None:
            codes = np.arange(len(classes), dtype=np.float64)
            factors = None if me.class_weight == "balanced" else me._weigh(None, Target(codes, classes))
            weights = [1.0] * len(classes) if factors is None else factors.tolist()
            pairs = zip(classes.tolist(), zip((-1.0, 1.0), weights, strict=False), strict=False)
            targets = dict(pairs)  # of two classes; for more there is no session
            labels = classes.tolist() if len(classes) == 2 and me.threshold is None else None
        reads = session if session is not None and session.can_score() else None
        views, width = me.state_.views, me.n_features_in_
        taker = RowReader(type(self).__name__, (), width)
        return _Bound(learns, names, params, views, width, targets, labels, reads, taker, not can_hold)

    def _forget_reader(self, X: Any) -> None:
        """Other rows than those of :meth:`learn_one` may have other features."""
        if type(X) is not Rows:
            vars(self).pop("_row_reader", None)


def _target(bound: _Bound, y: Any, sample_weight: float | None) -> tuple[float, float] | None:
    """Return the target and the weight of a row for a session; None if they need the full checks."""
    try:
        if bound.targets is not None:
            known = bound.targets.get(y)
        else:
            known = (float(y), 1.0) if isinstance(y, (float, int)) and abs(y) <= HUGE else None
    except TypeError:  # not a label
        return None
    if known is None or sample_weight is None:
        return known
    if isinstance(sample_weight, (float, int)) and 0 <= sample_weight <= HUGE:
        return known[0], known[1] * sample_weight
    return None
