#!/usr/bin/env bash
# Evolves one sample on the embedded defaults and prints what came of it. Usage: demo.sh BINARY FILE
set -euo pipefail
binary=$1
file=$2
mkdir -p target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== The kernel: $file"
"$binary" kernels "$file"
echo
echo "== Where its time goes on an MI300X, by forecast"
"$binary" forecast "$file"
echo
echo "== Experiments"
"$binary" evolve "$file" --generations 3 --notebook "$work/notebook.db" --out target/demo-best.hip
"$binary" report "$file" --notebook "$work/notebook.db" >target/demo-report.html
echo
echo "The whole run as a page: target/demo-report.html"
