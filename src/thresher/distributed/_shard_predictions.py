"""Predictions of rows where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gate import Rule, at_least, boolean, check_arguments, none
from ._engines import Failure, ShardError, engine_of
from ._inputs import as_shards
from ._jobs import Say
from ._shard_progress import Progress, watching

_ANSWERS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


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
    """What a model says of rows that are spread over files, arrays or a cluster.

    Parameters
    ----------
    model : fitted estimator or StreamingPipeline
    shards : as in :func:`fit`
        Targets in files are not looked at; lists may hold ``X`` alone.
    engine : as in :func:`fit`
    method : str, default="predict"
        ``"predict"``, ``"decision_function"``, ``"predict_proba"``, ``"score_samples"`` or ``"transform"``.
    features, n_shards, reading, progress
        As in :func:`fit`.

    Returns
    -------
    list of ndarray, Dask array or series, or Spark data frame
        For files and lists one array for each shard, in their order. Of a Dask array or data frame, an array or series
        with the same blocks, and of a Spark data frame the frame with a column ``prediction``; both are computed when
        they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher import distributed
    >>> from thresher.online import PAClassifier
    >>> model = PAClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> distributed.predict(model, [np.array([[2.0]]), np.array([[-3.0], [3.0]])])
    [array(['yes'], dtype='<U3'), array(['no', 'yes'], dtype='<U3')]
    """
    check_arguments(
        "predict",
        method=(method, Rule(f"one of {', '.join(_ANSWERS)} that the model has", lambda name: _has(model, name))),
        n_shards=(n_shards, at_least(1) | none),
        progress=(progress, boolean),
    )
    room = type(shards).__module__.partition(".")[0]
    if room.startswith("dask"):
        from ._dask_data import predict_dask

        return predict_dask(model, shards, method, features)
    if room == "pyspark":
        from ._spark_frames import predict_frame

        return predict_frame(model, shards, method, features)
    found = as_shards(shards, features=features, n_shards=n_shards, reading=reading, who="predict")
    runs = engine_of(engine)
    said = []
    try:
        with watching(progress) as watch:

            def on_done(n_done: int) -> None:
                watch(Progress("predicting", 0, 0, n_done, len(found), ""))

            for result in runs.run(Say(model, method), found, on_done):
                if isinstance(result, Failure):
                    raise ShardError(result.shard, result.words)
                said.append(np.concatenate(result) if result else None)
    finally:
        runs.close()
    like = next((each for each in said if each is not None), np.empty(0))
    return [np.empty((0, *like.shape[1:]), like.dtype) if each is None else each for each in said]


def _has(model: Any, name: Any) -> bool:
    return name in _ANSWERS and hasattr(model, name)
