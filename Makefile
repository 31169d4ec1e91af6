# Each target sets up what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-fast check format bench clean

demo: $(READY)
	$(BIN)/bayesbias demo --out demo-output

test: $(READY)
	$(BIN)/python -m pytest tests -m "not slow" -n 2
	$(BIN)/python -m pytest bayesbias -n 2
	$(BIN)/python -m pytest tests -m slow -n 2

test-fast: $(READY)
	$(BIN)/python -m pytest tests -m "not slow" -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf .venv dist demo-output
