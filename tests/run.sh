#!/usr/bin/env bash
# Runs every test: with cargo-nextest where it is installed (one process a test), elsewhere with cargo test, one test at a
# time, since some tests look at the children of their own process. Then the built language server in other hands (tests/lsp), and the
# extension in Visual Studio Code (tests/vscode).
set -euo pipefail
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --workspace --locked --no-fail-fast
else
  cargo test --workspace --locked --no-fail-fast -- --test-threads=1
fi
cargo test --workspace --locked --doc --quiet
cargo build --quiet --locked -p kernel-scientist
KERNEL_SCIENTIST=${CARGO_TARGET_DIR:-target}/debug/kernel-scientist target/clients/bin/python -m pytest tests/lsp
tests/vscode/run.sh "${CARGO_TARGET_DIR:-target}/debug/kernel-scientist"
