"""One version, true metadata, and verbs that exist: what can be said of a release without building it."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import thresher

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def _beside(name: str) -> ModuleType:
    """A program of this folder, as a module."""
    spec = importlib.util.spec_from_file_location(f"release_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["version"]
    assert thresher.__version__ == version
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == version
    newest = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest[1] == version


def test_the_examples_that_installed_packages_are_tried_with_are_there() -> None:
    for name in _beside("smoke").WITH_EXAMPLES:
        assert ">>>" in Path(str(importlib.import_module(name).__file__)).read_text(), f"{name} has no example"


def test_every_heading_of_the_changelog_is_a_release() -> None:
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert all(re.fullmatch(r"## \d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)", line) for line in headings)
    assert not any("unreleased" in line for line in headings[1:])


def test_the_licence_is_the_same_everywhere() -> None:
    assert importlib.metadata.metadata("thresher")["License-Expression"] == PROJECT["license"]
    assert re.search(r"^license: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == PROJECT["license"]


def test_wheels_are_built_for_every_python_that_is_promised() -> None:
    promised = {
        m[1] for c in PROJECT["classifiers"] if (m := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", c))
    }
    built = set(re.findall(r"cp3(\d+)-\*", PYPROJECT["tool"]["cibuildwheel"]["build"]))
    assert promised <= built
    assert PROJECT["requires-python"] == f">=3.{min(promised, key=int)}"
    tested = re.search(r"python: \[(.+)\]", (ROOT / ".github/workflows/tests.yml").read_text())[1]
    assert built == set(re.findall(r'"3\.(\d+)"', tested))


def test_workflows_call_verbs_that_exist() -> None:
    verbs = set(re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.M)[0].split())
    called = {
        verb
        for path in (ROOT / ".github/workflows").glob("*.yml")
        for verb in re.findall(r"- run: make (\S+)", path.read_text())
    }
    runs = sum(path.read_text().count("- run:") for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert called
    assert called <= verbs
    assert runs == sum(path.read_text().count("- run: make ") for path in (ROOT / ".github/workflows").glob("*.yml"))


def test_every_verb_is_explained_at_the_head_of_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text()
    verbs = set(re.findall(r"^\.PHONY: (.+)$", text, re.M)[0].split())
    assert verbs == set(re.findall(r"^#   make (\S+)", text, re.M))


def test_lower_bounds_of_tests_do_not_exceed_those_of_users() -> None:
    oldest = dict(line.split("==") for line in _beside("oldest").constraints((ROOT / "pyproject.toml").read_text()))
    for line in PROJECT["optional-dependencies"]["test"]:
        name, bound = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line).groups()
        assert oldest.get(name, bound) == bound, line


def test_a_bound_that_is_no_lower_bound_is_refused() -> None:
    constraints = _beside("oldest").constraints
    extras = "optional-dependencies = {lab = [], dask = [], spark = []}"
    with pytest.raises(ValueError, match=r"must be written name>=version, got 'a<2'"):
        constraints(f'project = {{dependencies = ["a<2"], {extras}}}')
    with pytest.raises(ValueError, match="a has two lower bounds, 1 and 2"):
        constraints(f'project = {{dependencies = ["a>=1", "a>=2"], {extras}}}')


def test_a_listing_finds_what_is_missing_and_what_is_too_much() -> None:
    listing = _beside("listing")
    about = "thresher-1.dist-info"
    wheel = ["thresher/_core.so", "thresher/_core.pyi", "thresher/py.typed", f"{about}/METADATA"]
    wheel += [f"{about}/licenses/{notice}" for notice in listing.NOTICES]
    assert listing.faults_of_wheel(wheel) == []
    assert listing.faults_of_wheel([*wheel, "tests/x.py"]) == ["wheel: tests/x.py does not belong there"]
    for gone in ("thresher/py.typed", f"{about}/licenses/LICENSES/robin-map.txt"):
        assert listing.faults_of_wheel([name for name in wheel if name != gone]) == [f"wheel: {gone} is missing"]
    assert listing.faults_of_wheel(wheel[1:]) == ["wheel: 0 extensions, not 1"]
    sdist = [f"thresher-1/{name}" for name in sorted(listing.NEEDED_IN_SDIST)]
    assert listing.faults_of_sdist(sdist) == []
    assert listing.faults_of_sdist([*sdist, "thresher-1/tests/__pycache__/a.pyc"]) == [
        "sdist: tests/__pycache__/a.pyc does not belong there"
    ]
    assert listing.faults_of_sdist([n for n in sdist if not n.endswith("LICENSES")]) == ["sdist: LICENSES is missing"]


def test_notices_are_those_of_what_is_compiled_in() -> None:
    nanobind = pytest.importorskip("nanobind")
    header = Path(nanobind.include_dir()).parent / "ext/robin_map/include/tsl/robin_map.h"
    words = " ".join(re.sub(r"^ \*", "", header.read_text(), flags=re.M).split())
    assert " ".join((ROOT / "LICENSES/robin-map.txt").read_text().split()) in words
    notices = [file for file in importlib.metadata.files("nanobind") or [] if file.name == "LICENSE"]
    assert [file.read_text() for file in notices] == [(ROOT / "LICENSES/nanobind.txt").read_text()]


def test_type_checkers_see_the_public_names() -> None:
    stub = (ROOT / "src/thresher/__init__.pyi").read_text()
    assert set(re.findall(r"\b(\w+) as \1\b", stub)) | {"__version__"} == set(thresher.__all__)


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    recipe = (ROOT / ".conda" / "recipe.yaml").read_text()
    assert f'version: "{PROJECT["version"]}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    needed = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    host = recipe.partition("  host:\n")[2].partition("  run:\n")[0].replace(" >=", ">=")
    assert all(f"- {each}\n" in host for each in PYPROJECT["build-system"]["requires"])
    assert PROJECT["description"] in recipe
    for name, place in PROJECT["scripts"].items():
        assert f"- {name} = {place}\n" in recipe
