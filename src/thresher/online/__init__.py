"""Online linear classifiers: one pass is enough, a row is looked at once and forgotten."""

from ._arow import AROWClassifier
from ._cw import CWClassifier
from ._narow import NAROWClassifier
from ._nherd import NHERDClassifier
from ._pa import PAClassifier
from ._scw import SCWClassifier
from ._sop import SOPClassifier

__all__ = [
    "AROWClassifier",
    "CWClassifier",
    "NAROWClassifier",
    "NHERDClassifier",
    "PAClassifier",
    "SCWClassifier",
    "SOPClassifier",
]
