"""Learning on many machines: rounds over shards, on an existing Dask or Spark cluster.

=========================  ============================================================================================
:func:`fit`                learn from files, arrays, Dask collections or Spark data frames, shard by shard, in rounds
:func:`predict`            predict rows in the same forms
:func:`backend`            run searches on the same cluster, to which joblib sends candidates and folds
:class:`ShardError`        names a shard that was lost, and the reason
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
