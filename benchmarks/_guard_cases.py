"""What the guard watches: every compiled learner, by the estimator and the parameters that reach it, and its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    FTRLClassifier,
    GroupFOBOSClassifier,
    GroupRDAClassifier,
    L1RDAClassifier,
    MultiTaskFOBOSClassifier,
    MultiTaskRDAClassifier,
    ReweightedL1RDAClassifier,
    ReweightedL2RDAClassifier,
    SharedRDAClassifier,
)
from thresher.novelty import PegasosSNDClassifier
from thresher.online import (
    AROWClassifier,
    CSOALClassifier,
    CWClassifier,
    MBPAClassifier,
    NAROWClassifier,
    NHERDClassifier,
    OFSClassifier,
    PAClassifier,
    PETrunClassifier,
    SCWClassifier,
    SOFSClassifier,
    SOPClassifier,
)
from thresher.stochastic import DropoutPegasosClassifier, PegasosClassifier

WIDTHS = {"dense": 28, "CSR": 10_000}
N_ROWS = {"dense": 20_000, "CSR": 4_000}
NNZ = 75
N_TASKS = 4
N_CLASSES = 4


def _pairs(n_features: int) -> list[list[int]]:
    return np.arange(n_features).reshape(-1, 2).tolist()


def _chain(n_features: int) -> list[list[int]]:
    """Pairs, each of which shares a feature with the next."""
    return [[j, j + 1] for j in range(n_features - 1)]


def watched(n_features: int) -> dict[str, Any]:
    """New estimators by the name of the compiled learner that they run."""
    pairs, chain = _pairs(n_features), _chain(n_features)
    return {
        "Pa": PAClassifier(C=1.0),
        "PaJoint": PAClassifier(C=1.0, multi_class="joint"),
        "ArowDiagonal": AROWClassifier(r=1.0),
        "ArowFull": AROWClassifier(r=1.0, covariance="full"),
        "ArowJoint": AROWClassifier(r=1.0, multi_class="joint"),
        "ArowSelecting": AROWClassifier(r=1.0, n_features_to_select=10),
        "CwDiagonal": CWClassifier(confidence=0.9),
        "CwFull": CWClassifier(confidence=0.9, covariance="full"),
        "CwVarianceDiagonal": CWClassifier(confidence=0.9, variant="variance"),
        "CwVarianceFull": CWClassifier(confidence=0.9, variant="variance", covariance="full"),
        "CwJoint": CWClassifier(confidence=0.9, multi_class="joint"),
        "CwVarianceJoint": CWClassifier(confidence=0.9, variant="variance", multi_class="joint"),
        "ScwDiagonal": SCWClassifier(C=1.0),
        "ScwFull": SCWClassifier(C=1.0, covariance="full"),
        "ScwJoint": SCWClassifier(C=1.0, multi_class="joint"),
        "NarowDiagonal": NAROWClassifier(b=1.0),
        "NarowFull": NAROWClassifier(b=1.0, covariance="full"),
        "NarowJoint": NAROWClassifier(b=1.0, multi_class="joint"),
        "NherdDiagonal": NHERDClassifier(C=1.0),
        "NherdFull": NHERDClassifier(C=1.0, covariance="full"),
        "NherdJoint": NHERDClassifier(C=1.0, multi_class="joint"),
        "SopDiagonal": SOPClassifier(a=1.0),
        "SopFull": SOPClassifier(a=1.0, covariance="full"),
        "Ofs": OFSClassifier(n_features_to_select=10, eta0=0.2),
        "Petrun": PETrunClassifier(n_features_to_select=10, eta0=1.0),
        "Sofs": SOFSClassifier(n_features_to_select=10, r=1.0),
        "Mbpa": MBPAClassifier(n_features_to_select=10, C=1.0),
        "Csoal": CSOALClassifier(C=1.0, random_state=0),
        "Pegasos": PegasosClassifier(alpha=1e-4),
        "PegasosBatch": PegasosClassifier(alpha=1e-4, batch_size=16),
        "PegasosMean": PegasosClassifier(alpha=1e-4, average="late"),
        "PegasosJoint": PegasosClassifier(alpha=1e-4, multi_class="joint"),
        "PegasosMeanJoint": PegasosClassifier(alpha=1e-4, average="late", multi_class="joint"),
        "DropoutPegasos": DropoutPegasosClassifier(alpha=1e-4, random_state=0),
        "L1Rda": L1RDAClassifier(1e-4, eta0=1.0),
        "L1RdaMean": L1RDAClassifier(1e-4, eta0=1.0, average=True),
        "L1RdaJoint": L1RDAClassifier(1e-4, eta0=1.0, multi_class="joint"),
        "L1RdaMeanJoint": L1RDAClassifier(1e-4, eta0=1.0, average=True, multi_class="joint"),
        "L1RdaBatch": L1RDAClassifier(1e-4, eta0=1.0, batch_size=16),
        "AdaptiveL1Rda": AdaptiveL1RDAClassifier(1e-4, eta0=1.0),
        "AdaptiveL1RdaBatch": AdaptiveL1RDAClassifier(1e-4, eta0=1.0, batch_size=16),
        "Ftrl": FTRLClassifier(eta0=0.3, alpha=1.0),
        "FtrlJoint": FTRLClassifier(eta0=0.3, alpha=1.0, multi_class="joint"),
        "ReweightedL1Rda": ReweightedL1RDAClassifier(eta0=1.0),
        "ReweightedL1RdaBatch": ReweightedL1RDAClassifier(eta0=1.0, batch_size=16),
        "ReweightedL2Rda": ReweightedL2RDAClassifier(smoothing=10.0),
        "ReweightedL2RdaBatch": ReweightedL2RDAClassifier(smoothing=10.0, batch_size=16),
        "MultiTaskRda": MultiTaskRDAClassifier(eta0=1.0),
        "MultiTaskFobos": MultiTaskFOBOSClassifier(eta0=1.0),
        "SharedRda": SharedRDAClassifier(eta0=1.0),
        "PegasosSnd": PegasosSNDClassifier(reject=False, outlier_label=None),
        "PegasosSndBatch": PegasosSNDClassifier(reject=False, outlier_label=None, batch_size=16),
        "GroupLassoRda": GroupRDAClassifier(pairs, eta0=1.0),
        "GroupLassoRdaOverlap": GroupRDAClassifier(chain, eta0=1.0),
        "SparseGroupRda": GroupRDAClassifier(pairs, eta0=1.0, l1_weight=0.3),
        "SparseGroupRdaOverlap": GroupRDAClassifier(chain, eta0=1.0, l1_weight=0.3),
        "GroupFobos": GroupFOBOSClassifier(pairs, eta0=1.0),
    }


def names() -> list[str]:
    """``pass or predict, layout, learner``. A covariance of all weights is for few columns."""
    return [
        f"{what}, {layout}, {name}"
        for what in ("pass", "predict")
        for layout in WIDTHS
        for name in watched(2)
        if layout == "dense" or not name.endswith("Full")
    ]


class Watch(NamedTuple):
    """One case: what to repeat, on what, and the product that it is measured by."""

    work: Callable[[Any], Any]
    prepare: Callable[[], Any]
    product: Callable[[], Any]


def watch(name: str) -> Watch:
    what, layout, core = name.split(", ")
    X, y, w = rows(layout)
    estimator = watched(X.shape[1])[core]
    tasks = {"tasks": np.arange(len(y)) % N_TASKS} if core.startswith("MultiTask") else {}
    if core.endswith("Joint"):  # the side of two planes that a row is on
        y = 2 * (y > 0) + (X @ np.roll(w, 1) > 0)

    def new() -> Any:
        """A model that has seen two rows, so that nothing is made for the first time."""
        first = {key: each[:2] for key, each in tasks.items()}
        return type(estimator)(**estimator.get_params()).partial_fit(X[:2], y[:2], classes=np.unique(y), **first)

    def product() -> Any:
        return X @ w

    if what == "pass":
        return Watch(lambda model: model.partial_fit(X, y, **tasks), new, product)
    learned = new().partial_fit(X, y, **tasks)
    return Watch(lambda model: model.predict(X, **tasks), lambda: learned, product)


@cache
def rows(layout: str) -> tuple[Any, Any, Any]:
    """Rows, labels of which 10 % are wrong, and weights for the product."""
    n_rows, n_features = N_ROWS[layout], WIDTHS[layout]
    rng = np.random.default_rng(0)
    if layout == "dense":
        X = rng.standard_normal((n_rows, n_features)) / np.sqrt(n_features)
    else:
        often = np.sort((n_features * rng.random((n_rows, NNZ)) ** 3).astype(np.int32), axis=1)  # some words are common
        data = rng.random(n_rows * NNZ) / np.sqrt(NNZ)
        X = sparse.csr_array((data, often.ravel(), NNZ * np.arange(n_rows + 1)), shape=(n_rows, n_features))
        X.sum_duplicates()
    w = rng.standard_normal(n_features)
    y = np.where((X @ w > 0) ^ (rng.random(n_rows) < 0.1), 1.0, -1.0)
    return X, y, w
