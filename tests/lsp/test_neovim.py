"""The built server in Neovim: `neovim.lua` says what it sees, and here it is counted."""

import os
import pathlib
import subprocess
import sys

CHECKS = [
    "initialize",
    "code lenses",
    "lenses of a large file",
    "inlay hints",
    "progress",
    "a figure after a refresh",
    "hover",
    "hints move",
    "code action",
    "stale after a change",
    "one undo",
    "diagnostics",
    "progress of an evolution",
    "cancel",
    "shutdown",
]


def test_neovim_shows_and_does_it_all(server: str, workspace: pathlib.Path, tmp_path: pathlib.Path):
    neovim = pathlib.Path(sys.executable).parent / "nvim"
    script = pathlib.Path(__file__).parent / "neovim.lua"
    environment = dict(os.environ, HIP_FILE=str(workspace / "reduction.hip"), KERNEL_SCIENTIST=server)
    for folder in ("STATE", "DATA", "CONFIG"):
        environment[f"XDG_{folder}_HOME"] = str(tmp_path / "neovim")
    done = subprocess.run(
        [neovim, "--headless", "--clean", "-l", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "not ok "))]
    assert lines == [f"ok {what}" for what in CHECKS], f"{done.stdout}\n{done.stderr}"
