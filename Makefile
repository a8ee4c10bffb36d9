# Everything a newcomer needs: `make run` and `make test` install what they need by themselves.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NODE   := $(VENV)/node_modules/mvdan-sh/package.json
TOOLS  := $(VENV)/.tools

.PHONY: help install run demo try test lint bench fuzz soak docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install the package python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, got $$($(PYTHON) --version)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "venv is missing: install the package python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The shell parser that ours is compared with; only the tests use it.
$(NODE): $(STAMP)
	@command -v npm >/dev/null || { echo "npm is missing: install the packages nodejs and npm" >&2; exit 1; }
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV) mvdan-sh@0.10.1
	@touch $@

# The PostgreSQL that the tests start; Debian and its kin get it by themselves.
$(TOOLS): $(STAMP)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
		test "$$(id -u)" -eq 0 && command -v apt-get >/dev/null || { echo "PostgreSQL is missing: install the package postgresql" >&2; exit 1; }; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends postgresql >/dev/null || \
		{ echo "PostgreSQL is missing and could not be installed: install the package postgresql" >&2; exit 1; }; }
	@touch $@

install: $(STAMP) ## put everything into .venv

run: $(STAMP) ## the daemon that agents ask; it says what to do next
	@$(BIN)/interlock serve

demo: $(STAMP) ## all of it in a minute: allowed, held, cooled off, approved, denied, recorded
	@$(BIN)/interlock demo

try: $(STAMP) ## a prompt that explains each command typed into it
	@$(BIN)/interlock prompt

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy

test: $(STAMP) $(NODE) $(TOOLS) ## lint beside the tests
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	$(BIN)/python -m pytest -n 2 --dist loadgroup; tests=$$?; \
	wait $$lint; linted=$$?; cat $(VENV)/lint.log; \
	test $$tests -eq 0 && test $$linted -eq 0

bench: $(STAMP) ## what the figures in the docs come from
	$(BIN)/python -m bench
	$(BIN)/python -m bench.http
	$(BIN)/python -m bench.stores

fuzz: $(STAMP) ## 100,000 generated inputs
	$(BIN)/python -m tests.fuzz

soak: $(STAMP) ## 200 daemons killed under load
	$(BIN)/python tests/soak.py

docs: $(STAMP) ## regenerate docs/rules.md and docs/openapi.json
	$(BIN)/interlock rules docs > docs/rules.md
	$(BIN)/python -m interlock.doors.http.openapi > docs/openapi.json

clean: ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
