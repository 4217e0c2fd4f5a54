"""Models with all that a report can be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher.cluster import SparseKMeans
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.online import AROWClassifier
from thresher.training._records import HeldOut, History

HOSTILE = "<script>alert(1)</script>"


def held_out(model: Any, X: Any, y: Any, name: str = "test.csv", n_rows: int = 0) -> HeldOut:
    scores = model.decision_function(X) if hasattr(model, "decision_function") else None
    chances = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    return HeldOut(name, np.asarray(y), model.predict(X), scores, n_rows or len(y), chances)


def evaluations(n: int = 20, name: str = "alpha") -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        {
            "evaluation": i,
            "stage": "annealing" if i < n // 2 else "simplex",
            "params": {f"learn__{name}": float(10.0 ** rng.uniform(-5, 0)), "learn__loss": "hinge"},
            "score": float("nan") if i == 3 else -0.1 - float(rng.random()) / 10,
            "n_used": float(rng.integers(1, 1000)),
            "seconds": 0.1,
            "error": None,
        }
        for i in range(n)
    ]


def course(n_points: int = 40, names: tuple[str, ...] = ("monday.svm", "tuesday.svm")) -> History:
    """A stream of 10,000 rows whose error falls."""
    rows = np.unique(np.geomspace(100, 10_000, n_points).astype(int))
    mistakes = (0.5 * rows**0.8).astype(int)
    files = [
        {"name": name, "pass": 1, "rows": 5000, "mistakes": max(0, 400 - 100 * i), "loss": 900.0 - 200 * min(i, 4)}
        for i, name in enumerate(names)
    ]
    return History(rows.tolist(), mistakes.tolist(), (rows**0.9).tolist(), (rows // 10).tolist(), files)


def binary(labels: tuple[Any, Any] = ("ham", "spam"), n: int = 400) -> dict[str, Any]:
    """A rare class, a stream, a search; two named columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2 * n, 2)), columns=["length", "capitals"])
    latent = X.to_numpy() @ [1.0, 2.0] + rng.normal(size=2 * n)
    y = np.array(labels)[(latent > np.quantile(latent, 0.9)).astype(int)]
    model = L1RDAClassifier(alpha=0.01, random_state=0).fit(X[:n], y[:n])
    return {
        "model": model,
        "asked": {
            "question": "Which mail is spam?",
            "reasons": ["A rare class.", "A stream."],
            "command": "thresher train mail.svm",
            "python": "import thresher\n\nif True:\n    pass",
            "versions": {"numpy": "2.0"},
            "seed": 7,
        },
        "data": {
            "files": [{"name": "mail.svm", "rows": n, "bytes": 12_345}],
            "n_rows": n,
            "n_features": 2,
            "n_values": n,
            "classes": {str(k): int((y[:n] == k).sum()) for k in labels},
            "target": "kind",
            "skipped": 2,
        },
        "history": course(),
        "held_out": held_out(model, X[n:], y[n:]),
        "search": evaluations(),
        "sample": (X[n:], y[n:]),
    }


def several(n_classes: int = 4, n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * n, 6))
    latent = X @ rng.normal(size=(6, n_classes)) + rng.normal(size=(2 * n, n_classes))
    y = np.array([f"class {k}" for k in range(n_classes)])[latent.argmax(axis=1)]
    model = make_pipeline(StandardScaler(), AROWClassifier(random_state=0)).fit(X[:n], y[:n])
    return {"model": model, "held_out": held_out(model, X[n:], y[n:]), "sample": (X[n:], y[n:])}


def values(n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2 * n, 5))
    y = 3 + X @ [2.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=2 * n)
    model = L1RDARegressor(alpha=0.05, random_state=0).fit(X[:n], y[:n])
    history = course()
    history.mistakes = [0] * len(history.rows)
    return {
        "model": model,
        "held_out": held_out(model, X[n:], y[n:]),
        "sample": (X[n:], y[n:]),
        "history": history,
    }


def clusters(n: int = 240) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    X[np.arange(n), np.arange(n) % 3] += 3
    model = SparseKMeans(n_clusters=3, alpha=0.05, random_state=0).fit(X)
    return {"model": model, "sample": (X, np.arange(n) % 3)}


EVERY = {"binary": binary, "several": several, "values": values, "clusters": clusters}
