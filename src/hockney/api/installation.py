"""What is installed here and works, and labs: clusters of network namespaces of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from hockney.batch.base import Partition, partitions
from hockney.errors import EnvironmentLack, RequestError
from hockney.options.runner import DoctorOptions, LabRunOptions, LabUpOptions
from hockney.records.nodes import format_bits, links, node_facts
from hockney.runner import lab
from hockney.runner.doctor import Diagnosis, diagnose
from hockney.runner.doctor import MpiFinding as MpiFinding
from hockney.runner.lab import Lab as Lab
from hockney.runner.launchers.base import check_hosts


@dataclass(frozen=True)
class DoctorAnswer(Diagnosis):
    """`partitions`: those of the batch systems whose commands are here."""

    partitions: list[Partition]

    @property
    def node_facts(self) -> list[tuple[str, str]]:
        """What the node is made of, and its links to others, in words."""
        rates = (f"{link.name}, {format_bits(link.rate_bit_per_s)}" for link in links(self.node))
        return [*node_facts(self.node), *(("link to other nodes", rate) for rate in rates)]


def doctor(options: DoctorOptions, progress: Callable[[str], None]) -> DoctorAnswer:
    """Look at the MPIs, the compiler and this machine; `progress` is told what is tried.

    RequestError for hosts that nothing is tried between, and for a request that names no MPI.
    """
    if options.hosts and not options.variants:
        raise RequestError("--hosts means nothing without --transports", "add --transports, or leave it out")
    check_hosts(options.hosts)
    diagnosis = diagnose(
        options.mpi,
        run=options.run,
        variants=options.variants,
        hosts=options.hosts,
        progress=lambda name: progress(f"trying {name}"),
    )
    progress("the batch system")
    return DoctorAnswer(**vars(diagnosis), partitions=partitions())


def lab_up(options: LabUpOptions) -> Lab:
    """Make hosts of this machine, joined by a bridge; errors as of `lab.up`."""
    rate = options.link_B_per_s
    return lab.up(lab.called(), options.hosts, None if rate is None else 8 * rate)


@dataclass(frozen=True)
class LabDown:
    """A lab that is gone, and how many namespaces it had."""

    name: str
    namespaces_deleted: int


def lab_down() -> LabDown:
    """Take a lab away; errors as of `lab.down`."""
    return LabDown(lab.called(), lab.down(lab.called()))


def lab_run(options: LabRunOptions) -> None:
    """Become a command on the first host of a lab; EnvironmentLack for one that is no program."""
    lab.expect_able()
    host = lab.find(lab.called())
    program = shutil.which(options.command[0])
    if program is None:
        raise EnvironmentLack(f"no program {options.command[0]!r}", "check its name and the PATH")
    inside = host.inside([program, *options.command[1:]])
    os.execvpe(inside[0], inside, {**os.environ, **host.environment()})
