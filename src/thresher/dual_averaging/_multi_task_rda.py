"""Dual averaging for tasks that share features."""

from __future__ import annotations

from .. import _core
from .._estimators import Advice, ClassLoss, GoodFor, MultiTaskClassifier, MultiTaskRegressor, Power, ValueLoss, param
from .._gate import Log
from ._row_penalty import PenalisedTasks

_FOR_TASKS = GoodFor(1, "rows belong to several tasks, which choose their features together")


class MultiTaskRDAClassifier(PenalisedTasks, ClassLoss, MultiTaskClassifier):
    r"""Sparse classifiers for several tasks at once, by dual averaging: tasks choose their features together.

    Rows belong to tasks (a school, a user, a sensor), each with weights of its own for the same two classes. The
    penalty makes a feature count for many tasks or for none, so that what one task has seen too little of is learned
    from the others. Choose it for tasks that depend on the same few features; :class:`L1RDAClassifier` for each task
    alone when they do not. With more than two classes, see :class:`SharedRDAClassifier`.

    Learning goes round by round: a round holds at most one row of each task, and all of them meet the same weights.
    After :math:`t` rounds with gradient sums :math:`S` and :math:`n_q` rows of task :math:`q`,

    .. math:: W = \arg\min_W\ \langle \bar G, W\rangle + \alpha \sum_j \Omega(W_j) + \frac{\|W\|^2}{2\eta_0\sqrt t},
              \qquad \bar G_{jq} = S_{jq} / n_q,

    with row :math:`W_j` the weights of feature :math:`j` over the tasks. With ``"l21"`` that is
    :math:`W_j = -\eta_0\sqrt t\,[1 - \alpha/\|\bar G_j\|]_+ \bar G_j`. Each task's mean is over its own rows, so that
    tasks seen rarely are penalised like the others (zeros in their place, as in [1]_, over-penalise them by
    :math:`t / n_q`).

    Notes
    -----
    Rows carry their task: ``fit(X, y, tasks=...)``, ``predict(X, tasks=...)``. Without tasks there is one, and the
    model is :class:`L1RDAClassifier` without its extras. New tasks may come with any call of :meth:`partial_fit`.

    A row costs O(tasks) for each of its stored values, O(1) with ``"l1"``. Any chunking into calls of
    :meth:`partial_fit` gives the same bits: an unfinished round waits in the state, and goes on with the next call.
    Predictions and ``coef_`` read the weights as if it were complete; :meth:`fit` completes the last one. Only the
    gradient sums are stored, one number per feature and task.

    For tasks that are not linear, put a feature map in front and pass the tasks on:
    ``make_pipeline(RBFSampler(), MultiTaskRDAClassifier()).fit(X, y, multitaskrdaclassifier__tasks=tasks)``.

    Examples
    --------
    >>> model.support_
    array([3, 7])
    >>> model.predict(X[:4], tasks=tasks[:4]) == y[:4]
    array([ True,  True,  True,  True])
    """

    _core_learner = _core.MultiTaskRda
    _advice = Advice(_FOR_TASKS, GoodFor(1, aim="tasks"))


class MultiTaskRDARegressor(PenalisedTasks, ValueLoss, MultiTaskRegressor):
    r"""Sparse linear regression for several tasks at once, by dual averaging; see :class:`MultiTaskRDAClassifier`.

    With a number for ``eta0``, scale features and targets as for :class:`L1RDARegressor`.

    Examples
    --------
    >>> model.support_
    array([3, 7])
    """

    _core_learner = _core.MultiTaskRda
    _advice = Advice(
        _FOR_TASKS,
        GoodFor(1, aim="tasks"),
        start=lambda p: {"eta0": 0.1},
        powers={"alpha": Power(squared=1), "eta0": Power(other=1)},
    )

    alpha: float = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
