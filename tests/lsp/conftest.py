"""A workspace with a sample for each test, and the server that is tested."""

import os
import pathlib
import shutil

import pytest

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "benchmarks"


def pytest_configure():
    assert "KERNEL_SCIENTIST" in os.environ, "set KERNEL_SCIENTIST to the server's binary"


@pytest.fixture
def server() -> str:
    """The server's binary."""
    return str(pathlib.Path(os.environ["KERNEL_SCIENTIST"]).resolve(strict=True))


@pytest.fixture
def workspace(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with the reduction of the samples and its benchmark file, and a notebook of its own; times are the CPU's."""
    for ending in ("hip", "bench.toml"):
        shutil.copy(SAMPLES / f"reduction.{ending}", tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_NOTEBOOK", str(tmp_path / "notebook.db"))
    monkeypatch.setenv("KERNEL_SCIENTIST_DEVICE", "cpu")
    return tmp_path


def children_of(process: int) -> set[int]:
    """Processes under `process`, at any depth."""
    parents = {}
    for about in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = about.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(about.parent.name)] = int(fields[1])
    found, wanted = set(), [process]
    while wanted:
        parent = wanted.pop()
        below = {child for child, its_parent in parents.items() if its_parent == parent}
        wanted.extend(below - found)
        found |= below
    return found
