"""Run the core's tests on the extension in the folder named first; the editable install must not get in the way."""

from __future__ import annotations

import sys
from pathlib import Path

folder = str(Path(sys.argv[1]).resolve())
sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
sys.path.insert(0, folder)

import pytest  # noqa: E402

from thresher import _core  # noqa: E402

assert _core.__file__.startswith(folder), f"{_core.__file__} is not the extension under test"
sys.exit(pytest.main(["-p", "no:cacheprovider", *sys.argv[2:]]))
