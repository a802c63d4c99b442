"""A launch of the runner: how it is started, what it turned out to be, and the line that is kept of it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hockney import __version__
from hockney.errors import RequestError
from hockney.records.answers import Hello
from hockney.records.journal import LaunchLine
from hockney.records.record import Locality


@dataclass(frozen=True)
class Described:
    """What a launch turned out to be, from the runner's hello."""

    localities: Mapping[tuple[int, int], Locality]
    """Of the pairs that are looked at (`campaign.pairs.seen`)."""
    oversubscribed: bool
    nodes: int
    ppn: int
    provenance: LaunchLine
    warnings: list[str]


@dataclass(frozen=True)
class Launch:
    """How to start the runner for one variant and mapping; made by the caller, who knows the MPI.

    `name` tells it from the others of the plan.
    """

    name: str
    variant: str
    mpi_name: str
    argv: list[str]
    environment: Mapping[str, str]
    provenance: LaunchLine
    describe: Callable[[Hello], Described]
    only: tuple[str, str] | None = None
    """(operation, algorithm): the launch selects this one algorithm, which the library takes for its default."""
    mpi_why: str = ""
    """The step of the search that found the library, and its wrapper."""
    rules: tuple[tuple[str, str], ...] = ()
    """The files of rules that the library loads, each after the name of its variable."""

    @property
    def place(self) -> tuple[str, str]:
        """Its variant and mapping, as records and failures say them."""
        return self.variant, self.provenance.mapping


def measured_alone(launches: Iterable[Launch]) -> set[str]:
    """Names of the algorithms that launches of their own measure."""
    return {launch.only[1] for launch in launches if launch.only is not None}


def check_same_machine(path: Path, launches: Iterable[LaunchLine], described: Described) -> None:
    """RequestError where earlier launches ran on other processors, or oversubscribed where this is not.

    Another processor is another machine; another host with the same one is what a batch system gives.
    """
    models = {host.cpu_model for host in described.provenance.hosts}
    for launch in launches:
        before = {host.cpu_model for host in launch.hosts}
        if before and models and before != models:
            raise RequestError(
                f"{path} was begun on {', '.join(map(str, before))}; this is {', '.join(map(str, models))}",
                "start a new campaign: two machines do not make one series",
            )
        if launch.oversubscribed not in (None, described.oversubscribed):
            manner = ("with a core for each rank", "with more ranks than cores")
            raise RequestError(
                f"{path} was begun {manner[not described.oversubscribed]}; this launch is "
                f"{manner[described.oversubscribed]}",
                "resume where it was begun, or start a new campaign",
            )


def launch_line(id_: str, index: int, launch: Launch, hello: Hello, described: Described) -> LaunchLine:
    """The provenance of a launch, as `launches.jsonl` keeps it."""
    return launch.provenance.with_fields(
        **described.provenance.as_said(),
        id=id_,
        index=index,
        time=utc_now(),
        hockney=__version__,
        python=platform.python_version(),
        variant=launch.variant,
        argv=launch.argv,
        settings=hello.settings,
        clock_granularity_s=hello.clock_granularity_s,
        ranks=hello.ranks,
        oversubscribed=described.oversubscribed,
        warnings=described.warnings,
    )


def utc_now() -> str:
    """The present time in ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
