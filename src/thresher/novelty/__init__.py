"""Classifiers that detect rows that belong to no class.

=============================  ======================================================================================
:class:`SNDClassifier`         a quadratic program: up to some thousand rows, few of them kept
:class:`LSSNDClassifier`       least squares: fast and exact, all rows kept
:class:`PegasosSNDClassifier`  streams; after a fixed-size map, large data
=============================  ======================================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._ls_snd import LSSNDClassifier
    from ._pegasos_snd import PegasosSNDClassifier
    from ._snd import SNDClassifier
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = ["LSSNDClassifier", "PegasosSNDClassifier", "SNDClassifier"]
