#!/usr/bin/env bash
# Builds the device micro-benchmarks with nvcc or hipcc and runs them on the machine's GPU.
#   server/forecast/microbench/build_and_run.sh [--json FILE] [--only NAME] [--build FOLDER]
# Prints a table; --json keeps every figure, one JSON object a line, behind one line about the machine. Programs that are
# already in --build FOLDER are not built again. Without a compiler or a GPU it says so and ends with status 3.
set -uo pipefail
cd "$(dirname "$0")"
json= only= build=
while [ $# -gt 0 ]; do
  case $1 in
    --json) json=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    *) echo "bench-device: unknown option $1" >&2; exit 2 ;;
  esac
done
[ -n "$build" ] || { build=$(mktemp -d); trap 'rm -rf "$build"' EXIT; }
mkdir -p "$build"

nvcc=${NVCC:-$(command -v nvcc || ls -d /usr/local/cuda*/bin/nvcc 2>/dev/null | tail -1)}
hipcc=${HIPCC:-$(command -v hipcc || ls -d /opt/rocm*/bin/hipcc 2>/dev/null | tail -1)}
gpu= compiler=
if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; then
  gpu=nvidia compiler=$nvcc
elif [ -e /dev/kfd ]; then
  gpu=amd compiler=$hipcc
fi
if [ -z "$gpu" ]; then
  echo "bench-device: no GPU here: neither nvidia-smi nor /dev/kfd answers. These figures need an NVIDIA GPU with nvcc or an AMD GPU with hipcc." >&2
  exit 3
fi

programs=(arithmetic control shared_memory cache latency dram atomics launch)
building=()
for name in "${programs[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  [ -x "$build/$name" ] && continue
  if [ -z "$compiler" ]; then
    echo "bench-device: the GPU is there, its compiler is not: $([ $gpu = nvidia ] && echo "nvcc (CUDA toolkit; or set NVCC)" || echo "hipcc (ROCm; or set HIPCC)")" >&2
    exit 3
  fi
  if [ $gpu = nvidia ]; then
    "$compiler" -x cu -arch="${CUDA_ARCH:-native}" -std=c++17 -O3 -I../../lab/runtime/nvidia "$name.hip" -o "$build/$name" 2>"$build/$name.log" &
  else
    "$compiler" -std=c++17 -O3 --offload-arch="${HIP_ARCH:-native}" "$name.hip" -o "$build/$name" 2>"$build/$name.log" &
  fi
  building+=("$!:$name")
done
for job in "${building[@]:-}"; do
  [ -n "$job" ] || continue
  wait "${job%%:*}" || { echo "bench-device: ${job#*:}.hip does not build:" >&2; head -20 "$build/${job#*:}.log" >&2; exit 1; }
done

lines=$build/figures.jsonl
if [ $gpu = nvidia ]; then
  IFS=, read -r card driver clock memory < <(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader,nounits | head -1)
  toolkit=$([ -n "$nvcc" ] && "$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p')
else
  card=$(rocminfo 2>/dev/null | sed -n 's/^ *Marketing Name: *//p' | grep -i instinct | head -1)
  driver=$(cat /sys/module/amdgpu/version 2>/dev/null) clock= memory= toolkit=$("$hipcc" --version 2>/dev/null | head -1)
fi
printf '{"device":"%s","driver":"%s","toolkit":"%s","maximum_processor_clock_mhz":"%s","maximum_memory_clock_mhz":"%s","date":"%s"}\n' \
  "$card" "${driver# }" "$toolkit" "${clock# }" "${memory# }" "$(date -u +%Y-%m-%d)" >"$lines"
failed=0
for name in "${programs[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  begin=$(date +%s)
  # A program that hangs loses its own figures only.
  timeout 120 "$build/$name" | sed "s/^{/{\"program\":\"$name\",/" >>"$lines" || { echo "bench-device: $name failed" >&2; failed=1; }
  echo "bench-device: $name took $(($(date +%s) - begin)) s" >&2
done
[ -z "$json" ] || cp "$lines" "$json"
python3 table.py "$lines" 2>/dev/null || cat "$lines"
exit $failed
