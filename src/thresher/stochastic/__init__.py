"""Stochastic learners: subgradient steps, and coordinate steps in the dual."""

from ._ard import ard_weights
from ._dropout import DropoutPegasosClassifier
from ._pegasos import PegasosClassifier, PegasosRegressor
from ._sdca import SparseSDCAClassifier

__all__ = [
    "DropoutPegasosClassifier",
    "PegasosClassifier",
    "PegasosRegressor",
    "SparseSDCAClassifier",
    "ard_weights",
]
