#!/usr/bin/env bash
# Prints the figures of BENCHMARKS.md. Nothing passes or fails here: run it on an idle machine and compare ratios.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$PWD/target/release/kernel-scientist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KERNEL_SCIENTIST_NOTEBOOK=$work/notebook.db

echo "## Machine"
echo "$(date -u +%Y-%m-%d), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(uname -sr)"
echo "$(clang++-19 --version | head -1), $(rustc --version)"

echo
echo "## The editor's side: one-character changes in a large file"
cargo run --quiet --release --locked -p hip-syntax --example did_change

echo
echo "## The language server in a large file, during a timing run and an evolution; clangd with nothing else at work"
cargo run --quiet --release --locked -p kernel-scientist --example editor_speed -- "$binary" clangd-19

echo
echo "## From command to verdict (program that runs for less than a second; second call finds the build in the cache)"
for sample in tests/programs/vector_add.hip tests/benchmarks/sgemm.hip; do
  for label in "first call" "built before" "built before" "built before"; do
    begin=$(date +%s.%N)
    "$binary" time "$sample" --device cpu >/dev/null
    end=$(date +%s.%N)
    printf 'time %s, %s: %.2f s\n' "$sample" "$label" "$(awk "BEGIN { print $end - $begin }")"
  done
done

echo
echo "## From a candidate's text to its forecast; other sizes alone; candidates checked and forecast side by side (load:$(cut -d' ' -f1 /proc/loadavg))"
for sample in demo/transpose.hip demo/softmax.hip tests/benchmarks/sgemm.hip tests/benchmarks/scan.hip; do
  cargo run --quiet --release --locked -p lab --example forecast_time -- "$sample"
done

echo
echo "## The loop's own costs: a model and a device that answer at once, then at a hundredth of their real time (load:$(cut -d' ' -f1 /proc/loadavg))"
cargo run --quiet --release --locked -p scientist --example overhead -- 5 "$work"

echo
echo "## The CPU runtime's own costs, on one core"
tests/bench_runtime.sh "$binary"
"$binary" check --output --timeout 120 tests/programs/bench/matrix.hip

if [ $# -gt 0 ]; then
  echo
  echo "## Kernels found in public code ($*)"
  cargo run --quiet --release --locked -p hip-syntax --example corpus -- "$@"
fi
