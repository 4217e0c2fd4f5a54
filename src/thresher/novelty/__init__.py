"""Classifiers that detect rows that belong to no class.

=============================  ======================================================================================
:class:`SNDClassifier`         a quadratic program: up to some thousand rows, few of them kept
:class:`LSSNDClassifier`       least squares: fast and exact, all rows kept
:class:`PegasosSNDClassifier`  streams; after a fixed-size map, large data
=============================  ======================================================================================
"""

from ._ls_snd import LSSNDClassifier
from ._pegasos_snd import PegasosSNDClassifier
from ._snd import SNDClassifier

__all__ = ["LSSNDClassifier", "PegasosSNDClassifier", "SNDClassifier"]
