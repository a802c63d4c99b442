"""What may be behind a default: algorithms of calls that block, by the schedules that they are."""

from __future__ import annotations

from functools import partial

import pytest

from hockney._core import Kind
from hockney.predict.decisions.base import ScheduleChoice
from hockney.predict.identify.candidates import DefaultCandidate, of_name
from hockney.records.keys import COLLECTIVES, ELEMENT_B
from hockney.schedule.catalogue import NEEDS, ask, least_B

OPENMPI, MPICH = "Open MPI 5.0.11", "MPICH 5.0.2"


def candidate(name: str, library: str = OPENMPI) -> DefaultCandidate | None:
    return of_name("bcast", name, library, ranks=8, size_B=1024, segment_B=0, radix=0)


@pytest.mark.parametrize(
    ("name", "library"),
    [("libnbc:chain", OPENMPI), ("han:default", OPENMPI), ("basic:default", OPENMPI), ("mpir:nb", MPICH)],
)
def test_what_does_not_block_or_chooses_by_itself_is_no_candidate(name: str, library: str) -> None:
    assert candidate(name, library) is None


def test_a_name_is_its_schedule_or_stands_alone() -> None:
    assert candidate("tuned:binary_tree") == DefaultCandidate(ScheduleChoice("binary"))
    assert candidate("han:simple") == DefaultCandidate(None, "han:simple")


@pytest.mark.parametrize(("collective", "name"), NEEDS)
@pytest.mark.parametrize("ranks", [3, 8, 13])
def test_below_its_need_an_algorithm_leaves_blocks_empty(collective: str, name: str, ranks: int) -> None:
    element_B = ELEMENT_B if COLLECTIVES[collective].reduces else 1
    need_B = least_B(collective, name, ranks)

    def messages(size_B: int) -> int:
        schedule = ask(collective, name, ranks=ranks, size_B=size_B).generate()
        return sum(step.kind == Kind.send for rank in schedule for step in rank.steps)

    assert messages(need_B) == messages(64 * need_B) > messages(need_B - element_B)


def test_a_name_below_its_need_is_no_candidate() -> None:
    ask_of = partial(of_name, "allreduce", "ring", "Brand MPI 1.0", ranks=8, segment_B=0, radix=0)
    assert ask_of(size_B=28) is None
    assert ask_of(size_B=32) == DefaultCandidate(ScheduleChoice("ring"))
