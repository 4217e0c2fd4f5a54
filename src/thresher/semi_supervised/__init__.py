"""Learning from few labels: unlabelled rows, and rows that belong to no class."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._bi_semi_ksc import BiSemiKSC
    from ._lap_svc import LapSVC
    from ._s3 import S3VC
    from ._semi_ksc import SemiKSC
    from ._tri_class import TriClassSVC
    from ._universum import UniversumSVC
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = ["S3VC", "BiSemiKSC", "LapSVC", "SemiKSC", "TriClassSVC", "UniversumSVC"]
