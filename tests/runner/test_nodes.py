"""The runner describes the hosts of its ranks as `hockney doctor` describes this one."""

from __future__ import annotations

import pytest
from tests.runner.sessions import start

from hockney.records.nodes import describe
from hockney.runner.inventory import node
from hockney.runner.mpi import Mpi


@pytest.mark.one_mpi
def test_runner_and_doctor_read_the_same_files(mpi: Mpi) -> None:
    here = node()
    with start(mpi, oversubscribe=True) as session:
        (one,) = session.hello.nodes
    assert one.ranks == [0], "both ranks are on this host; the first describes it"
    assert describe(here.hosts, one.node) == here
