"""`hockney network torus`, `fat-tree` …: a verb for each topology, whose options the topology declares itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli.network import Allocation, allocated, counted, network
from hockney.network.topologies.base import Topology, topologies
from hockney.options import Option, flag, options
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import written
from hockney.units import parse_time

with later():
    from hockney.network.bisection.bisection import Bisection
    from hockney.network.bisection.measure import NetworkMeasures, in_words, measure
    from hockney.network.bisection.ports import ports
    from hockney.report.drawn import checked_ending, write_drawing
    from hockney.report.networks import draw


class Measuring(Allocation):
    """What is said of a network, and how long is searched for it."""

    svg: Annotated[Path | None, Option("Draw the network, its allocation and the cut (.svg, .png, .html).")] = (
        None
    )
    time_limit_s: Annotated[
        float,
        Option(
            "For proving a bisection that no theorem gives; without a proof there are two bounds.",
            flags=("--time-limit",),
            read=parse_time,
            show="{:g}s".format,
        ),
    ] = 20.0
    seed: Annotated[int, Option("Of the local search for such bisections."), Field(ge=0)] = 0


def _enter(name: str, topology: Topology) -> None:
    def command(
        context: typer.Context, described: BaseModel, measuring: Measuring, json: JsonOption = False
    ) -> None:
        if measuring.svg is not None:
            checked_ending(measuring.svg)
        made = topology.make(_texts(described, written(context)))
        with say.status("measuring …"):
            found = measure(
                made, allocated(made, measuring), time_limit_s=measuring.time_limit_s, seed=measuring.seed
            )
        if measuring.svg is not None:
            write_drawing(measuring.svg, lambda: draw(found))
        if json:
            say.json({**found.as_data(), "figure": str(measuring.svg) if measuring.svg else None})
            return
        _show(found)
        if measuring.svg is not None:
            say.line(f"wrote {measuring.svg}")

    command.__annotations__["described"] = topology.options
    command.__doc__ = topology.options.__doc__
    verb(name.replace("_", "-"), examples=topology.examples, of=network)(command)


def _texts(described: BaseModel, written_: dict[str, Any]) -> dict[str, str]:
    """The options of a topology as its spec has them: as they were written, or their defaults."""
    texts = {}
    for name, _, option in options(type(described)):
        value = written_.get(flag(name, option), getattr(described, name))
        if value is not None and value == value:  # NaN is a rate that is not known.
            texts[name.replace("_", "-")] = str(value)
    return texts


for _name, _topology in topologies:
    _enter(_name, _topology)


def _show(found: NetworkMeasures) -> None:
    made = found.network
    say.line(f"{made.spec}")
    switches = counted(made.switches, "switch", plural="switches")
    links = counted(int(made.parallel.sum()), "link")
    say.line(f"{counted(made.nodes, 'node')}, {switches}, {links}")
    for name, value in made.attributes.items():
        shown = "x".join(str(extent) for extent in value) if name == "shape" else value
        say.line(f"  {name.replace('_', ' ')}: {shown}")
    if kinds := ports(made):
        table = Table("switch", "number", "ports", "used by one", "used", "free", box=None)
        for one in kinds:
            least, most = one.used_by_one
            by_one = str(most) if least == most else f"{least} to {most}"
            # No map() here: the verb's module of that name hides it.
            cells = (one.kind, one.switches, one.radix, by_one, one.used, one.free)
            table.add_row(*(str(cell) for cell in cells))
        say.table(table)
    of = "" if found.is_whole else f" of nodes {in_words(found.allocation)}"
    if found.hops.average is not None:
        say.line(f"hops{of}: {found.hops.average:.4g} on average, {found.hops.diameter} at most")
    say.line(f"bisection{of}: {_width(found.width)} ({found.width.method})")
    if found.bandwidth is not None:
        say.line(f"bisection bandwidth{of}: {_rate(found.bandwidth)}")


def _width(found: Bisection) -> str:
    if found.is_exact:
        return counted(found.high, "link", ",.0f")
    return f"between {found.low:,.0f} (proven) and {found.high:,.0f} (found) links"


def _rate(found: Bisection) -> str:
    high = f"{found.high / 1e9:,.10g} Gbit/s"
    return f"{high} in each direction" if found.is_exact else f"between {found.low / 1e9:,.10g} and {high}"
