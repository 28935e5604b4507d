# Every target makes its own environment in .venv first; python3 and make suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RIVALS := $(VENV)/.rivals
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test lint bench docs clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

# Installed anew whenever pyproject.toml is newer than the last installation.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

run: $(STAMP)  ## compare the methods on the embedded data, write report.html
	$(BIN)/bblr compare --out report.html

test: $(STAMP)  ## run the tests and the examples in the docstrings
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

# Some rivals want a compiler; those that cannot be installed are left out of the race, by name.
$(RIVALS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' || \
		echo 'Some rivals could not be installed; the benchmarks go on without them.'
	touch $@

bench: $(RIVALS)  ## time the library beside its rivals; ARGS="growth --quick" for a part
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMP)  ## run every example in README.md and docs/
	$(BIN)/python -m pytest --doctest-glob='*.md' README.md docs

clean:  ## remove what the other targets left, the environment included
	rm -rf $(VENV) build dist report.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
