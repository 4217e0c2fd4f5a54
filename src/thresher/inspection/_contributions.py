"""Parts that add up to a model's scores: by column, by feature, or by the rows that a kernel machine keeps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import Estimator, check_is_fitted
from .._gate import Table, checked, dense_weights, float_array, on_host, one_of, sparse
from ._features import Weights, known_names, last_step, output_names
from ._shapley import draw_background, shapley_values

Array = NDArray[np.float64]

_ROUNDING = 1e-7  # parts that add up to a score only this well are not its parts
_MOST_SPARSE = 100  # columns of sparse rows that are switched one by one


@dataclass(frozen=True)
class Contributions:
    """Scores of rows, split into contributions; see :func:`contributions`.

    Attributes
    ----------
    names : list of str
        The sources of the parts: columns, features, or training rows.
    outputs : list
        With two classes the second one, with more each class; a regressor has ``"value"``.
    parts : ndarray of shape (n_rows, n_outputs, n_names)
    baseline : ndarray of shape (n_outputs,)
        The score without any parts: the intercept, or the mean score of the training rows that parts are averaged over.
    similarities : ndarray of shape (n_rows, n_names) or None
        Similarity of each row to the training rows, if the parts belong to training rows; NaN for other parts of a sum
        of models.
    n_background : int
        Number of training rows that the parts of columns in a kernel model are averaged over; 0 for other parts.
    """

    names: list[str]
    outputs: list[Any]
    parts: Array
    baseline: Array
    similarities: Array | None = None
    n_background: int = 0

    @property
    def scores(self) -> Array:
        """The sums, of shape (n_rows, n_outputs)."""
        return self.baseline + self.parts.sum(axis=2)


@checked(by=one_of("column", "feature", "row"))
def contributions(model: Any, X: Any, *, by: str = "column") -> Contributions:
    """Split the scores of a model into contributions of its columns, which add up to them.

    The score of a linear model is a sum of weights times features, and so is that of an additive model, whose features
    are splines of columns (:class:`~thresher.preprocessing.ColumnSplines`). Features made from the same column, such as
    its splines or its one-hot categories, add up to the part of that column. After a
    :class:`~thresher.preprocessing.RunningScaler`, the parts of an average row are about 0.

    Kernel machines, and models after :class:`~thresher.kernels.FixedSizeNystroem`, compare rows. Their parts are
    Shapley values: replace the values of a training row by those of the row to explain, column by column in a random
    order. The part of a column is the mean change of the score over many orders and up to 64 of the training rows that
    the model keeps. Columns share the effect of their interactions. The seed is fixed, so the result is always the
    same. With up to 7 columns, all orders count. With more, the standard error of a part is about 1 % of the largest
    part for 20 columns, 2 % for 100 and 5 % for 300. A row costs about 8,000 predictions.

    The score of a sum of models, which :func:`thresher.auto` may return, has the parts of all of them.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with linear weights (``coef_``) or a kernel.
    X : Table, data frame, array-like or sparse matrix of shape (n_rows, n_columns)
        Rows as the model takes them.
    by : {"column", "feature", "row"}, default="column"
        What parts belong to. ``"feature"`` does not add up the features of a column, or switches them one by one.
        ``"row"`` names the training rows that a kernel model keeps: the part of one is its similarity to the row times
        its coefficient. Models that compare no rows have parts of columns then.

    Returns
    -------
    Contributions
        Parts that are 0 for all rows are left out. ``scores`` equals ``decision_function``, or ``predict`` of a
        regressor. Models with precomputed kernels have no columns, and with sparse rows of more than 100 columns,
        kernel models have parts of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.inspection import contributions
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import prepared
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, X[:, 0] ** 2 > X[:, 1])
    >>> found = contributions(model, X[:5])
    >>> found.names
    ['x1', 'x2', 'x3']
    >>> bool(np.allclose(found.scores[:, 0], model.decision_function(X[:5]), rtol=0, atol=1e-9))
    True
    """
    model = getattr(model, "best_estimator_", model)
    learner = last_step(model)
    check_is_fitted(learner)
    if hasattr(learner, "tasks_"):
        raise ValueError("contributions: model must have the same weights for all rows, got one of several tasks.")
    if hasattr(learner, "models_"):
        found = _of_sum(learner, X, by)
        _check_sums(found, model, X)
        return found
    averaged = None if by == "row" else _of_compared_columns(model, X, by)
    if averaged is not None:
        _check_sums(averaged, model, X)
        return averaged
    Z = behind_steps(model, X)
    map_ = getattr(model, "steps", [(None, None), (None, None)])[-2:][0][1]
    if hasattr(map_, "component_indices_"):
        rows = behind_steps(model, X, n_steps=-2)
        found = _of_landmarks(map_, learner, rows)
    elif hasattr(learner, "dual_coef_") and not hasattr(learner, "coef_"):
        found = _of_support_vectors(learner, Z)
    else:
        found = _of_features(model, Z, by)
    _check_sums(found, model, X)
    return found


def _of_sum(model: Any, X: Any, by: str) -> Contributions:
    """The parts of all models times their weights; rows of the training data are named with their model."""
    names: list[str] = []
    alike: dict[str, Array] = {}
    each = [contributions(one, X, by=by) for one in model.models_]
    for (name, _), found in zip(model.models, each, strict=True):
        own = found.names if found.similarities is None else [f"{row} ({name})" for row in found.names]
        names += own
        alike |= {} if found.similarities is None else dict(zip(own, found.similarities.T, strict=True))
    weighted = [weight * found.parts for weight, found in zip(model.weights, each, strict=True)]
    baseline = sum(weight * found.baseline for weight, found in zip(model.weights, each, strict=True))
    names, parts = _added_up(names, np.concatenate(weighted, axis=2))
    none = np.full(len(parts), np.nan)
    similarities = np.stack([alike.get(name, none) for name in names], axis=1) if alike else None
    n_background = max(found.n_background for found in each)
    return Contributions(names, each[0].outputs, parts, np.asarray(baseline), similarities, n_background)


def _of_compared_columns(model: Any, X: Any, by: str) -> Contributions | None:
    """Shapley values of the columns before the step that compares rows; None if there is no such step, it has kept no
    rows, or there are too many columns of sparse rows."""
    steps = getattr(model, "steps", [("", model)])
    at = next((k for k, (_, step) in enumerate(steps) if hasattr(step, "component_indices_")), len(steps) - 1)
    learner, comparing, behind = steps[-1][1], steps[at][1], SimpleNamespace(steps=steps[at:])
    kept = _kept_by(comparing)
    if kept is None:
        return None
    _scores(model, X)  # which refuses rows that the model does not take, before they are mixed with others
    until = type(model)(steps=steps[: at + 1]) if at < len(steps) - 1 else model
    rows, background = _in_one_form(behind_steps(until, X), draw_background(kept))
    if sparse.issparse(rows):
        used = np.unique(np.concatenate([rows.indices, background.indices]))
    else:
        used = np.arange(rows.shape[1])
    origins = origins_of(until) if by == "column" else None
    if origins is None:
        known = known_names(until, comparing)
        origins = [f"x{j + 1}" for j in range(rows.shape[1])] if known is None else [str(name) for name in known]
    places: dict[str, int] = {}
    groups = np.zeros(rows.shape[1], dtype=np.intp)
    groups[used] = [places.setdefault(origins[j], len(places)) for j in used.tolist()]
    if sparse.issparse(rows) and len(places) > _MOST_SPARSE:
        return None
    named = [str(name) for name in getattr(comparing, "feature_names_in_", ())]

    def score(mixed: Any) -> Array:
        takes_table = named and isinstance(comparing, Estimator) and not sparse.issparse(mixed)
        return _scores(learner, behind_steps(behind, Table(named, mixed) if takes_table else mixed))

    parts, baseline, n_background = shapley_values(score, rows, background, groups, len(places))
    there = np.flatnonzero(parts.any(axis=(0, 1)))
    names = [list(places)[k] for k in there]
    outputs = output_names(learner, len(baseline))
    return Contributions(names, outputs, parts[:, :, there], baseline, n_background=n_background)


def _kept_by(step: Any) -> Any:
    """The training rows that a step compares rows with, as it takes them; None if it has none."""
    if hasattr(step, "component_indices_"):
        return on_host(step.components_)
    kept = getattr(step, "support_vectors_", None)
    if kept is None or not kept.shape[1] or hasattr(step, "coef_"):
        return None
    kept = on_host(kept)
    if getattr(step, "kernels_", None) is not None and step.mean_ is not None:  # several kernels of standardised rows
        return kept * on_host(step.scale_) + on_host(step.mean_)
    return kept


def _in_one_form(rows: Any, kept: Any) -> tuple[Any, Any]:
    rows = _numbers(rows)
    if sparse.issparse(rows) or sparse.issparse(kept):
        return sparse.csr_array(rows, dtype=np.float64), sparse.csr_array(kept, dtype=np.float64)
    return _matrix(rows), np.asarray(kept, dtype=np.float64)


def behind_steps(model: Any, X: Any, n_steps: int = -1) -> Any:
    """Rows after the steps of a pipeline, as the learner takes them."""
    if getattr(model, "task_column", None) is not None:
        return model.transform(X)
    for _, step in getattr(model, "steps", [])[:n_steps]:
        X = step.transform(X) if hasattr(step, "transform") else X  # scikit-learn has "passthrough"
    return X


def _matrix(Z: Any) -> Array:
    found = float_array(_numbers(Z), "X", "contributions")
    if found.ndim != 2:
        raise ValueError(f"contributions: X must be a table of rows and columns, got an array of shape {found.shape}.")
    return found


def _of_features(model: Any, Z: Any, by: str) -> Contributions:
    weights = Weights(model)
    if weights.is_centres:
        raise ValueError(f"contributions: model must have scores, got {type(weights.learner).__name__}.")
    width = weights.rows.shape[1]
    Z = sparse.csr_array(Z.tocsr())[:, :width] if sparse.issparse(Z) else _matrix(Z)[:, :width]
    there = np.unique(Z.indices) if sparse.issparse(Z) else np.flatnonzero(Z.any(axis=0))
    used = there[weights.rows[:, there].any(axis=0)]
    values = Z[:, used]
    values = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
    parts = values[:, None, :] * weights.rows[None, :, used]
    origins = origins_of(model) if by != "feature" else None
    names = weights.names(used) if origins is None else [origins[j] for j in used]
    if origins is not None:
        names, parts = _added_up(names, parts)
    constant = np.ravel(np.asarray(getattr(weights.learner, "intercept_", 0.0), dtype=np.float64))
    return Contributions(names, weights.outputs, parts, np.broadcast_to(constant, len(weights.rows)).copy())


def _numbers(Z: Any) -> Any:
    return Z.numbers if hasattr(Z, "numbers") else Z


def _added_up(origins: list[str], parts: Array) -> tuple[list[str], Array]:
    """Parts with the same origin as one, in the order of first appearance."""
    places: dict[str, int] = {}
    at = [places.setdefault(origin, len(places)) for origin in origins]
    sums = np.zeros((len(places), *parts.shape[:2]))
    np.add.at(sums, at, np.moveaxis(parts, -1, 0))
    return list(places), np.moveaxis(sums, 0, -1)


def origins_of(model: Any) -> list[str] | None:
    """For each feature of a pipeline's learner, the column it was made from; None if that is unknown."""
    steps = [step for _, step in getattr(model, "steps", [])[:-1]]
    if hasattr(model, "named_steps") or not all(hasattr(step, "get_feature_names_out") for step in steps):
        return None  # steps of scikit-learn's pipeline do not name the origins of features
    names: list[str] | None = None
    origins: list[str] | None = None
    for step in steps:
        made_of = getattr(step, "origins_", None)
        if made_of is not None:
            given = names or []
            if len(given) == len(step.columns_):  # an array has no names, so that columns go by their order
                given = step.columns_
            known = dict(zip(given, origins or [], strict=False))
            origins = [known.get(name, name) for name in made_of]
        if step is not steps[-1] or origins is None:  # many hashed features make names costly
            names = [str(name) for name in step.get_feature_names_out(names)]
            origins = origins or names
    return origins


