"""The machine and the software that figures were made with, and peers that are missing."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from .peers import WHY_NOT, peers

_PACKAGES = ("thresher", "numpy", "scipy", "scikit-learn", "pandas")


def machine() -> list[str]:
    """CPU, caches, memory and load; system, compiler, BLAS; versions, missing peers, the core, the date."""
    found = {name: _version(name) for name in (*_PACKAGES, *peers())}
    missing = [name for name, which in found.items() if which is None]
    return [
        ", ".join([cpu(), *_caches(), f"{_memory_gb():.0f} GB of memory (load {os.getloadavg()[0]:.1f} at the start)"]),
        f"{platform.system()} {platform.release()}, extension by {_compiler()}, {_blas()}",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {which}" for name, which in found.items() if which),
        *([f"skipped peers ({WHY_NOT}): {', '.join(missing)}"] if missing else []),
        f"core {core_fingerprint()}",
        datetime.date.today().isoformat(),
    ]


def core_fingerprint() -> str:
    """Which build of the extension is measured: the first digits of its SHA-256."""
    return hashlib.sha256(_extension().read_bytes()).hexdigest()[:12]


def _extension() -> Path:
    spec = find_spec("thresher._core")
    if spec is None or spec.origin is None:
        raise RuntimeError("thresher._core is not installed.")
    return Path(spec.origin)


def cpu() -> str:
    model = re.search(r"model name\s*: (.*)", _text("/proc/cpuinfo"))
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores"


def _caches() -> list[str]:
    """L2 and L3 of the first core, as far as the system tells."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, size = (_text(folder / name).strip() for name in ("level", "size"))
        sizes[level] = size
    return [f"L{level} {sizes[level]}" for level in ("2", "3") if sizes.get(level)]


def _memory_gb() -> float:
    total = re.search(r"MemTotal:\s+(\d+)", _text("/proc/meminfo"))
    return int(total[1]) / 2**20 if total else float("nan")


def _compiler() -> str:
    """As it signed the extension."""
    signed = re.search(rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)", _extension().read_bytes())
    return signed[1].decode() if signed else "an unknown compiler"


def _blas() -> str:
    import numpy as np

    config = np.show_config(mode="dicts") or {}
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"BLAS {blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _text(path: str | Path) -> str:
    path = Path(path)
    return path.read_text() if path.exists() else ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
