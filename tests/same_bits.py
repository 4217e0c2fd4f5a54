"""``python tests/same_bits.py record FILE`` and ``compare FILE``: do all estimators still give the same bits?

Every estimator of the registry, and variants that take other paths, is fitted to fixed data; what it learned and what
it predicts is written to ``FILE`` or compared with it, value by value. Record on the commit before a change of
structure, compare after it. ``RENAMED`` maps parameters that have another name since.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_clusterer, is_regressor

from thresher import registry

RENAMED: dict[str, dict[str, str]] = {
    "*": {"n_passes": "max_inner_iter"},
    "FTRLClassifier": {"alpha": "eta0", "l1": "alpha"},
    "FTRLRegressor": {"alpha": "eta0", "l1": "alpha"},
    "CSOALClassifier": {"cost": "cost_kind", "cost_ratio": "cost"},
    "MBPAClassifier": {"cost_ratio": "cost"},
}
"""Class name, or ``"*"`` for all -> old name of a parameter -> new name."""

_READ = ("predict", "decision_function", "predict_confidence", "transform", "outlier_scores", "score_samples")
_PER_CLASS = {"n_features_to_select"}  # counts over the whole model since; with two classes nothing has changed

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "arow": [{"covariance": "full"}, {"diagonal": "precision"}, {"n_features_to_select": 4}, {"r": "auto"}],
    "cw": [{"variant": "variance", "diagonal": "precision"}, {"covariance": "full"}],
    "scw": [{"covariance": "full", "variant": "II"}, {"C": 0.1}],
    "sop": [{"a": 0.1}],
    "pa": [{"variant": "hard"}, {"variant": "II", "C": 0.3}],
    "bcw": [{"batch_size": 8, "loss": "hinge", "centre": "kl", "n_passes": 2}],
    "sbcw": [{"batch_size": 8, "n_features_to_select": 4, "n_groups": 2, "n_passes": 2}],
    "ascw": [{"batch_size": 8, "n_features_to_select": 4, "n_groups": 2, "n_costs": 2}],
    "poolcw": [{"n_features_to_select": 2, "batch_size": 8, "cost": 0.5, "scout": True}],
    "ofs": [{"n_features_to_select": 3}],
    "sofs": [{"n_features_to_select": 3}],
    "petrun": [{"n_features_to_select": 3}],
    "mbpa": [{"n_features_to_select": 3, "cost_ratio": 2.0}],
    "csoal": [{"cost": "weight", "delta": 0.1}, {"cost_ratio": 3.0, "query_budget": 20}],
    "pegasos": [{"average": True}, {"batch_size": 8, "alpha": 0.1}]
    + [
        {"loss": loss, "alpha": 0.1}
        for loss in ("hinge", "squared_hinge", "pinball", "logistic", "modified_huber", "squared")
    ],
    "pegasos-regressor": [
        {"loss": loss, "alpha": 0.01, "tau": 0.3} for loss in ("squared", "epsilon_insensitive", "quantile")
    ],
    "dropoutpegasos": [{"alpha": 0.1, "loss": "logistic"}],
    "l1rda": [
        {"l2_weight": 0.1, "rho": 0.01},
        {"n_features_to_select": 4, "batch_size": 8},
        {"debias": True, "alpha": 0.01, "loss": "logistic"},
        {"alpha": "auto"},
    ],
    "l1rda-regressor": [{"loss": "quantile"}, {"batch_size": 8, "eta0": 0.05}],
    "adaptivel1rda": [{"l2_weight": 0.1, "penalize_intercept": True}, {"n_features_to_select": 4}],
    "ftrl": [{"n_features_to_select": 4, "debias": True}, {"l2": 1.0, "loss": "hinge", "alpha": 0.7, "l1": 0.3}],
    "ftrl-regressor": [{"l1": "auto", "debias": True}],
    "reweightedl1rda": [{"alpha": 1e-3, "rho": 0.01}, {"debias": True, "alpha": 1e-3}],
    "reweightedl2rda-regressor": [{"loss": "epsilon_insensitive"}],
    "sharedrda": [{"loss": "logistic", "alpha": 0.01}, {"n_features_to_select": 4}],
    "multitaskrda": [{"penalty": "lp1", "p": float("inf")}],
    "multitaskfobos": [{"penalty": "l1_l21", "loss": "logistic"}],
    "grouprda": [{"groups": [[0, 1], [2, 3]], "alpha": 0.01}, {"groups": [[3, 1], [0, 2]], "norm": "inf"}],
    "grouprda-regressor": [{"groups": [[0, 1], [2, 3]], "alpha": 0.01, "eta0": 0.05}],
    "groupfobos": [{"groups": [[0, 1], [2, 3]], "alpha": 0.01, "l1_weight": 0.3}],
    "pegasossnd": [{"alpha": 0.1, "coupling": 1.2}],
    "sparsesdca": [{"alpha": 1e-2}],
    "fgm": [{"n_features_to_select": 4, "n_groups": 2, "loss": "hinge"}],
    "lssvc": [{"kernel": "polynomial"}],
    "lssnd": [{"coupling": 1.5}],
    "gmkl": [{"v": 0.5}, {"solver": "level"}],
    "lpmkl": [{"p": 1.5}],
    "sparsekmeans": [
        {"n_clusters": 3, "alpha": 0.1},
        {"n_clusters": 3, "metric": "cosine"},
        {"n_clusters": 3, "batch_size": 16, "n_steps": 20},
    ],
    "kernelspectralclustering": [{"n_clusters": 3, "n_components": 20}],
    "lapsvc": [{"n_neighbors": 4, "n_components": 20}, {"solver": "primal", "normalized": True}],
    "semiksc": [{"n_components": 20}],
    "bisemiksc": [{"n_components": 20}],
}


def cases() -> list[tuple[str, type[Any], dict[str, Any], int]]:
    """Name of a case, class, parameters, number of classes."""
    found = []
    for name, cls in registry.estimators().items():
        for options in ({}, *VARIANTS.get(name, [])):
            for n_classes in (2, 3):
                if n_classes == 3 and _PER_CLASS & set(options):
                    continue
                found.append((f"{name} {options} {n_classes}", cls, options, n_classes))
    return found


def rows(n_classes: int, regression: bool, n_rows: int = 96, n_features: int = 9) -> tuple[Any, Any]:
    """Dense rows, some of them zero, with labels or targets."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    X[[0, n_rows // 2]] = 0
    scores = X @ rng.normal(size=(n_features, n_classes)) + 0.3 * rng.normal(size=(n_rows, n_classes))
    if regression:
        return X, 1 + scores[:, 0]
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def outcomes(cls: type[Any], options: dict[str, Any], n_classes: int) -> dict[str, Any]:
    """All that one case learned and predicts: by fit on dense rows, and by partial_fit on CSR."""
    renamed = RENAMED.get("*", {}) | RENAMED.get(cls.__name__, {})
    known = {renamed.get(name, name): value for name, value in options.items()}
    blank = cls()
    if "random_state" in blank.get_params():
        known.setdefault("random_state", 3)
    if n_classes > 2 and "selection" in blank.get_params():
        known.setdefault("selection", "class")  # what n_features_to_select meant when bits were recorded
    X, y = rows(n_classes, is_regressor(blank))
    if {"unlabelled", "unlabeled"} & set(getattr(cls, "_needs", ())):
        y = np.where(np.random.default_rng(5).random(len(y)) < 0.5, y, -1)
        y[:n_classes] = np.arange(n_classes)
    out: dict[str, Any] = {}
    supervised = not is_clusterer(blank)
    tasks = np.arange(len(X)) % 3
    by_task = "tasks" in inspect.signature(cls.fit).parameters
    for way in ("fit", "partial_fit"):
        if not hasattr(cls, way):
            continue
        model = cls(**known)
        try:
            if way == "fit":
                model.fit(X, y, **({"tasks": tasks} if by_task else {})) if supervised else model.fit(X)
            else:
                for i in range(0, len(X), 24):
                    part = sparse.csr_array(X[i : i + 24])
                    more = {"tasks": tasks[i : i + 24]} if by_task else {}
                    if not supervised:
                        model.partial_fit(part)
                    elif is_regressor(blank):
                        model.partial_fit(part, y[i : i + 24], **more)
                    else:
                        model.partial_fit(part, y[i : i + 24], classes=np.unique(y[y >= 0]), **more)
        except (ValueError, FloatingPointError, TypeError) as refusal:
            out[f"{way} refused"] = np.array([type(refusal).__name__])
            continue
        for attribute in ("coef_", "intercept_", "dual_coef_", "cluster_centers_", "variance_", "weights_", "labels_"):
            if hasattr(model, attribute):
                _put(out, f"{way} {attribute}", getattr(model, attribute))
        for name, array in getattr(getattr(model, "state_", None), "arrays", {}).items():
            _put(out, f"{way} state {name}", array)
        for name in _READ:
            if hasattr(model, name):
                _put(out, f"{way} {name}", getattr(model, name)(X, **({"tasks": tasks} if by_task else {})))
    return out


