"""Adaptive regularisation of weight vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, OnlineLinear, Step, StepInUse, param
from .._gate import Log, at_least, auto, boolean, none, positive
from ._confident import ConfidentLearner, DiagonalClassifier

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)  # what "auto" chooses a number of features from
RELATIVE_INERTIAS = (0.3, 1.0)  # for clean labels, and for noisy ones


class AROWClassifier(DiagonalClassifier):
    r"""Adaptive regularisation of weights: a linear classifier with a mean and a variance for each weight.

    An update moves the weights with the largest variances furthest, and lowers the variance of every feature in the
    row. Rare but informative features therefore learn fast, which suits text and other sparse data, usually in a single
    pass. Noisy labels do less harm than in learners that must fit every row. :class:`PAClassifier` needs half the
    memory.

    ``n_features_to_select`` turns it into AROW-K: one AROW learns from all features and ranks them, and a second one
    learns from the best of them and predicts. Prefer it to the l1 learners
    (:class:`~thresher.dual_averaging.FTRLClassifier`) if you do not want to tune a penalty. If the model may use only
    10 to 100 features and the classes are imbalanced, choose :class:`~thresher.confidence.PoolCWClassifier`.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0`,

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad
              \mu \leftarrow \mu + \ell\,\beta\,y\,\Sigma x, \qquad
              \Sigma \leftarrow \Sigma - \beta\,(\Sigma x)(\Sigma x)^\top
              \iff \Sigma^{-1} \leftarrow \Sigma^{-1} + \tfrac{1}{r} x x^\top .

    Attributes
    ----------
    r_ : float
        The inertia of the model that predicts, in units of the scaled rows if rows are scaled.
    n_features_to_select_ : int or None
        The largest number of features that the model may use.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance, and a few times as much with ``n_features_to_select``,
    which ranks all features after 64, 128, 256, ... rows. More than two classes: see ``multi_class``. However the rows
    are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. A row weight divides ``r`` for that
    row; a row given twice is not the same as a row of weight two.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza and M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.

    Examples
    --------
    >>> bool((model.variance_ < 1).all())
    True
    >>> AROWClassifier(n_features_to_select=1, random_state=0).fit(X, y).support_.size
    1
    """

    _advice = Advice(
        GoodFor(
            1,
            "text has many features, most of them rare, and {first} learns fast from rare features",
            lambda p: p.is_text and not p.wants_sparsity,
        ),
        GoodFor(
            1,
            "the rows are {p.form} ({p.n_features:,} features) and {first} learns fast from rare features",
            lambda p: p.is_wide and not p.wants_sparsity,
        ),
        GoodFor(2, "it needs only one pass and hardly any tuning", lambda p: not p.wants_sparsity),
        GoodFor(1, aim="nothing to tune"),
        GoodFor(1, aim="few features", settings="(n_features_to_select=K)"),
        GoodFor(1, aim="rare class", settings="(n_features_to_select=K)"),
    )

    _raced = Step("r", "r", 1.0, (1e-2, 1e-1, 1.0, 1e1), race_rows=1 << 13)
    r_ = StepInUse()

    r: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Inertia (:math:`r` in [1]_). Larger values take smaller steps: raise it when labels are noisy.
        {AUTO_STEP}""",
        search=Log(1e-3, 1e3),
        kw_only=False,
    )
    scale: Any = param(
        default="auto",
        rule=boolean | auto | none,
        doc="""Standardize the columns of dense rows, with the means and deviations known when a row arrives; sparse
        rows stay as they are. Step sizes then refer to scaled columns, and ``coef_`` to those of ``X``. ``"auto"``
        scales only if ``r`` is ``"auto"``, too; with a number for ``r``, this is the published learner. ``None`` is the
        same as ``False``, and an automatic ``r`` is then 0.3 or 1 times the mean squared length of rows, whichever has
        made fewer mistakes.""",
    )
    n_features_to_select: Any = param(
        default=None,
        rule=at_least(1) | none | auto,
        doc=r"""Use at most this many features: those with the largest :math:`\mu_j^2 / \Sigma_{jj}` of a model on all
        of them. ``"auto"`` trains models with 10, 30, 100, ..., 30,000 features side by side and predicts with the one
        that has made the fewest mistakes; if ``r`` is ``"auto"``, too, they start once its value is known. Needs
        ``covariance="diagonal"`` and ``diagonal="drop"``.""",
    )

    def _learner(self, n_features: int) -> Learner:
        self._check_joint_form()
        if self.n_features_to_select is not None or self._is_relative:
            return self._selecting_arow()
        if self.covariance == "full":
            return Learner(_core.ArowFull, {"r": self._fixed_step})
        params = {"r": self._fixed_step, "precision": self.diagonal == "precision", "average": False}
        return self._with_joint_form(Learner(_core.ArowDiagonal, params), _core.ArowJoint)

    def _selecting_arow(self) -> Learner:
        """Return AROW-K, or several of them if a parameter is to be chosen."""
        if self.covariance == "full" or self.diagonal == "precision":
            raise ValueError(
                f'AROWClassifier: with n_features_to_select, covariance must be "diagonal" and diagonal "drop", '
                f"got {self.covariance!r} and {self.diagonal!r}."
            )
        sizes = SIZES if self.n_features_to_select == "auto" else (self.n_features_to_select or 0,)
        sizes = sizes[::-1] if self._races and not self._is_relative else sizes  # steps race with all features first
        inertias = RELATIVE_INERTIAS if self._is_relative else (self._fixed_step,)
        models = tuple({"n_selected": float(k), "r": float(r)} for k in sizes for r in inertias)
        params = {"relative": self._is_relative, **models[0]}
        grid = models if len(models) > 1 else ()
        return ConfidentLearner(_core.ArowSelecting, params, grid=grid, judge="mistakes", joint=self._joint)

    @property
    def _is_relative(self) -> bool:
        """Whether r counts in units of the mean squared length of rows, without a race of steps."""
        return self._races and self.scale is None

    def _with_intercept(self, learner: Learner) -> Learner:
        if self._is_relative:
            return OnlineLinear._with_intercept(self, learner)
        return super()._with_intercept(learner)

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read files without a scale, in which an automatic r has its older form."""
        return super()._from_file(params if "scale" in params else {**params, "scale": None})

    def _candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._candidate(params), "n_features_to_select": int(params.get("n_selected", 0))}

    def _model_read(self) -> dict[str, Any]:
        learner = self._learner_now()
        return learner.params | dict(learner.grid[learner.chosen(self.state_)] if learner.grid else {})

    @property
    def n_features_to_select_(self) -> int | None:
        """The largest number of features that the model may use."""
        n = self._model_read().get("n_selected")
        return int(n) if n else None
