#!/usr/bin/env bash
# Prints what the CPU runtime costs on one core, and, where HIP_CPU names a checkout of HIP-CPU, the same kernels there in
# the same run: for each figure ours, theirs, and how many times ours is better.
#
#   tests/bench_runtime.sh BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The last core: interrupts mostly go to the first. Both runtimes take as many threads as they may use cores.
one_core="taskset -c $(($(nproc) - 1))"
program=tests/programs/bench/runtime.hip
lines=tests/programs/bench/hundred_lines.hip

# Name, value, unit; two rounds of each, the better one counts (a rate is better when it is larger).
best() {
  awk '{ better = !($1 in value) || ($3 ~ /FLOP/ ? $2 > value[$1] : $2 < value[$1])
         if (!($1 in value)) order[++count] = $1
         if (better) value[$1] = $2
         unit[$1] = $3 }
       END { for (i = 1; i <= count; i++) print order[i], value[order[i]], unit[order[i]] }' "$@"
}

ours() {
  $one_core "$binary" check --output --timeout 120 "$program" | awk 'NF == 3 && $2 ~ /^[0-9.]+$/'
}

compile_ours() {
  KERNEL_SCIENTIST_CACHE=$work/cache cargo run --quiet --release --locked -p lab --example compile_time -- "$lines"
}

theirs_flags=(-O3 -march=native -ffp-contract=fast -fno-math-errno -std=c++17 -DHIP_CPU_RUNTIME -w)
compile_theirs() { # SOURCE OUTPUT
  clang++-19 "${theirs_flags[@]}" -I "$HIP_CPU/include" -x c++ "$1" -x none -o "$2" -ltbb -lpthread
}

if [ -z "${HIP_CPU:-}" ]; then
  ours >"$work/ours"
  ours >>"$work/ours"
  best "$work/ours"
  compile_ours
  echo "HIP-CPU was not measured: give its checkout, as in make bench HIP_CPU=/path/to/HIP-CPU (it needs libtbb-dev)"
  exit 0
fi

[ -f "$HIP_CPU/include/hip/hip_runtime.h" ] || { echo "bench: $HIP_CPU holds no include/hip/hip_runtime.h: HIP_CPU must be a checkout of HIP-CPU" >&2; exit 2; }
compile_theirs "$program" "$work/theirs" || { echo "bench: HIP-CPU does not build; install libtbb-dev" >&2; exit 3; }
for _ in 1 2; do
  ours >>"$work/ours"
  # It takes minutes where it allots stacks for each block anew; what it has not printed by then is not compared.
  timeout 60 $one_core "$work/theirs" >>"$work/figures" || true
done
for _ in 1 2 3; do
  begin=$(date +%s.%N)
  compile_theirs "$lines" "$work/lines"
  awk "BEGIN { printf \"compile_hundred_lines %.3f s\\n\", $(date +%s.%N) - $begin }" >>"$work/figures"
done
compile_ours >>"$work/ours"
best "$work/ours" >"$work/left"
best "$work/figures" >"$work/right"
awk 'NR == FNR { other[$1] = $2; next }
     !($1 in other) { print $1, $2, $3; next }
     { times = $3 ~ /FLOP/ ? $2 / other[$1] : other[$1] / ($2 > 0 ? $2 : 0.0005)
       printf "%s %s %s, HIP-CPU %s: %.1f times better\n", $1, $2, $3, other[$1], times }' "$work/right" "$work/left"
