# Every target works by itself from a bare clone:  make test,  make demo, ...
# Choose the interpreter with  make test PYTHON=python3.12  (after `make clean`
# if an environment exists already).  Works with GNU make 3.81 and later.

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
SITE := build/site

# Extra arguments:  make test ARGS="-k adaboost",  make demo ARGS="--help"
ARGS ?=

PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-input --no-compile -c constraints.txt
REQUIREMENTS := pyproject.toml reproductions/pyproject.toml constraints.txt

# Tests start processes and two workers: each compiles all sources anew (10 s) where no bytecode may be kept.
export PYTHONDONTWRITEBYTECODE :=

# Two targets must not install into one environment at the same time.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test lint format dist check-dist bench docs lists site clean check-python

help:
	@echo "make demo    compare eight boosters on embedded data"
	@echo "make test    run the tests                 (ARGS=\"-k name\" picks some)"
	@echo "make lint    ruff check, ruff format --check, mypy"
	@echo "make format  apply ruff's fixes and formatting"
	@echo "make dist    build the wheel and the sdist into dist/"
	@echo "make check-dist  install the wheel of dist/ into an empty environment, and run its doctests there"
	@echo "make site    build the site into build/site/html (ARGS=\"-a\" rebuilds every page)"
	@echo "make bench   run the benchmarks in their own environment   (ARGS=\"--rows W1\" some rows of run.py)"
	@echo "make docs    redraw the pictures of the documentation, and write the lists of boosters"
	@echo "make lists   write the lists of boosters only (README, docs/index.md, __init__.py)"
	@echo "make clean   remove environments, caches and build products"
	@echo "PYTHON=...   the interpreter that makes the environments (3.11 or newer)"

demo: $(VENV)/.stamp-core
	@$(VENV)/bin/boostlab compare $(ARGS)

# A worker for every core: more threads only wait for one another.  Tests of threads say how many there are.
test: $(VENV)/.stamp-test
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.stamp-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/.stamp-dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

dist: $(VENV)/.stamp-dev
	@rm -rf dist
	@$(VENV)/bin/python -m build --outdir dist .

check-dist:
	@"$(PYTHON)" tests/check_wheel.py dist --constraints constraints.txt $(ARGS)

bench: $(BENCH_VENV)/.stamp-bench
	@$(BENCH_VENV)/bin/python benchmarks/run.py $(ARGS)
	@$(if $(ARGS),,$(BENCH_VENV)/bin/python benchmarks/targets.py --threads 2 16)
	@$(if $(ARGS),,$(BENCH_VENV)/bin/python benchmarks/accuracy.py)

docs: $(VENV)/.stamp-docs lists
	@$(VENV)/bin/python docs/make_pictures.py $(ARGS)

lists: $(VENV)/.stamp-core
	@$(VENV)/bin/python docs/make_lists.py

# Warnings are errors; nothing is asked of the network; every link and anchor within the site leads somewhere.
site: $(VENV)/.stamp-site
	@$(VENV)/bin/python docs/site/build.py $(SITE) $(ARGS)

clean:
	rm -rf $(VENV) $(BENCH_VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# ---- environments ---------------------------------------------------------
# A stamp file says "this environment holds that set of requirements"; it goes
# out of date when a pyproject.toml or constraints.txt changes.

check-python:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || \
	  { echo "boostlab needs Python 3.11 or newer, but '$(PYTHON)' was not found; set PYTHON=/path/to/python." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "boostlab needs Python 3.11 or newer, but '$(PYTHON)' is older; set PYTHON=/path/to/python." >&2; exit 1; }

$(VENV)/.stamp-venv $(BENCH_VENV)/.stamp-venv:
	@$(MAKE) --no-print-directory check-python
	@echo "Creating the environment $(@D) ..."
	@"$(PYTHON)" -m venv $(@D)
	@touch $@

$(VENV)/.stamp-core: $(VENV)/.stamp-venv $(REQUIREMENTS)
	@echo "Installing boostlab into $(VENV) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.stamp-test $(VENV)/.stamp-dev $(VENV)/.stamp-docs $(VENV)/.stamp-site: $(VENV)/.stamp-venv $(REQUIREMENTS)
	@echo "Installing boostlab[$(patsubst .stamp-%,%,$(@F))] into $(VENV) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) -e ".[$(patsubst .stamp-%,%,$(@F))]" -e ./reproductions
	@touch $@

# All of them at once, for the whole check.
$(VENV)/.stamp-all: $(VENV)/.stamp-venv $(REQUIREMENTS)
	@echo "Installing boostlab[dev,site] into $(VENV) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) -e ".[dev,site]" -e ./reproductions
	@touch $(VENV)/.stamp-core $(VENV)/.stamp-test $(VENV)/.stamp-dev $(VENV)/.stamp-docs $(VENV)/.stamp-site $@

$(BENCH_VENV)/.stamp-bench: $(BENCH_VENV)/.stamp-venv $(REQUIREMENTS)
	@echo "Installing boostlab[bench] into $(BENCH_VENV) ..."
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) -e ".[bench]"
	@touch $@
