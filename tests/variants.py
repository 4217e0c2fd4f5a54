"""What the laws are run over: every estimator of the registry, and variants that reach other code paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from thresher import registry

_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "arow": [
        {"covariance": "full"},
        {"diagonal": "precision"},
        {"fit_intercept": False},
        {"n_features_to_select": 4},
        {"n_features_to_select": "auto", "r": "auto"},
        {"r": "auto"},
        {"r": "auto", "multi_class": "joint"},
        {"r": "auto", "multi_class": "auto"},
        {"multi_class": "joint"},
        {"multi_class": "joint", "diagonal": "precision", "r": 0.1, "fit_intercept": False},
        {"multi_class": "auto"},
        {"r": "auto", "scale": False, "covariance": "full"},
        {"r": 1.0, "scale": True},
    ],
    "cw": [
        {"covariance": "full"},
        {"confidence": 0.9},
        {"confidence": 0.9, "average": True},
        {"confidence": 0.9, "variant": "variance", "diagonal": "precision"},
        {"variant": "variance", "covariance": "full"},
        {"n_features_to_select": 3},
        {"confidence": 0.9, "multi_class": "joint"},
        {"multi_class": "joint", "variant": "variance"},
    ],
    "scw": [
        {"C": "auto"},
        {"covariance": "full", "variant": "II"},
        {"diagonal": "precision", "C": 0.1},
        {"n_features_to_select": 3},
        {"multi_class": "joint"},
        {"multi_class": "auto"},
    ],
    "narow": [
        {"b": "auto"},
        {"covariance": "full"},
        {"diagonal": "precision"},
        {"n_features_to_select": 3},
        {"multi_class": "joint"},
    ],
    "nherd": [
        {"C": "auto"},
        {"covariance": "full"},
        {"C": 1.0, "diagonal": "precision"},
        {"n_features_to_select": 3, "covariance": "full"},
        {"multi_class": "joint"},
    ],
    "sop": [{"covariance": "full"}, {"a": 0.1}, {"a": 0.1, "average": True}, {"n_features_to_select": 3}],
    "pa": [
        {"C": "auto"},
        {"variant": "hard"},
        {"variant": "II", "C": 0.3, "intercept_scaling": 1.0},
        {"multi_class": "joint"},
        {"multi_class": "auto"},
    ],
    "bcw": [
        {"batch_size": 8},
        {"batch_size": 8, "loss": "hinge", "centre": "kl", "max_inner_iter": 2, "fit_intercept": False},
        {"batch_size": 8, "scale": False},
    ],
    "ofs": [
        {"n_features_to_select": 3},
        {"eta0": 0.2},
        {"shrink": False, "alpha": 0.5, "eta0": 0.2, "n_features_to_select": 4},
    ],
    "petrun": [{"n_features_to_select": 3}, {"n_features_to_select": 3, "eta0": 1.0, "intercept_scaling": 1.0}],
    "sofs": [{"n_features_to_select": 3, "r": 1.0}, {"n_features_to_select": 4, "fit_intercept": False}],
    "mbpa": [{"n_features_to_select": 3, "cost": 2.0}, {"alpha": 2.0, "C": 1.0}],
    "csoal": [{"cost_kind": "weight", "delta": 0.1, "C": 1.0}, {"cost": 3.0, "query_budget": 20}],
    "poolcw": [
        {"n_features_to_select": 2, "batch_size": 8, "cost": 0.5},
        {"n_features_to_select": 2, "batch_size": 8, "cost": 0.5, "scout": True, "scale": False},
    ],
    "ascw": [
        {"batch_size": 8, "n_features_to_select": 4, "n_groups": 2, "n_costs": 2, "measure": "average_precision"},
        {
            **{"batch_size": 8, "n_features_to_select": 4, "n_groups": 2, "n_costs": 3, "measure": "roc_auc"},
            **{"keep": True, "faithful": True},
        },
    ],
    "sbcw": [
        {"batch_size": 8, "n_features_to_select": 4, "n_groups": 2},
        {
            **{"batch_size": 8, "n_features_to_select": 5, "n_groups": 2, "sigma": 0.3, "loss": "hinge"},
            **{"ranking": "full", "refit": False, "max_inner_iter": 2, "scale": False},
        },
    ],
    "pegasos": [
        {"alpha": 1e-4},
        {"alpha": 1e-4, "average": True},
        {"batch_size": 8, "alpha": 0.1, "intercept_scaling": 1.0},
        {"batch_size": 8, "alpha": 0.1, "average": True, "penalize_intercept": False},
        {"batch_size": 8, "alpha": 0.1, "average": "late", "penalize_intercept": False},
        {"alpha": 0.1, "average": "late", "intercept_scaling": 1.0},
        {"alpha": 1e-4, "penalize_intercept": False},
        {"loss": "logistic", "alpha": 0.1, "intercept_scaling": 1.0},
        {"alpha": 1e-4, "projection": False},
        {"intercept": "mean"},
        {"intercept": "mean", "alpha": 0.1},
        {"intercept": "mean", "alpha": 0.1, "batch_size": 8, "average": "late"},
        {"intercept": "batch_mean", "alpha": 0.1, "batch_size": 8},
    ],
    "dropoutpegasos": [
        {"alpha": 1e-4},
        {"alpha": 0.1, "loss": "logistic", "intercept_scaling": 1.0},
        {"alpha": 0.01, "penalize_intercept": False},
    ],
    "pegasos-regressor": [
        {"alpha": 1e-4},
        {"average": False, "loss": "huber"},
        {"loss": "epsilon_insensitive", "alpha": 0.01, "max_iter": 50},
        {"loss": "quantile", "alpha": 0.01, "tau": 0.3, "max_iter": 50},
        {"batch_size": 8, "alpha": 0.01, "average": True, "max_iter": 50},
        {"intercept": "mean"},
        {"intercept": "mean", "loss": "epsilon_insensitive", "alpha": 0.01, "average": True, "max_iter": 50},
        {"intercept": "batch_mean", "loss": "epsilon_insensitive", "alpha": 0.01, "batch_size": 8, "max_iter": 50},
    ],
    "l1rda": [
        {"eta0": "auto"},
        {"eta0": 1.0, "alpha": 0.01, "average": True},
        {"batch_size": 8, "alpha": 0.01, "eta0": 1.0},
        {"l2_weight": 0.1, "rho": 0.01},
        {"loss": "logistic", "alpha": 0.01},
        {"penalize_intercept": True, "intercept_scaling": 1.0},
        {"n_features_to_select": 4},
        {"n_features_to_select": 4, "batch_size": 8, "eta0": 1.0, "intercept_scaling": 1.0},
        {"debias": True, "alpha": 0.01},
        {"alpha": "auto"},
    ],
    "adaptivel1rda": [
        {"l2_weight": 0.1, "penalize_intercept": True, "intercept_scaling": 1.0},
        {"n_features_to_select": 4},
        {"debias": True, "alpha": 0.01},
        {"batch_size": 8, "alpha": 0.01, "eta0": 1.0},
        {"batch_size": 8, "n_features_to_select": 4, "eta0": 1.0},
    ],
    "ftrl-regressor": [{"alpha": "auto", "eta0": 1.0, "debias": True}],
    "ftrl": [{"n_features_to_select": 4, "debias": True}, {"l2": 1.0, "loss": "hinge"}],
    "reweightedl1rda": [
        {"eta0": 1.0},
        {"alpha": 1e-3, "eta0": 1.0, "rho": 0.01, "penalize_intercept": True},
        {"n_features_to_select": 4, "eta0": 1.0},
        {"debias": True, "alpha": 1e-3},
        {"batch_size": 8, "alpha": 1e-3, "eta0": 1.0, "intercept_scaling": 1.0},
        {
            **{"batch_size": 8, "n_features_to_select": 4, "eta0": 1.0},
            **{"penalize_intercept": True, "intercept_scaling": 1.0},
        },
    ],
    "adaptivel1rda-regressor": [{"eta0": 1.0}, {"batch_size": 8, "eta0": 1.0}],
    "reweightedl1rda-regressor": [
        {"loss": "epsilon_insensitive"},
        {"loss": "epsilon_insensitive", "eta0": 0.1},
        {"batch_size": 8, "loss": "epsilon_insensitive", "eta0": 0.1},
    ],
    "reweightedl2rda": [{"smoothing": 10.0}, {"batch_size": 8, "smoothing": 10.0}],
    "reweightedl2rda-regressor": [
        {"loss": "epsilon_insensitive", "threshold": 0.0},
        {"loss": "epsilon_insensitive", "threshold": 0.0, "alpha": 0.1, "smoothing": 1.0},
        {"batch_size": 8, "loss": "epsilon_insensitive", "threshold": 0.0, "alpha": 0.1, "smoothing": 1.0},
    ],
    "l1rda-regressor": [
        {"loss": "epsilon_insensitive"},
        {"loss": "quantile", "eta0": 0.1},
        {"batch_size": 8, "eta0": 0.05},
    ],
    "sharedrda": [{"loss": "logistic", "alpha": 0.01}, {"n_features_to_select": 4}],
    "multitaskrda": [{"penalty": "lp1", "p": float("inf")}],
    "multitaskrda-regressor": [{"penalty": "l1", "loss": "epsilon_insensitive"}],
    "multitaskfobos": [{"penalty": "l1_l21", "loss": "logistic"}],
    "multitaskfobos-regressor": [{"penalty": "l1", "loss": "quantile"}],
    "pegasossnd": [
        {"alpha": 0.1, "coupling": 1.2, "reject": False, "outlier_label": None},
        {"alpha": 0.1, "batch_size": 8, "reject": False, "outlier_label": None},
    ],
    "grouprda": [
        {"groups": [[0, 1], [2, 3]], "alpha": 0.01},
        {"groups": [[0, 1, 2], [2, 3], [1]], "alpha": 0.01},
        {"groups": [[3, 1], [0, 2]], "alpha": 0.01, "l1_weight": 0.3, "rho": 0.01},
        {"groups": {"some": [0, 1], "more": [1, 2, 3]}, "alpha": 0.01, "norm": "inf"},
    ],
    "grouprda-regressor": [{"groups": [[0, 1], [2, 3]], "alpha": 0.01}],
    "groupfobos": [
        {"groups": [[0, 1], [2, 3]], "alpha": 0.01},
        {"groups": [[0, 1], [2, 3]], "alpha": 0.01, "l1_weight": 0.3},
        {"groups": [[0, 1], [2, 3]], "alpha": 0.01, "norm": "inf"},
    ],
    "groupfobos-regressor": [{"groups": [[0, 1], [2, 3]], "alpha": 0.01}],
}  # penalties and passes with which the papers' own recursions, in NumPy, pass scikit-learn's score checks

# Chance decides what partial_fit learns.
_SEEDED: dict[str, dict[str, Any]] = {name: {"random_state": 0} for name in ("csoal", "dropoutpegasos")}


def models() -> list[Any]:
    """Fresh, unfitted learners; a streaming learner that is new to the registry takes part at its defaults;
    clusters have laws of their own."""
    learners = {name: cls for name, cls in registry.estimators().items() if hasattr(cls, "_learner_now")}
    return [
        cls(**_SEEDED.get(name, {}), **options)
        for name, cls in learners.items()
        for options in ({}, *_OPTIONS.get(name, []))
    ]


def name_of(model: Any) -> str:
    """The class and what is not at its default."""
    plain = type(model)()
    said = [f"{k}={v}" for k, v in model.get_params().items() if v is not getattr(plain, k) and v != getattr(plain, k)]
    return type(model).__name__ + (f"({', '.join(said)})" if said else "")


def regresses(model: Any) -> bool:
    return bool(is_regressor(model))


def is_binary(model: Any) -> bool:
    """Whether it takes two classes and no more."""
    tags = model.__sklearn_tags__().classifier_tags
    return tags is not None and not tags.multi_class


def with_params(model: Any, **params: Any) -> Any:
    """A fresh copy with other values for those of ``params`` that it has."""
    return clone(model).set_params(**{k: v for k, v in params.items() if k in model.get_params()})


def moved(model: Any, places: Any) -> Any:
    """A fresh copy for data whose column j stands at ``places[j]``."""
    groups = getattr(model, "groups", None)
    if groups is None:
        return with_params(model)
    lists = groups.values() if isinstance(groups, dict) else groups
    there = [[int(places[j]) for j in group] for group in lists]
    return with_params(model, groups=dict(zip(groups, there, strict=True)) if isinstance(groups, dict) else there)


def rows_for(model: Any, n_rows: int = 64, n_features: int = 9, n_classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Dense rows, a third of them non-zero, with labels or targets."""
    n_classes = min(n_classes, 2) if is_binary(model) else n_classes
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.4)
    X[[0, n_rows // 2]] = 0
    scores = X @ rng.normal(size=(n_features, n_classes)) + 0.3 * rng.normal(size=(n_rows, n_classes))
    if regresses(model):
        return X, 1 + scores[:, 0]
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, np.array(["ham", "maybe", "spam", "what", "zero"])[y]


def first_batch(model: Any, X: Any, y: Any, classes_of: Any = None, **options: Any) -> Any:
    """``partial_fit`` with the classes announced, as a classifier needs in its first call."""
    if regresses(model):
        return model.partial_fit(X, y, **options)
    return model.partial_fit(X, y, classes=np.unique(y if classes_of is None else classes_of), **options)


def bits(state: Any) -> dict[str, tuple[tuple[int, ...], bytes]]:
    """Every array of a state, to the bit."""
    return {name: (a.shape, np.ascontiguousarray(a).tobytes()) for name, a in state.arrays.items()}


def assert_same_bits(a: Any, b: Any, skip: tuple[str, ...] = ()) -> None:
    assert set(a.arrays) == set(b.arrays)
    for name, first in a.arrays.items():
        if name in skip:
            continue
        second = b.arrays[name]
        assert first.shape == second.shape, name
        where = np.argwhere(np.ascontiguousarray(first).view(np.int64) != np.ascontiguousarray(second).view(np.int64))
        assert not len(where), (
            f"{name} differs at {where[0]}: {first[tuple(where[0])]!r} and {second[tuple(where[0])]!r}"
        )
