"""`hockney network effective-bisection`: the bandwidth of the bisection against nodes, computed and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli.network import Routed, network
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted
from hockney.words import wholes

with later():
    import numpy as np

    from hockney.machine.congestion import MeasuredShare, measured_shares
    from hockney.machine.file import load
    from hockney.network.bisection.bisection import bisection
    from hockney.network.traffic.base import Allocated, Links
    from hockney.network.traffic.effective import Effective, effective_bisection
    from hockney.network.traffic.worst import worst_of_permutations
    from hockney.report.drawn import checked_ending, write_drawing
    from hockney.report.effective import effective, findings

MOST_WORST = 128
"""Nodes up to which the worst permutation is looked for: seconds."""
MOST_NODES = 2**20


class EffectiveOptions(BaseModel):
    """On how many nodes, of how many bisections, beside what was measured."""

    empty_means_default: ClassVar[bool] = True

    counts: Annotated[
        list[int],
        Option(
            "Several: 8,16,64, the first of the topology each time. [default: powers of two, and all of them]",
            flags=("--nodes",),
            read=lambda text: wholes(text, range(2, MOST_NODES + 1)),
            show=None,
        ),
    ] = Field(default_factory=list)
    samples: Annotated[int, Option("Bisections of each number of nodes."), Field(ge=2, le=1000)] = 20
    seed: Annotated[int, Option("Of the first sample."), Field(ge=0)] = 0
    machine: Annotated[Path | None, Option("With the effect `congestion`, measured on any numbers of ranks.")] = (
        None
    )
    figure: Annotated[Path | None, Option()] = None


@verb(
    "effective-bisection",
    examples="hockney network effective-bisection --topology torus:4x4x4 --figure ebb.svg\n"
    "hockney network effective-bisection --topology fat-tree:nodes=64,leaf-ports=8:8,spines=8,spine-ports=8 "
    "--routing d-mod-k --nodes 8,16,32,64 --machine merged.json --json",
    of=network,
)
def effective_bisection_verb(on: Routed, options: EffectiveOptions, json: JsonOption = False) -> None:
    """Effective bisection bandwidth against the number of nodes, with the bounds of the topology.

    Computed: the mean over the pairs of random bisections, of which each gets what its most loaded link leaves.
    Measured: the effect `congestion` of a machine file, one point for each number of ranks of its campaigns.
    """
    if options.figure is not None:
        checked_ending(options.figure)
    graph, links = on.graph, Links.of(on.graph)
    powers = [1 << exponent for exponent in range(1, graph.nodes.bit_length())]
    counts = sorted({*(options.counts or [*powers, graph.nodes])})
    if counts[0] < 2 or counts[-1] > graph.nodes:
        raise RequestError(
            f"--nodes: 2 to {graph.nodes} of them can be chosen", "name fewer, or a larger topology"
        )
    measured = measured_shares(load(options.machine)) if options.machine is not None else []
    routing = on.routing_on(graph)
    computed, bounds, worst = [], [], []
    with say.progress(quiet=json) as progress:
        for number, count in enumerate(counts):
            among = Allocated(links, np.arange(count))
            computed.append(effective_bisection(among, routing, options.samples, options.seed))
            bounds.append(_bisection_share(among))
            worst.append(1 / worst_of_permutations(among).congestion if count <= MOST_WORST else None)
            progress((number + 1) / len(counts), f"{count} nodes")
    title = f"{graph.spec}, {routing.replace('_', '-')}"
    if options.figure is not None:
        write_drawing(options.figure, lambda: effective(title, computed, bounds, worst, measured))
    if json:
        say.json(_data(graph.spec, routing, options, computed, bounds, worst, measured))
        return
    say.line(f"effective bisection bandwidth of {title}, as a share of full bisection")
    table = Table(
        "nodes", "mean over pairs", "95 % interval", "least bisection", "worst permutation", "measured", box=None
    )
    of_ranks = {each.ranks: each for each in measured}
    rows = {each.nodes: (each, bound, least) for each, bound, least in zip(computed, bounds, worst, strict=True)}
    for count in sorted({*rows, *of_ranks}):
        each, bound, least = rows.get(count, (None, None, None))
        ends = each.interval if each else None
        share = of_ranks.get(count)
        table.add_row(
            str(count),
            f"{each.mean:.3f}" if each else "–",
            f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–",
            f"{bound:.3f}" if bound is not None else "–",
            f"{least:.3f}" if least is not None else "–",
            _said(share) if share else "–",
        )
    say.table(table)
    for finding in findings(computed, measured):
        say.line(finding.text)
    say.line(f"means over the pairs of {counted(options.samples, 'random bisection')} of each number of nodes")
    if options.figure is not None:
        say.line(f"wrote {options.figure}")


def _said(share: MeasuredShare) -> str:
    within = "" if share.low is None or share.high is None else f" ({share.low:.3f} to {share.high:.3f})"
    return f"{share.fraction:.3f}{within}"


def _bisection_share(among: Allocated) -> float:
    """What the links of the least bisection leave to each pair across it, at most one link of a node."""
    network_, nodes = among.links.network, among.nodes
    rate = network_.bandwidth_bit_per_s
    fastest = among.links.node_link_B_per_s
    weight = network_.parallel * (np.ones_like(rate) if fastest is None else rate / 8 / fastest)
    return min(1.0, bisection(network_, nodes, weight).high / (len(nodes) // 2))


def _data(
    spec: str,
    routing: str,
    options: EffectiveOptions,
    computed: list[Effective],
    bounds: list[float],
    worst: list[float | None],
    measured: list[MeasuredShare],
) -> dict[str, Any]:
    return {
        "topology": spec,
        "routing": routing,
        "seed": options.seed,
        "computed": [
            {**each.as_data(), "bisection_share": bound, "worst_permutation_share": least}
            for each, bound, least in zip(computed, bounds, worst, strict=True)
        ],
        "measured": [vars(each) for each in measured],
        "figure": str(options.figure) if options.figure else None,
    }
