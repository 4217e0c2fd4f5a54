"""Searches over a cluster: joblib spreads candidates and folds, this says where to."""

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
    it is. The result is the same to the bit as without. A worker that dies costs the time of what it was at; a search
    with a ``history`` goes on from it when its own process died.

    Parameters
    ----------
    engine : as in :func:`fit`
        ``"serial"`` leaves joblib as it is. Dask works by joblib's own backend, Spark by that of joblibspark.
    share : list of arrays
        What every candidate needs, such as ``[X, y]``: Dask keeps it on every worker from the beginning, where else it
        would travel with each step of a search. It must be the very objects that are given to the search, and stay as
        they are. Spark sends data with each task.

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
        config: AbstractContextManager[Any] = joblib.parallel_config(backend="spark", n_jobs=-1)
        return config
    raise ValueError(f"backend: engine must be serial, Dask's or Spark's, got {runs!r}.")
