#!/usr/bin/env bash
# Writes requirements.txt, with the hash of each file, from what requirements.in names.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work"
"$work/bin/python" -m pip --disable-pip-version-check install --quiet pip-tools==7.5.2
"$work/bin/pip-compile" --quiet --generate-hashes --strip-extras --no-annotate --no-header --output-file requirements.txt requirements.in
