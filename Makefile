# make run, make test and make check need Python 3.11 or newer, make and pip; each does its own set-up, once.
# Another Python: make test PYTHON=python3.12

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
DEV := .venv-$(VERSION)
RUN := .venv-run-$(VERSION)

.PHONY: run test check env lock clean

env:
	@$(PYTHON) tools/environment.py $(DEV) requirements/dev.txt --link .venv
