"""Profiles of programs written by others: counts are another library's, and those of messages Open MPI's own."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.factories import not_none
from tests.predict.decisions.test_openmpi_traffic import Pairs, sent
from tests.runner.preload.programs import LIMIT_S, compiled, launch_line, mpi_program, watched
from tests.runner.preload.test_profile import FUNCTIONS, profile_of, sums

from hockney.predict.decisions.base import decisions_for
from hockney.records.keys import COLLECTIVES
from hockney.records.profile import Profile
from hockney.runner.mpi import Mpi

HPCC_INPUT = """\
HPLinpack benchmark input file
of a test
HPL.out  output file name
8        device out
1        # of problems sizes (N)
64       Ns
1        # of NBs
16       NBs
0        PMAP process mapping
1        # of process grids (P x Q)
1        Ps
2        Qs
16.0     threshold
1        # of panel fact
2        PFACTs
1        # of recursive stopping criterium
4        NBMINs
1        # of panels in recursion
2        NDIVs
1        # of recursive panel fact.
1        RFACTs
1        # of broadcast
1        BCASTs
1        # of lookahead depth
1        DEPTHs
2        SWAP
64       swapping threshold
0        L1
0        U
1        Equilibration
8        memory alignment
##### This line (no. 32) is ignored (it serves as a separator). ######
0        Number of additional problem sizes for PTRANS
64       values of N
0        number of additional blocking sizes for PTRANS
16       values of NB
"""


def program_of_others(mpi: Mpi, name: str, title: str) -> Path:
    """A program that Debian compiled with its Open MPI; skips where it is not there, and on another MPI."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(lacking(title, f"{name} is not on the PATH"))
    linked = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
    if mpi.kind != "openmpi" or mpi.wrapper.parent != Path(found).parent or "libmpi.so" not in linked:
        pytest.skip(f"{found} is not of {mpi.describe()}")
    return Path(found)


def in_folder(folder: Path, counter: Path | None, *words: str | Path) -> Path:
    """A script that runs a program in a folder, with that counter before all other preloaded libraries."""
    script = folder / "program.sh"
    preloaded = f'export LD_PRELOAD="{counter}:$LD_PRELOAD"' if counter else ""
    lines = ["#!/bin/sh", f"cd {folder}", preloaded, f"exec {' '.join(map(str, words))}", ""]
    script.write_text("\n".join(lines), encoding="utf-8")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("name", "title", "words", "called"),
    [
        ("NPopenmpi", "NetPIPE", ["-u", "4096", "-n", "20"], {"send"}),
        ("hpcc", "HPC Challenge", [], set(FUNCTIONS)),
    ],
)
def test_it_counts_what_another_library_counts_in_the_same_run(
    mpi: Mpi, tmp_path: Path, name: str, title: str, words: list[str], called: set[str]
) -> None:
    """HPC Challenge measures for as long as it likes: no two runs have the same calls."""
    program = program_of_others(mpi, name, title)
    (tmp_path / "hpccinf.txt").write_text(HPCC_INPUT, encoding="utf-8")
    counter = compiled(mpi, tmp_path, "counter.c", "-shared", "-fPIC")
    profile, done = watched(mpi, tmp_path, 2, in_folder(tmp_path, counter, program, *words))
    numbers = re.findall(r"^counted(.+)$", done.stdout, re.MULTILINE)[0].split()
    for at, function in enumerate(FUNCTIONS):
        calls, size_B = int(numbers[at]), int(numbers[5 + at])
        if function == "reduce":
            # The counter's own, of ten long integers, after its last look.
            calls, size_B = calls + 2, size_B + 2 * 80
        assert sums(profile, function) == (calls, size_B), function
        assert (function not in called) or calls > 2, function


