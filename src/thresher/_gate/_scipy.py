"""SciPy's modules, each imported on first use, because importing takes longer than training on a small file."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._sparse_rows import SparseRows

after_import: list[Callable[[], None]] = []
"""Called whenever something of SciPy may have been imported through this door."""

if TYPE_CHECKING:
    from scipy import linalg as linalg
    from scipy import optimize as optimize
    from scipy import sparse as sparse
    from scipy import spatial as spatial
    from scipy import special as special
else:

    class _Module:
        """A module of SciPy, with the attributes that were asked for."""

        def __init__(self, name: str) -> None:
            self._module = f"scipy.{name}"

        def __getattr__(self, name: str) -> Any:
            vars(self)[name] = value = getattr(importlib.import_module(self._module), name)
            for call in after_import:
                call()
            return value

    class _Sparse(_Module):
        """``scipy.sparse``; telling an array from a sparse matrix does not need it."""

        _asked: Callable[[Any], bool] | None = None

        def issparse(self, X: Any) -> bool:
            if type(X) is SparseRows:
                return True
            if self._asked is None:
                if self._module not in sys.modules:
                    return False
                self._asked = importlib.import_module(self._module).issparse
            return self._asked(X)

    linalg, optimize, spatial, special = map(_Module, ("linalg", "optimize", "spatial", "special"))
    sparse = _Sparse("sparse")
