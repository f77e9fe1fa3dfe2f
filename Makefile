# Each command does its own set-up, once; all that must be there is make, and Python 3.11 or newer with pip.
# Another Python has environments of its own: make test PYTHON=python3.12

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
DEV := .venv-$(VERSION)
RUN := .venv-run-$(VERSION)

.PHONY: help run test test-slow test-peers fuzz check fix env lock bench clean

help:
	@echo "make run    ask the local model about this repository"
	@echo "make test   all checks, then all tests"
	@echo "make test-slow   the tests that take minutes"
	@echo "make test-peers  the tests against tool servers that others wrote"
	@echo "make fuzz   damage streams at random, led by coverage; FUZZ=-max_total_time=600 for ten minutes"
	@echo "make check  style, types and layers"
	@echo "make fix    mend what the checks can mend"
	@echo "make env    the environment for development, also found as .venv"
	@echo "make bench  measure Norma beside the SDKs; BENCH=--quick takes under three minutes"
	@echo "make lock   write requirements/*.txt anew from pyproject.toml"
	@echo "make clean  remove what these commands made"

run:
	@$(PYTHON) tools/environment.py $(RUN) requirements/run.txt
	$(RUN)/bin/norma ask "Where is the turn machine defined and what does it do?"
	$(RUN)/bin/norma sessions

# pytest's closing line comes last.
test: check
	@echo "== pytest"
	@$(DEV)/bin/python -m pytest -q

# The same promises over many more examples.
test-slow: env
	@$(DEV)/bin/python -m pytest -q -m slow

# Against programs that others wrote; they are installed once, which takes a minute.
test-peers: env
	@$(DEV)/bin/python -m pytest -q -m peers

# Atheris has wheels for some systems only, so it is not among the requirements.
FUZZ ?= -max_total_time=120
fuzz: env
	@$(DEV)/bin/python -m pip install --quiet atheris
	@$(DEV)/bin/python -m tests.adapters.wires.fuzz $(FUZZ)

check: env
	@$(DEV)/bin/python tools/check.py

fix: env
	@$(DEV)/bin/python tools/check.py --fix

env:
	@$(PYTHON) tools/environment.py $(DEV) requirements/dev.txt --link .venv

# What it takes: docs/benchmarks.md.
bench: env
	@$(DEV)/bin/python -m tests.benchmarks.run $(BENCH)

lock: env
	@$(DEV)/bin/python tools/lock.py

clean:
	rm -rf .venv .venv-* .ns .cache build dist *.egg-info .*_cache .hypothesis
