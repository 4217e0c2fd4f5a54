"""Learning in rounds over shards: send the model out, let every shard learn or answer, merge, repeat."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from .._estimators import clone, task_of
from .._gate import at_least, boolean, checked, none, one_of
from ..training import learner_of, model_signature
from ._checkpoint import Checkpoint
from ._driver import Rounds
from ._engines import engine_of
from ._inputs import ShardSource
from ._shard_progress import Watch, watching
from ._shards import identity, model_checksum


@checked(
    n_rounds=at_least(1) | none,
    mode=one_of("auto", "passes", "sums"),
    average=boolean | one_of("auto"),
    n_shards=at_least(1) | none,
    shuffle=at_least(0),
    random_state=at_least(0),
    keep_checkpoint=boolean,
    resume=boolean,
    progress=boolean,
)
def fit(
    estimator: Any,
    shards: Any,
    y: Any = None,
    *,
    engine: Any = "serial",
    n_rounds: int | None = None,
    mode: str = "auto",
    average: bool | str = "auto",
    classes: Any = None,
    weight: Any = None,
    features: Any = None,
    n_shards: int | None = None,
    reading: dict[str, Any] | None = None,
    shuffle: int = 0,
    random_state: int = 0,
    start: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    keep_checkpoint: bool = False,
    resume: bool = False,
    progress: bool = False,
    on_progress: Watch | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Any:
    """Train on rows that are spread over files, arrays or a cluster, in rounds.

    In each round, the model is sent to every shard. With ``mode="passes"``, each shard continues training by a pass of
    ``partial_fit`` over its rows, and the resulting models are merged. With ``mode="sums"``, each shard returns sums
    over its rows at the current model, from which the next model is computed as on one machine. The result is bit for
    bit the same on every engine, even if workers die.

    Parameters
    ----------
    estimator : estimator or StreamingPipeline
        With ``partial_fit``; copied, not changed. Transformers of a pipeline are fitted to all shards first and then
        stay fixed.
    shards : str, path or list of them; list of arrays; Dask array or data frame; Spark data frame
        Files (patterns and fsspec URLs such as ``s3://bucket/part-*.svm.gz``), each of which is a shard; ``(X, y)`` or
        ``(X, y, weight)`` for each shard; blocks or partitions.
    y : list of arrays, Dask array, or str, optional
        Targets, if they are not part of ``shards``; for data frames, the name of a column.
    engine : "serial", "dask", "spark", address, Dask client or Spark session, default="serial"
        The cluster that works on shards: ``dask://host:port``, ``spark://host:port``, ``local[2,4]``. ``"dask"`` is the
        client in use, or else a cluster of processes on this machine, ``"spark"`` the active session.
    n_rounds : int, optional
        Largest number of rounds. By default one with passes, and with sums as many as the learner needs.
    mode : {"auto", "passes", "sums"}, default="auto"
        ``"auto"`` is ``"sums"`` for learners that get the same result as on one machine that way, and ``"passes"`` for
        all others.
    average : bool or "auto", default="auto"
        Whether passes return a weighted mean of the models after each round, in which round r has weight r, instead of
        the last model. Rounds continue from the last model in any case. ``"auto"`` is True for ``OFSClassifier``,
        ``PETrunClassifier`` and ``CSOALClassifier``, whose models vary from round to round; for others, the mean lags
        behind.
    classes : array-like, optional
        All classes, for a classifier; by default they are found by reading all rows.
    weight : list of arrays, Dask array or str, optional
        Weights of rows, like ``y``.
    features : list of str, or str, optional
        Columns of a data frame, or one that holds vectors; by default all but those of ``y`` and ``weight``.
    n_shards : int, optional
        Number of shards, made of neighbouring files; by default each file is one. The driver holds one model for each
        shard.
    reading : dict, optional
        Arguments of :func:`thresher.streams.open_stream` for files, such as ``target`` and ``batch_size``.
    shuffle : int, default=0
        In passes, shuffle the rows within blocks of this many, anew in every round. 0 keeps their order.
    random_state : int, default=0
        Seed of the shuffling.
    start : fitted estimator or StreamingPipeline, optional
        A model to continue from. All rows count as new to it, unless it was trained on these shards.
    checkpoint : path-like, optional
        File that keeps the model after each round.
    keep_checkpoint : bool, default=False
        Keep the checkpoint at the end instead of removing it.
    resume : bool, default=False
        Continue from the checkpoint of a run whose driver was lost, if there is one.
    progress : bool, default=False
        Show rounds and shards if standard error is a terminal.
    on_progress : callable, optional
        Called with a :class:`Progress` whenever a shard is done.
    should_stop : callable, optional
        Called whenever the checkpoint has been written; if it returns True, :class:`~thresher.training.Interrupted` is
        raised.

    Returns
    -------
    estimator or StreamingPipeline
        The fitted model. ``record_["distributed"]`` lists shards, rows and rounds.

    Raises
    ------
    ShardError
        If a shard cannot be read, or every worker that reads it dies. The checkpoint is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher import distributed
    >>> from thresher.online import AROWClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 20))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> shards = [(X[i::8], y[i::8]) for i in range(8)]
    >>> model = distributed.fit(AROWClassifier(), shards, n_rounds=2)
    >>> model.n_samples_seen_, bool(model.score(X, y) > 0.98)
    (8000, True)
    """
    if classes is not None and np.ndim(classes) != 1:
        raise ValueError(f"fit: classes must be a list of labels, got {classes!r}.")
    model = clone(estimator) if start is None else copy_fitted(start, estimator)
    supervised = task_of(model) != "clustering"
    source = ShardSource(shards, y, weight, features, n_shards, reading, labelled_only=supervised)
    mode = chosen_mode(learner_of(model), mode)
    parts = source.shards()
    fingerprint = {
        "model": model_signature(model),
        "shards": [identity(shard) for shard in parts],
        "mode": mode,
        "average": average,
        "mixing": [shuffle, random_state] if shuffle else 0,
        "classes": None if classes is None else [str(each) for each in classes],
        "columns": source.column_names(),
        "start": None if start is None else model_checksum(start),
    }
    kept = Checkpoint(None if checkpoint is None else Path(checkpoint), fingerprint)
    runs = engine_of(engine)
    try:
        with watching(progress, on_progress) as watch:
            return Rounds(
                *(model, parts, runs, kept, watch, mode),
                n_rounds=n_rounds,
                average=average,
                classes=classes,
                shuffle=shuffle,
                random_state=random_state,
                keep_checkpoint=keep_checkpoint,
                resume=resume,
                should_stop=should_stop,
            ).run()
    finally:
        runs.close()


def chosen_mode(learner: Any, mode: str) -> str:
    """Passes or sums; a mode that the learner does not support is refused."""
    name = type(learner).__name__
    in_sums = hasattr(learner, "_round")
    if mode == "sums" and not in_sums:
        raise ValueError(f'fit: {name} cannot be computed from sums; choose mode="passes".')
    if mode != "sums" and not hasattr(learner, "partial_fit"):
        raise ValueError(f"fit: {name} has no partial_fit, so it cannot learn from shards.")
    if mode == "auto":
        return "sums" if in_sums and learner._prefers_sums else "passes"
    return mode


def copy_fitted(start: Any, estimator: Any) -> Any:
    """A copy of a fitted model to continue from."""
    if not hasattr(learner_of(start), "n_features_in_"):
        raise ValueError(f"fit: start must be a fitted model, got {start!r}.")
    wanted, given = model_signature(estimator), model_signature(start)
    if wanted != given:
        raise ValueError(f"fit: start must be a model of {wanted}, got {given}.")
    model = deepcopy(start)
    if hasattr(learner_of(model), "_forget_rows"):
        learner_of(model)._forget_rows()
    return model
