"""``python -m benchmarks.peers``: install what is compared with, one by one; those that cannot be had are named.

Versions of what is installed already stay: a peer that asks for others is installed without its requirements, and kept
if it can be imported all the same.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib.metadata import requires
from pathlib import Path

MODULES = {  # of distributions whose modules have other names
    "dask-ml": "dask_ml",
    "faiss-cpu": "faiss",
    "liblinear-official": "liblinear",
    "sklearn-contrib-lightning": "lightning",
}
WHY_NOT = "no wheel, and it does not build here"
WANTED = {"MKLpy": "MKLpy>=0.6"}  # the only wheel is of a release that is too old
FIRST = {"MKLpy": ["torch==2.13.0"], "adelie": ["ipython", "tqdm"]}  # requirements that are had only so


def peers() -> dict[str, str]:
    """Distribution: module, as the extra ``peers`` lists them."""
    lines = [line for line in requires("thresher") or () if re.search(r"extra\s*==\s*['\"]peers['\"]", line)]
    names = [re.split(r"[\s;<>=!~]", line, maxsplit=1)[0] for line in lines]
    return {name: MODULES.get(name, name) for name in names}


def missing() -> list[str]:
    """Peers that cannot be imported, each import in a process of its own."""
    return [name for name, module in peers().items() if not _imports(module)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "constraints.txt")
        for name, module in peers().items():
            if _imports(module):
                print(f"{name}: here already")
                continue
            frozen = subprocess.run(_pip("freeze", "--exclude-editable"), check=True, stdout=subprocess.PIPE, text=True)
            kept.write_text("\n".join(line for line in frozen.stdout.splitlines() if "@" not in line))
            held = ["--prefer-binary", "--constraint", str(kept)]
            _install(held, *FIRST.get(name, ()))
            wanted = WANTED.get(name, name)
            done = (_install(held, wanted) or _install([*held, "--no-deps"], wanted)) and _imports(module)
            print(f"{name}: {'installed' if done else f'{WHY_NOT}: skipped'}", flush=True)


def _install(options: list[str], *names: str) -> bool:
    if not names:
        return True
    done = subprocess.run(
        _pip("install", "--quiet", *options, *names), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return done.returncode == 0


def _imports(module: str) -> bool:
    command = [sys.executable, "-W", "ignore", "-c", f"import {module}"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def _pip(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", *arguments]


if __name__ == "__main__":
    main()
