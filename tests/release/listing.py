"""What is in the files of a release: ``python listing.py dist``. Refuses what does not belong there, and says sizes."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

IN_SDIST = {
    *("CMakeLists.txt", "Makefile", "pyproject.toml", "PKG-INFO", ".gitignore"),
    *("README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "LICENSES"),
    *("core", "src", "tests", "docs", "examples", "benchmarks", "papers", ".github", ".conda"),
}
NEEDED_IN_SDIST = IN_SDIST - {".gitignore"} | {"tests/data/arow-format-1.thresher", "src/thresher/py.typed"}
IN_PACKAGE = {".py", ".pyi", ".so", ".html", ".css", ".js", ".svg", ".typed"}
NOTICES = ("LICENSE", "LICENSES/nanobind.txt", "LICENSES/robin-map.txt")
MOST_BYTES = 3_000_000  # of either file
JUNK = {"__pycache__", ".venv", "build", "dist", ".git", ".mypy_cache", ".pytest_cache", ".hypothesis"}


def faults_of_sdist(names: list[str]) -> list[str]:
    """What is wrong with these names, which begin with the folder of the release.

    >>> faults_of_sdist(["thresher-1/core/rows.hpp", "thresher-1/notes.txt"])[0]
    'sdist: notes.txt does not belong there'
    """
    inside = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in names}
    tops = {PurePosixPath(name).parts[0] for name in inside if name != "."}
    faults = [f"sdist: {top} does not belong there" for top in sorted(tops - IN_SDIST)]
    faults += [
        f"sdist: {name} does not belong there" for name in sorted(inside) if JUNK & set(PurePosixPath(name).parts)
    ]
    return faults + [f"sdist: {name} is missing" for name in sorted(NEEDED_IN_SDIST - inside - tops)]


def faults_of_wheel(names: list[str]) -> list[str]:
    """What is wrong with these names.

    >>> faults_of_wheel(["thresher/a.cpp", "thresher-1.dist-info/METADATA"])[0]
    'wheel: thresher/a.cpp does not belong there'
    """
    about = next((name.split("/")[0] for name in names if ".dist-info/" in name), "")
    faults = [
        f"wheel: {name} does not belong there"
        for name in names
        if not name.startswith(f"{about}/")
        and not (name.startswith("thresher/") and PurePosixPath(name).suffix in IN_PACKAGE)
    ]
    needed = ["thresher/py.typed", "thresher/_core.pyi", *(f"{about}/licenses/{notice}" for notice in NOTICES)]
    faults += [f"wheel: {name} is missing" for name in needed if name not in names]
    n_extensions = sum(name.endswith(".so") for name in names)
    return faults + [f"wheel: {n_extensions} extensions, not 1"] * (n_extensions != 1)


def look(path: Path) -> list[str]:
    """Print how large a file is, and what makes it so; returns its faults."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = [entry.filename for entry in wheel.infolist() if not entry.is_dir()]
            unpacked = sum(entry.file_size for entry in wheel.infolist())
        faults = faults_of_wheel(names)
    else:
        with tarfile.open(path) as sdist:
            entries = [entry for entry in sdist.getmembers() if entry.isfile()]
        names, unpacked = [entry.name for entry in entries], sum(entry.size for entry in entries)
        faults = faults_of_sdist(names)
    size = path.stat().st_size
    print(f"{path.name}: {size / 1e6:.2f} MB, {len(names)} files, {unpacked / 1e6:.2f} MB unpacked")
    return faults + [f"{path.name}: larger than {MOST_BYTES / 1e6:g} MB"] * (size > MOST_BYTES)


def main(folder: str) -> int:
    paths = [*Path(folder).glob("*.tar.gz"), *Path(folder).glob("*.whl")]
    faults = [fault for path in paths for fault in look(path)]
    if {path.suffix for path in paths} != {".gz", ".whl"}:
        faults.append(f"{folder}: no sdist, or no wheel")
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
