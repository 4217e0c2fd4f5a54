"""Install each file named into an environment of its own, far from the sources, and try it there.

The wheel is also read by mypy, as a user's program would read it: it must bring its types with it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent / "typed" / "user_program.py"


def run(python: Path, *arguments: str | Path, folder: Path) -> None:
    subprocess.run([python, *arguments], cwd=folder, check=True)


def try_out(file: Path, folder: Path) -> None:
    print(f"{file.name}, in an environment of its own:", flush=True)
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", file.resolve(), folder=folder)
    run(python, shutil.copy(HERE / "smoke.py", folder), folder=folder)
    if file.suffix == ".whl":
        program = shutil.copy(PROGRAM, folder)
        run(python, program, folder=folder)
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "mypy>=1.13", folder=folder)
        run(python, "-m", "mypy", "--strict", "--config-file=", program, folder=folder)


def main(*files: str) -> None:
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            try_out(Path(file), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
