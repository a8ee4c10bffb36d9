# Everything a newcomer needs: `make run` and `make test` install what they need by themselves.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
STAMP  := $(VENV)/.installed
NODE   := $(VENV)/node_modules/.tests
TOOLS  := $(VENV)/.tools
AGENTS := $(VENV)/.agents
SERVERS := $(VENV)/servers/.installed

.PHONY: help install run demo try test lint bench compare pictures fuzz soak hostile newcomer check-agents test-frameworks docs site clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What the product itself takes; the tools of its developers come with the first target that needs them.
$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install the package python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, got $$($(PYTHON) --version)" >&2; exit 1; }
	@echo "Installing Interlock into $(VENV), once: half a minute, as the network goes" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "venv is missing: install the package python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(STAMP): $(READY)
	@echo "Installing what the tests need into $(VENV), once" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The shell parser that ours is compared with, and the accessibility checks of pages; only the tests use them.
$(NODE): $(STAMP)
	@command -v npm >/dev/null || { echo "npm is missing: install the packages nodejs and npm" >&2; exit 1; }
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV) mvdan-sh@0.10.1 axe-core@4.14.0
	@touch $@

# What the tests start, by program and by package; Debian and its kin get it by themselves.
PACKAGES := initdb:postgresql tmux:tmux zsh:zsh rsync:rsync zenity:zenity Xvfb:xvfb xwininfo:x11-utils bwrap:bubblewrap chromium:chromium \
	ruby:ruby php:php-cli lua:lua5.4 tclsh:tcl
$(TOOLS): $(STAMP) Makefile
	@PATH="$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')"; missing=; \
	for pair in $(PACKAGES); do command -v "$${pair%:*}" >/dev/null || missing="$$missing $${pair#*:}"; done; \
	echo $$missing > $(VENV)/.missing; \
	if test -z "$$missing"; then touch $@; \
	elif test "$$(id -u)" -ne 0 || ! command -v apt-get >/dev/null; then \
		echo "tests that need more are skipped: install the packages$$missing" >&2; test "$$CI" != true; \
	else \
		apt-get -qq -o APT::Sandbox::User=root update && DEBIAN_FRONTEND=noninteractive apt-get -qq -o APT::Sandbox::User=root install --yes --no-install-recommends $$missing >/dev/null && : > $(VENV)/.missing && touch $@ || \
		{ echo "the tests need more, and it could not be installed: the packages$$missing" >&2; exit 1; }; \
	fi

# The agents whose own programs can be checked without a real model, in the versions that they were checked with.
$(AGENTS): $(STAMP)
	@command -v npm >/dev/null || { echo "npm is missing: install the packages nodejs and npm" >&2; exit 1; }
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/agents @anthropic-ai/claude-code@2.1.197 \
		@openai/codex@0.166.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @github/copilot@1.0.102
	@test -x $(VENV)/agents/hermes/bin/python || $(PYTHON) -m venv $(VENV)/agents/hermes
	$(VENV)/agents/hermes/bin/python -m pip install --quiet --disable-pip-version-check hermes-agent==0.19.0
	@touch $@

# Public MCP servers that the proxy is tested in front of; the Python ones take an older mcp than ours.
$(SERVERS): $(STAMP)
	@command -v npm >/dev/null || { echo "npm is missing: install the packages nodejs and npm" >&2; exit 1; }
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) @modelcontextprotocol/server-memory@2026.8.31 \
		@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31
	@test -x $(@D)/python/bin/python || $(PYTHON) -m venv $(@D)/python
	$(@D)/python/bin/python -m pip install --quiet --disable-pip-version-check mcp-server-time==2026.10.10 mcp-server-sqlite==2025.4.25 'mcp<2'
	@touch $@

install: $(READY) ## put everything into .venv

run: $(READY) ## the daemon that agents ask; it says what to do next
	@$(BIN)/interlock serve

demo: $(READY) ## all of it in twenty seconds: undone, held, approved, seen through, recorded
	@$(BIN)/interlock demo

try: $(READY) ## a prompt that explains each command typed into it
	@$(BIN)/interlock prompt

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/mypy

# Hundreds of processes of ours are started: compiled once, they are there in half the time.
test: $(STAMP) $(NODE) $(TOOLS) $(SERVERS) ## lint beside the tests
	@$(BIN)/python -m compileall -q -j 2 src
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder; tests=$$?; \
	wait $$lint; linted=$$?; cat $(VENV)/lint.log; \
	test $$tests -eq 0 && test $$linted -eq 0

bench: $(STAMP) ## what the figures in the docs come from
	$(BIN)/python -m bench
	$(BIN)/python -m bench.http
	$(BIN)/python -m bench.hook
	$(BIN)/python -m bench.storage
	$(BIN)/python -m bench.mcp
	$(BIN)/python -m bench.proxy
	$(BIN)/python -m bench.impact
	$(BIN)/python -m bench.undo
	$(BIN)/python -m bench.journal
	$(BIN)/python -m bench.questions

