"""What the layer takes of a process has bounds; beyond them results stay right, and the summary says it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from tests.runner.preload.programs import compiled, under
from tests.runner.preload.test_profile import NOTES, profile_of, sums

from hockney import _core
from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.mpi import Mpi
from hockney.runner.profiled import profiled

pytestmark = pytest.mark.one_mpi
"""What the layer keeps is its own: no MPI has a part in it."""

PLACES, KEPT_B = 512, 64 * 2**20
"""Schedules that a communicator keeps, and bytes of those of all, as the documentation says."""
NOTES_OF_RANK = 2**16
"""Kinds of calls that one of few ranks notes."""
SCRATCH = "more scratch memory than it may take"


def table(*rules: PreloadRule) -> PreloadTable:
    return PreloadTable(rules=list(rules))


SUM = table(PreloadRule(operation="allreduce", algorithm="recursive_doubling"))
BYTE_BY_BYTE = table(PreloadRule(operation="bcast", algorithm="chain", segment_bytes=8))


def test_a_communicator_keeps_the_schedules_that_it_used_last(mpi: Mpi, tmp_path: Path) -> None:
    """Of sizes 1 to 600, the first before each other: that one and the 511 largest."""
    ranks, sizes = 2, 600
    said, done = under(mpi, tmp_path, SUM, ranks, compiled(mpi, tmp_path, "recent.c"), str(sizes))
    assert f"kept {PLACES - 1}, first kept" in done.stderr
    # And one for the size that the program found gone.
    assert said["dropped"] == {"schedules": ranks * (sizes - PLACES + 1), "most": PLACES, "most_B": KEPT_B}


def test_a_program_within_the_bound_drops_nothing(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, "recent.c")
    said, done = under(mpi, tmp_path, SUM, 2, program, str(PLACES))
    assert f"kept {PLACES - 1}, first kept" in done.stderr
    assert said["dropped"]["schedules"] == 0


def test_all_communicators_together_keep_no_more_than_so_much(mpi: Mpi, tmp_path: Path) -> None:
    """Eight schedules of 8,192 pieces, of more than a MB each; the places of a communicator take some 50 kB."""
    program = compiled(mpi, tmp_path, "heavy.c")
    said, done = under(mpi, tmp_path, BYTE_BY_BYTE, 2, program, "8", KEPT="2097152")
    assert said["dropped"]["schedules"] > 0
    assert said["dropped"]["most_B"] == 2 * 2**20
    grown = re.search(r"grown (\d+)", done.stderr)
    assert grown, done.stderr
    assert 0 < int(grown[1]) < 4 * 2**20


def test_threads_drop_each_others_schedules(mpi: Mpi, tmp_path: Path) -> None:
    """120 of each of four communicators: less than each may keep, and more than all."""
    program = compiled(mpi, tmp_path, "threads.c")
    rules = table(PreloadRule(operation="bcast", algorithm="chain", segment_bytes=4), *SUM.rules)
    said, _ = under(mpi, tmp_path, rules, 2, program, "60", "1000", KEPT="1048576")
    assert said["dropped"]["schedules"] > 0


NEEDS_MEMORY = table(
    *SUM.rules,
    PreloadRule(operation="scatter", algorithm="binomial"),
    PreloadRule(operation="bcast", algorithm="binomial"),
)


def test_what_needs_more_memory_on_any_rank_is_the_librarys_on_all(mpi: Mpi, tmp_path: Path) -> None:
    """100 KiB are enough for vectors and blocks of 32 KiB, and not for those of 128, whoever needs them."""
    program = compiled(mpi, tmp_path, "scratch.c")
    said, _ = under(mpi, tmp_path, NEEDS_MEMORY, 4, program, "8192", "32768", SCRATCH="102400")
    calls = {(row["operation"], row["why"]): row["calls"] for row in said["calls"]}
    assert calls == {(name, why): 4 for name in ("allreduce", "scatter", "bcast") for why in ("", SCRATCH)}


def test_without_being_asked_to_it_takes_little_memory_for_granted(mpi: Mpi, tmp_path: Path) -> None:
    said, _ = under(mpi, tmp_path, NEEDS_MEMORY, 4, compiled(mpi, tmp_path, "scratch.c"), "8192", "32768")
    assert {row["why"] for row in said["calls"]} == {""}


@pytest.mark.parametrize("collective", _core.collectives(), ids=lambda one: one.name)
def test_no_schedule_has_more_scratch_than_four_vectors(collective: _core.Collective) -> None:
    """The layer asks other ranks only where that could be too much (cpp/preload/channel.cpp)."""
    size_B, element_B = 240 if collective.has_size else 0, 8
    for algorithm in (one for one in _core.algorithms() if one.collective == collective.name):
        for ranks in (2, 3, 4, 7, 8):
            whole_B = size_B * (ranks if collective.sizes_are_blocks else 1)
            roots = {0, ranks - 1} if collective.rooted else {0}
            for root, in_place in itertools.product(roots, (False, True)):
                asked = _core.Problem(
                    ranks=ranks, root=root, bytes=size_B, element_B=element_B, in_place=in_place
                )
                if not _core.refusal(collective.name, algorithm.name, asked):
                    scratch_B = max(
                        rank.scratch_B for rank in _core.generate(collective.name, algorithm.name, asked)
                    )
                    assert scratch_B <= 4 * whole_B, (algorithm.name, ranks, root, in_place)


@pytest.mark.thorough
def test_kinds_of_calls_beyond_those_that_are_noted_are_counted(mpi: Mpi, tmp_path: Path) -> None:
    """20 communicators of 4,000 sizes each: some 14,000 kinds too many for each rank."""
    ranks, calls = 2, 20 * 4000
    program = compiled(mpi, tmp_path, "kinds.c")
    profile = profile_of(mpi, tmp_path, ranks, program, "20", "4000", "1")
    assert profile.left_out is not None
    # Communicators are noted, too.
    assert ranks * (calls - NOTES_OF_RANK) < profile.left_out.calls < ranks * (calls - NOTES_OF_RANK + 25)
    assert profile.left_out.time_s > 0
    assert sums(profile, "bcast")[0] + profile.left_out.calls == ranks * calls


def test_what_finds_no_note_counts_as_the_next_power_of_two(mpi: Mpi, tmp_path: Path) -> None:
    """22 communicators of 3,000 sizes, the largest first: notes end between 512 B and 256 B of the last."""
    ranks = 2
    assert 22 * 3000 - 512 < NOTES_OF_RANK - 22 < 22 * 3000 - 256
    program = compiled(mpi, tmp_path, "kinds.c")
    profile = profile_of(mpi, tmp_path, ranks, program, "22", "3000", "1", "down")
    assert profile.left_out is not None
    assert profile.left_out.calls == ranks * 256
    assert profile.left_out.time_s > 0
    assert sums(profile, "bcast")[0] == ranks * (22 * 3000 - 256)


def test_comings_and_goings_are_no_more_than_so_many(mpi: Mpi, tmp_path: Path) -> None:
    """Ten communicators, of which each alone may keep all of its 8,000."""
    ranks, calls = 2, 10 * 8000
    profile = profile_of(mpi, tmp_path, ranks, compiled(mpi, tmp_path, "kinds.c"), "10", "1", "8000")
    assert profile.left_out is None
    assert sums(profile, "bcast")[0] == ranks * calls
    sampled = [call.sampled for call in profile.calls if call.operation == "bcast"]
    assert sum(sampled) <= ranks * NOTES_OF_RANK
    # All have as much room, and what one rank keeps the other keeps.
    assert min(sampled) >= ranks * 2000


def test_what_is_left_out_is_said(caplog: pytest.LogCaptureFixture) -> None:
    first, *rest = NOTES.splitlines()[:-1]
    text = "\n".join([first, "left\t3\t250000000", *rest, "end\t15"])
    profile = profiled(text, "some MPI")
    assert profile.left_out is not None
    assert (profile.left_out.calls, profile.left_out.time_s) == (3, 0.25)
    assert "3 calls (250 ms) are left out" in caplog.text
    assert profiled(NOTES, "some MPI").left_out is None
