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
    """Let joblib work on an engine: candidates and folds of a search, and whatever else runs in ``joblib.Parallel``.

    Inside of it :class:`~thresher.tuning.CoupledAnnealingSearchCV`, :func:`~thresher.tuning.coupled_annealing`,
    :func:`~thresher.compare.selection_frequency` and scikit-learn's own searches use the cluster; `n_jobs` may stay as
    it is. The result is the same to the bit as without. If a worker dies, only its present task is repeated; a search
    with a ``history`` goes on from it if its own process dies.

    Parameters
    ----------
    engine : as in :func:`fit`
        ``"serial"`` leaves joblib as it is. Dask works by joblib's own backend, Spark by that of joblibspark.
    share : list of arrays
        Data that every candidate needs, such as ``[X, y]``. Dask keeps them on every worker from the beginning;
        otherwise they would travel with each step of a search. They must be the very objects that the search gets, and
        must not change. Spark sends data with each task.

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
