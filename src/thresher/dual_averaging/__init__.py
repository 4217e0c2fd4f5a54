"""Dual averaging: sparse models whose zeros survive a stream."""

from ._l1_rda import L1RDAClassifier, L1RDARegressor

__all__ = ["L1RDAClassifier", "L1RDARegressor"]
