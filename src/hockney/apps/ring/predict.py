"""`hockney predict ring`: what messages take that travel once around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.apps.ring.ways import EXCHANGES, MODEL_NAMES, OURS
from hockney.errors import RequestError
from hockney.fields import Option, flag, options
from hockney.predict.options import MachineFile, NetworkOptions, Placing
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import LONGEST_S, format_time, parse_positive_rate, parse_time
from hockney.words import listed, wholes

with later():
    from hockney.apps.ring.model import (
        ACROSS,
        MESSAGE_B,
        MOST_RANKS,
        WITHIN,
        Link,
        MachineLinks,
        RingPrediction,
        Where,
        around,
        around_domains,
        link,
        locality_of,
        model_of,
    )
    from hockney.apps.ring.model import predict as predict_ring
    from hockney.machine.placement import placement
    from hockney.machine.select import parse_where
    from hockney.machine.system import System, find_system
    from hockney.predict.network_figures import figures_of, machine_of, refuse_places
    from hockney.records.record import Locality


MOST_PROCESSES = 2_000_000
"""Of all rings together: some seconds."""


class RingCase(NetworkOptions, Placing, MachineFile):
    """Which cycles are predicted, on a system or with all neighbours at one locality."""

    ranks: Annotated[
        list[int],
        Option("8, 8,16 or 1-24.", read=lambda text: sorted(set(wholes(text, range(1, MOST_RANKS + 1))))),
    ] = Field(default_factory=list)
    exchange: Annotated[str, Option(f"{listed(EXCHANGES)}.")] = "sendrecv"
    model: Annotated[str, Option(f"{listed(MODEL_NAMES)}.")] = OURS
    where: Annotated[list[str], Option("mapping, mpi, system, source, variant.")] = Field(default_factory=list)
    locality: Annotated[str, Option("All neighbours, without --system. [default: the nearest measured]")] = ""


class Numbers(BaseModel):
    """A latency and a bandwidth within a domain of `domain` ranks, and between two, instead of a machine file."""

    latency_s: Annotated[
        float | None,
        Option(
            "In place of a machine file.",
            flags=("--latency",),
            read=parse_time,
        ),
    ] = None
    bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "With --latency. [default: any]",
            flags=("--bandwidth",),
            read=parse_positive_rate,
        ),
    ] = None
    latency_across_s: Annotated[
        float | None,
        Option(
            "With --latency: latency of a message between domains.", flags=("--latency-across",), read=parse_time
        ),
    ] = None
    bandwidth_across_B_per_s: Annotated[
        float | None,
        Option(
            "With --latency-across: bandwidth of messages between domains.",
            flags=("--bandwidth-across",),
            read=parse_positive_rate,
        ),
    ] = None
    domain: Annotated[
        int | None, Option("With --latency-across: consecutive ranks of a domain, such as a socket's cores.")
    ] = None


@dataclass(frozen=True)
class RingPredictions:
    """`points`: one for each number of processes, None for one. `links`: by how far neighbours are apart."""

    model: str
    counts: Sequence[int]
    points: Sequence[RingPrediction | None]
    links: dict[str, Link]
    notes: Sequence[str]


@verb(
    "ring",
    examples="hockney predict ring --ranks 1-24\n"
    "hockney predict ring --ranks 2,64,128,256 --system orfeo-epyc --mapping core --exchange nonblocking\n"
    "hockney predict ring --ranks 2-24 --latency 0.34us --bandwidth 6372.991MB/s --latency-across 0.57us "
    "--bandwidth-across 5530.801MB/s --domain 12 --model two-links --json",
    of=predict,
)
def ring(case: RingCase, numbers: Numbers, json: JsonOption = False) -> None:
    """The time of one cycle of `hockney run ring`: all messages back where they started.

    From the messages of a machine file, PingPing where it was measured, for the neighbours that a placement
    makes; or from a latency and a bandwidth alone.
    """
    answer = predicted_rings(case, numbers)
    formula = model_of(answer.model).formula(case.exchange)
    if json:
        say.json(
            {
                "operation": "ring",
                "model": answer.model,
                "formula": formula,
                "exchange": case.exchange,
                "message_B": MESSAGE_B,
                "machine": None if numbers.latency_s is not None else str(case.machine),
                "links": {name: vars(link) for name, link in answer.links.items()},
                "points": ring_rows(answer),
                "notes": list(answer.notes),
            }
        )
        return
    say.line(f"ring, {case.exchange} — {answer.model}: {formula}")
    _show(answer)
    for note in answer.notes:
        say.line(note)


def predicted_rings(case: RingCase, numbers: Numbers) -> RingPredictions:
    """A cycle of each number of processes; RequestError for what cannot be predicted."""
    if not case.ranks:
        raise RequestError("ring needs --ranks", "for example --ranks 1-24")
    if sum(case.ranks) > MOST_PROCESSES:
        raise RequestError(
            f"--ranks: {sum(case.ranks)} processes in all, more than {MOST_PROCESSES}",
            "name fewer numbers of processes: 16,256,4096",
        )
    model = case.model
    model_of(model)
    if numbers.model_fields_set:
        for name, _, option in options(RingCase):
            if name in case.model_fields_set - {"ranks", "exchange", "model"}:
                raise RequestError(f"{flag(name, option)} means nothing with --latency", "leave it out")
        return _of_numbers(numbers, case.ranks, case.exchange, model)
    network = figures_of(case)
    if network.are_given and network.latency_s is None:
        raise RequestError("--network-bandwidth needs --network-latency", "a ring's messages have 4 B")
    system = find_system(case.system) if case.system else None
    links = MachineLinks(machine_of(case), parse_where(case.where), network, system)
    return _of_machine(links, case, system, case.ranks, case.exchange, model)


def ring_rows(answer: RingPredictions) -> list[dict[str, Any]]:
    """A row for each number of processes: seconds of a cycle with its interval; of one process no time."""
    return [
        {"ranks": count, **({"time_s": None} if prediction is None else vars(prediction))}
        for count, prediction in zip(answer.counts, answer.points, strict=True)
    ]


def _of_numbers(numbers: Numbers, counts: Sequence[int], exchange: str, model: str) -> RingPredictions:
    if numbers.latency_s is None:
        raise RequestError("--bandwidth, --latency-across and --domain need --latency", "for example 0.34us")
    if (numbers.latency_across_s is None) != (numbers.domain is None):
        raise RequestError(
            "--latency-across and --domain belong together", "for example --latency-across 0.57us --domain 12"
        )
    if numbers.bandwidth_across_B_per_s is not None and numbers.latency_across_s is None:
        raise RequestError("--bandwidth-across needs --latency-across", "for example --latency-across 0.57us")
    links = {WITHIN: _link(numbers.latency_s, numbers.bandwidth_B_per_s)}
    if numbers.latency_across_s is not None:
        links[ACROSS] = _link(numbers.latency_across_s, numbers.bandwidth_across_B_per_s)
    return _answer(
        counts, lambda count: around_domains(count, numbers.domain), links.__getitem__, exchange, model, []
    )


def _link(latency_s: float, bandwidth_B_per_s: float | None) -> Link:
    message = link(latency_s, bandwidth_B_per_s)
    if message.time_s > LONGEST_S:
        raise RequestError(
            f"a bandwidth of {bandwidth_B_per_s:g} B/s moves nothing", "write for example 6372.991MB/s"
        )
    return message


def _of_machine(
    links: MachineLinks, case: RingCase, system: System | None, counts: Sequence[int], exchange: str, model: str
) -> RingPredictions:
    if system is not None:
        if case.locality:
            raise RequestError("--locality means nothing with --system", "the system says where neighbours are")

        def neighbours(count: int) -> list[Locality]:
            return around(placement(system, case.mapping, count, case.nodes, case.ppn))

        return _answer(counts, neighbours, links, exchange, model, links.notes)
    refuse_places(case)
    named = locality_of(case.locality) if case.locality else None

    def alike(count: int) -> list[Locality]:
        return [named or links.around(count)] * count if count > 1 else []

    return _answer(counts, alike, links, exchange, model, links.notes)


def _answer(
    counts: Sequence[int],
    neighbours: Callable[[int], Sequence[Where]],
    link_of: Callable[[Where], Link],
    exchange: str,
    model: str,
    notes: Sequence[str],
) -> RingPredictions:
    """`notes` may still grow while links are looked up."""
    used: dict[str, Link] = {}
    points = []
    for count in counts:
        around = neighbours(count)
        used |= {where: link_of(where) for where in dict.fromkeys(around)}
        points.append(predict_ring(around, link_of, exchange, model))
    return RingPredictions(model, counts, points, used, notes)


def _show(answer: RingPredictions) -> None:
    for name, link in answer.links.items():
        say.line(f"  {name}: λ + n/b = {_time(link)}")
    shown = Table("processes", "cycle", "95 % interval", "a hop", "slowest neighbours", box=None)
    for count, prediction in zip(answer.counts, answer.points, strict=True):
        if prediction is None:
            shown.add_row(str(count), *["–"] * 4)
            continue
        known = prediction.low_s is not None and prediction.high_s is not None
        interval = (
            f"{format_time(prediction.low_s or 0)} to {format_time(prediction.high_s or 0)}" if known else "–"
        )
        shown.add_row(
            str(count),
            format_time(prediction.time_s),
            interval,
            format_time(prediction.time_s / count),
            prediction.slowest,
        )
    say.table(shown)


def _time(link: Link) -> str:
    if link.low_s is None or link.high_s is None:
        return format_time(link.time_s)
    return f"{format_time(link.time_s)} ({format_time(link.low_s)} to {format_time(link.high_s)})"
