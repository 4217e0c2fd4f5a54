# The verbs. CI calls these and nothing else.
#   make demo       build, then learn from a generated stream and write a report
#   make test       build, then the fast part of the test suite: four minutes on two cores; PYTHON=python3.14 VENV=.venv-3.14: with another Python
#   make test-rest  more variants and layouts, for some ten minutes
#   make test-all   all tests that are left then: every variant, clusters, long fuzzing
#   make test-browser  the lab in a real Chromium, which is installed where that is possible
#   make test-oldest  a choice of the tests with the oldest dependencies that pyproject.toml allows; FULL=1: all but the slow ones
#   make tiers      measure all tests, which decides what make test runs; TESTS=tests/cli: those of one folder
#   make coverage   lines of src/thresher that make test runs; FULL=1: that all tests but the slow ones run
#   make mutants    faults put in on purpose: how many make test catches of those that all tests catch
#   make check      style, spelling, types, import contracts, clang-tidy
#   make fuzz       random model files, fits, arrays and lines, for some minutes; MINUTES=300: for hours; COUNT=500: so many of each
#   make sanitize   the core's tests under address, undefined-behaviour and thread sanitizers
#   make bench      speed against peers, in one run
#   make guard      has a learner become slower? costs in products X @ w against benchmarks/baseline.json
#   make papers     published tables, computed again: the quick ones
#   make docs       the guide, as pages, with its pictures made anew
#   make dist       sdist and wheel in dist/, each installed into a fresh environment and tried there
#   make wheels     wheels for all Pythons in wheelhouse/, for manylinux; needs docker. ARCH=aarch64: for that machine; PLATFORM=macos: on a Mac
#   make clean
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(wildcard core/*.hpp core/*.cpp core/learners/*.hpp)
BUILD  := CMakeLists.txt core/bind_learners.cpp.in $(CORE)
JOBS   ?= $(shell nproc)

# Real data for bench and papers, and their options: make papers DATA=FOLDER OPTIONS="--all --update"
DATA   ?= $(firstword $(THRESHER_DATA) $(wildcard ../shared/data))
ifneq ($(DATA),)
export THRESHER_DATA := $(abspath $(DATA))
endif

# Some machines forbid Python to keep what it compiles. Tests start hundreds of commands, and each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-rest test-all test-browser test-oldest tiers coverage mutants check fuzz sanitize bench guard papers docs dist wheels clean

demo: $(VENV)/built-lab
	$(BIN)/thresher demo

test: $(VENV)/built-test
	$(BIN)/python -m pytest -m "not rest" -n $(JOBS)

test-rest: $(VENV)/built-test
	$(BIN)/python -m pytest -m "rest and not long and not slow" -n $(JOBS)

test-all: $(VENV)/built-test
	$(BIN)/python -m pytest -m long -n $(JOBS)
	$(BIN)/python -m pytest -m slow -n $(JOBS) --dist loadgroup --ignore=tests/browser

# One after the other, because a browser, a lab and its runs are processes enough. A test that fails gets a second chance:
# some machines are too busy for a browser now and then.
test-browser: $(VENV)/built-browser
	$(BIN)/python -m pytest -n 0 -rs tests/browser || $(BIN)/python -m pytest -n 0 -rs tests/browser --last-failed

tiers: $(VENV)/built-test
	$(BIN)/python -m pytest --measure -n $(JOBS) $(TESTS)

coverage: $(VENV)/built-test
	rm -rf build/coverage
	$(BIN)/coverage run -m pytest -m "not $(if $(FULL),slow,rest)" -n $(JOBS)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --sort=cover

mutants: $(VENV)/built-test
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tests/mutants --jobs $(JOBS) $(OPTIONS)

# Versions as promised to users (tests/release/oldest.py), in an environment of their own. The oldest scikit-learn asks
# polars for names by a protocol that is deprecated there since 1.40.
OLDEST := .venv-oldest
CHOICE := tests/test_contract.py tests/test_persistence.py tests/test_gate.py tests/test_table.py \
          tests/cli tests/streams tests/release README.md docs
test-oldest: $(OLDEST)/built$(if $(FULL),-full)
	$(OLDEST)/bin/python -m pytest -n $(JOBS) $(if $(FULL),-m "not slow",-m "not rest" $(CHOICE))

# GCC reads all headers at once. clang-tidy reads the bindings and the learners, each with the headers it includes, with the
# warnings of Clang; headers of others are no concern of ours.
STRICT := -Wall -Wextra -Wpedantic -Wshadow
SYSTEM = $(addprefix -isystem ,$(shell $(BIN)/python -c "import nanobind, sysconfig; print(nanobind.include_dir(), sysconfig.get_paths()['include'])"))
check: $(VENV)/built-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CORE) tests/core/threads.cpp
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/mypy tests/typed/user_program.py
	$(BIN)/lint-imports --no-cache
	printf '#include "%s"\n' $(wildcard core/*.hpp core/learners/*.hpp) | g++ -x c++ -std=c++17 -fvisibility=hidden -fsyntax-only $(STRICT) -Werror -I. -Icore $(SYSTEM) -
	printf '%s\n' $(wildcard core/*.cpp core/learners/*.hpp) | xargs -P $(JOBS) -I {} $(BIN)/clang-tidy --quiet {} -- -x c++ -std=c++17 $(STRICT) -Wno-pragma-once-outside-header $(SYSTEM)

bench: $(VENV)/built-bench
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks $(OPTIONS)

guard: $(VENV)/built-bench
	$(BIN)/python -m benchmarks.guard
	$(BIN)/python -m benchmarks.guard_registry

papers: $(VENV)/built-lab
	$(BIN)/python -m papers $(OPTIONS)

# Warnings are errors; the page is build/docs/index.html.
docs: $(VENV)/built-docs
	$(BIN)/python -m sphinx -W --keep-going -j $(JOBS) -b html docs build/docs

dist: $(VENV)/built-dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tests/release/listing.py dist
	$(BIN)/auditwheel show dist/*.whl
	$(BIN)/python tests/release/fresh.py dist/*.whl dist/*.tar.gz

ARCH     ?= native
PLATFORM ?= linux
wheels: $(VENV)/bin/python
	$(BIN)/pip install -q "cibuildwheel>=3"
	$(BIN)/cibuildwheel --platform $(PLATFORM) --archs $(ARCH) --output-dir wheelhouse

MINUTES ?= 4
COUNT   ?= 1000000000
fuzz: $(VENV)/built-test
	$(BIN)/python tests/fuzz --minutes $(MINUTES) --count $(COUNT)

# An extension built with sanitizers, in a place of its own; their run-time library must be there before the interpreter.
SANITIZED := build/sanitized
STRUCTURED := $(addprefix tests/dual_averaging/test_,groups.py shared_rda.py multi_task_rounds.py) \
              $(addprefix tests/online/test_,budget_states.py arow_k.py) tests/confidence/test_group_ascent.py \
              tests/novelty/test_pegasos_snd.py tests/cluster/test_prototypes.py
sanitize: $(VENV)/built-test
	$(BIN)/pip install -q --no-deps --no-build-isolation --target $(SANITIZED) --upgrade . \
	  -C build-dir=build/sanitize-tree -C cmake.define.THRESHER_SANITIZE=ON -C install.strip=false
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 $(BIN)/python tests/sanitized.py $(SANITIZED) tests/core $(STRUCTURED)
	$${CXX:-g++} -std=c++17 -O1 -g -fsanitize=thread -Icore tests/core/threads.cpp -o build/threads
	build/threads

clean:
	rm -rf $(VENV) $(OLDEST) build dist wheelhouse

# setuptools and wheel build pyspark, which has no wheel; without build isolation they must be there before.
BUILDERS := "scikit-build-core>=0.10" "nanobind>=2.2" "cmake>=3.18" ninja "setuptools>=77" wheel
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q $(BUILDERS)

# Editable: Python files are used where they stand; a changed header or build file builds the extension again.
$(VENV)/built: $(VENV)/bin/python pyproject.toml $(BUILD)
	$(BIN)/pip install -q --no-build-isolation -e .
	touch $@

$(VENV)/built-lab: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[lab]'
	touch $@

# PyTorch for the CPU, where it can be had: without it, tests of tensors are skipped. What else it asks for, they need not.
$(VENV)/built-test: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[test,river,mlflow]'
	$(BIN)/pip install -q --no-deps torch==2.13.0+cpu || echo "No PyTorch: tests of tensors are skipped."
	touch $@

# Tests skip what cannot be had: Debian's Chromium, and axe-core, which looks for faults of accessibility.
$(VENV)/built-browser: $(VENV)/built-test
	command -v chromedriver > /dev/null || { apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver; } || true
	npm install --silent --no-fund --no-audit --prefix build/browser axe-core || true
	$(BIN)/pip install -q --no-build-isolation -e '.[test,browser]'
	touch $@

$(VENV)/built-check: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[check,lab,web]'
	touch $@

$(VENV)/built-docs: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[docs,lab]'
	touch $@

$(VENV)/built-bench: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[bench]'
	touch $@

$(VENV)/built-dist: $(VENV)/bin/python
	$(BIN)/pip install -q "build>=1.2" "twine>=6.1" "auditwheel>=6"
	touch $@

OLD_PIP := $(OLDEST)/bin/pip install -q --no-build-isolation -C build-dir=build/oldest -c $(OLDEST)/oldest.txt
$(OLDEST)/built: pyproject.toml tests/release/oldest.py $(BUILD)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install -q $(BUILDERS)
	$(PYTHON) tests/release/oldest.py > $(OLDEST)/oldest.txt
	$(OLD_PIP) -e '.[lab,dask]' pytest pytest-xdist hypothesis pandas "polars<1.40" pexpect aiohttp array-api-strict
	touch $@

$(OLDEST)/built-full: $(OLDEST)/built
	$(OLD_PIP) -e '.[test]' "polars<1.40"
	touch $@
