"""AROW with an adaptive inertia."""

from __future__ import annotations

from .. import _core
from .._core import Rows
from .._engine import Learner, Target
from .._estimators import AUTO_STEP, Step, StepInUse, param, warn_of_convergence
from .._gate import Log, auto, positive
from ._confident import DiagonalClassifier


class NAROWClassifier(DiagonalClassifier):
    r"""AROW with an inertia that depends on the variance of each row: confident predictions cause no update.

    The inertia of :class:`AROWClassifier` becomes :math:`r_t = v / (b v - 1)` for a row of variance
    :math:`v = x^\top \Sigma x`, which bounds the sum of these variances over a stream, and thereby the number of
    mistakes. Rows with :math:`v \le 1/b` cause no update, so learning eventually stops.

    This is the learner of [1]_, provided for comparison. It is as accurate as :class:`AROWClassifier` on text and
    several points behind it on dense tables (``python -m benchmarks newcomer``). Use it if you need its mistake bound,
    or a bounded number of updates on a long stationary stream. Otherwise choose AROW.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0` and :math:`v > 1/b`,

    .. math:: \beta = \frac{1}{v + r_t}, \qquad \mu \leftarrow \mu + \ell\,\beta\,y\,\Sigma x, \qquad
              \Sigma^{-1} \leftarrow \Sigma^{-1} + \tfrac{1}{r_t} x x^\top .

    Attributes
    ----------
    b_ : float
        The bound of the model that predicts, in units of the scaled rows if rows are scaled.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes: see ``multi_class``.
    However the rows are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. A row weight
    divides :math:`r_t`.

    References
    ----------
    .. [1] F. Orabona and K. Crammer, "New adaptive algorithms for online classification", NIPS 2010.
    """

    _raced = Step("b", "b", -1.0, (1e1, 1e2, 1e3, 1e4))
    b_ = StepInUse()

    b: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=f"""One over the variance below which a row causes no update (:math:`b` in [1]_). All variances start at 1,
        so ``b`` must be larger than one over the squared length of a row, including its constant. Raise it if rows are
        short. {AUTO_STEP}""",
        search=Log(0.1, 1e3),
        kw_only=False,
    )

    def _learner(self, n_features: int) -> Learner:
        return self._surest(_core.NarowDiagonal, _core.NarowFull, _core.NarowJoint, b=self._fixed_step)

    def _look_back(self, rows: Rows, target: Target, is_in_use: bool) -> None:
        """Warn if no row was long enough."""
        if not is_in_use:
            warn_of_convergence(
                "NAROWClassifier: no row was doubtful enough to learn from "
                f"(variance above 1 / b = {1 / self._step_in_use():.3g}); a larger b learns from more.",
                stacklevel=4,
            )
