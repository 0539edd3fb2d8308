# Kado. `make help` lists what can be made. Needs Debian (or alike), make, and Python 3.11 to 3.13.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo "$$name"; break; }; done)
UV := $(or $(shell command -v uv),.uv/bin/uv)
PY := .venv/bin/python
READY := .venv/.installed
COMPILE := pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

export UV_PYTHON_DOWNLOADS := never
export UV_LINK_MODE := copy

# The static checks import the settings, which want addresses; nothing is ever contacted there.
STATIC := DATABASE_URL=postgresql://localhost/kado REDIS_URL=redis://localhost KADO_SECRET_KEY=static-checks

##@ Run

serve: setup ## run everything in this terminal; ARGS="--port 9000" (see ARGS=--help)
	@$(PY) manage.py serve $(ARGS)

demo: setup ## play a game through the public API, from nothing to its end
	@$(PY) examples/demo.py $(ARGS)

bench: setup ## run the benchmark BENCH=name, or all
	@for file in $(if $(BENCH),benchmarks/$(BENCH).py,$(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))); do \
		echo "== $$file"; PYTHONPATH=. $(PY) "$$file" $(ARGS); done

##@ Check

# Most tests wait for processes, so more of them than there are cores; each has a PostgreSQL and a Valkey of its own. A file's
# tests stay together, because they share what takes long to start.
PARALLEL ?= --numprocesses 4 --dist loadfile --no-loadscope-reorder

test: setup ## run all tests; ARGS="tests/games -k clock"
	@$(PY) -m pytest $(PARALLEL) $(ARGS)

test-quick: setup ## run the tests that take no more than some seconds
	@$(PY) -m pytest $(PARALLEL) -m "not slow" $(ARGS)

check: lint types contracts-imports client ## all static checks

lint: setup ## ruff: rules and format
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

format: setup ## let ruff repair and format the code
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

types: setup ## mypy, strict
	@$(STATIC) $(PY) -m mypy

contracts-imports: setup ## import-linter: who may import whom
	@$(STATIC) .venv/bin/lint-imports --no-cache

client: ## the browser client: types, rules of style and format (needs Node)
	@command -v npm >/dev/null || { test -z "$(KADO_CI)" && echo "Left out: the client's checks need Node 20 or later (apt-get install npm)."; }
	@! command -v npm >/dev/null || { cd web && { test node_modules/.package-lock.json -nt package-lock.json || npm ci --silent --no-audit --no-fund; } \
		&& npx tsc --project . && npx biome ci --error-on-warnings; }

fuzz: .fuzz/.installed ## breed texts that break a reader of the rules, SECONDS (60) for each kind
	@for kind in sgf json move; do \
		.fuzz/bin/python -m tests.fuzz.breed "$$kind" --seconds $(or $(SECONDS),60); done

mutants: .mutants/.installed ## change the rules a little, often, and show what no test noticed; ARGS="'games.polyomino*'"
	@test -n "$(ARGS)" || rm -rf mutants
	@nice .mutants/bin/mutmut run --max-children 2 $(ARGS)
	@.mutants/bin/mutmut results | sed '/: not checked$$/d; s/^ *//; s/:.*//' | xargs -rn 1 .mutants/bin/mutmut show

##@ Set up

browser: ## install Debian's Chromium, which a few tests open pages with (needs root)
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; } || { \
		echo "Chromium is not installed, and only root on Debian can do it here: run 'make browser' as root." >&2; exit 1; }
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

setup: $(READY) $(if $(filter setup,$(MAKECMDGOALS)),kernels) ## install what is needed into .venv (done by all others), and compile the engine

# Not for the others: `make serve` is there sooner when its worker compiles beside the rest.
.PHONY: kernels
kernels: $(READY)
	@$(PY) manage.py kernels

requirements: $(UV) ## recompile requirements/*.txt from pyproject.toml; ARGS=--upgrade
	@mkdir -p requirements
	@$(UV) $(COMPILE) pyproject.toml --output-file requirements/runtime.txt $(ARGS)
	@$(UV) $(COMPILE) pyproject.toml --group embedded --group dev --output-file requirements/dev.txt $(ARGS)
	@for tool in fuzz mutants; do $(UV) $(COMPILE) --group "$$tool" --output-file "requirements/$$tool.txt" $(ARGS); done

clean: ## remove .venv, .uv and the tools' caches (not the data of `make serve`)
	@rm -rf .venv .uv .fuzz .mutants .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache mutants staticfiles
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: browser serve demo bench test test-quick client fuzz mutants check lint format types contracts-imports setup requirements clean help

# Modules are compiled at once: where Python may not write its caches, every start would compile them anew, for seconds.
$(READY): requirements/dev.txt | $(UV) python-is-fit
	@test -x $(PY) || $(UV) venv --quiet --python "$(PYTHON)" .venv
	@echo "Installing the packages into .venv …"
	@$(UV) pip install --quiet --compile-bytecode --python $(PY) --require-hashes -r requirements/dev.txt
	@touch $@

# Tools that have a set-up of their own, because few need them and they would burden everybody's.
.%/.installed: requirements/%.txt | $(UV) python-is-fit
	@$(UV) venv --quiet --clear --python "$(PYTHON)" ".$*"
	@echo "Installing the packages into .$* …"
	@$(UV) pip install --quiet --python ".$*/bin/python" --require-hashes -r "$<"
	@touch "$@"

.PHONY: python-is-fit
python-is-fit:
	@test -n "$(PYTHON)" || { echo "Kado needs Python 3.11, 3.12 or 3.13, and python3 here is $$(python3 -V 2>&1 || echo missing):" \
		"install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }

.uv/bin/uv: | python-is-fit
	@echo "Installing uv into .uv …"
	@rm -rf .uv
	@if "$(PYTHON)" -m venv .uv >/dev/null 2>&1; then .uv/bin/python -m pip install --quiet 'uv>=0.9,<1'; \
	else rm -rf .uv; "$(PYTHON)" -m pip install --quiet --target .uv 'uv>=0.9,<1' || { \
		echo "uv could not be installed: install Debian's package python3-venv (apt-get install python3-venv), or uv itself." >&2; exit 1; }; fi
