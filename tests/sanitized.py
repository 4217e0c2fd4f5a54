"""Run the core's tests on the extension in the folder named first; the editable install must not get in the way."""

from __future__ import annotations

import sys
from pathlib import Path


def main(folder: str, *arguments: str) -> int:
    folder = str(Path(folder).resolve())
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
    sys.path.insert(0, folder)
    import pytest

    from thresher import _core

    assert _core.__file__.startswith(folder), f"{_core.__file__} is not the extension under test"
    return pytest.main(["-p", "no:cacheprovider", *arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
