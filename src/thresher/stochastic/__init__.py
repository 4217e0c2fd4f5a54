"""Stochastic subgradient learners."""

from ._pegasos import PegasosClassifier, PegasosRegressor

__all__ = ["PegasosClassifier", "PegasosRegressor"]
