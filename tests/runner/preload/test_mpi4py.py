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
from tests.processes import captured
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


SUITE = ("sh", "-c", 'exec "$0" test/main.py -q >said.$$ 2>&1', sys.executable)
"""Each rank writes to a file of its own: a launcher mixes lines of several, and loses some at the end."""


def results(argv: list[str], source: Path, packages: Path) -> tuple[list[str], str]:
    """The exit code and what the suite says of each rank, tests and how they ended; what the launch printed."""
    for before in source.glob("said.*"):
        before.unlink()
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = captured(argv, cwd=source, env=environment, timeout=LIMIT_S)
    said = [file.read_text(encoding="utf-8", errors="replace") for file in source.glob("said.*")]
    of_ranks = [re.findall(r"Ran \d+ tests|skipped=\d+|FAILED|failures=\d+|errors=\d+", text) for text in said]
    return [str(done.returncode), *sorted(map(", ".join, of_ranks))], done.stdout + done.stderr


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
    line = launch_line(mpi, RANKS, *SUITE)
    without, _ = results(line, source, packages)
    code, *of_ranks = without
    assert code == "0"
    assert len(of_ranks) == RANKS
    assert all(re.match(r"Ran \d+ tests", said) and "FAILED" not in said for said in of_ranks), of_ranks
    words = apply_words(tmp_path, every_schedule(1), "--summary")
    under, text = results([sys.executable, "-m", "hockney", *words, *line], source, packages)
    assert under == without
    # The summary has a row of each operation that the library's own code did not run.
    for operation in COLLECTIVES:
        assert re.search(rf"^ ?{operation} +(?!the library)\w+ +\d+", text, re.MULTILINE), operation
