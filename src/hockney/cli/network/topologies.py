"""`hockney network torus`, `fat-tree` …: a verb for each topology, whose options the topology declares itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.table import Table

from hockney.cli.network import Allocation, allocated, network
from hockney.fields import Option, flag, options
from hockney.network.topologies.base import Topology, topologies
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import written
from hockney.units import counted

with later():
    from hockney.network.bisection.bisection import Bisection
    from hockney.network.bisection.measure import NetworkMeasures, in_words, measure
    from hockney.network.bisection.ports import ports
    from hockney.report.drawn import checked_ending, write_drawing
    from hockney.report.networks import draw


class GraphOptions(Allocation):
    """The nodes that take part, and what is drawn of the network."""

    figure: Annotated[Path | None, Option("The network, its allocation and the cut.")] = None


def _enter(name: str, topology: Topology) -> None:
    def command(
        context: typer.Context, described: BaseModel, graph_options: GraphOptions, json: JsonOption = False
    ) -> None:
        figure = graph_options.figure
        if figure is not None:
            checked_ending(figure)
        graph = topology.make(_texts(described, written(context)))
        with say.status("measuring …"):
            measured = measure(graph, allocated(graph, graph_options))
        if figure is not None:
            write_drawing(figure, lambda: draw(measured))
        if json:
            say.json({**measured.as_data(), "figure": str(figure) if figure else None})
            return
        _show(measured)
        if figure is not None:
            say.line(f"wrote {figure}")

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


def _show(measured: NetworkMeasures) -> None:
    graph = measured.network
    say.line(f"{graph.spec}")
    switches = counted(graph.switches, "switch", plural="switches")
    links = counted(int(graph.parallel.sum()), "link")
    say.line(f"{counted(graph.nodes, 'node')}, {switches}, {links}")
    for name, value in graph.attributes.items():
        shown = "x".join(str(extent) for extent in value) if name == "shape" else value
        say.line(f"  {name.replace('_', ' ')}: {shown}")
    if kinds := ports(graph):
        table = Table("switch", "number", "ports", "used by one", "used", "free", box=None)
        for kind in kinds:
            least, most = kind.used_by_one
            by_one = str(most) if least == most else f"{least} to {most}"
            # No map() here: the verb's module of that name hides it.
            cells = (kind.kind, kind.switches, kind.radix, by_one, kind.used, kind.free)
            table.add_row(*(str(cell) for cell in cells))
        say.table(table)
    of = "" if measured.is_whole else f" of nodes {in_words(measured.allocation)}"
    if measured.hops.average is not None:
        say.line(f"hops{of}: {measured.hops.average:.4g} on average, {measured.hops.diameter} at most")
    say.line(f"bisection{of}: {_width(measured.width)} ({measured.width.method})")
    if measured.bandwidth is not None:
        say.line(f"bisection bandwidth{of}: {_rate(measured.bandwidth)}")


def _width(cut: Bisection) -> str:
    if cut.is_exact:
        return counted(cut.high, "link", ",.0f")
    return f"between {cut.low:,.0f} (proven) and {cut.high:,.0f} (found) links"


def _rate(cut: Bisection) -> str:
    high = f"{cut.high / 1e9:,.10g} Gbit/s"
    return f"{high} in each direction" if cut.is_exact else f"between {cut.low / 1e9:,.10g} and {high}"
