"""Few labels, many rows without, and rows that belong to no class."""

from ._s3 import S3VC
from ._tri_class import TriClassSVC
from ._universum import UniversumSVC

__all__ = ["S3VC", "TriClassSVC", "UniversumSVC"]
