# make run, make test and make check need Python 3.11 or newer, make and pip; each does its own set-up, once.
# Another Python: make test PYTHON=python3.12

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
DEV := .venv-$(VERSION)
RUN := .venv-run-$(VERSION)

.PHONY: run test check env lock clean

env:
	@$(PYTHON) tools/environment.py $(DEV) requirements/dev.txt --link .venv

check: env
	@$(DEV)/bin/python tools/check.py

# pytest's closing line comes last.
test: check
	@echo "== pytest"
	@$(DEV)/bin/python -m pytest -q

run:
	@$(PYTHON) tools/environment.py $(RUN) requirements/run.txt
	$(RUN)/bin/norma ask "Where is the turn machine defined and what does it do?"
	$(RUN)/bin/norma sessions

lock: env
	@$(DEV)/bin/python tools/lock.py
