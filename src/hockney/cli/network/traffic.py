"""`hockney network traffic`: what a traffic does to a topology: congestion, bounds, the links that decide."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from hockney.cli.network import Allocation, allocated, counted, network
from hockney.errors import RequestError
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_rate, format_time, parse_bytes

with later():
    from hockney.network.topologies.base import parse_spec
    from hockney.network.traffic.base import Allocated, Links, check_bytes
    from hockney.network.traffic.study import TrafficStudy, default_routing, spread_of_samples, study


TopologyOption = Annotated[
    str,
    typer.Option("--topology", help="torus:8x8x8, hypercube:6, fat-tree:nodes=148,…, edges:FILE, …"),
]
RoutingOption = Annotated[
    str,
    typer.Option(
        "--routing",
        help="shortest, up-down, d-mod-k or dimension-order. [default: up-down in a tree, else shortest]",
        show_default=False,
    ),
]


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
def traffic(
    topology: TopologyOption,
    kind: Annotated[
        str,
        typer.Option(
            "--traffic",
            help="alltoall, nearest-neighbour, permutation, bisection, random-bisection, bit-complement, "
            "transpose, tornado, worst-pairing or worst-permutation.",
        ),
    ] = "worst-pairing",
    routing: RoutingOption = "",
    size: Annotated[str, typer.Option("--bytes", help="Size of one message.")] = "1MiB",
    streams: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Messages that each pair sends at once.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of random traffic.")] = 0,
    samples: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, help="Random traffic: draw it with so many seeds, and tell how it spreads."
        ),
    ] = 1,
    links: Annotated[int, typer.Option(min=1, help="How many of the most loaded links to show.")] = 10,
    *,
    allocation: Allocation,
    json: JsonOption = False,
) -> None:
    """Worst and average congestion of a traffic: the most loaded links and the bandwidth they leave to a node.

    Congestion counts messages that share one link of a node; on a faster or slower link, as many as take as long.
    Bounds are of links and routing alone: no protocol, no overhead, no contention for buffers.
    """
    of = parse_spec(topology)
    size_B = parse_bytes(size)
    if size_B == 0:
        raise RequestError("a message of 0 B loads no link", "for example --bytes 1MiB")
    check_bytes(size_B, f"--bytes {size}")
    found = study(
        Allocated(Links.of(of), allocated(of, allocation)),
        traffic=kind.replace("-", "_"),
        routing=routing.replace("-", "_") or default_routing(of),
        size_B=size_B,
        streams=streams,
        seed=seed,
    )
    spread = None
    if samples > 1:
        with say.progress(quiet=json) as progress:
            spread = spread_of_samples(found, samples, progress)
    if json:
        say.json({**found.as_data(links), **({"samples": spread} if spread else {})})
        return
    _show(found, links)
    if spread:
        for name, what in (("worst", "congestion"), ("fraction_of_a_link", "bandwidth per node, of a link,")):
            one = spread[name]
            say.line(
                f"{what} of {samples} samples: {one['least']:.4g} to {one['largest']:.4g}, "
                f"median {one['median']:.4g}, mean {one['mean']:.4g}"
            )


def _show(found: TrafficStudy, links: int) -> None:
    told = found.as_data(links)
    say.line(f"{told['topology']}: {told['allocated_nodes']} of {counted(told['nodes'], 'node')}")
    say.line(f"traffic {found.traffic.replace('_', '-')}: {told['traffic']['meaning']}")
    say.line(f"routing {found.routing.replace('_', '-')}: {told['routing']['meaning']}")
    say.line(
        f"{counted(told['messages'], 'message')} of {format_bytes(found.size_B)}, "
        f"{counted(found.mean_hops, 'hop', '.4g')} on average"
    )
    worst = counted(found.worst, "message", ".6g")
    say.line(f"congestion: {worst} on the most loaded link, {found.average:.6g} on average")
    if (exact := told.get("exact_alltoall_congestion")) is not None:
        say.line(f"exact congestion of an alltoall on this torus, ideally spread: {exact:.6g}")
    if (bound := told.get("beta_factor")) is not None and found.traffic in _EQUATION_2:
        say.line(
            f"point to point: α + β·S ≤ T(S){_EQUATION_2[found.traffic]} α + β·S·{bound['high']:.6g}, when every "
            f"node sends {bound['streams']} streams (after Hoefler et al. 2010, equation 2)"
        )
    rate = told["bandwidth_per_node"]["bandwidth_B_per_s"]
    say.line(
        f"bandwidth per node at most {found.fraction:.4g} of one of its links"
        + (
            ""
            if rate is None
            else f" = {format_rate(rate)}; all messages take {format_time(found.time_s or 0.0)} or more"
        )
    )
    table = Table("most loaded link", "messages", "congestion", box=None)
    for one in told["most_loaded"]:
        table.add_row(one["link"], f"{one['messages']:.6g}", f"{one['congestion']:.6g}")
    say.table(table)
