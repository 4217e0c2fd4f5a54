"""Online linear classifiers: they learn from each row once and do not store it, and one pass is usually enough."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._arow import AROWClassifier
    from ._csoal import CSOALClassifier
    from ._cw import CWClassifier
    from ._mbpa import MBPAClassifier
    from ._narow import NAROWClassifier
    from ._nherd import NHERDClassifier
    from ._ofs import OFSClassifier
    from ._pa import PAClassifier
    from ._petrun import PETrunClassifier
    from ._scw import SCWClassifier
    from ._sofs import SOFSClassifier
    from ._sop import SOPClassifier
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "AROWClassifier",
    "CSOALClassifier",
    "CWClassifier",
    "MBPAClassifier",
    "NAROWClassifier",
    "NHERDClassifier",
    "OFSClassifier",
    "PAClassifier",
    "PETrunClassifier",
    "SCWClassifier",
    "SOFSClassifier",
    "SOPClassifier",
]