def _of_support_vectors(learner: Any, Z: Any) -> Contributions:
    kept = learner.support_vectors_
    if not hasattr(learner, "kernel_") or not kept.shape[1]:
        raise ValueError(f"contributions: model must have weights or one kernel, got {type(learner).__name__}.")
    similarities = _similarities(learner.kernel_, Z, kept)
    coef = np.atleast_2d(learner.dual_coef_)
    names = [f"training row {int(i) + 1}" for i in learner.support_]
    return Contributions(
        names,
        output_names(learner, len(coef)),
        similarities[:, None, :] * coef[None],
        np.ravel(learner.intercept_).astype(np.float64),
        similarities,
    )


def _of_landmarks(map_: Any, learner: Any, rows: Any) -> Contributions:
    """A score is w' root' k(S, x): landmarks S have the coefficients root w."""
    similarities = _similarities(map_.kernel_, rows, map_.components_)
    coef = dense_weights(learner.coef_) @ map_.normalization_.T
    names = [f"training row {int(i) + 1}" for i in map_.component_indices_]
    constant = np.ravel(np.asarray(learner.intercept_, dtype=np.float64))
    parts = similarities[:, None, :] * coef[None]
    return Contributions(names, output_names(learner, len(coef)), parts, constant, similarities)


def _similarities(kernel: Any, rows: Any, kept: Any) -> Array:
    rows = sparse.csr_array(rows.tocsr()) if sparse.issparse(rows) else np.asarray(_numbers(rows), dtype=np.float64)
    return np.asarray(kernel(rows, kept), dtype=np.float64)


def _check_sums(found: Contributions, model: Any, X: Any) -> None:
    """Refuse models whose scores are more than a sum, so that parts do not add up."""
    scores, sums = _scores(model, X), found.scores
    if sums.shape != scores.shape or not np.allclose(sums, scores, rtol=_ROUNDING, atol=_ROUNDING):
        learner = type(last_step(model)).__name__
        raise ValueError(f"contributions: the scores of {learner} are not a sum of contributions.")


def _scores(model: Any, X: Any) -> Array:
    """Of shape (n_rows, n_outputs)."""
    scores = on_host(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores
