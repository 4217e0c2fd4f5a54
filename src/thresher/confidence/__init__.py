"""Confidence-weighted learning in batches: BCW, and what keeps few features of very many."""

from ._bcw import BCWClassifier

__all__ = ["BCWClassifier"]
