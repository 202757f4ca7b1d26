#!/usr/bin/env bash
# Checks and packages the extension, then drives the package in Visual Studio Code. Usage: run.sh SERVER [TEST...]
# Pictures of what was seen are kept in target/vscode/screenshots.
set -euo pipefail
server=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
node=$PWD/target/vscode/node/home/bin/node
PATH=$PWD/target/vscode/node/home/bin:$PATH
npm=$PWD/target/vscode/node/home/lib/node_modules/npm/bin/npm-cli.js

# What is built at the first use takes minutes, which is not what is tested: it is built beside the checks.
first_use() {
  local notebook
  notebook=$(mktemp -d)/notebook.db
  "$server" time tests/vscode/sample/transpose.hip --notebook "$notebook"
  for faults in address thread; do "$server" check tests/vscode/sample/transpose.hip --sanitize "$faults" --notebook "$notebook"; done
}
first_use >target/vscode/first-use.log 2>&1 &
building=$!

cd vscode-extension
for step in check lint unit; do "$node" "$npm" run --silent "$step"; done
"$node" "$npm" run --silent package -- --server "$server" --out ../target/vscode/kernel-scientist.vsix
cd ..
rm -rf target/vscode/screenshots target/vscode/extensions
wait "$building" || { cat target/vscode/first-use.log >&2; exit 1; }
[ $# -gt 0 ] || set -- tests/vscode/*.test.mjs
# One after the other: each has an editor of its own, and two would time each other.
KERNEL_SCIENTIST=$server "$node" --test --test-concurrency=1 "$@"
