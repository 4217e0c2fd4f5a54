"""Confidence-weighted learning in batches: BCW, and learners that select a few of very many features."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._ascw import ASCWClassifier
    from ._bcw import BCWClassifier
    from ._fgm import FGMClassifier
    from ._pool_cw import PoolCWClassifier
    from ._sbcw import SBCWClassifier
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = ["ASCWClassifier", "BCWClassifier", "FGMClassifier", "PoolCWClassifier", "SBCWClassifier"]
