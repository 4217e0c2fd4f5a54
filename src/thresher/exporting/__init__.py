"""Export of models for use without Python: as an ONNX graph, an SQL query, C source or JSON.

==========================  ============================================================
:func:`export`              export a model; also ``thresher.export``
:func:`register_skl2onnx`   let skl2onnx convert pipelines that hold models of thresher
==========================  ============================================================
"""

from ._converters import register_skl2onnx
from ._export import TARGETS as TARGETS
from ._export import export
from ._folding import scoring_of as scoring_of
from ._scoring import CategoryTerm as CategoryTerm
from ._scoring import DateTerm as DateTerm
from ._scoring import LinearTerm as LinearTerm
from ._scoring import Scoring as Scoring

__all__ = ["export", "register_skl2onnx"]
