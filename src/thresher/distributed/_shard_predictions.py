"""Predictions for rows in shards, made where the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import one_blas_thread
from .._gate import as_csr, at_least, boolean, checked, none, sparse
from ._engines import engine_of, results_of
from ._inputs import ShardSource, library_of
from ._jobs import PredictShard
from ._shard_progress import Progress, watching

_METHODS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


@checked(n_shards=at_least(1) | none, progress=boolean)
def predict(
    model: Any,
    shards: Any,
    *,
    engine: Any = "serial",
    method: str = "predict",
    features: Any = None,
    n_shards: int | None = None,
    reading: dict[str, Any] | None = None,
    progress: bool = False,
) -> Any:
    """Predict rows that are spread over files, arrays or a cluster.

    Parameters
    ----------
    model : fitted estimator or StreamingPipeline
    shards : as in :func:`fit`
        Targets in files are ignored; lists may hold ``X`` alone.
    engine : as in :func:`fit`
    method : str, default="predict"
        ``"predict"``, ``"decision_function"``, ``"predict_proba"``, ``"score_samples"`` or ``"transform"``.
    features, n_shards, reading, progress
        As in :func:`fit`.

    Returns
    -------
    list of ndarray, Dask array or series, or Spark data frame
        For files and lists one array for each shard, in their order. For a Dask array or data frame, an array or series
        with the same blocks; for a Spark data frame, the frame with a column ``prediction``. Both are lazy.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher import distributed
    >>> from thresher.online import PAClassifier
    >>> model = PAClassifier(C=1.0, random_state=0).fit([[-1.0], [1.0]], ["no", "yes"])
    >>> distributed.predict(model, [np.array([[2.0]]), np.array([[-3.0], [3.0]])])
    [array(['yes'], dtype='<U3'), array(['no', 'yes'], dtype='<U3')]
    """
    if method not in _METHODS or not hasattr(model, method):
        raise ValueError(f"predict: method must be one of {', '.join(_METHODS)} that the model has, got {method!r}.")
    library = library_of(shards)
    if library.startswith("dask"):
        from ._dask import predict_dask

        return predict_dask(model, shards, method, features)
    if library == "pyspark":
        from ._spark_frames import predict_frame

        return predict_frame(model, shards, method, features)
    parts = ShardSource(shards, features=features, n_shards=n_shards, reading=reading, who="predict").shards()
    runs = engine_of(engine)
    try:
        with watching(progress) as watch:

            def on_done(n_done: int) -> None:
                watch(Progress("predicting", 0, 0, n_done, len(parts), ""))

            results = results_of(runs, PredictShard(model, method), parts, on_done)
            predictions = [np.concatenate(result) if result else None for result in results]
    finally:
        runs.close()
    like = next((each for each in predictions if each is not None), np.empty(0))
    return [none_like(like) if each is None else each for each in predictions]


def predict_rows(X: Any, model: Any, method: str, like: NDArray[Any]) -> NDArray[Any]:
    """Predictions of some rows; of no rows, an empty array of the same kind as `like`."""
    if not X.shape[0]:
        return none_like(like)
    with one_blas_thread():
        return np.asarray(getattr(model, method)(as_csr(X, method) if sparse.issparse(X) else X))


def none_like(like: NDArray[Any]) -> NDArray[Any]:
    """Predictions of no rows."""
    return np.empty((0, *like.shape[1:]), dtype=like.dtype)
