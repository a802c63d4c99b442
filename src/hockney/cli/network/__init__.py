"""`hockney network`: networks as exact graphs. Here is what the verbs of the topologies share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hockney.cli import emit_json, err, group, out
from hockney.cli._words import wholes
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.network.bisection.bisection import Bisection
    from hockney.network.bisection.measure import Measured
    from hockney.network.topologies.base import Network

network = group("network", help="Networks as exact graphs: hops, ports, bisection, traffic, maps of processes.")

Link = Annotated[str, typer.Option(help="Rate of a link in one direction, for example 100Gbit/s.")]
Allocation = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many nodes, in leaf order. [default: all]")
]
AllocationNodes = Annotated[str | None, typer.Option(help="Only these nodes: 0-15,32.")]
Svg = Annotated[
    Path | None, typer.Option(help="Draw the network, its allocation and the cut (.svg, .png, .html).")
]
TimeLimit = Annotated[
    str, typer.Option(help="For proving a bisection that no theorem gives; without a proof there are two bounds.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the local search for such bisections.")]


def answer(
    kind: str,
    options: dict[str, Any],
    *,
    allocation: int | None,
    allocation_nodes: str | None,
    svg: Path | None,
    time_limit: str,
    seed: int,
    json: bool,
) -> None:
    """Build a topology from its options (None or "": not given) and say all that is known about it."""
    from hockney.network.bisection.measure import measure
    from hockney.network.topologies.base import topologies
    from hockney.units import parse_time

    time_limit_s = parse_time(time_limit)
    if svg is not None:
        from hockney.report.drawn import checked_ending

        checked_ending(svg)
    made = topologies.get(kind).make({name: str(one) for name, one in options.items() if one not in (None, "")})
    with err.status("measuring …"):
        found = measure(made, allocated(made, allocation, allocation_nodes), time_limit_s=time_limit_s, seed=seed)
    if svg is not None:
        from hockney.report.drawn import write_drawing
        from hockney.report.networks import draw

        write_drawing(svg, lambda: draw(found))
    if json:
        emit_json({**found.as_data(), "figure": str(svg) if svg else None})
        return
    _show(found)
    if svg is not None:
        out.print(f"wrote {svg}", markup=False, soft_wrap=True)


def allocated(made: Network, count: int | None, listed: str | None) -> Any:
    """Node numbers (n,) in leaf order; RequestError where the network does not have them."""
    import numpy as np

    if count is not None and listed is not None:
        raise RequestError("--allocation and --allocation-nodes are both given", "give one of them")
    if count is not None and count > made.nodes:
        raise RequestError(f"--allocation: {count} nodes of {made.nodes}", "give fewer")
    if listed is not None:
        nodes, times = np.unique(wholes(listed, "--allocation-nodes", range(made.nodes)), return_counts=True)
        if times.max() > 1:
            raise RequestError(
                f"--allocation-nodes {listed!r} names node {nodes[times.argmax()]} more than once",
                "name every node once",
            )
        return nodes
    return np.arange(made.nodes if count is None else count)


def counted(number: float, what: str, form: str = "", *, plural: str = "") -> str:
    """`1 node`, `2 nodes`."""
    told = format(number, form)
    return f"{told} {what if told == '1' else plural or what + 's'}"


def _show(found: Measured) -> None:
    from hockney.network.bisection.measure import in_words
    from hockney.network.bisection.ports import ports

    made = found.network
    out.print(f"{made.spec}", markup=False, soft_wrap=True)
    switches = counted(made.switches, "switch", plural="switches")
    links = counted(int(made.parallel.sum()), "link")
    out.print(f"{counted(made.nodes, 'node')}, {switches}, {links}", soft_wrap=True)
    for name, value in made.attributes.items():
        shown = "x".join(str(extent) for extent in value) if name == "shape" else value
        out.print(f"  {name.replace('_', ' ')}: {shown}", markup=False, soft_wrap=True)
    if kinds := ports(made):
        table = Table("switch", "number", "ports", "used by one", "used", "free", box=None)
        for one in kinds:
            least, most = one.used_by_one
            by_one = str(most) if least == most else f"{least} to {most}"
            # No map() here: the verb's module of that name hides it.
            cells = (one.kind, one.switches, one.radix, by_one, one.used, one.free)
            table.add_row(*(str(cell) for cell in cells))
        out.print(table)
    of = "" if found.is_whole else f" of nodes {in_words(found.allocation)}"
    if found.hops.average is not None:
        out.print(f"hops{of}: {found.hops.average:.4g} on average, {found.hops.diameter} at most", soft_wrap=True)
    out.print(f"bisection{of}: {_width(found.width)} ({found.width.method})", soft_wrap=True)
    if found.bandwidth is not None:
        out.print(f"bisection bandwidth{of}: {_rate(found.bandwidth)}", soft_wrap=True)


def _width(found: Bisection) -> str:
    if found.is_exact:
        return counted(found.high, "link", ",.0f")
    return f"between {found.low:,.0f} (proven) and {found.high:,.0f} (found) links"


def _rate(found: Bisection) -> str:
    high = f"{found.high / 1e9:,.10g} Gbit/s"
    return f"{high} in each direction" if found.is_exact else f"between {found.low / 1e9:,.10g} and {high}"
