"""Confidence-weighted learning in batches: BCW, and what keeps few features of very many."""

from ._bcw import BCWClassifier
from ._pool_cw import PoolCWClassifier

__all__ = ["BCWClassifier", "PoolCWClassifier"]
