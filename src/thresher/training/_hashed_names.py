"""Names of hashed columns, kept with a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import Weights, largest, last_step
from ..streams import Stream

_MOST_NAMES = 10_000


def name_hashed_columns(model: Any, stream: Stream) -> None:
    """Keep the names of the features that matter most in the record of a model, if they are hashed in the stream.

    The first files are read once more, because the names of all columns would be larger than most models.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with ``record_``.
    stream : Stream
        The stream that it learned from.
    """
    learner = last_step(model)
    has_weights = hasattr(learner, "coef_") or hasattr(learner, "cluster_centers_")
    if not has_weights or stream.layout().get("hashed_columns") != learner.n_features_in_:
        return
    columns = np.sort(largest(Weights(model).importance(), _MOST_NAMES))
    names = stream.column_names(columns)
    model.record_ = {**model.record_, "names": {str(column): name for column, name in names.items()}}
