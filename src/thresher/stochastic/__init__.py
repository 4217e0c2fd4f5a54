"""Stochastic learners: subgradient steps, and coordinate steps in the dual."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._ard import ard_weights
    from ._dropout import DropoutPegasosClassifier
    from ._pegasos import PegasosClassifier, PegasosRegressor
    from ._sdca import SparseSDCAClassifier
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "DropoutPegasosClassifier",
    "PegasosClassifier",
    "PegasosRegressor",
    "SparseSDCAClassifier",
    "ard_weights",
]
