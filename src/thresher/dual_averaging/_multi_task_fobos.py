"""Forward-backward splitting for tasks that share features."""

from __future__ import annotations

from .. import _core
from .._estimators import Advice, ClassLoss, GoodFor, MultiTaskClassifier, MultiTaskRegressor, ValueLoss, param
from .._gate import Log
from ._row_penalty import PenalisedTasks


class MultiTaskFOBOSClassifier(PenalisedTasks, ClassLoss, MultiTaskClassifier):
    r"""Sparse classifiers for several tasks at once, by forward-backward splitting.

    The same problem as :class:`MultiTaskRDAClassifier`, solved by gradient steps, each followed by the proximal map of
    the penalty. It adapts to drift, because old gradients are forgotten, but its zeros change with the last rows. If
    you want to know which features matter, choose :class:`MultiTaskRDAClassifier`.

    In round :math:`t` with gradients :math:`G` of its rows and :math:`\eta_t = \eta_0 / \sqrt t`,

    .. math:: W \leftarrow \arg\min_W\ \tfrac12\|W - (W_t - \eta_t G)\|^2 + \eta_t\,\alpha\sum_j \Omega(W_j).

    Notes
    -----
    The gradient of task :math:`q` counts :math:`t / n_q` times, to make up for the :math:`t - n_q` rounds without it,
    but at most 16 times: a task that occurs in fewer than one in sixteen rounds is penalised more than the others.

    A row costs O(tasks) for each of its stored values: penalties that a feature missed are applied when a row next
    contains it. With ``"l1"``, ``"l21"`` and the largest size (``p`` infinite) this takes one step; with ``"l1_l21"``
    and other powers, one for each round missed, until the feature is zero. Rounds are those of
    :class:`MultiTaskRDAClassifier`.
    """

    _core_learner = _core.MultiTaskFobos
    _advice = Advice(GoodFor(2, aim="tasks"))

    eta0: float | str = param(default="auto", search=Log(1e-3, 1e2))


class MultiTaskFOBOSRegressor(PenalisedTasks, ValueLoss, MultiTaskRegressor):
    r"""Sparse linear regression for several tasks at once, by forward-backward splitting.

    See :class:`MultiTaskFOBOSClassifier` for the equations. If ``eta0`` is a number, scale features and targets to
    about 1. If weights overflow, training stops with an error that says what to do.
    """

    _core_learner = _core.MultiTaskFobos
    _advice = Advice(GoodFor(2, aim="tasks"), start=lambda p: {"eta0": 0.1})

    alpha: float = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-4, 1e1))
