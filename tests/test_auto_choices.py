"""The choices of ``auto`` for a grid of small problems: methods, parameters and the sentences on them.

``python tests/test_auto_choices.py`` records them anew. A new method changes the records only of problems that it
declares itself good for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from thresher._auto import AutoOptions, make_plan
from thresher._auto._candidate_model import build, describe_ids, describe_preparation, space_of
from thresher._auto._contest import line_up

RECORDED = Path(__file__).parent / "data" / "auto_choices.json"


# --- the problems -----------------------------------------------------------------------------------------------------


def dense(n: int = 60, d: int = 4) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d))


def csr(n: int = 60, d: int = 2000) -> Any:
    return sparse.random_array((n, d), density=0.05, rng=0, format="csr")


def table(words_only: bool = False, n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Gent", "Rome"], n), "school": rng.choice(["a", "b", "c"], n)})
    return frame if words_only else frame.assign(size=rng.normal(size=n), age=rng.normal(40, 9, n))


def classes(n: int = 60, k: int = 2, every: int | None = None) -> np.ndarray:
    """Classes in turn, or a rare one among others; words."""
    code = np.arange(n) % k if every is None else (np.arange(n) % every == 0).astype(int)
    return np.array(["no", "yes", "maybe", "never"], dtype=object)[code]


def amounts(n: int = 60, unit: float = 1.0) -> np.ndarray:
    return unit * np.round(np.random.default_rng(1).normal(size=n), 6)


def marked(label: str, n: int = 60, every: int = 3) -> np.ndarray:
    """Two classes, and a label that is none of them."""
    y = classes(n)
    y[::every] = label
    return y


INPUTS: dict[str, Any] = {
    "dense": dense(), "wide": dense(60, 1200), "text-like": csr(), "narrow sparse": csr(60, 40),
    "uneven sparse": sparse.csr_array(csr(60, 40) @ sparse.diags_array(10.0 ** np.linspace(-4, 4, 40))),
    "table": table(), "words": table(words_only=True), "60 columns": dense(60, 60), "150 columns": dense(60, 150),
}  # fmt: skip
CLASSIFICATION: list[tuple[str, str, dict[str, Any]]] = [
    *((X, y, {}) for X in INPUTS for y in ("two", "rare")),
    *((X, y, {"sparsity": 0.1}) for X in ("dense", "wide", "text-like", "words") for y in ("two", "rare")),
    ("dense", "three", {}),
    *(("dense", "two", {"loss": loss}) for loss in ("hinge", "logistic", "squared_hinge", "pinball")),
    ("text-like", "two", {"loss": "logistic"}),
    *(("dense", "two", {"kernel": kernel}) for kernel in ("linear", "rbf", "cosine", "nystroem-linear")),
    ("dense", "two", {"params": {"max_iter": 7}}),
    ("dense", "two", {"params": {"speed": 7}}),
    ("table", "two", {"task_column": "school"}),
    ("table", "three", {"task_column": "school"}),
    ("table", "two", {"groups": "encoder"}),
    ("dense", "two", {"groups": [[0, 1]]}),
    ("dense", "two", {"groups": [[0, 1]], "loss": "logistic", "sparsity": 0.1}),
    ("dense", "two", {"groups": [[0, 1]], "kernel": "rbf"}),
    *(
        ("dense", "two", {"method": method})
        for method in ("arow", "l1rda", "poolcw", "lssvc", "gmkl", "grouprda", "ftrl", "sparsesdca")
    ),
    ("text-like", "two", {"method": "l1rda"}),
    ("dense", "two", {"method": "lssvc", "kernel": "polynomial"}),
    ("dense", "two", {"method": "lssvc", "sparsity": 0.1}),
    ("many", "two of many", {"method": "lssvc"}),
    ("many", "two of many", {"kernel": "linear"}),
    *(
        (X, "outliers", {"outlier_label": label})
        for X in ("dense", "text-like", "60 columns")
        for label in ("x", "new")
    ),
    *(("dense", "outliers", {"outlier_label": "x", "kernel": kernel}) for kernel in ("linear", "rbf", "nystroem")),
    *((f"{n} rows", f"outliers of {n}", {"outlier_label": "x"}) for n in (2000, 2001, 5001)),
    ("dense", "outliers", {"outlier_label": "x", "method": "pegasossnd"}),
    ("dense", "outliers", {"outlier_label": "x", "unlabelled_label": "no"}),
    ("dense", "outliers", {"unlabelled_label": "x"}),
    *(("dense", "outliers", {"unlabelled_label": "x", "kernel": kernel}) for kernel in ("linear", "rbf", "nystroem")),
    ("dense", "outliers", {"unlabelled_label": "x", "params": {"C_unlabelled": 1.0}}),
    ("dense", "outliers", {"unlabelled_label": "x", "method": "semiksc"}),
    ("dense", "outliers", {"unlabelled_label": "x", "method": "triclass"}),
    ("many", "outliers of many", {"unlabelled_label": "x"}),
    ("many", "outliers of many", {"unlabelled_label": "x", "params": {"spread": 0.5}}),
    ("many", "outliers of many", {"unlabelled_label": "x", "kernel": "linear"}),
]
REGRESSION: list[tuple[str, str, dict[str, Any]]] = [
    *((X, "amounts", {}) for X in ("dense", "wide", "text-like", "table", "words")),
    *((X, "amounts", {"sparsity": 0.1}) for X in ("dense", "text-like")),
    *(("dense", "large", {"loss": loss}) for loss in ("squared", "epsilon_insensitive", "quantile")),
    ("table", "large", {"task_column": "school"}),
    ("table", "large", {"groups": "encoder", "loss": "epsilon_insensitive"}),
    *(
        ("dense", "large", {"method": f"{method}-regressor", **loss})
        for method in ("l1rda", "adaptivel1rda", "ftrl", "pegasos", "reweightedl1rda", "gmkl")
        for loss in ({}, {"loss": "epsilon_insensitive"})
    ),
]
CLUSTERING: list[tuple[str, str, dict[str, Any]]] = [
    *((X, "none", {}) for X in ("dense", "text-like", "table")),
    ("dense", "none", {"n_clusters": 3, "sparsity": 0.0}),
    *(("dense", "none", {"method": m}) for m in ("kernelspectralclustering", "proximalplaneclustering")),
    ("dense", "none", {"method": "proximalplaneclustering", "sparsity": 0.1}),
    ("dense", "none", {"criterion": "line_fit"}),
]
PROBLEMS = {f"{X}, {y}, {options}": (X, y, options) for X, y, options in CLASSIFICATION + REGRESSION + CLUSTERING}


def rows_of(name: str) -> Any:
    n = 20_001 if name == "many" else int(name.removesuffix(" rows")) if name.endswith(" rows") else None
    return INPUTS[name] if n is None else dense(n, 2)


def targets_of(name: str) -> Any:
    kind, _, of = name.partition(" of ")
    n = 60 if not of else 20_001 if of == "many" else int(of)
    made = {
        "two": lambda: classes(n), "three": lambda: classes(n, 3), "rare": lambda: classes(n, every=20),
        "outliers": lambda: marked("x", n), "amounts": lambda: amounts(n), "large": lambda: amounts(n, 1000.0),
        "none": lambda: None,
    }  # fmt: skip
    return made[kind]()


# --- what is chosen ---------------------------------------------------------------------------------------------------


def chosen(X: Any, y: Any, **options: Any) -> dict[str, Any]:
    """Everything that is decided before any model is fitted."""
    plan, candidates, reasons = make_plan(X, y, AutoOptions(**options), {})
    contest = line_up(candidates, plan)
    models = [build(candidate, plan) for candidate in contest]
    ids = describe_ids(plan.data.X, plan.task == "clustering", False)
    return {
        "task": plan.task,
        "criterion": plan.criterion,
        "n_folds": len(plan.folds),
        "reasons": reasons,
        "preparation": [*describe_preparation(models[0], plan), *ids],
        "candidates": [candidate.name for candidate in candidates],
        "contest": [
            {
                "name": candidate.name,
                "params": candidate.params,
                "fixed": list(candidate.fixed),
                "steps": [name for name, _ in getattr(model, "steps", [])],
                "tuned": list(space_of(model, candidate, plan)),
            }
            for candidate, model in zip(contest, models, strict=True)
        ],
    }


def describe(name: str) -> dict[str, Any]:
    X, y, options = PROBLEMS[name]
    try:
        found = chosen(rows_of(X), targets_of(y), **options)
    except ValueError as refusal:
        found = {"refused": str(refusal)}
    return json.loads(json.dumps(found, default=str))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_choice_is_as_recorded(name):
    assert describe(name) == json.loads(RECORDED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(describe(name), ensure_ascii=False)}" for name in PROBLEMS]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def texts(longer: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Counts of words; every second row has so many times as many of them, and words tell the class by their share."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200)
    shares = np.where(y[:, None] == np.arange(1_000) % 2, 1.3, 0.7)
    sizes = np.where(np.arange(200) % 2, longer, 1)[:, None]
    return sparse.csr_array(rng.poisson(0.02 * shares * sizes).astype(float)), y


def test_sparse_rows_of_different_length_are_also_tried_at_length_1():
    for longer, expected in ((9, True), (1, False)):
        X, y = texts(longer)
        plan, candidates, _ = make_plan(X, y, AutoOptions(), {})
        contest = line_up(candidates, plan)
        assert any(candidate.unit_rows for candidate in contest) is expected
        assert [candidate for candidate in contest if not candidate.unit_rows][: len(candidates)] == candidates
    X, y = texts(9)
    plan, candidates, _ = make_plan(X, y, AutoOptions(method="arow"), {})
    assert line_up(candidates, plan) == candidates


def test_rows_of_length_1_are_scaled_inside_the_model_and_that_is_said():
    X, y = texts(9)
    plan, candidates, _ = make_plan(X, y, AutoOptions(), {})
    unit = next(candidate for candidate in line_up(candidates, plan) if candidate.unit_rows)
    model = build(unit, plan).fit(X, y)
    assert unit.name.endswith(" on rows of length 1")
    assert_allclose(model.decision_function(X), model.decision_function(3 * X), rtol=1e-9)
    assert "Rows are scaled to length 1, so that long rows do not count more than short ones." in describe_preparation(
        model, plan
    )
