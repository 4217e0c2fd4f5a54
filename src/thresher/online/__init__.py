"""Online linear classifiers: one pass is enough, a row is looked at once and forgotten."""

from ._arow import AROWClassifier
from ._pa import PAClassifier

__all__ = ["AROWClassifier", "PAClassifier"]
