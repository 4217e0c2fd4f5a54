"""Stochastic subgradient learners."""

from ._dropout import DropoutPegasosClassifier
from ._pegasos import PegasosClassifier, PegasosRegressor

__all__ = ["DropoutPegasosClassifier", "PegasosClassifier", "PegasosRegressor"]
