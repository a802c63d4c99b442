"""`hockney predict ring`: what messages take that travel once around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.cli._words import current, wholes
from hockney.cli.predict import MACHINE, MachineFile, predict
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.apps.ring.model import Link, MachineLinks, Predicted, Where
    from hockney.machine.system import System
    from hockney.records.record import Locality

MOST_PROCESSES = 2_000_000
"""Of all rings together: some seconds."""


@dataclass(frozen=True)
class Numbers:
    """A latency and a bandwidth within a domain of `domain` ranks, and between two."""

    latency: str
    bandwidth: str
    latency_across: str
    bandwidth_across: str
    domain: int | None


@dataclass(frozen=True)
class Place:
    """Where the ranks are: of a system, or all neighbours at one locality."""

    system: str
    mapping: str
    nodes: int | None
    ppn: int | None
    locality: str


@dataclass(frozen=True)
class Answer:
    """`points`: one for each number of processes, None for one. `links`: by how far neighbours are apart."""

    counts: Sequence[int]
    points: Sequence[Predicted | None]
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
def ring(
    ranks: Annotated[str, typer.Option(help="Processes: 8, 8,16 or 1-24.")] = "",
    exchange: Annotated[str, typer.Option(help="sendrecv, nonblocking or persistent.")] = "sendrecv",
    model: Annotated[str, typer.Option(help="slowest-link or two-links.")] = "slowest-link",
    machine: MachineFile = MACHINE,
    where: Annotated[
        list[str] | None,
        typer.Option(help="NAME=WORD, where a file holds more: mapping, mpi, system, source, variant."),
    ] = None,
    system: Annotated[str, typer.Option(help="Description of the system, a known name or a JSON file.")] = "",
    mapping: Annotated[str, typer.Option(help="Where the system's mapping puts ranks.")] = "",
    nodes: Annotated[int | None, typer.Option(help="Nodes that are used.")] = None,
    ppn: Annotated[int | None, typer.Option(help="The most ranks on a node.")] = None,
    network_latency: NetworkLatency = "",
    network_bandwidth: NetworkBandwidth = "",
    locality: Annotated[
        str, typer.Option(help="Of all neighbours, without --system. [default: the nearest measured]")
    ] = "",
    latency: Annotated[str, typer.Option(help="Instead of a machine file: of a message, such as 0.34us.")] = "",
    bandwidth: Annotated[str, typer.Option(help="With --latency: such as 6372.991MB/s. [default: any]")] = "",
    latency_across: Annotated[str, typer.Option(help="With --latency: of a message between domains.")] = "",
    bandwidth_across: Annotated[str, typer.Option(help="With --latency-across: of messages there.")] = "",
    domain: Annotated[
        int | None,
        typer.Option(help="With --latency-across: consecutive ranks of a domain, such as a socket's cores."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """The time of one cycle of `hockney run ring`: all messages back where they started.

    From the messages of a machine file, PingPing where it was measured, for the neighbours that a placement
    makes; or from a latency and a bandwidth alone.
    """
    from hockney.apps.ring.model import MESSAGE_B, MOST_RANKS, RENAMED, model_of

    if not ranks:
        raise RequestError("ring needs --ranks", "for example --ranks 1-24")
    counts = sorted(set(wholes(ranks, "--ranks", range(1, MOST_RANKS + 1))))
    if sum(counts) > MOST_PROCESSES:
        raise RequestError(
            f"--ranks {ranks}: {sum(counts)} processes in all, more than {MOST_PROCESSES}",
            "name fewer numbers of processes: 16,256,4096",
        )
    model = current(model, "--model", RENAMED)
    formula = model_of(model).formula(exchange)
    numbers = Numbers(latency, bandwidth, latency_across, bandwidth_across, domain)
    place = Place(system, mapping, nodes, ppn, locality)
    if any(word not in ("", None) for word in vars(numbers).values()):
        given = {
            **vars(place),
            "where": where,
            "machine": None if machine == MACHINE else machine,
            "network-latency": network_latency,
            "network-bandwidth": network_bandwidth,
        }
        for name, word in given.items():
            if word not in ("", None, []):
                raise RequestError(f"--{name} means nothing with --latency", "leave it out")
        answer = _of_numbers(numbers, counts, exchange, model)
    else:
        from hockney.apps.ring.model import MachineLinks
        from hockney.machine.file import load
        from hockney.machine.select import parse_where
        from hockney.machine.system import find_system

        network = network_figures(network_latency, network_bandwidth)
        if network.are_given and network.latency_s is None:
            raise RequestError("--network-bandwidth needs --network-latency", "a ring's messages have 4 B")
        described = find_system(system) if system else None
        links = MachineLinks(load(machine), parse_where(where or []), network, described)
        answer = _of_machine(links, place, described, counts, exchange, model)
    if json:
        emit_json(
            {
                "operation": "ring",
                "model": model,
                "formula": formula,
                "exchange": exchange,
                "message_B": MESSAGE_B,
                "machine": None if latency else str(machine),
                "links": {name: vars(link) for name, link in answer.links.items()},
                "points": [
                    {"ranks": count, **({"time_s": None} if one is None else vars(one))}
                    for count, one in zip(answer.counts, answer.points, strict=True)
                ],
                "notes": list(answer.notes),
            }
        )
        return
    out.print(f"ring, {exchange} — {model}: {formula}", markup=False, soft_wrap=True)
    _show(answer)
    for note in answer.notes:
        out.print(note, markup=False, soft_wrap=True)


def _of_numbers(numbers: Numbers, counts: Sequence[int], exchange: str, model: str) -> Answer:
    from hockney.apps.ring.model import ACROSS, WITHIN, around_domains

    if not numbers.latency:
        raise RequestError("--bandwidth, --latency-across and --domain need --latency", "for example 0.34us")
    if bool(numbers.latency_across) != (numbers.domain is not None):
        raise RequestError(
            "--latency-across and --domain belong together", "for example --latency-across 0.57us --domain 12"
        )
    if numbers.bandwidth_across and not numbers.latency_across:
        raise RequestError("--bandwidth-across needs --latency-across", "for example --latency-across 0.57us")
    links = {WITHIN: _link(numbers.latency, numbers.bandwidth)}
    if numbers.latency_across:
        links[ACROSS] = _link(numbers.latency_across, numbers.bandwidth_across)
    return _answer(
        counts, lambda count: around_domains(count, numbers.domain), links.__getitem__, exchange, model, []
    )


def _link(latency: str, bandwidth: str) -> Link:
    from hockney.apps.ring.model import link
    from hockney.units import LONGEST_S, parse_rate, parse_time

    rate_B_per_s = parse_rate(bandwidth) if bandwidth else None
    made = None if rate_B_per_s == 0 else link(parse_time(latency), rate_B_per_s)
    if made is None or made.time_s > LONGEST_S:
        raise RequestError(f"{bandwidth!r} moves nothing", "write for example 6372.991MB/s")
    return made


def _of_machine(
    links: MachineLinks, place: Place, system: System | None, counts: Sequence[int], exchange: str, model: str
) -> Answer:
    from hockney.apps.ring.model import around, locality_of

    if system is not None:
        from hockney.machine.placement import placement

        if place.locality:
            raise RequestError("--locality means nothing with --system", "the system says where neighbours are")

        def neighbours(count: int) -> list[Locality]:
            return around(placement(system, place.mapping, count, place.nodes, place.ppn))

        return _answer(counts, neighbours, links, exchange, model, links.notes)
    if place.mapping or place.nodes is not None or place.ppn is not None:
        raise RequestError("--mapping, --nodes and --ppn need --system", "say which system the ranks are on")
    named = locality_of(place.locality) if place.locality else None

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
) -> Answer:
    """`notes` may still grow while links are looked up."""
    from hockney.apps.ring.model import predict as predict_ring

    used: dict[str, Link] = {}
    points = []
    for count in counts:
        around = neighbours(count)
        used |= {where: link_of(where) for where in dict.fromkeys(around)}
        points.append(predict_ring(around, link_of, exchange, model))
    return Answer(counts, points, used, notes)


def _show(answer: Answer) -> None:
    from rich.table import Table

    from hockney.units import format_time

    for name, link in answer.links.items():
        out.print(f"  {name}: λ + n/b = {_time(link)}", markup=False, soft_wrap=True)
    shown = Table("processes", "cycle", "95 % interval", "a hop", "slowest neighbours", box=None)
    for count, one in zip(answer.counts, answer.points, strict=True):
        if one is None:
            shown.add_row(str(count), *["–"] * 4)
            continue
        known = one.low_s is not None and one.high_s is not None
        interval = f"{format_time(one.low_s or 0)} to {format_time(one.high_s or 0)}" if known else "–"
        shown.add_row(str(count), format_time(one.time_s), interval, format_time(one.time_s / count), one.slowest)
    out.print(shown)


def _time(link: Link) -> str:
    from hockney.units import format_time

    if link.low_s is None or link.high_s is None:
        return format_time(link.time_s)
    return f"{format_time(link.time_s)} ({format_time(link.low_s)} to {format_time(link.high_s)})"
