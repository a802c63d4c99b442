"""What may be behind a default: algorithms of calls that block, by the schedules that they are."""

from __future__ import annotations

import pytest

from hockney.predict.decisions.base import ScheduleChoice
from hockney.predict.identify.candidates import DefaultCandidate, of_name

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
