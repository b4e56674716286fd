# What a clone can do. Needs make and Python 3.11 or newer with venv; each target sets up what it needs
# in .venv. Go, where present, builds the real kube-scheduler and kubectl that tests use.

PYTHON ?= python3
GO ?= go
PLATFORM ?= platforms/small-cluster.xml
WORKLOAD ?= workloads/burst-then-trickle.json
OUT ?= out
CASE ?= poisson-512
TESTS ?=
# More than there are cores: a test that starts programs waits for them half of its time.
WORKERS ?= $(shell echo $$(( ($$(nproc 2>/dev/null || echo 2) * 3 + 1) / 2 )))
CONFORMANCE ?=
DIFFERENTIAL ?=
FUZZ ?=
ODD ?=
SUITE ?=

# Programs that take minutes to build are shared by all clones.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
BIN := $(abspath $(or $(BATKUBE_TOOLS),$(CACHE)/batkube)/bin)

# Bytecode is made when a module is first used, not at installation: a third of the time of that.
PIP_INSTALL := .venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test lint costs conformance conformance-record differential fuzz odd-values scheduler-suite bench profile fidelity wheels tools control-plane programs clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  make %-20s %s\n' "$$name" "$$text"; done
	@echo "Variables: PYTHON=$(PYTHON)  GO=$(GO)  PLATFORM=$(PLATFORM)  WORKLOAD=$(WORKLOAD)  OUT=$(OUT)  TESTS=$(TESTS)  WORKERS=$(WORKERS)  CONFORMANCE=$(CONFORMANCE)  SUITE=$(SUITE)"

run: .venv/runtime  ## Simulate a sample (PLATFORM, WORKLOAD) with the built-in scheduler, results in OUT
	.venv/bin/batkube run --platform $(PLATFORM) --workload $(WORKLOAD) --out $(OUT)

# `quick` needs none of the programs that Go builds.
test: .venv/dev $(if $(filter quick,$(TESTS)),,try-tools)  ## Run all tests, those named in TESTS, or those that are quick (TESTS=quick)
	.venv/bin/pytest -n $(WORKERS) --maxschedchunk 4 $(if $(filter quick,$(TESTS)),-m quick,$(TESTS))

lint: .venv/dev  ## Check style and types
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy --strict batkube benchmarks tests

conformance: .venv/dev  ## Check the API against answers recorded from kube-apiserver (CONFORMANCE: '--strict', '--only pods-*')
	.venv/bin/python -m tests.conformance check $(CONFORMANCE)

differential: .venv/dev control-plane  ## Ask batkube and kube-apiserver the same at random (DIFFERENTIAL: '--kind Pod --count 500')
	.venv/bin/python -m tests.differential $(DIFFERENTIAL)

fuzz: .venv/dev  ## Ask batkube at random, and look whether all is in order (FUZZ: '--requests 100000 --seed 7')
	.venv/bin/python -m tests.fuzz $(FUZZ)

odd-values: .venv/dev  ## Give every option odd values at random, and look at what is said (ODD: '--count 5000 --seed 7 --only serve')
	.venv/bin/python -m tests.commands.odd_values $(ODD)

conformance-record: .venv/dev control-plane  ## Record those answers anew, from kube-apiserver and etcd
	.venv/bin/python -m tests.conformance record $(CONFORMANCE)

scheduler-suite: .venv/dev  ## Run kube-scheduler's own integration tests against batkube (SUITE: '--needs alpha')
	.venv/bin/python -m tests.scheduler_suite $(SUITE)

bench: .venv/dev control-plane  ## Measure batkube, and kube-apiserver with etcd beside it
	.venv/bin/python benchmarks/startup.py
	.venv/bin/python benchmarks/simulation_rate.py
	.venv/bin/python benchmarks/throughput.py
	.venv/bin/python benchmarks/api.py

costs: .venv/dev try-tools  ## Store anew what small cases cost, in counts that tests compare, where more or less is meant
	.venv/bin/python benchmarks/costs.py --update

profile: .venv/dev try-tools  ## Say what a case costs, and where it goes (CASE: poisson-512, poisson-5000, policy, backlog, gangs)
	.venv/bin/python benchmarks/profile_run.py $(CASE)

wheels: .venv/dev  ## Build the wheel for all platforms, and the one for this platform that needs no C compiler, into dist
	.venv/bin/python -m hatchling build -t wheel
	BATKUBE_BUILD_HELPER=1 .venv/bin/python -m hatchling build -t wheel

fidelity: .venv/dev try-tools  ## Repeat the published runs of a real cluster, where their data is
	.venv/bin/python benchmarks/fidelity.py --keep $(OUT)/fidelity
	.venv/bin/python benchmarks/backoff_queue.py $(OUT)/fidelity/startup.yaml

