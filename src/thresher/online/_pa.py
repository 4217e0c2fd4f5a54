"""Passive-aggressive classification."""

from __future__ import annotations

import math

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, MEANS_RACE, JointClassifier, LateMeans, Step, StepInUse, param
from .._gate import Log, auto, one_of, positive


class PAClassifier(LateMeans, JointClassifier):
    r"""Passive-aggressive classifier: each update is the smallest change of the weights that corrects the current row.

    A row classified with a margin of at least 1 changes nothing. Any other row moves the weights just far enough to
    reach that margin, or as far as ``C`` allows. The latest rows therefore have a large influence, so with the default
    settings the model predicts with a mean of late iterates. If ``C`` is a number, this is the published learner; it
    stores one number per feature, half as many as :class:`AROWClassifier`, which is usually the better first choice.

    With the hinge loss :math:`\ell = \max(0, 1 - y\,w^\top x)`, :math:`w \leftarrow w + \tau\,y\,x` where

    .. math:: \tau = \frac{\ell}{\|x\|^2}\ (\text{hard}), \qquad
              \tau = \min\!\Big(C, \frac{\ell}{\|x\|^2}\Big)\ (\text{I}), \qquad
              \tau = \frac{\ell}{\|x\|^2 + 1/(2C)}\ (\text{II}).

    Attributes
    ----------
    C_ : float
        The largest step of the model that predicts, in units of the scaled rows if rows are scaled.

    Notes
    -----
    A pass costs O(stored values). More than two classes: see ``multi_class``. However the rows are split into calls of
    :meth:`partial_fit`, the model is the same, bit for bit. A row weight multiplies ``C``, so the hard variant ignores
    weights other than 0.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online passive-aggressive algorithms",
       JMLR 7, 2006.

    Examples
    --------
    >>> from thresher.online import PAClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> PAClassifier(random_state=0).fit(X, y).predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _raced = Step("C", "C", -1.0, (1e-2, 1e-1, 1.0, 1e1), race_rows=MEANS_RACE // 2)  # whose last step is cheap
    C_ = StepInUse()

    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=f"""Aggressiveness (:math:`C` in [1]_): the largest step of variant I, the weight of the loss in variant II.
        Lower it when labels are noisy. The hard variant does not use it. {AUTO_STEP}""",
        search=Log(1e-4, 1e2),
        kw_only=False,
    )
    variant: str = param(default="I", rule=one_of("hard", "I", "II"), doc="PA, PA-I or PA-II of [1]_.")

    @property
    def _races(self) -> bool:
        return self.variant != "hard" and super()._races  # which has no use for C

    def _learner(self, n_features: int) -> Learner:
        cost = math.inf if self.variant == "hard" else self._fixed_step
        params = {"C": cost, "squared": self.variant == "II", "average": self._averages}
        return self._with_joint_form(Learner(_core.Pa, params), _core.PaJoint)
