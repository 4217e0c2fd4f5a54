"""Our learners as the sections name them, each with its own defaults."""

from __future__ import annotations

from typing import Any

from thresher.dual_averaging import AdaptiveL1RDAClassifier, FTRLClassifier, L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier


def learners() -> dict[str, Any]:
    """New estimators by name."""
    return {
        "PA": PAClassifier(C=1.0),
        "Pegasos": PegasosClassifier(alpha=1e-4),
        "l1-RDA": L1RDAClassifier(1e-4, eta0=1.0),
        "adaptive l1-RDA": AdaptiveL1RDAClassifier(1e-4, eta0=1.0),
        "FTRL": FTRLClassifier(eta0=0.3, alpha=1.0),
        "AROW, drop": AROWClassifier(r=1.0),
        "AROW, precision": AROWClassifier(r=1.0, diagonal="precision"),
    }
