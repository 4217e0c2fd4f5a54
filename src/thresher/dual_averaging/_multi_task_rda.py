"""Dual averaging for tasks that share features."""

from __future__ import annotations

from .. import _core
from .._estimators import Advice, ClassLoss, GoodFor, MultiTaskClassifier, MultiTaskRegressor, Power, ValueLoss, param
from .._gate import Log
from ._row_penalty import PenalisedTasks

_FOR_TASKS = GoodFor(1, "the rows belong to several tasks, and it selects features for all of them together")


class MultiTaskRDAClassifier(PenalisedTasks, ClassLoss, MultiTaskClassifier):
    r"""Sparse classifiers for several tasks that share their features, by dual averaging.

    Rows belong to tasks (a school, a user, a sensor), each with its own weights for the same two classes. The penalty
    selects a feature for many tasks or for none, so a task with few rows benefits from the others. Choose it for tasks
    that depend on the same few features. If they do not, train an :class:`L1RDAClassifier` for each task. With more
    than two classes, see :class:`SharedRDAClassifier`.

    Training proceeds in rounds: a round has at most one row of each task, and all of its rows use the same weights.
    After :math:`t` rounds with gradient sums :math:`S` and :math:`n_q` rows of task :math:`q`,

    .. math:: W = \arg\min_W\ \langle \bar G, W\rangle + \alpha \sum_j \Omega(W_j) + \frac{\|W\|^2}{2\eta_0\sqrt t},
              \qquad \bar G_{jq} = S_{jq} / n_q,

    with row :math:`W_j` the weights of feature :math:`j` over the tasks. With ``"l21"`` this is
    :math:`W_j = -\eta_0\sqrt t\,[1 - \alpha/\|\bar G_j\|]_+ \bar G_j`. The mean of each task is over its own rows, so
    rare tasks are penalised like the others; counting the missing rows as zeros, as in [1]_, would penalise them
    :math:`t / n_q` times as much.

    Notes
    -----
    Rows carry their task: ``fit(X, y, tasks=...)``, ``predict(X, tasks=...)``. Without tasks there is a single one, and
    the model is a plain :class:`L1RDAClassifier`. Any call of :meth:`partial_fit` may add new tasks.

    A row costs O(tasks) for each of its stored values, O(1) with ``"l1"``. However the rows are split into calls of
    :meth:`partial_fit`, the model is the same, bit for bit. An incomplete round stays pending in the state and
    continues with the next call. Predictions and ``coef_`` use the weights as if it were complete; :meth:`fit`
    completes the last one. The learner stores only the gradient sums, one number per feature and task.

    For nonlinear tasks, put a feature map before the learner and pass the tasks to it: ``make_pipeline(RBFSampler(),
    MultiTaskRDAClassifier()).fit(X, y, multitaskrdaclassifier__tasks=tasks)``.

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

    If ``eta0`` is a number, scale features and targets as for :class:`L1RDARegressor`.

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
