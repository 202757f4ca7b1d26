#!/usr/bin/env bash
# Packages the extension with a server and opens it in the browser. Usage: show.sh SERVER [PORT]
set -euo pipefail
server=$(realpath "$1")
cd "$(dirname "$0")/../.."
node=$PWD/target/vscode/node/home/bin/node
package=$PWD/target/vscode/kernel-scientist.vsix
(cd vscode-extension && PATH="$(dirname "$node"):$PATH" "$node" package.mjs --server "$server" --out "$package") >target/vscode/package.log ||
  { cat target/vscode/package.log >&2; exit 1; }
exec "$node" tests/vscode/show.mjs "$package" "${@:2}"