# Other guards, in the versions that the table in the docs was made with; they are run on text, and guard nothing here.
GUARDS := $(VENV)/guards/.installed
$(GUARDS): $(STAMP)
	@command -v npm >/dev/null || { echo "npm is missing: install the packages nodejs and npm" >&2; exit 1; }
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) cc-safety-net@2.4.5
	@test -x $(@D)/python/bin/python || $(PYTHON) -m venv $(@D)/python
	$(@D)/python/bin/python -m pip install --quiet --disable-pip-version-check nah==0.11.0 claude-safety-guard==0.2.0
	@newer=$$(for one in python3.14 python3.13 python3.12 $(PYTHON); do "$$one" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo "$$one" && break; done); \
	if test -n "$$newer"; then \
		test -x $(@D)/newer-python/bin/python || "$$newer" -m venv $(@D)/newer-python; \
		$(@D)/newer-python/bin/python -m pip install --quiet --disable-pip-version-check vectimus==0.22.2; \
	else echo "vectimus takes Python 3.12 or newer, and is left out" >&2; fi
	@touch $@

compare: $(GUARDS) ## other guards on the labelled commands, beside Interlock (half an hour)
	$(BIN)/python -m bench.compare $(VENV)/guards

pictures: $(STAMP) $(NODE) $(TOOLS) ## the README's pictures, from the real demo and the real console
	PYTHONPATH=tests/support $(BIN)/python tests/pictures.py

fuzz: $(STAMP) ## 100,000 generated inputs, ten times the examples of every property, and a minute of requests
	PYTHONPATH=tests/support $(BIN)/python tests/fuzz.py
	EFFORT=10 $(BIN)/python -m pytest -n 2 tests/test_properties.py tests/adapters tests/agents tests/analysis tests/approvals \
		tests/hooks/test_call_answers.py tests/install/test_install_plan.py tests/loop/test_loop_properties.py tests/redaction
	EFFORT=30 $(BIN)/python -m pytest tests/server/test_openapi.py

soak: $(STAMP) ## 200 daemons and 540 services killed under load, 900 random trees and repositories destroyed and undone, 1,400 journaled programs
	PYTHONPATH=tests/support $(BIN)/python tests/soak.py
	EFFORT=10 $(BIN)/python -m pytest tests/faults/test_killed_services.py
	EFFORT=25 $(BIN)/python -m pytest -n 2 tests/snapshots
	EFFORT=50 $(BIN)/python -m pytest -n 2 tests/journal/test_journal_properties.py

hostile: $(STAMP) $(TOOLS) ## an agent with a shell against each isolation, all of it (two minutes; needs root)
	PYTHONPATH=tests/support:tests/hostile unshare -m -n --propagation private $(BIN)/python tests/hostile/run.py

newcomer: $(STAMP) ## a fresh user types what the README and the commands print, up to a guarded agent (needs root)
	PYTHONPATH=tests/support $(BIN)/python tests/newcomer.py

check-agents: $(AGENTS) ## real agents with a model of ours: what is allowed runs, what is denied does not
	PYTHONPATH=tests/support $(BIN)/python tests/check_agents.py $(VENV)/agents/node_modules/.bin:$(VENV)/agents/hermes/bin

# Each framework with a Python of its own, in the version that its piece was checked with; CrewAI comes last, as it takes an older mcp.
FRAMEWORKS := langchain==1.4.7 openai-agents==0.24.0 pydantic-ai-slim==2.66.0 crewai==1.15.30
FRAMED     := $(FRAMEWORKS:%=$(VENV)/frameworks/%/.installed)
$(FRAMED): $(VENV)/frameworks/%/.installed: $(STAMP)
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable . pytest pytest-xdist hypothesis
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $*
	@touch $@

test-frameworks: $(FRAMED) ## the examples for LangChain, OpenAI Agents, Pydantic AI and CrewAI, with the real packages
	@for one in $(FRAMEWORKS); do \
		name=$$(echo "$${one%%==*}" | tr - _); name=$${name%_slim}; echo "$$one"; \
		$(VENV)/frameworks/$$one/bin/python -m pytest -W ignore -o 'pythonpath=tests/support examples' tests/frameworks/check_$$name.py || exit 1; \
	done

docs: $(STAMP) ## regenerate docs/reference/settings.md and docs/reference/openapi.json
	$(BIN)/python -m tools.docs

site: $(STAMP) ## the documentation with search, in site/
	@$(BIN)/python -c 'import material' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	$(BIN)/python -m tools.site site

clean: ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
