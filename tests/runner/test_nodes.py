"""The runner describes the hosts of its ranks as `hockney doctor` describes this one."""

from __future__ import annotations

from hockney.records.nodes import describe
from hockney.runner.build import runner_binary
from hockney.runner.inventory import node
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session


def test_runner_and_doctor_read_the_same_files(mpi: Mpi) -> None:
    argv, environment = command(mpi, LaunchRequest(ranks=2, oversubscribe=True))
    here = node()
    with Session([*argv, str(runner_binary(mpi))], environment, 60.0) as session:
        (one,) = session.hello.nodes
    assert one.ranks == [0], "both ranks are on this host; the first describes it"
    assert describe(here.hosts, one.node) == here
