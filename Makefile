# The verbs. CI calls these and nothing else.
#   make demo       build, then learn from a generated stream and write a report
#   make test       build, then all tests but the slow ones
#   make test-slow  the slow ones: long fuzzing
#   make check      style, types, import contracts
#   make sanitize   the core's tests under address and undefined-behaviour sanitizers
#   make bench      speed against peers, in one run
#   make papers     published tables, computed again: the quick ones
#   make docs       the guide, as pages, with its pictures made anew
#   make clean
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(wildcard core/*.hpp core/*.cpp core/learners/*.hpp)
JOBS   ?= $(shell nproc)

# Real data for bench and papers: make papers DATA=FOLDER
DATA   ?= $(firstword $(THRESHER_DATA) $(wildcard ../shared/data))
ifneq ($(DATA),)
export THRESHER_DATA := $(abspath $(DATA))
endif

.PHONY: demo test test-slow check sanitize bench papers docs clean

demo: $(VENV)/built-lab
	$(BIN)/thresher demo

test: $(VENV)/built-test
	$(BIN)/python -m pytest -m "not slow" -n $(JOBS)

test-slow: $(VENV)/built-test
	$(BIN)/python -m pytest -m slow -n $(JOBS) --dist loadgroup

check: $(VENV)/built-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/built-bench
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks

papers: $(VENV)/built-lab
	$(BIN)/python -m papers

# Warnings are errors; the page is build/docs/index.html.
docs: $(VENV)/built-docs
	$(BIN)/python -m sphinx -W --keep-going -j $(JOBS) -b html docs build/docs

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

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q "scikit-build-core>=0.10" "nanobind>=2.2" "cmake>=3.18" ninja

# Editable: Python files are used where they stand; a changed header or build file builds the extension again.
$(VENV)/built: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(CORE)
	$(BIN)/pip install -q --no-build-isolation -e .
	touch $@

$(VENV)/built-lab: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[lab]'
	touch $@

$(VENV)/built-test: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[test]'
	touch $@

$(VENV)/built-check: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[check,lab]'
	touch $@

$(VENV)/built-docs: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[docs,lab]'
	touch $@

$(VENV)/built-bench: $(VENV)/built
	$(BIN)/pip install -q --no-build-isolation -e '.[bench]'
	touch $@
