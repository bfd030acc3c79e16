# Two commands on a fresh machine: `make demo` and `make test`. Python 3.11 or later.

PYTHON ?= python3
BIN := .venv/bin
PYTEST_WORKERS ?= 2

.PHONY: demo test check run setup lock clean

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
	$(BIN)/lint-imports

setup: .venv/.done

.venv/.done: requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch .venv/.done

# Resolve anew. Headers are left out: they could name the index that was used.
lock: setup
	echo uv | $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --output-file requirements/installer.txt -
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --output-file requirements/runtime.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --group dev --output-file requirements/dev.txt pyproject.toml

clean:
	rm -rf .venv .data .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
