"""`hockney predict ring`: what messages take that travel once around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.apps.ring.app import Links, Numbers, RingCase
from hockney.apps.ring.model import (
    ACROSS,
    MESSAGE_B,
    MODELS,
    WITHIN,
    Link,
    MachineLinks,
    RingPrediction,
    Where,
    around,
    around_domains,
    link,
    predict_ring,
)
from hockney.errors import RequestError
from hockney.fields import refuse_written
from hockney.machine.placement import placement
from hockney.machine.select import parse_where
from hockney.machine.system import find_system
from hockney.predict.network_figures import figures_of, machine_of, refuse_places
from hockney.progress import Progress
from hockney.records.record import Locality
from hockney.report.application import AppAnswer, Row
from hockney.report.run_tables import Column, interval, table
from hockney.report.tables import Table
from hockney.units import LONGEST_S, format_time

MOST_PROCESSES = 2_000_000
"""Of all rings together: some seconds."""


@dataclass(frozen=True)
class RingOfOne:
    """A process alone: its messages go to itself, and take no time that is known."""

    ranks: int
    time_s: None = None


@dataclass(frozen=True)
class RingPredictions(AppAnswer):
    """A cycle of each number of processes. `links`: by how far neighbours are apart."""

    operation: str
    model: str
    formula: str
    exchange: str
    message_B: int
    machine: Path | None
    links: dict[str, Link]
    points: list[RingPrediction | RingOfOne]
    notes: list[str]

    def text(self) -> Iterator[str | Table]:
        """The formula, the links, and a row for each number of processes."""
        yield f"ring, {self.exchange} — {self.model}: {self.formula}"
        for name, message in self.links.items():
            reach = interval(message.low_s, message.high_s)
            yield f"  {name}: λ + n/b = {format_time(message.time_s)}{f' ({reach})' if reach else ''}"
        yield table(
            "",
            self.points,
            [
                Column("processes", lambda point: str(point.ranks)),
                Column("cycle", lambda point: "" if point.time_s is None else format_time(point.time_s)),
                Column("95 % interval", lambda point: _of(point, lambda it: interval(it.low_s, it.high_s))),
                Column("a hop", lambda point: _of(point, lambda it: format_time(it.time_s / it.ranks))),
                Column("slowest neighbours", lambda point: _of(point, lambda it: it.slowest), is_text=True),
            ],
        )
        yield from self.notes

    def limits(self) -> list[str]:
        """What stood in for what."""
        return self.notes

    def rows(self) -> list[Row]:
        """A row for each number of processes, as a table has it."""
        words = {"operation": self.operation, "exchange": self.exchange, "model": self.model}
        return [{**words, **vars(point)} for point in self.points]


def _of(point: RingPrediction | RingOfOne, text: Callable[[RingPrediction], str]) -> str:
    return text(point) if isinstance(point, RingPrediction) else ""


def predict(_: Progress, case: RingCase, numbers: Numbers | None = None) -> RingPredictions:
    """A cycle of each number of processes; RequestError for what cannot be predicted."""
    if not case.ranks:
        raise RequestError("ring needs --ranks", "for example --ranks 1-24")
    if sum(case.ranks) > MOST_PROCESSES:
        raise RequestError(
            f"--ranks: {sum(case.ranks)} processes in all, more than {MOST_PROCESSES}",
            "name fewer numbers of processes: 16,256,4096",
        )
    if numbers is not None and numbers.links is not None:
        return _of_links(case, numbers.links)
    network = figures_of(case)
    if network.are_given and network.latency_s is None:
        raise RequestError("--network needs a latency", "a ring's messages have 4 B")
    system = find_system(case.system) if case.system else None
    links = MachineLinks(machine_of(case), parse_where(case.where), network, system)
    if system is not None:
        if case.locality:
            raise RequestError("--locality means nothing with --system", "the system says where neighbours are")

        def neighbours(count: int) -> list[Locality]:
            return around(placement(system, case.mapping, count, None, case.ppn))

        return _answer(case, case.machine, neighbours, links, links.notes)
    refuse_places(case)

    def alike(count: int) -> list[Locality]:
        return [case.locality or links.around(count)] * count if count > 1 else []

    return _answer(case, case.machine, alike, links, links.notes)


def _of_links(case: RingCase, given: Links) -> RingPredictions:
    refuse_written(case, "with --link", but=("ranks", "exchange", "model"))
    links = {WITHIN: _link(*given.within)}
    if given.across is not None:
        links[ACROSS] = _link(*given.across)
    return _answer(case, None, lambda count: around_domains(count, given.domain), links.__getitem__, [])


def _link(latency_s: float | None, bandwidth_B_per_s: float | None) -> Link:
    if latency_s is None:
        raise RequestError("a ring's messages have 4 B: --link needs a latency", "for example 0.57us,5.5GB/s")
    message = link(latency_s, bandwidth_B_per_s)
    if message.time_s > LONGEST_S:
        raise RequestError(
            f"a bandwidth of {bandwidth_B_per_s:g} B/s moves nothing", "write for example 6372.991MB/s"
        )
    return message


def _answer(
    case: RingCase,
    machine: Path | None,
    neighbours: Callable[[int], Sequence[Where]],
    link_of: Callable[[Where], Link],
    notes: Sequence[str],
) -> RingPredictions:
    """`notes` may still grow while links are looked up."""
    used: dict[str, Link] = {}
    points: list[RingPrediction | RingOfOne] = []
    for count in case.ranks:
        localities = neighbours(count)
        used |= {locality: link_of(locality) for locality in dict.fromkeys(localities)}
        points.append(predict_ring(localities, link_of, case.exchange, case.model) or RingOfOne(count))
    formula = MODELS[case.model].formula(case.exchange)
    return RingPredictions(
        "ring", case.model, formula, case.exchange, MESSAGE_B, machine, used, points, list(notes)
    )
