"""`hockney network torus`, `fat-tree` …: a verb for each topology, whose options the topology declares itself."""

from __future__ import annotations

import typer
from pydantic import BaseModel

from hockney import api
from hockney.cli.network import network
from hockney.options.network import GraphOptions, Topology, texts, topologies
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.options import written
from hockney.terminal.say import Column
from hockney.units import counted


def _enter(name: str, topology: Topology) -> None:
    def command(
        context: typer.Context, described: BaseModel, options: GraphOptions, json: JsonOption = False
    ) -> None:
        with say.status("measuring …"):
            answer = api.network_measures(topology, texts(described, written(context)), options)
        if json:
            say.json(answer)
        else:
            _show(answer)

    command.__annotations__["described"] = topology.options
    command.__doc__ = topology.options.__doc__
    verb(name.replace("_", "-"), examples=topology.examples, of=network)(command)


for _name, _topology in topologies:
    _enter(_name, _topology)


def _range(ends: tuple[int, int]) -> str:
    return " to ".join(f"{end}" for end in sorted({*ends}))


def _show(answer: api.NetworkAnswer) -> None:
    say.line(f"{answer.spec}")
    switches = counted(answer.switches, "switch", plural="switches")
    say.line(f"{counted(answer.nodes, 'node')}, {switches}, {counted(answer.links, 'link')}")
    for name, value in (answer.model_extra or {}).items():
        shown = "x".join(str(extent) for extent in value) if name == "shape" else value
        say.line(f"  {name.replace('_', ' ')}: {shown}")
    if answer.ports:
        say.rows(
            "",
            answer.ports,
            [
                Column("switch", "kind"),
                Column("number", "switches"),
                Column("ports", "radix"),
                Column("used by one", "used_by_one", _range),
                Column("used", "used"),
                Column("free", "free"),
            ],
        )
    of = "" if answer.allocation.nodes == answer.nodes else f" of nodes {answer.allocation.list}"
    if answer.hops.average is not None:
        say.line(f"hops{of}: {answer.hops.average:.4g} on average, {answer.diameter} at most")
    high = answer.bisection_links_high
    links = f"between {answer.bisection_links_low:,} (proven) and {high:,} (found) links"
    exact = counted(high, "link", ",.0f") if answer.bisection_links_exact else links
    say.line(f"bisection{of}: {exact} ({answer.bisection_method})")
    low_bit_per_s, high_bit_per_s = (
        answer.bisection_bandwidth_bit_per_s_low,
        answer.bisection_bandwidth_bit_per_s_high,
    )
    if low_bit_per_s is not None and high_bit_per_s is not None:
        rate = f"{high_bit_per_s / 1e9:,.10g} Gbit/s"
        is_exact = answer.bisection_bandwidth_bit_per_s_exact
        shown = f"{rate} in each direction" if is_exact else f"between {low_bit_per_s / 1e9:,.10g} and {rate}"
        say.line(f"bisection bandwidth{of}: {shown}")
    if answer.figure:
        say.line(f"wrote {answer.figure}")