def messages(mpi: Mpi, folder: Path, ranks: int, *words: str | Path) -> tuple[Counter[int], Pairs]:
    """What Open MPI counts in a run without us; skips where it counts nothing.

    Number (0) and bytes (1) of the messages that the program sends, and bytes by pair of those of collectives.
    """
    options = {"enable": "2", "enable_output": "3", "filename": str(folder / "sent")}
    launcher, *line = launch_line(mpi, ranks, *words)
    set_ = [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", value)]
    done = subprocess.run([launcher, *set_, *line], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    files = sorted(folder.glob("sent.*.prof"))
    if not files:
        pytest.skip(f"{mpi.describe()} does not count its messages (component pml/monitoring)")
    assert len(files) == ranks
    of_program: Counter[int] = Counter()
    own: Pairs = Counter()
    for file in files:
        text = file.read_text(encoding="utf-8")
        for kind, source, target, size_B, number in re.findall(
            r"^([EI])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent", text, re.MULTILINE
        ):
            if kind == "E":
                of_program.update({0: int(number), 1: int(size_B)})
            else:
                own[int(source), int(target)] += int(size_B)
    return of_program, own


def by_schedules(mpi: Mpi, profile: Profile) -> Pairs:
    """Bytes by pair that the collectives of a profile send, by the library's choice for each size."""
    found = decisions_for(mpi.describe())
    total: Pairs = Counter()
    for call in profile.calls:
        if call.operation not in COLLECTIVES:
            continue
        assert profile.communicators[call.communicator].ranks == profile.ranks
        for size in call.sizes:
            choice = not_none(found.default(call.operation, profile.ranks, size.bytes, nodes=1))
            for pair, size_B in sent(call.operation, choice, profile.ranks, size.bytes).items():
                total[pair] += size_B * size.calls // profile.ranks
    return total


COLLECTIVE = mpi_program(
    "for (int i = 0; i < 3; ++i) MPI_Bcast(from, 75, MPI_INT, 0, MPI_COMM_WORLD);",
    "for (int i = 0; i < 2; ++i) MPI_Bcast(from, 10000, MPI_INT, 0, MPI_COMM_WORLD);",
    "for (int i = 0; i < 4; ++i) MPI_Reduce(from, into, 100, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);",
    "for (int i = 0; i < 5; ++i) MPI_Allreduce(from, into, 5120, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
    "for (int i = 0; i < 6; ++i) MPI_Allgather(from, 10, MPI_INT, into, 10, MPI_INT, MPI_COMM_WORLD);",
    "for (int i = 0; i < 7; ++i) MPI_Alltoall(from, 25, MPI_INT, into, 25, MPI_INT, MPI_COMM_WORLD);",
    "for (int i = 0; i < 8; ++i) MPI_Gather(from, 250, MPI_INT, into, 250, MPI_INT, 0, MPI_COMM_WORLD);",
    "for (int i = 0; i < 9; ++i) MPI_Scatter(from, 250, MPI_INT, into, 250, MPI_INT, 0, MPI_COMM_WORLD);",
    before="static int from[80000], into[80000];\n",
)


def test_the_schedules_of_its_collectives_send_what_open_mpi_counts(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind != "openmpi":
        pytest.skip(f"{mpi.describe()} is not Open MPI")
    # Of six ranks, Open MPI and our schedule of a rabenseifner allreduce send as much, and between other pairs.
    ranks = 4
    program = compiled(mpi, tmp_path, COLLECTIVE)
    of_program, own = messages(mpi, tmp_path, ranks, program)
    profile = profile_of(mpi, tmp_path, ranks, program)
    assert of_program.total() == 0
    assert dict(own) == dict(by_schedules(mpi, profile))


def test_the_messages_of_netpipe_are_those_that_open_mpi_counts(mpi: Mpi, tmp_path: Path) -> None:
    """With a number of repetitions of its own, so that two runs have the same calls."""
    program = program_of_others(mpi, "NPopenmpi", "NetPIPE")
    script = in_folder(tmp_path, None, program, "-u", "2048", "-n", "7")
    of_program, own = messages(mpi, tmp_path, 2, script)
    profile = profile_of(mpi, tmp_path, 2, script)
    calls, size_B = sums(profile, "send")
    assert calls > 100
    assert of_program == {0: calls, 1: size_B}
    assert dict(own) == dict(by_schedules(mpi, profile))
