"""`hockney network locality`: measured latencies between nodes against hops on a topology."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hockney.cli.network import counted, network
from hockney.cli.network.traffic import TopologyOption
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_bytes

with later():
    from hockney.network.topologies.base import parse_spec
    from hockney.network.traffic.measured import by_hops, measured_pairs, nodes_by_name, read_nodes
    from hockney.records.folder import Campaign


@verb(
    "locality",
    examples="hockney network locality campaign --topology torus:4x4x4\n"
    "hockney network locality campaign --topology fat-tree:nodes=64,leaf-ports=16:8,spines=4,spine-ports=8 "
    "--hosts hosts.txt --json",
    of=network,
)
def locality(
    campaign: Annotated[Path, typer.Argument(help="Folder of `hockney measure` with ping-pongs between nodes.")],
    topology: TopologyOption,
    hosts: Annotated[
        Path | None,
        typer.Option(help="Lines `host node`. [default: hosts in the order of their names]", show_default=False),
    ] = None,
    size: Annotated[
        str, typer.Option("--bytes", help="Message size. [default: the smallest measured]", show_default=False)
    ] = "",
    variant: Annotated[str, typer.Option(help="Of the campaign's launches.")] = "default",
    json: JsonOption = False,
) -> None:
    """Latency by hops, and base + per hop as a line with intervals.

    Whether the hosts are where the topology has them is not checked by this: a line that does not fit says so.
    """
    of = parse_spec(topology)
    opened = Campaign.open(campaign)
    size_B, pairs = measured_pairs(opened, parse_bytes(size) if size else None, variant)
    for warning in opened.warnings:
        say.warn(warning)
    at = read_nodes(hosts, pairs, of) if hosts else nodes_by_name(pairs, of)
    found = by_hops(of, pairs, at)
    line = found.fit()
    if json:
        say.json(
            {
                "topology": of.spec,
                "bytes": size_B,
                "variant": variant,
                "hosts_from": str(hosts) if hosts else "order of their names",
                "nodes": dict(sorted(at.items(), key=lambda one: one[1])),
                "classes": found.classes(),
                "fit": line,
            }
        )
        return
    where = f"as {hosts} says" if hosts else "in the order of their names"
    say.line(f"{counted(len(pairs), 'pair')} of {len(at)} hosts on {of.spec} ({where}), {format_bytes(size_B)}")
    table = Table("hops", "pairs", "least", "median", "largest", box=None)
    for one in found.classes():
        times = (format_time(one[key]) for key in ("least_s", "median_s", "largest_s"))
        table.add_row(str(one["hops"]), str(one["pairs"]), *times)
    say.table(table)
    if line["identifiable"]:
        for name, word in (("base_s", "base"), ("per_hop_s", "per hop")):
            one = line[name]
            interval = "" if one["low"] is None else f" ({format_time(one['low'])} to {format_time(one['high'])})"
            say.line(f"{word}: {format_time(one['value'])}{interval}")
    if reason := line.get("reason"):
        say.line(reason)
