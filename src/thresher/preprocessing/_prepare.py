"""The usual steps before a learner, by the kind of rows."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .._gate import Table
from ._encoder import TableEncoder
from ._pipeline import StreamingPipeline
from ._scaler import RunningScaler
from ._task_column import without


def prepared(
    learner: Any,
    X: Any,
    *,
    scale: bool | None = None,
    categories: str = "onehot",
    task_column: str | int | None = None,
    **encoder_options: Any,
) -> Any:
    """A learner with the steps that rows like `X` need before it.

    Tables and dense rows are standardised and encoded (words become features, a missing number becomes the mean);
    sparse rows go to the learner as they are.

    Parameters
    ----------
    learner : estimator
    X : Table, data frame, array or sparse matrix
        Rows of the kind to come.
    scale : bool, optional
        Whether to standardise; by default only rows that are not sparse.
    categories : {"onehot", "hash"}
        Encoding of columns of words, see :class:`TableEncoder`.
    task_column : str or int, optional
        The column with the task of each row, see :class:`StreamingPipeline`.
    **encoder_options
        More parameters of :class:`TableEncoder`.

    Returns
    -------
    StreamingPipeline, or the learner itself if nothing is to be done

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import prepared
    >>> [name for name, _ in prepared(AROWClassifier(), np.eye(2)).steps]
    ['scale', 'encode', 'learn']
    """
    if task_column is not None:
        X = without(X, task_column, "prepared")
    is_sparse = sparse.issparse(X)
    steps: list[tuple[str, Any]] = []
    has_numbers = not isinstance(X, Table) or bool(X.number_names)
    if has_numbers and (scale if scale is not None else not is_sparse):
        steps.append(("scale", RunningScaler()))
    if not is_sparse:
        steps.append(("encode", TableEncoder(categories=categories, **encoder_options)))
    return StreamingPipeline([*steps, ("learn", learner)], task_column) if steps else learner
