"""What was asked for is what ranks get: mapping and binding of each MPI here, as its ranks see them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.capabilities import needs_two_cpus
from tests.runner.sessions import start

from hockney.records.answers import RankPlace
from hockney.runner.mpi import Mpi
from hockney.runner.topology import localities, oversubscribed

CPUS = frozenset(os.sched_getaffinity(0))


def _ranks(mpi: Mpi, **request: Any) -> list[RankPlace]:
    with start(mpi, **request) as session:
        return session.hello.ranks


@needs_two_cpus
@pytest.mark.parametrize(
    ("map_by", "bind_to"),
    [("core", "core"), ("socket", "core"), ("node", "core"), ("hwthread", "hwthread")],
)
def test_pinned(mpi: Mpi, map_by: str, bind_to: str) -> None:
    ranks = _ranks(mpi, ranks=2, map_by=map_by, bind_to=bind_to)
    sets = [frozenset(rank.affinity) for rank in ranks]
    assert all(cpus <= frozenset(rank.siblings) for cpus, rank in zip(sets, ranks, strict=True))
    assert not sets[0] & sets[1]
    assert oversubscribed(ranks) == []
    assert localities(ranks)["0-1"] != "network"


@needs_two_cpus
def test_not_pinned(mpi: Mpi) -> None:
    ranks = _ranks(mpi, ranks=2, bind_to="none")
    assert [frozenset(rank.affinity) for rank in ranks] == [CPUS, CPUS]


def test_more_ranks_than_cores_start_unpinned_and_are_seen(mpi: Mpi) -> None:
    count = len(CPUS) + 1
    ranks = _ranks(mpi, ranks=count, oversubscribe=True)
    assert len(ranks) == count
    assert oversubscribed(ranks)[0].startswith(f"{count} ranks on {len(CPUS)} CPUs")