def _put(out: dict[str, Any], name: str, value: Any) -> None:
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, tuple | list):
        for i, part in enumerate(value):
            _put(out, f"{name}[{i}]", part)
    elif isinstance(value, np.ndarray | float | int | np.generic) and np.asarray(value).dtype.kind in "biufU":
        out[name] = np.asarray(value)


def everything() -> dict[str, Any]:
    """All outcomes by the name of case and array."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, cls, options, n_classes in cases():
            for part, value in outcomes(cls, options, n_classes).items():
                found[f"{name} :: {part}"] = value
    return found


def differences(before: Any, now: dict[str, Any]) -> list[str]:
    """The names of arrays that are missing, new in shape or other in a bit."""
    wrong = []
    for name in before:
        a, b = before[name], now.get(name)
        if b is None or a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            wrong.append(name)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Do all estimators still give the same bits?")
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file")
    given = parser.parse_args()
    now = everything()
    refused = [name for name in now if name.endswith("refused")]
    if given.action == "record":
        np.savez_compressed(given.file, **now)
        print(f"{len(cases())} cases, {len(now)} arrays, {len(refused)} refusals.")
        print("\n".join(refused))
        return
    with np.load(given.file) as before:
        kept = {name: before[name] for name in before.files}
    wrong = differences(kept, now)
    print(f"{len(cases())} cases, {len(kept)} arrays, {len(wrong)} of them differ.")
    if wrong:
        sys.exit("\n".join(wrong[:50]))


if __name__ == "__main__":
    main()