clean:  ## Remove what was made here (not the programs in the cache)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist $(OUT)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- Python ---------------------------------------------------------------------------------------

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "batkube needs Python 3.11 or newer; $(PYTHON) is not. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
		{ rm -rf .venv; echo "$(PYTHON) cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }

.venv/runtime: pyproject.toml | .venv/bin/python
	$(PIP_INSTALL) --editable .
	@touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ .venv/runtime

# --- Go -------------------------------------------------------------------------------------------

TOOLS := kube-scheduler-1.36.3 kubectl-1.36.3 kubectl-1.34.3 kube-scheduler-1.34.3 \
	kube-controller-manager-1.36.3 go-clients-1.36.3
CONTROL_PLANE := kube-scheduler-1.36.3 kube-apiserver-1.36.3 etcd-3.6.16

# Programs beside the scheduler (docs/programs.md): what CI does without, as each takes minutes to build.
BESIDE := descheduler-0.36.0 karpenter-1.14.1 kube-controller-manager-1.34.3 kueue-0.17.0

MORE := kube-scheduler-1.35.4 kube-scheduler-1.37.2
BUILT := $(sort $(TOOLS) $(CONTROL_PLANE) $(BESIDE) $(MORE))

.PHONY: try-tools $(BUILT)

ifneq ($(shell command -v $(GO)),)
tools: $(TOOLS)  ## Build the kube-schedulers and kubectl that tests use
control-plane: $(CONTROL_PLANE)  ## Build the kube-apiserver and etcd that benchmarks compare with
programs: $(BESIDE)  ## Build more programs that tests run beside kube-scheduler, some minutes each
else
tools control-plane programs:
	@echo "$(GO) is not installed: what needs the real kube-scheduler, kubectl or kube-apiserver is skipped"
endif

# A build that fails (no network, an old Go) costs `make test` the tests that need its program, no more.
try-tools:
	-@$(MAKE) --no-print-directory tools

kube-scheduler-1.36.3: MODULE = tests/schedulers/kube-scheduler/go.mod
kube-scheduler-1.34.3: MODULE = tests/schedulers/kube-scheduler/v1.34.mod
kube-scheduler-1.35.4: MODULE = tests/schedulers/kube-scheduler/v1.35.mod
kube-scheduler-1.37.2: MODULE = tests/schedulers/kube-scheduler/v1.37.mod
kubectl-1.36.3: MODULE = tests/clients/kubectl/go.mod
kubectl-1.34.3: MODULE = tests/clients/kubectl/v1.34.mod
kube-controller-manager-1.36.3: MODULE = tests/controllers/kube-controller-manager/go.mod
kube-controller-manager-1.34.3: MODULE = tests/controllers/kube-controller-manager/v1.34.mod
kueue-0.17.0: MODULE = tests/controllers/kueue/go.mod
kueue-0.17.0: MAIN = sigs.k8s.io/kueue/cmd/kueue
descheduler-0.36.0: MODULE = tests/controllers/descheduler/go.mod
descheduler-0.36.0: MAIN = sigs.k8s.io/descheduler/cmd/descheduler
karpenter-1.14.1: MODULE = tests/controllers/karpenter/go.mod
karpenter-1.14.1: MAIN = sigs.k8s.io/karpenter/kwok
go-clients-1.36.3: MODULE = tests/clients/go/go.mod
kube-apiserver-1.36.3: MODULE = benchmarks/control-plane/kube-apiserver/go.mod
etcd-3.6.16: MODULE = benchmarks/control-plane/etcd/go.mod

MAIN := .

# NAME-VERSION, built from MODULE again only when its sources have changed, whatever their dates say.
$(BUILT): FOLDER = $(dir $(MODULE))
$(BUILT): VERSION = $(lastword $(subst -, ,$@))
# What release builds say of themselves, too: in --version, and in the User-Agent.
$(BUILT): LDFLAGS = -s -w $(foreach package,client-go/pkg component-base,$(foreach pair,gitVersion=v$(VERSION) \
	gitMajor=$(word 1,$(subst ., ,$(VERSION))) gitMinor=$(word 2,$(subst ., ,$(VERSION))), \
	-X k8s.io/$(package)/version.$(pair)))
descheduler-0.36.0: LDFLAGS += -X sigs.k8s.io/descheduler/pkg/version.version=v20260601-v$(VERSION)
$(BUILT):
	@sources=$$(echo '$(LDFLAGS)' | cat $(wildcard $(FOLDER)*.go) $(MODULE) $(MODULE:.mod=.sum) - | cksum); \
	if [ ! -x $(BIN)/$@ ] || [ "$$(cat $(BIN)/.$@.sources 2>&1)" != "$$sources" ]; then \
		echo "building $(BIN)/$@: some minutes the first time"; \
		mkdir -p $(BIN) && (cd $(FOLDER) && CGO_ENABLED=0 GOWORK=off nice $(GO) build -trimpath \
			-modfile=$(notdir $(MODULE)) -ldflags '$(LDFLAGS)' -o $(BIN)/.$@.$$$$ $(MAIN)) && \
		mv $(BIN)/.$@.$$$$ $(BIN)/$@ && echo "$$sources" > $(BIN)/.$@.sources; \
	fi
