#!/usr/bin/env bash
# Builds and runs the programs of a list in tests/programs/public/ in a checkout of that collection, and counts.
#   tests/public_programs.sh rocm-examples ~/rocm-examples [PART]     PART: only programs with this in their path
set -euo pipefail
[ $# -ge 2 ] || { sed -n 2,3p "$0" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
list=$top/tests/programs/public/$1.md
[ -f "$list" ] || { echo "there is no list $list; there are:" "$(ls "$top/tests/programs/public")" >&2; exit 2; }
checkout=$(cd "$2" && pwd)
cd "$top" && exec cargo run -q -p lab --example programs -- --list "$list" "$checkout" ${3+"$3"}
