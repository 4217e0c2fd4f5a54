"""Searches on a cluster, over which joblib spreads candidates and folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import joblib

from .._engine import one_blas_thread
from ._engines import Engine, SerialEngine, engine_of


@contextmanager
def backend(engine: Any = "serial", *, share: Sequence[Any] = ()) -> Iterator[None]:
    """Run joblib on an engine: candidates and folds of a search, and anything else in ``joblib.Parallel``.

    Within this context, :class:`~thresher.tuning.CoupledAnnealingSearchCV`, :func:`~thresher.tuning.coupled_annealing`,
    :func:`~thresher.compare.selection_frequency` and scikit-learn's own searches use the cluster; `n_jobs` need not
    change. Results are bit for bit the same as without a cluster. If a worker dies, only its current task is repeated.
    If the process of the search itself dies, a search with a ``history`` continues from it.

    Parameters
    ----------
    engine : as in :func:`fit`
        ``"serial"`` leaves joblib as it is. For Dask, joblib's own backend is used; for Spark, that of joblibspark.
    share : list of arrays
        Data that every candidate needs, such as ``[X, y]``. Dask keeps them on every worker from the beginning;
        otherwise they would be sent with each step of a search. Pass the same objects to the search, and do not change
        them. Spark sends data with each task.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from thresher import distributed
    >>> from thresher.online import AROWClassifier
    >>> from thresher.tuning import CoupledAnnealingSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with distributed.backend("serial", share=[X, y]):  # or "dask://host:port"
    ...     search = CoupledAnnealingSearchCV(AROWClassifier(), n_evaluations=5).fit(X, y)
    >>> len(search.history_)
    5
    """
    if not isinstance(share, (list, tuple)):
        raise ValueError(f"backend: share must be a list of arrays, such as [X, y], got {type(share).__name__}.")
    runs = engine_of(engine)
    try:
        with one_blas_thread(), _on(runs, list(share)):  # workers have one, so the last fit here has one, too
            yield
    finally:
        runs.close()


def _on(runs: Engine, share: list[Any]) -> AbstractContextManager[Any]:
    if isinstance(runs, SerialEngine):
        return nullcontext()
    if hasattr(runs, "client"):
        from ._joblib_dask import sharing

        return sharing(runs.client, share)
    if hasattr(runs, "session"):
        try:
            from joblibspark import register_spark
        except ImportError:
            raise ImportError('backend on Spark needs joblibspark: pip install "thresher[spark]".') from None
        register_spark()
        return joblib.parallel_config(backend="spark", n_jobs=-1)
    raise ValueError(f"backend: engine must be serial, Dask's or Spark's, got {runs!r}.")
