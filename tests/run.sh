#!/usr/bin/env bash
# Runs every test. cargo-nextest where it is installed (faster, one process a test), cargo test elsewhere.
set -euo pipefail
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --workspace --locked --no-fail-fast
else
  cargo test --workspace --locked --no-fail-fast
fi
cargo test --workspace --locked --doc --quiet
