"""Classes, and rows that belong to none of them."""

from ._pegasos_snd import PegasosSNDClassifier

__all__ = ["PegasosSNDClassifier"]
