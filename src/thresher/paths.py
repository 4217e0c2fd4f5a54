"""Regularisation paths: several penalties over one read of the data.

:func:`penalty_path` shows how sparse a model should be, for any learner that streams: it reads a stream once, and
learners that differ only in their penalty learn from each batch side by side. Every row is predicted before it is
learned from, so each model has an out-of-sample loss, and no rows need to be held out. The l1 learners do the same with
``alpha="auto"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dataclasses import dataclass
from ._estimators import clone, task_of
from ._gate import Array, sparse
from .streams import Batch, Stream

__all__ = ["PenaltyPath", "penalty_path"]


@dataclass(frozen=True)
class PenaltyPath:
    """Models along a path of penalties.

    Made by :func:`penalty_path`; ``print`` shows a table of penalties, features and losses.

    Attributes
    ----------
    parameter : str
        The name of the penalty.
    penalties : ndarray
        Its values, in the order given.
    models : list of estimators
        One for each, bit for bit the same as with ``partial_fit`` on the same batches.
    n_features : ndarray of int
        Number of features that each uses.
    progressive_loss : ndarray
        Mean loss of each on rows that it had not learned from yet.
    """

    parameter: str
    penalties: Array
    models: list[Any]
    n_features: NDArray[np.int64]
    progressive_loss: Array

    @property
    def best(self) -> int:
        """The place of the model with the least progressive loss."""
        return int(self.progressive_loss.argmin())

    @property
    def best_model(self) -> Any:
        """The model with the least progressive loss."""
        return self.models[self.best]

    def within(self, tolerance: float = 0.01) -> Any:
        """The model with the fewest features whose progressive loss is at most ``1 + tolerance`` times the least."""
        good = np.flatnonzero(self.progressive_loss <= (1 + tolerance) * self.progressive_loss.min())
        return self.models[int(good[self.n_features[good].argmin()])]

    def __str__(self) -> str:
        lines = [f"{self.parameter:>12} {'features':>10} {'progressive loss':>17}"]
        rows = zip(self.penalties, self.n_features, self.progressive_loss, strict=True)
        for k, (penalty, n, loss) in enumerate(rows):
            lines.append(f"{penalty:12.4g} {n:10,} {loss:17.5f}{'  <- least' if k == self.best else ''}")
        return "\n".join(lines)


def penalty_path(
    estimator: Any, alphas: Sequence[float] | Array, stream: Iterable[Any], *, classes: Any = None
) -> PenaltyPath:
    """Learn with several penalties from one read of a stream.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        Stays as it is; clones of it learn.
    alphas : sequence of float
        Values of its penalty: ``alpha``, or what the class says is its penalty.
    stream : Stream or iterable of (X, y)
        Batches, from :func:`~thresher.streams.open_stream` or from your own loop; read once.
    classes : array-like, optional
        All classes that will ever occur; those of the first batch when not given.

    Returns
    -------
    PenaltyPath

    Examples
    --------
    Five strengths of the l1 penalty, from one read of eight batches.

    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.paths import penalty_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 50))
    >>> y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=4000) > 0, "yes", "no")
    >>> batches = ((X[i : i + 500], y[i : i + 500]) for i in range(0, 4000, 500))
    >>> path = penalty_path(L1RDAClassifier(loss="logistic"), [0.3, 0.1, 0.03, 0.01, 0.001], batches)
    >>> path.n_features.tolist()
    [0, 2, 2, 2, 33]
    >>> path.within(0.05).support_
    array([0, 1])
    """
    if not hasattr(estimator, "partial_fit"):
        raise ValueError(f"penalty_path: estimator must have partial_fit, got {type(estimator).__name__}.")
    parameter = getattr(estimator, "_penalty", "alpha")
    if parameter not in estimator.get_params():
        raise ValueError(f"penalty_path: estimator must have a penalty, got {type(estimator).__name__}.")
    penalties = _checked_penalties(alphas)
    models = [clone(estimator).set_params(**{parameter: penalty}) for penalty in penalties.tolist()]
    first = True
    for X, y, weight in _batches(stream):
        options: dict[str, Any] = {"grow": True} if sparse.issparse(X) else {}
        options |= {} if weight is None else {"sample_weight": weight}
        if first and task_of(estimator) == "classification":
            options["classes"] = np.unique(y) if classes is None else classes
        for model in models:
            model.partial_fit(X, y, **options)
        first = False
    if first:
        raise ValueError("penalty_path: stream must hold at least one batch, got none.")
    return PenaltyPath(
        parameter,
        penalties,
        models,
        np.array([len(model.support_) for model in models]),
        np.array([model.progressive_loss_ for model in models]),
    )


def _checked_penalties(alphas: Any) -> Array:
    try:
        penalties = np.asarray(alphas, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"penalty_path: alphas must be numbers, got {alphas!r}.") from None
    if penalties.ndim != 1 or not len(penalties):
        raise ValueError(f"penalty_path: alphas must be a list of at least one number, got {alphas!r}.")
    return penalties


def _batches(stream: Any) -> Iterator[tuple[Any, Any, Any]]:
    for batch in stream:
        if isinstance(batch, Batch):
            if len(labelled := batch.labelled()):
                yield labelled.X, labelled.y, labelled.weight
        elif isinstance(batch, tuple) and len(batch) == 2:
            yield *batch, None
        else:
            given = "a Stream" if isinstance(batch, Stream) else type(batch).__name__
            raise ValueError(f"penalty_path: stream must yield batches (X, y), got {given}.")
