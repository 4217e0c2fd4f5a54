"""Rounds over shards: send the model out, let every shard learn or answer, merge, repeat."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .._gate import at_least, boolean, check_arguments, none, one_of
from ..training import learner_of, spelled
from ._checkpoint import Checkpoint
from ._driver import Options, Rounds
from ._engines import engine_of
from ._identity import identity, model_told, rows_told_by
from ._inputs import as_shards
from ._shard_progress import Progress, Watch, watching


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
    """Learn from rows that are spread over files, arrays or a cluster, in rounds.

    In each round the model goes to every shard. With ``mode="passes"`` a shard learns on from it by a pass of
    ``partial_fit`` over its rows, and the models that come back are merged; with ``mode="sums"`` it answers with sums
    over its rows at the model as it is, from which the next model is made as one machine would. The result is the same
    to the bit on every engine, whoever dies on the way.

    Parameters
    ----------
    estimator : estimator or StreamingPipeline
        With ``partial_fit``; copied, not changed. Transformers of a pipeline are fitted to all shards first, then stay.
    shards : str, path or list of them; list of arrays; Dask array or data frame; Spark data frame
        Files (patterns and fsspec URLs such as ``s3://bucket/part-*.svm.gz``), each of which is a shard; ``(X, y)`` or
        ``(X, y, weight)`` for each shard; blocks or partitions.
    y : list of arrays, Dask array, or str, optional
        Targets, beside ``shards``; the name of a column for data frames.
    engine : "serial", "dask", "spark", address, Dask client or Spark session, default="serial"
        Where shards are worked on: ``dask://host:port``, ``spark://host:port``, ``local[2,4]``. ``"dask"`` is the
        client in use, or else a cluster of processes on this machine, ``"spark"`` the active session.
    n_rounds : int, optional
        Rounds, at most. By default one of passes; of sums as many as the learner takes.
    mode : {"auto", "passes", "sums"}, default="auto"
        ``"auto"`` is ``"sums"`` for learners that reach one machine's answer by it, and ``"passes"`` for all others.
    average : bool or "auto", default="auto"
        Whether passes return the mean of the models after each round, the r-th of which counts r times, rather than the
        last model; rounds go on from the last one in any case. ``"auto"`` is True for ``OFSClassifier``,
        ``PETrunClassifier`` and ``CSOALClassifier``, whose models wander from round to round; others' means lag behind.
    classes : array-like, optional
        All classes, for a classifier; without them, a look through all rows finds them.
    weight : list of arrays, Dask array or str, optional
        Weights of rows, like ``y``.
    features : list of str, or str, optional
        Columns of a data frame, or one that holds vectors; by default all but those of ``y`` and ``weight``.
    n_shards : int, optional
        Neighbouring files together make so many shards; by default each is one. The driver holds one model for each
        shard.
    reading : dict, optional
        How files are read: arguments of :func:`thresher.streams.open_stream`, such as ``target`` and ``batch_size``.
    shuffle : int, default=0
        Passes mix the rows of each run of so many, anew in every round. 0 leaves rows as they stand.
    random_state : int, default=0
        Seed of the mixing.
    start : fitted estimator or StreamingPipeline, optional
        A model to go on from. Rows are news to it, unless these shards are what it was made of.
    checkpoint : path-like, optional
        Where to keep the model after each round.
    keep_checkpoint : bool, default=False
        Leave the checkpoint at the end, where it is removed otherwise.
    resume : bool, default=False
        Go on from the checkpoint, if there is one, of a run whose driver was lost.
    progress : bool, default=False
        Show rounds and shards, where standard error is a terminal.
    on_progress : callable, optional
        Called with where the run stands whenever a shard has answered.
    should_stop : callable, optional
        Asked after every question to the shards and every round, when the checkpoint is written; if it says True,
        :class:`~thresher.training.Interrupted` is raised.

    Returns
    -------
    estimator or StreamingPipeline
        Fitted. ``record_["distributed"]`` tells of shards, rows and rounds.

    Raises
    ------
    ShardError
        Names a shard that cannot be read, or that no worker survives. The checkpoint stays.

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
    check_arguments(
        "fit",
        n_rounds=(n_rounds, at_least(1) | none),
        mode=(mode, one_of("auto", "passes", "sums")),
        average=(average, boolean | one_of("auto")),
        n_shards=(n_shards, at_least(1) | none),
        shuffle=(shuffle, at_least(0)),
        random_state=(random_state, at_least(0)),
        keep_checkpoint=(keep_checkpoint, boolean),
        resume=(resume, boolean),
        progress=(progress, boolean),
    )
    if classes is not None and np.ndim(classes) != 1:
        raise ValueError(f"fit: classes must be a list of labels, got {classes!r}.")
    model = clone(estimator) if start is None else clone_fitted(start, estimator)
    learner = learner_of(model)
    mode = chosen_mode(learner, mode)
    if start is not None and hasattr(learner, "_forget_rows"):
        learner._forget_rows()
    found = as_shards(shards, y, weight, features, n_shards, reading)
    fingerprint: dict[str, Any] = {
        "model": spelled(model),
        "shards": [identity(shard) for shard in found],
        "mode": mode,
        "average": average,
        "mixing": [shuffle, random_state] if shuffle else 0,
        "classes": None if classes is None else [str(each) for each in classes],
        "columns": [repr(each) if named(each) else None for each in (y, weight, features)],
        "start": None if start is None else model_told(start),
    }
    told = rows_told_by(fingerprint["shards"])
    known = (getattr(start, "record_", None) or {}).get("distributed", {}).get("identity")
    options = Options(mode, shuffle, random_state, average, told, told is not None and known == told, keep_checkpoint)
    kept = Checkpoint(None if checkpoint is None else Path(checkpoint), fingerprint)
    runs = engine_of(engine)
    try:
        with watching(progress) as bar:

            def watch(p: Progress) -> None:
                bar(p)
                if on_progress is not None:
                    on_progress(p)

            return Rounds(model, found, runs, options, classes, kept, watch, should_stop).all(n_rounds, resume)
    finally:
        runs.close()


def named(columns: Any) -> bool:
    """Whether columns are given by their names."""
    return isinstance(columns, str) or (
        isinstance(columns, (list, tuple)) and all(isinstance(each, str) for each in columns)
    )


def chosen_mode(learner: Any, mode: str) -> str:
    """Passes or sums; what a learner cannot do is refused."""
    name = type(learner).__name__
    in_sums = hasattr(learner, "_round")
    if mode == "sums" and not in_sums:
        raise ValueError(f'fit: {name} has no sums that make it up; choose mode="passes".')
    if mode != "sums" and not hasattr(learner, "partial_fit"):
        raise ValueError(f"fit: {name} has no partial_fit, so that it cannot learn from shards.")
    if mode == "auto":
        return "sums" if in_sums and learner._prefers_sums else "passes"
    return mode


def clone_fitted(start: Any, estimator: Any) -> Any:
    """A copy of a fitted model to go on from."""
    if not hasattr(learner_of(start), "n_features_in_"):
        raise ValueError(f"fit: start must be a fitted model, got {start!r}.")
    if spelled(start) != spelled(estimator):
        raise ValueError(f"fit: start must be a model of {spelled(estimator)}, got {spelled(start)}.")
    return deepcopy(start)
