# Every target makes its own environment in .venv first; python3 and make suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUN := $(VENV)/.run
BASELINES := $(VENV)/.baselines
DOCS := $(VENV)/.docs
RELEASE := $(VENV)/.release
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test test-fast coverage lint bench panorama docs dist clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# Installed anew whenever pyproject.toml is newer than the last installation.
$(STAMP): pyproject.toml research/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./research
	touch $@

# A comparison needs neither the tools of the tests nor torch.
$(RUN): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -e $(STAMP) || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli]'
	touch $@

# A record of other code than this would be shown as if it were new.
run: $(RUN)  ## compare the methods on the embedded data, write report.html
	@test ! -e report.jsonl || test -z "$$(find src -name '*.py' -newer report.jsonl)" || rm report.jsonl
	$(BIN)/bblr compare --out report.html

# A worker a core: more BLAS threads would wait for one another, and double the time of kernel fits.
test: $(STAMP)  ## run the tests and the examples in docstrings, README.md and docs/
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(ARGS)

test-fast: $(STAMP)  ## the tests of the core, for the inner loop
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m 'not slow' tests $(ARGS)

coverage: $(STAMP)  ## run all tests and report which lines they reach
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --cov=bblr --cov-report=term:skip-covered $(ARGS)

lint: $(STAMP)  ## ruff, format and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

# Some baselines want a compiler; those that cannot be installed are left out, by name.
$(BASELINES): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' || \
		echo 'Some baselines could not be installed; the benchmarks go on without them.'
	touch $@

bench: $(BASELINES)  ## time the library against baselines; ARGS="growth --quick" for a part
	$(BIN)/python -m research.benchmarks $(ARGS)

panorama: $(BASELINES)  ## compare the classifiers with baselines on many tables; ARGS="--quick" for a part
	$(BIN)/python -m research.panorama $(ARGS)

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

docs: $(DOCS)  ## build the site into build/docs, warnings being errors, and look at every page
	$(BIN)/python -m sphinx -b html -W --keep-going -n -E -q -d build/doctrees docs build/docs
	$(BIN)/python docs/check.py build/docs

$(RELEASE): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	touch $@

dist: $(RELEASE)  ## build wheel and sdist into dist/, after trying them in empty environments
	$(BIN)/python tools/check_release.py --out dist $(ARGS)

clean:  ## remove what the other targets left, the environment included
	rm -rf $(VENV) build dist report.html report.jsonl .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/api docs/auto_examples
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
