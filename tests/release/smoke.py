"""What an installed thresher must do anywhere: ``python smoke.py``. Needs the package and its dependencies only."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
WITH_EXAMPLES = ("thresher.online._arow", "thresher.dual_averaging._l1_rda", "thresher.persistence._model_files")


def installed() -> None:
    """The package comes from an environment, not from a folder of sources."""
    import thresher
    from thresher import _core

    for module in (thresher, _core):
        where = Path(str(module.__file__)).resolve()
        assert "site-packages" in where.parts, f"{where} was not installed"
    assert (CHECKOUT / "src") not in Path(str(thresher.__file__)).resolve().parents
    for name in thresher.__all__:
        getattr(thresher, name)
    assert (Path(str(thresher.__file__)).parent / "py.typed").exists()


def learns_and_is_kept() -> None:
    """Fit, save, load: the same bits."""
    import numpy as np
    from scipy import sparse

    from thresher.online import AROWClassifier
    from thresher.persistence import load_model, save_model

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.3)
    y = X @ rng.normal(size=30) > 0
    model = AROWClassifier().fit(sparse.csr_array(X), y)
    assert model.score(X, y) > 0.8
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "m.thresher")
        again = load_model(Path(folder) / "m.thresher")
    assert np.array_equal(again.coef_, model.coef_)


def command() -> None:
    """The command stands beside the interpreter and knows its version."""
    import thresher

    program = Path(sysconfig.get_path("scripts")) / "thresher"
    with tempfile.TemporaryDirectory() as folder:  # not from a folder that may hold sources
        for arguments, said in (
            (["--version"], thresher.__version__),
            (["demo", "--help"], "Usage"),
            (["methods"], "arow"),
        ):
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=True)
            assert said in done.stdout, f"thresher {' '.join(arguments)} printed {done.stdout!r}"


def examples() -> None:
    """Examples of docstrings, as installed."""
    for name in WITH_EXAMPLES:
        failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
        assert tried, f"{name} has no example"
        assert not failed, f"{failed} of {tried} examples of {name} failed"


def main() -> None:
    for step in (installed, learns_and_is_kept, command, examples):
        step()
    import thresher

    print(f"thresher {thresher.__version__} on Python {sys.version.split()[0]}: installed and working")


if __name__ == "__main__":
    main()
