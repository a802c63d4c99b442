"""mpi4py's own test suite gives the same under the layer, every collective of which a schedule serves.

It takes minutes, and the source distribution: `pip download --no-deps --no-binary mpi4py mpi4py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.runner.preload.programs import apply_words, every_schedule, launch_line

from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import Mpi

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        "HOCKNEY_MPI4PY_SOURCE" not in os.environ,
        reason=lacking("mpi4py's source", "HOCKNEY_MPI4PY_SOURCE does not name its archive"),
    ),
]
RANKS = 2
LIMIT_S = 1800.0


def results(argv: list[str], source: Path, packages: Path) -> tuple[list[str], str]:
    """What the suite says of each rank: its tests, and how they ended."""
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        argv, cwd=source, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    text = done.stdout + done.stderr
    # Ranks write at once, into each other's lines.
    return [
        str(done.returncode),
        *re.findall(r"Ran (\d+) tests", text),
        *sorted(re.findall(r"skipped=\d+|FAILED|failures=\d+|errors=\d+", text)),
    ], text


def test_its_suite_gives_the_same(mpi: Mpi, tmp_path: Path) -> None:
    archive, packages = Path(os.environ["HOCKNEY_MPI4PY_SOURCE"]), tmp_path / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir"]
    # The header of another MPI may lie in this Python's own folder, which is looked into first.
    flags = f"-O1 -I{mpi.wrapper.parents[1] / 'include'}"
    environment = {**mpi.full_environment(), "MPI4PY_BUILD_MPICC": str(mpi.wrapper), "CFLAGS": flags}
    subprocess.run([*pip, "--target", str(packages), str(archive)], check=True, env=environment)
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    line = launch_line(mpi, RANKS, sys.executable, "test/main.py", "-q")
    without, _ = results(line, source, packages)
    assert without.count("FAILED") == 0
    assert len(without) > RANKS
    words = apply_words(tmp_path, every_schedule(1), "--summary")
    under, text = results([sys.executable, "-m", "hockney", *words, *line], source, packages)
    assert under == without
    # The summary has a row of each operation that the library's own code did not run.
    for operation in COLLECTIVES:
        assert re.search(rf"^ ?{operation} +(?!the library)\w+ +\d+", text, re.MULTILINE), operation
