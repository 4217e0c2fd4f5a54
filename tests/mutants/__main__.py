"""Faults put into the library on purpose: how many does ``make test`` notice, and how many the rest of the suite?

    make mutants                                          # the run of record
    python tests/mutants --python 20 --cpp 10 --seed 3   # a small one

A copy of the checkout under build/mutants holds all mutants at once, each behind a switch (python_sources.py,
core_headers.py). pytest collects there once, records which tests reach which mutants, and forks a process for each
mutant that runs the tests that reach it, until one fails (trials.py). Tests of ``make test`` come first; the rest
runs for those that survive. Results: build/mutants/results.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

import core_headers
import nanobind
import python_sources

ROOT = Path(__file__).parents[2]
START = '''"""Every interpreter begins here: which mutant is on, and where to note those that were reached."""

import builtins
import mmap
import os
import sys

sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]


class Reached:
    def __init__(self, path):
        with open(path, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 1 << 16)

    def __getitem__(self, number):
        self.bytes[number] = 1
        return False


def one(number):
    return [k == number for k in range(NUMBER)]


path = os.environ.get("THRESHER_REACHED")
builtins.__mutants__ = Reached(path) if path else one(int(os.environ.get("THRESHER_MUTANT", -1)))
'''


def copied(tree: Path) -> None:
    """The checkout's files, without what git ignores."""
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def prepare(out: Path, n_python: int, n_cpp: int, seed: int, jobs: int) -> list[dict[str, Any]]:
    """A tree with all mutants in it, its extension built; what they are."""
    tree = out / "tree"
    copied(tree)
    python = dict(enumerate(python_sources.draw(ROOT, n_python, seed)))
    python_sources.write(tree, python)
    includes = [nanobind.include_dir(), sysconfig.get_paths()["include"]]
    cpp = dict(enumerate(core_headers.draw(ROOT, 3 * n_cpp, seed), n_python))
    while bad := core_headers.faulty(tree, tried := _first(cpp, n_cpp + 15), ROOT, includes, jobs):
        cpp = {number: mutant for number, mutant in cpp.items() if number not in bad}
        if len(cpp) < n_cpp:
            raise RuntimeError("too few mutants of the core compile")
    core_headers.write(tree, cpp := _first(tried, n_cpp), ROOT)
    build(tree, out / "core", nanobind.cmake_dir(), jobs)
    (tree / "src" / "sitecustomize.py").write_text(START.replace("NUMBER", str(1 + max([*cpp, n_python]))))
    listed = [{"number": k, "language": "Python", **dataclasses.asdict(m)} for k, m in python.items()]
    listed += [{"number": k, "language": "C++", **dataclasses.asdict(m)} for k, m in cpp.items()]
    (out / "mutants.json").write_text(json.dumps(listed, indent=1))
    return listed


def _first(mutants: dict[int, Any], n: int) -> dict[int, Any]:
    return dict(list(mutants.items())[:n])


def build(tree: Path, folder: Path, nanobind_dir: str, jobs: int) -> None:
    """The extension of a tree, beside its Python files."""
    configure = ["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-Dnanobind_DIR={nanobind_dir}", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(list(map(str, configure)), check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder), "-j", str(jobs)], check=True, stdout=subprocess.DEVNULL)
    shutil.copy2(next(folder.glob("_core*.so")), tree / "src" / "thresher")


def summary(results: list[dict[str, Any]]) -> str:
    """What was caught by what, and what by nothing."""
    lines = []
    for language in ("Python", "C++"):
        of_it = [r for r in results if r["language"] == language]
        caught = Counter(r["caught"] for r in of_it)
        lines.append(
            f"{language}: {len(of_it)} mutants; make test catches {caught['test']}, the rest {caught['rest']} more; "
            f"{caught[None]} survive."
        )
    caught = Counter(r["caught"] for r in results)
    whole = caught["test"] + caught["rest"]
    if whole:
        lines.append(
            f"make test catches {caught['test']} of {whole} that the whole suite catches: {caught['test'] / whole:.1%}."
        )
    for title, which in (("Caught by the rest alone:", "rest"), ("Survivors:", None)):
        lines += ["", title]
        lines += [_line(r) for r in results if r["caught"] == which]
    return "\n".join(lines)


def _line(r: dict[str, Any]) -> str:
    change = " ".join(f"{r['before']} => {r['after'] or '(nothing)'}".split())
    return f"  {r['file']}:{r['line']} {r['kind']}: {change[:110]}   [{r['how']}]"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=int, default=160, help="mutants of src/thresher")
    parser.add_argument("--cpp", type=int, default=60, help="mutants of core/*.hpp and core/learners/*.hpp")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=30.0, help="CPU seconds of each tier on one mutant")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument(
        "--again", action="store_true", help="use the tree, the records and the results of the last run"
    )
    parser.add_argument("tests", nargs="*", help="files or folders, to try things out")
    options = parser.parse_args(arguments)
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not options.again:
        for name in ("records.pickle", "results.json"):
            (out / name).unlink(missing_ok=True)
        listed = prepare(out, options.python, options.cpp, options.seed, options.jobs)
        print(f"{len(listed)} mutants in {out / 'tree'}", flush=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(out / "tree" / part) for part in ("src", "tests", "tests/mutants")),
        "MUTANTS": json.dumps({"out": str(out), "jobs": options.jobs, "limit": options.limit}),
    }
    environment.pop("THRESHER_MUTANT", None)
    command = [sys.executable, "-m", "pytest", "-p", "trials", "-p", "no:cacheprovider", "--disable-warnings"]
    command += ["--continue-on-collection-errors", *options.tests]
    command += ["-k", "not polars"]  # its threads do not survive a fork
    status = subprocess.run(command, cwd=out / "tree", env=environment).returncode
    if status == 0:
        print(summary(json.loads((out / "results.json").read_text())))
    return status


if __name__ == "__main__":
    sys.exit(main())
