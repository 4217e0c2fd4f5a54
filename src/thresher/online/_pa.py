"""Passive-aggressive classification."""

from __future__ import annotations

import math

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, MEANS_RACE, JointClassifier, LateMeans, Step, StepInUse, param
from .._gate import Log, auto, one_of, positive


class PAClassifier(LateMeans, JointClassifier):
    r"""Passive-aggressive classifier: the smallest change of the weights that repairs the row at hand.

    A row that is classified with a margin of 1 changes nothing. Any other moves the weights just far enough, or as far
    as ``C`` lets it, so that the latest rows sway it: at its defaults, a mean of late iterates predicts. With a number
    for ``C`` it is the published learner, which has one number per feature, half the memory of
    :class:`AROWClassifier`. That one is the first to try.

    With the hinge loss :math:`\ell = \max(0, 1 - y\,w^\top x)`, :math:`w \leftarrow w + \tau\,y\,x` where

    .. math:: \tau = \frac{\ell}{\|x\|^2}\ (\text{hard}), \qquad
              \tau = \min\!\Big(C, \frac{\ell}{\|x\|^2}\Big)\ (\text{I}), \qquad
              \tau = \frac{\ell}{\|x\|^2 + 1/(2C)}\ (\text{II}).

    Attributes
    ----------
    C_ : float
        The largest step of the model that is read; in units of scaled rows where they are scaled.

    Notes
    -----
    A pass costs O(stored values). More than two classes: see ``multi_class``. Any chunking into calls of
    :meth:`partial_fit` gives the same bits. A row weight multiplies ``C``, so the hard variant ignores it (except 0).

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
