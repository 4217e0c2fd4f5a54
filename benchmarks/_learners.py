"""Our learners as the sections name them, each with its own defaults."""

from __future__ import annotations

from typing import Any

from thresher.dual_averaging import AdaptiveL1RDAClassifier, FTRLClassifier, L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier


def learners() -> dict[str, Any]:
    """New estimators by name."""
    return {
        "PA": PAClassifier(),
        "Pegasos": PegasosClassifier(alpha=1e-4),
        "l1-RDA": L1RDAClassifier(),
        "adaptive l1-RDA": AdaptiveL1RDAClassifier(),
        "FTRL": FTRLClassifier(),
        "AROW, drop": AROWClassifier(),
        "AROW, precision": AROWClassifier(diagonal="precision"),
    }
