"""`hockney network traffic`: what a traffic does to a topology: congestion, bounds, the links that decide."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli.network import Allocation, Routed, allocated, message_size, network
from hockney.fields import Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_bytes, format_rate, format_time
from hockney.words import written

with later():
    from hockney.network.traffic.base import Allocated, Links
    from hockney.network.traffic.effective import effective_bisection
    from hockney.network.traffic.study import TrafficStudy, spread_of_samples, study


class TrafficOptions(BaseModel):
    """Which messages load a network, and how much of the answer is shown."""

    empty_means_default: ClassVar[bool] = True

    kind: Annotated[
        str,
        Option(
            "alltoall, nearest-neighbour, permutation, bisection, random-bisection, bit-complement, transpose, "
            "tornado, worst-pairing or worst-permutation.",
            flags=("--traffic",),
        ),
    ] = "worst-pairing"
    size_B: Annotated[int, Option(flags=("--bytes",), read=message_size, show=written)] = 2**20
    streams: Annotated[int, Option("Messages that each pair sends at once."), Field(ge=1, le=1_000_000)] = 1
    seed: Annotated[int, Option("Of the first sample."), Field(ge=0)] = 0
    samples: Annotated[
        int,
        Option("Traffic, with so many seeds; how the results spread is shown."),
        Field(ge=1, le=10_000),
    ] = 1
    links: Annotated[int, Option("How many of the most loaded links to show."), Field(ge=1)] = 10


_EQUATION_2 = {
    "worst_pairing": "; of this pairing, worst by distance and not a bound,",
    "worst_permutation": " ≤",
}


@verb(
    "traffic",
    examples="hockney network traffic --topology torus:8x8x8 --traffic worst-pairing\n"
    "hockney network traffic --topology torus:8x8x8,link=10Gbit/s --traffic alltoall --routing dimension-order\n"
    "hockney network traffic --topology hypercube:6 --traffic random-bisection --samples 20 --json",
    of=network,
)
def traffic(routed: Routed, options: TrafficOptions, allocation: Allocation, json: JsonOption = False) -> None:
    """Worst and average congestion of a traffic: the most loaded links and the bandwidth they leave to a node.

    Congestion is the number of messages that share one link of a node; on a faster or slower link, the number
    that would take as long on a link of a node. Bounds follow from links and routing alone: no protocol, no
    overhead, no contention for buffers.
    """
    graph, links = routed.graph, options.links
    result = study(
        Allocated(Links.of(graph), allocated(graph, allocation)),
        traffic=options.kind.replace("-", "_"),
        routing=routed.routing_on(graph),
        size_B=options.size_B,
        streams=options.streams,
        seed=options.seed,
    )
    spread = effective = None
    if options.samples > 1:
        with say.progress(quiet=json) as progress:
            spread = spread_of_samples(result, options.samples, progress)
    if result.traffic == "random_bisection":
        with say.progress(quiet=json) as progress:
            effective = effective_bisection(result.among, result.routing, options.samples, options.seed, progress)
    if json:
        further = {"samples": spread} if spread else {}
        further |= {"effective_bisection": effective.as_data()} if effective else {}
        say.json({**result.as_data(links), **further})
        return
    _show(result, links)
    if effective:
        ends = effective.interval
        within = f" (95 % {ends[0]:.3g} to {ends[1]:.3g})" if ends else ""
        drawn = counted(options.samples, "bisection")
        say.line(
            f"effective bisection bandwidth: {effective.mean:.4g} of full{within}, mean over pairs of {drawn}"
        )
    if spread:
        for name, what in (("worst", "congestion"), ("fraction_of_a_link", "bandwidth per node, of a link,")):
            over = spread[name]
            say.line(
                f"{what} of {options.samples} samples: {over['least']:.4g} to {over['largest']:.4g}, "
                f"median {over['median']:.4g}, mean {over['mean']:.4g}"
            )


def _show(result: TrafficStudy, links: int) -> None:
    data = result.as_data(links)
    say.line(f"{data['topology']}: {data['allocated_nodes']} of {counted(data['nodes'], 'node')}")
    say.line(f"traffic {result.traffic.replace('_', '-')}: {data['traffic']['meaning']}")
    say.line(f"routing {result.routing.replace('_', '-')}: {data['routing']['meaning']}")
    say.line(
        f"{counted(data['messages'], 'message')} of {format_bytes(result.size_B)}, "
        f"{counted(result.mean_hops, 'hop', '.4g')} on average"
    )
    worst = counted(result.worst, "message", ".6g")
    say.line(f"congestion: {worst} on the most loaded link, {result.average:.6g} on average")
    if (exact := data.get("exact_alltoall_congestion")) is not None:
        say.line(f"exact congestion of an alltoall on this torus, ideally spread: {exact:.6g}")
    if (bound := data.get("beta_factor")) is not None and result.traffic in _EQUATION_2:
        say.line(
            f"point to point: α + β·S ≤ T(S){_EQUATION_2[result.traffic]} α + β·S·{bound['high']:.6g}, when "
            f"every node sends {bound['streams']} streams (after Hoefler et al. 2010, equation 2)"
        )
    rate = data["bandwidth_per_node"]["bandwidth_B_per_s"]
    say.line(
        f"bandwidth per node at most {result.fraction:.4g} of one of its links"
        + (
            ""
            if rate is None
            else f" = {format_rate(rate)}; all messages take {format_time(result.time_s or 0.0)} or more"
        )
    )
    table = Table("most loaded link", "messages", "congestion", box=None)
    for link in data["most_loaded"]:
        table.add_row(link["link"], f"{link['messages']:.6g}", f"{link['congestion']:.6g}")
    say.table(table)
