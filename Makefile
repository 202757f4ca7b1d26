# Each target works alone on a bare Debian 12 (as root or with sudo): setup.sh installs what is missing.
CARGO ?= cargo
.PHONY: demo editor test bench bench-comparisons bench-device build setup

# What `make demo` shows: one kernel made faster by forecast, with the diff that did it and the lines that it cured.
DEMO ?= demo/transpose.hip

setup:
	@./setup.sh build

build: setup
	$(CARGO) build --release --locked -p kernel-scientist

demo: build
	@./tests/demo.sh target/release/kernel-scientist $(DEMO)

# Visual Studio Code in the browser, with the extension on copies of the demo's kernels; it listens on this machine alone.
editor: build
	@./setup.sh editor
	@./tests/vscode/show.sh target/release/kernel-scientist

test:
	@./setup.sh test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@./tests/run.sh

# Figures, not tests: nothing here passes or fails. BENCHMARKS.md keeps them with machine and date.
# HIP_CPU=/path/to/HIP-CPU runs the same kernels with AMD's HIP-CPU (it needs libtbb-dev) and prints both.
HIP_CPU ?=
bench: build
	@./setup.sh bench
	@HIP_CPU="$(HIP_CPU)" ./tests/bench.sh

# How often comparisons err: about 15 minutes on an idle machine of two cores. COMPARISONS=--quick takes two.
COMPARISONS ?=
bench-comparisons: setup
	$(CARGO) run --quiet --release --locked -p lab --example comparisons -- $(COMPARISONS)

# Figures of this machine's GPU for the forecast's device tables: a minute or two. JSON=figures.jsonl keeps them all.
# Needs nvcc and an NVIDIA GPU or hipcc and an AMD one; without them it says what is missing and ends with status 3.
JSON ?=
bench-device:
	@server/forecast/microbench/build_and_run.sh $(if $(JSON),--json $(JSON))
