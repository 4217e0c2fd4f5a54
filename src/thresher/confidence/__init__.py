"""Confidence-weighted learning in batches: BCW, and learners that select a few of very many features."""

from ._ascw import ASCWClassifier
from ._bcw import BCWClassifier
from ._fgm import FGMClassifier
from ._pool_cw import PoolCWClassifier
from ._sbcw import SBCWClassifier

__all__ = ["ASCWClassifier", "BCWClassifier", "FGMClassifier", "PoolCWClassifier", "SBCWClassifier"]
