"""Features, groups and kernels that a fitted model uses, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import check_is_fitted
from .._gate import at_least, checked, dense_weights, float_array

_VALUE = "value"  # what the one output of a regressor is called


@dataclass(frozen=True)
class Feature:
    """A feature and its weights in a model; see :func:`features_that_matter`.

    Attributes
    ----------
    name : str
        Its name; without names, the column counted from 1, as svmlight files count: ``x17`` is column 16 of the array.
    index : int
        Its column, counted from 0.
    weights : dict
        Output -> weight. With two classes the one output is the second class, with more each class is one; a
        regressor's output is called ``"value"``; a clusterer has its clusters 0, 1, ..., and their centres for weights.
    importance : float
        Its importance in the units of the model, to compare features within one model.
    deviation : float or None
        Standard deviation of the weight, if the learner keeps variances. With several outputs, it is for the weight
        that determines the importance.
    """

    name: str
    index: int
    weights: dict[Any, float]
    importance: float
    deviation: float | None


@checked(n=at_least(1))
def features_that_matter(model: Any, n: int = 20, *, scale: Any = None) -> list[Feature]:
    """Return the features that a fitted model relies on most, the most important first.

    The importance of a feature is its largest absolute weight. If the learner keeps variances (``variance_``), weights
    are divided by their standard deviations, so the units of the feature do not matter; otherwise use ``scale`` to
    compare features on different scales. Features of weight 0 are left out.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with linear weights (``coef_``) or cluster centres. For a pipeline, these are the features that its last
        step receives.
    n : int, default=20
        Largest number of features.
    scale : array-like of shape (n_features,), optional
        The typical size of each feature, such as its standard deviation. Not used if the learner keeps variances.

    Examples
    --------
    Two of fifty features decide whether a message is spam.

    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.inspection import features_that_matter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 50))
    >>> y = np.where(2 * X[:, 3] - X[:, 7] > 0, "spam", "ham")
    >>> model = L1RDAClassifier(alpha=0.1, random_state=0).fit(X, y)
    >>> for feature in features_that_matter(model):
    ...     print(feature.name, {label: round(weight, 1) for label, weight in feature.weights.items()})
    x4 {'spam': 1.4}
    x8 {'spam': -0.6}
    """
    weights = Weights(model)
    strength = weights.importance(scale)
    chosen = largest(strength, n)
    found = []
    for name, j in zip(weights.names(chosen), chosen.tolist(), strict=True):
        by_output = dict(zip(weights.outputs, weights.rows[:, j].tolist(), strict=True))
        found.append(Feature(name, j, by_output, float(strength[j]), weights.deviation(j)))
    return found


class GroupInUse(NamedTuple):
    """A group of columns with weights other than 0; see :func:`groups_in_use`."""

    name: str
    features: list[str]
    n_used: int
    strength: float


def groups_in_use(model: Any) -> list[GroupInUse]:
    """Return the groups of columns that a model has selected, the strongest first.

    Columns that belong to no group are not listed.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with ``selected_groups_``.

    Returns
    -------
    list of GroupInUse
        Each with its ``name`` (``"group 1"`` is the first, if they have none), the names of its ``features``, how
        many of them are in use, and its ``strength``: the length of its weights.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import GroupRDAClassifier
    >>> from thresher.inspection import groups_in_use
    >>> X = np.random.default_rng(0).normal(size=(2000, 6))
    >>> model = GroupRDAClassifier({"a": [0, 1], "b": [2, 3]}, alpha=0.1, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    >>> [(group.name, group.features) for group in groups_in_use(model)]
    [('a', ['x1', 'x2'])]
    """
    weights = Weights(model)
    learner = weights.learner
    if not hasattr(learner, "selected_groups_"):
        raise ValueError(f"groups_in_use: model must have groups, got {type(learner).__name__}, which has none.")
    listed, names = learner.groups_, learner.groups_.names
    found = []
    for k in learner._selected_places():
        if k < len(listed) - len(listed.alone):
            members, own = listed[int(k)], weights.rows[:, listed[int(k)]]
            name = f"group {k + 1}" if names is None else names[k]
            n_used = int(own.any(axis=0).sum())
            found.append(GroupInUse(name, weights.names(members), n_used, float(np.linalg.norm(own))))
    return sorted(found, key=lambda group: -group.strength)


@dataclass(frozen=True)
class KernelInUse:
    """A kernel with a weight above 0; see :func:`kernels_in_use`."""

    name: str
    index: int
    weights: dict[Any, float]
    strength: float


def kernels_in_use(model: Any) -> list[KernelInUse]:
    """Return the kernels that a model of :mod:`thresher.mkl` has selected, the strongest first.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with ``weights_`` of kernels.

    Returns
    -------
    list of KernelInUse
        Each with its ``name``, its ``index`` among the kernels, its ``weights`` (output -> weight, as in
        :class:`Feature`) and its ``strength``, the largest of them.

    Examples
    --------
    The class depends on the second column alone, and so does the strongest kernel.

    >>> import numpy as np
    >>> from thresher.inspection import kernels_in_use
    >>> from thresher.kernels import RBF
    >>> from thresher.mkl import GMKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = GMKLClassifier([RBF(0.5, features=j) for j in range(3)], v=1.0).fit(X, np.abs(X[:, 1]) > 0.7)
    >>> kernels_in_use(model)[0].name
    'rbf(gamma=0.5) on x2'
    """
    learner = last_step(model)
    check_is_fitted(learner)
    if not hasattr(learner, "kernel_names_"):
        raise ValueError(f"kernels_in_use: model must choose kernels, got {type(learner).__name__}, which does not.")
    strength = learner.weights_.max(axis=0)
    names, columns = learner.kernel_names_, known_names(getattr(model, "best_estimator_", model), learner)
    if columns is not None and learner.kernels_ is not None and len(columns) == learner.n_features_in_:
        names = [kernel.describe(list(map(str, columns))) for kernel in learner.kernels_]
    outputs = output_names(learner, len(learner.weights_))
    found = []
    for q in largest(strength, len(strength)):
        weights = dict(zip(outputs, learner.weights_[:, q].tolist(), strict=True))
        found.append(KernelInUse(str(names[q]), int(q), weights, float(strength[q])))
    return found


def output_names(learner: Any, n_outputs: int) -> list[Any]:
    """Name outputs by their task, class or number; the one output of a regressor is a value."""
    classes: Any = getattr(learner, "classes_", ())
    if n_outputs > 1 and hasattr(learner, "tasks_"):
        return list(learner.tasks_.tolist())
    if n_outputs == 1 and len(classes) == 2:
        return [classes.tolist()[1]]
    if n_outputs == len(classes):
        return list(classes.tolist())
    return [_VALUE] if n_outputs == 1 and not _has_centres(learner) else list(range(n_outputs))


def _has_centres(learner: Any) -> bool:
    return hasattr(learner, "cluster_centers_") and not hasattr(learner, "coef_")


class Weights:
    """The weights of a fitted model, one row for each output, with what they are called.

    Attributes
    ----------
    learner : estimator
        The last step of a pipeline, otherwise the model itself.
    rows : ndarray of shape (n_outputs, n_features)
    outputs : list
        The keys of :attr:`Feature.weights`.
    variance : ndarray like ``rows``, or None
    """

    def __init__(self, model: Any) -> None:
        self._model = model = getattr(model, "best_estimator_", model)
        self.learner = last_step(model)
        check_is_fitted(self.learner)
        self.is_centres = _has_centres(self.learner)
        if not self.is_centres and not hasattr(self.learner, "coef_"):
            raise ValueError(
                f"features_that_matter: model must have one weight per feature (coef_), got "
                f"{type(self.learner).__name__}, which has none."
            )
        found = self.learner.cluster_centers_ if self.is_centres else self.learner.coef_
        self.rows: NDArray[np.float64] = dense_weights(found)
        self.outputs = output_names(self.learner, len(self.rows))
        variance = getattr(self.learner, "variance_", None)
        self.variance = np.atleast_2d(variance) if variance is not None else None
        if self.variance is not None and self.variance.shape != self.rows.shape:
            self.variance = None  # of something else than the weights

    def importance(self, scale: Any = None) -> NDArray[np.float64]:
        """Importance of each feature, found in one sweep over the weights."""
        best = np.zeros(self.rows.shape[1])
        middle = self.rows.mean(axis=0) if self.is_centres else None  # a centre matters where it is apart from others
        for i, row in enumerate(self.rows):
            size = np.abs(row if middle is None else row - middle)
            if self.variance is not None:
                deviation = np.sqrt(self.variance[i])
                np.divide(size, deviation, out=size, where=deviation > 0)  # a weight that is not in use has neither
            np.maximum(best, size, out=best)
        if scale is not None and self.variance is None:
            scale = float_array(scale, "scale", "features_that_matter")
            if scale.shape != best.shape:
                raise ValueError(
                    f"features_that_matter: scale must hold one number for each of {len(best)} features, "
                    f"got an array of shape {scale.shape}."
                )
            best *= np.abs(scale)
        return best

    def deviation(self, j: int) -> float | None:
        if self.variance is None:
            return None
        deviations = np.sqrt(self.variance[:, j])
        return float(deviations[np.argmax(np.abs(self.rows[:, j]) / deviations)])

    def names(self, columns: Any) -> list[str]:
        """The names of some columns."""
        known = known_names(self._model, self.learner)
        width = self.rows.shape[1]
        if known is None or len(known) != width:
            return [f"x{j + 1}" for j in columns]
        return [str(known[j]) for j in columns]


def last_step(model: Any) -> Any:
    """The learner at the end of a pipeline; anything else is one itself."""
    model = getattr(model, "best_estimator_", model)
    return model.steps[-1][1] if hasattr(model, "steps") else model


def largest(values: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Places of the ``n`` largest values above 0, in falling order, the earlier of equals first; one sweep."""
    used = np.flatnonzero(values > 0)  # selection among many equal zeros would be slow
    sizes = values[used]
    if n < len(used):
        least = np.partition(sizes, len(used) - n)[len(used) - n]
        above = np.flatnonzero(sizes > least)
        kept = np.concatenate([above, np.flatnonzero(sizes == least)[: n - len(above)]])
        used, sizes = used[kept], sizes[kept]
    return used[np.lexsort((used, -sizes))]


def known_names(model: Any, learner: Any) -> Any:
    """The names of the learner's columns, if they are known."""
    names = getattr(learner, "feature_names_in_", None)
    record = getattr(model, "record_", None)
    hashed = record.get("names") if isinstance(record, dict) else None
    if isinstance(hashed, dict):  # names of some columns, from the files that the model learned from
        return [str(hashed.get(str(j), f"x{j + 1}")) for j in range(learner.n_features_in_)]
    if names is not None or len(getattr(model, "steps", ())) < 2:
        return names
    before, given = model, None
    if hasattr(model, "named_steps"):  # scikit-learn's pipeline: it names what the last step gives, and counts from 0
        before = model[:-1]
        if not hasattr(before, "feature_names_in_") and hasattr(before, "n_features_in_"):
            given = [f"x{j + 1}" for j in range(before.n_features_in_)]
    try:
        return before.get_feature_names_out(given)
    except (ValueError, AttributeError, NotImplementedError):  # a step that has no names to give
        return None
