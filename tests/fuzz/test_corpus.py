"""What attacks have found: fits that broke a rule once, and must not again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent))
from fits import ESTIMATORS, attempt

CLASSES = {cls.__name__: cls for _, cls in ESTIMATORS}
FOUND: list[tuple[str, dict[str, Any], float]] = [
    ("FGMClassifier", {}, 1e99),
    ("FGMClassifier", {"loss": "squared_hinge"}, 1e99),
    ("SOFSClassifier", {"r": "auto"}, 1e99),
    ("SOFSClassifier", {"r": 1.0}, 1e80),
    ("SBCWClassifier", {"ranking": "full", "n_features_to_select": 5, "n_groups": 2}, 1e50),
    ("ASCWClassifier", {"ranking": "full", "n_features_to_select": 5, "n_groups": 2}, 1e50),
    ("LSSNDClassifier", {"nu": None}, 1.0),
    ("LSSNDClassifier", {"nu": "x"}, 1.0),
    ("LSSVC", {"cache_size": 2**62}, 1.0),
    ("S3VC", {"cache_size": 2**62}, 1.0),
    ("LapSVC", {"cache_size": 1e99}, 1.0),
    ("SNDClassifier", {"cache_size": 1e99}, 1.0),
    ("UniversumSVC", {"cache_size": 2**62, "tol": 0.0}, 1.0),
    ("SharedRDAClassifier", {"loss": "logistic", "tol": 1e8, "max_iter": 3}, 1e99),
    ("PoolCWClassifier", {"threshold": "cost", "cost": "adaptive", "n_features_to_select": 2}, 1.0),
    ("BCWClassifier", {"C": 10**400}, 1.0),
    ("FGMClassifier", {"C": 10**400}, 1.0),
    ("GMKLClassifier", {"C": 1e101}, 1.0),
    ("SparseSDCAClassifier", {"alpha": 1e-99}, 1.0),
    ("SparseSDCAClassifier", {"alpha": 1e-320}, 1.0),
    ("ReweightedL1RDARegressor", {"smoothing": 1e-320, "eta0": 7, "alpha": 0.1}, 1.0),
    ("SparseKMeans", {"alpha": np.float32(0.1)}, 1.0),
    ("SparseKMeans", {}, 1e-99),
    ("ReweightedL1RDAClassifier", {"eta0": 1e99}, 1e50),
    ("LapSVC", {"alpha": 1e-99, "alpha_graph": 1e99}, 1.0),
    ("LeastSquaresRegressor", {}, 1e-150),
    ("LeastSquaresRegressor", {}, 1e99),
    ("LeastSquaresRegressor", {"alpha": 1e99}, 1e-99),
    ("LeastSquaresClassifier", {"threshold": 0.0}, 1e-150),
    ("BiSemiKSC", {"outlier_label": 1e50}, 1.0),
    ("UniversumSVC", {"irrelevant_label": 1e50}, 1.0),
    ("KernelSpectralClustering", {"n_components": 1e-99}, 1.0),
    ("LapSVC", {"n_components": 1e-12}, 1.0),
    ("PoolCWClassifier", {"n_steps": 3}, 1.0),
    ("ASCWClassifier", {"n_steps": 3, "n_features_to_select": 1}, 1.0),
    ("PoolCWClassifier", {"pool": 1e12}, 1.0),
    ("PoolCWClassifier", {"pool": 1e99}, 1.0),
    ("SNDClassifier", {"nu": 1e-50}, 1.0),
]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array], ids=["dense", "csc"])
@pytest.mark.parametrize("case", FOUND, ids=lambda case: f"{case[0]} {case[1]} {case[2]:g}")
def test_what_was_found_stays_mended(case, layout):
    name, params, scale = case
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] > 0).astype(int) + (rng.random(40) < 0.2)
    assert attempt(CLASSES[name], params, layout(X * scale), y) in ("works", "refused", "not saved")
