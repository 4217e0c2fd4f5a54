"""The same learners on many machines: rounds over shards, on a cluster that is there already.

=========================  ============================================================================================
:func:`fit`                learn from files, arrays, Dask collections or Spark data frames, shard by shard, in rounds
:func:`predict`            what a model says of them
:func:`backend`            searches over the same cluster: where joblib spreads candidates and folds
:class:`ShardError`        which shard was lost, and why
=========================  ============================================================================================
"""

from ._backend import backend
from ._checkpoint import is_checkpoint as is_checkpoint
from ._checkpoint import remove_checkpoint as remove_checkpoint
from ._engines import ShardError
from ._fit import fit
from ._shard_predictions import predict
from ._shard_progress import Progress

__all__ = ["Progress", "ShardError", "backend", "fit", "predict"]
