"""A profile counts what another profiling library counts, and knows who waited for whom."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.factories import not_none
from tests.runner.preload.programs import (
    LIMIT_S,
    compiled,
    hockney,
    launch_line,
    mpi_program,
    skip_if_wrong_without,
    watched,
)

from hockney.records.profile import Call, Profile
from hockney.runner.mpi import Mpi
from hockney.runner.profiled import profiled

FUNCTIONS = ("bcast", "allreduce", "reduce", "send", "isend")
LATE_S = 0.02
"""What the program late.c comes late, ten times."""


def profile_of(mpi: Mpi, folder: Path, ranks: int, *words: str | Path) -> Profile:
    return watched(mpi, folder, ranks, *words)[0]


def sums(profile: Profile, operation: str) -> tuple[int, int]:
    alike = [call for call in profile.calls if call.operation == operation]
    return sum(call.calls for call in alike), sum(call.bytes for call in alike)


@pytest.mark.one_mpi
def test_it_counts_what_another_library_counts(mpi: Mpi, tmp_path: Path) -> None:
    driver = compiled(mpi, tmp_path, "driver.c")
    counter = compiled(mpi, tmp_path, "counter.c", "-shared", "-fPIC")
    line = launch_line(mpi, 3, "env", f"LD_PRELOAD={counter}", driver)
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    skip_if_wrong_without(mpi, done, driver, 3)
    assert done.returncode == 0, done.stdout + done.stderr
    words = next(line for line in done.stdout.splitlines() if line.startswith("counted")).split()[1:]
    counted = dict(zip(FUNCTIONS, zip(map(int, words[:5]), map(int, words[5:]), strict=True), strict=True))
    profile = profile_of(mpi, tmp_path, 3, driver)
    assert profile.ranks == 3
    assert counted["isend"][0] > 0
    for name in FUNCTIONS:
        calls, size_B = sums(profile, name)
        # The driver's mistakes have counts that are negative, or of no datatype, which have no bytes here; and
        # between groups not every argument means something.
        assert calls == counted[name][0], name
        if name in ("reduce", "send", "isend"):
            assert size_B == counted[name][1], name


def _on(profile: Profile, operation: str, name: str) -> Call:
    (call,) = (
        call
        for call in profile.calls
        if call.operation == operation and profile.communicators[call.communicator].name == name
    )
    return call


def test_waiting_is_told_from_transferring(mpi: Mpi, tmp_path: Path) -> None:
    """Others wait at least as long as the late rank sleeps after a barrier that all have left."""
    program = compiled(mpi, tmp_path, "late.c", "-g")
    profile = profile_of(mpi, tmp_path, 3, program)
    summed, sent, reduced = (_on(profile, name, "turned") for name in ("allreduce", "bcast", "reduce"))
    # Ranks leave a barrier one after another; where they share cores the last one some milliseconds later.
    least_s = 10 * LATE_S * 0.5
    assert summed.waiting_s is not None
    assert summed.waiting_s > 2 * least_s
    # Whoever shares its core with others may once come later than rank 1 sleeps: most often it is rank 1.
    assert not_none(summed.late).rank == 1
    # Number 0 of the communicator, the root of the broadcast, is rank 2 of the world.
    assert not_none(sent.waiting_s) > 2 * least_s
    assert not_none(sent.late).rank == 2
    # Only the root of a reduction waits for others.
    assert least_s < not_none(reduced.waiting_s) < summed.waiting_s + 10 * LATE_S
    assert summed.sampled == sent.sampled == reduced.sampled == 30


WRITES = mpi_program(
    "int rank, number = 1;  MPI_File file;",
    "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
    "MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);",
    "const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;",
    "if (MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file)) return 3;",
    "MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE);",
    "MPI_File_close(&file);",
)


def test_what_the_library_calls_itself_is_not_counted(mpi: Mpi, tmp_path: Path) -> None:
    """MPI-IO makes communicators and calls collectives; the program calls one broadcast."""
    program = compiled(mpi, tmp_path, WRITES)
    profile = profile_of(mpi, tmp_path, 2, program, tmp_path / "written")
    assert (tmp_path / "written").stat().st_size == 8
    (call,) = profile.calls
    assert (call.operation, call.calls) == ("bcast", 2)


NOTES = """\
rank\t0\t5000000000
on\t77\t0\t2\tw\t0
call\t0\tallreduce\ta\t8\t2\t3000000000
call\t1\tbcast\tb\t4\t1\t250000000
at\t0\t0\t0\t0\t1000000000
at\t1\t0\t0\t2000000000\t4000000000
at\t2\t1\t1\t5000000000\t5250000000
rank\t1\t6000000000
on\t77\t1\t2\tw\t0
call\t0\tallreduce\ta\t8\t2\t2500000000
call\t3\tbcast\tb\t4\t1\t500000000
at\t0\t0\t0\t500000000\t1000000000
at\t1\t0\t0\t2000000000\t4000000000
at\t2\t3\t1\t5500000000\t6000000000
end\t14
"""


def test_waiting_ends_when_the_last_one_comes() -> None:
    """By hand: rank 0 waits 0.5 s of the first sum for rank 1, nobody waits in the second.

    The broadcast is over for rank 0 before its root comes: that was waiting as long as it took.
    """
    profile = profiled(NOTES, "some MPI")
    call, sent = profile.calls
    assert (sent.time_s, sent.waiting_s, sent.transferring_s) == (0.75, 0.25, 0.5)
    assert (profile.elapsed_s, profile.ranks) == (6.0, 2)
    assert (call.calls, call.bytes, call.time_s) == (4, 32, 5.5)
    # The sampled sums took 5.5 s, as all did.
    assert call.waiting_s == pytest.approx(0.5)
    assert call.transferring_s == pytest.approx(5.0)
    assert (call.least_rank_time_s, call.most_rank_time_s) == (2.5, 3.0)
    assert profile.communicators[call.communicator].ranks == 2
    # Rank 0 came last to the sums once (both at the same time in the second), rank 1, the root, to the broadcast.
    assert sent.late is not None
    assert (sent.late.rank, sent.late.share) == (1, 1.0)


def test_calls_that_differ_between_ranks_say_nothing_of_waiting(caplog: pytest.LogCaptureFixture) -> None:
    """The broadcast of rank 1 has another root: that is another call."""
    sent = profiled(NOTES.replace("at\t2\t3\t1", "at\t2\t3\t0"), "some MPI").calls[1]
    assert (sent.operation, sent.waiting_s, sent.sampled) == ("bcast", None, 0)
    assert "1 of 3 kept calls were not the same on all ranks" in caplog.text


BEGUN = {
    "pid_t child = fork(); if (child == 0) _exit(0); waitpid(child, NULL, 0);": "fork(): 2 calls",
    'if (system("true") != 0) return 1;': "system(): 2 calls",
    'pclose(popen("true", "r"));': "popen(): 2 calls",
    'pid_t child; char* words[] = {"true", NULL};'
    "if (posix_spawnp(&child, words[0], NULL, NULL, words, NULL)) return 1;"
    "waitpid(child, NULL, 0);": "posix_spawn(): 2 calls",
    'pid_t child = vfork(); if (child == 0) execl("/bin/true", "true", NULL); waitpid(child, NULL, 0);': (
        "vfork(), clone(), the MPI library or before MPI_Init, at least: 2 calls"
    ),
}
"""What a program begins processes by, and what is said of two ranks."""


@pytest.mark.one_mpi
@pytest.mark.parametrize("begins", BEGUN)
def test_a_program_that_begins_processes_is_named(mpi: Mpi, tmp_path: Path, begins: str) -> None:
    headers = "".join(f"#include <{name}.h>\n" for name in ("spawn", "sys/wait", "stdlib"))
    done = watched(mpi, tmp_path, 2, compiled(mpi, tmp_path, mpi_program(begins, before=headers)))[1]
    assert f"not seen are processes begun by {BEGUN[begins]}" in done.stderr


@pytest.mark.one_mpi
def test_communicators_that_live_together_are_apart(mpi: Mpi, tmp_path: Path) -> None:
    """Threads of the two ranks come to two duplicates in different orders."""
    profile = profile_of(mpi, tmp_path, 2, compiled(mpi, tmp_path, "twins.c"))
    calls = {call.operation: call for call in profile.calls}
    assert calls["allreduce"].sampled == calls["bcast"].sampled == 2 * 5


@pytest.mark.one_mpi
@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_a_call_site_has_its_line(mpi: Mpi, tmp_path: Path, kind: str) -> None:
    program = compiled(mpi, tmp_path, "late.c", "-g", kind, *(["-fPIE"] if kind == "-pie" else []))
    sites = {call.site for call in profile_of(mpi, tmp_path, 3, program).calls}
    assert sites
    assert all(re.search(r"late\.c:\d+ \(main\)", site) for site in sites), sites


MANY = mpi_program(
    "static char all[8192];",
    "for (int size = 1; size <= 5000; ++size) MPI_Bcast(all, size, MPI_BYTE, 0, MPI_COMM_WORLD);",
    "MPI_Barrier(MPI_COMM_WORLD);",
)


@pytest.mark.one_mpi
def test_a_call_without_bytes_stays_one_beyond_the_records_that_are_kept(mpi: Mpi, tmp_path: Path) -> None:
    """Some hundred thousand bytes of notes of each rank come in several rounds, too."""
    profile = profile_of(mpi, tmp_path, 2, compiled(mpi, tmp_path, MANY))
    assert sums(profile, "barrier") == (2, 0)
    assert sums(profile, "bcast")[0] == 2 * 5000


def test_a_call_that_not_all_ranks_kept_says_nothing_of_waiting() -> None:
    profile = profiled("\n".join([*NOTES.splitlines()[:7], "end\t7"]), "some MPI")
    assert profile.calls[0].waiting_s is None


def test_the_programs_exit_code_is_its_own(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, "bound.c", str(compiled(mpi, tmp_path, "binding.c", "-shared", "-fPIC")))
    own = f'echo of its own; LD_LIBRARY_PATH={tmp_path} exec "$0"'
    done = hockney(
        "profile", "-o", str(tmp_path / "p.json"), "--json", "--", *launch_line(mpi, 2, "sh", "-c", own, program)
    )
    assert done.returncode == 5, done.stdout + done.stderr
    assert "of its own" in done.stderr
    (call,) = json.loads(done.stdout)["profile"]["calls"]
    assert (call["operation"], call["calls"], call["bytes"]) == ("allreduce", 6, 24)
