"""`hockney network locality`: measured latencies between nodes against hops on a topology."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel
from rich.table import Table

from hockney.cli.network import OnTopology, network
from hockney.fields import Argument, Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_bytes, format_time, parse_bytes

with later():
    from hockney.network.traffic.measured import by_hops, hosts_of, measured_pairs, nodes_by_name, read_nodes
    from hockney.records.folder import Campaign


class LocalityOptions(BaseModel):
    """Which latencies of a campaign, between which hosts."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[Path, Argument("Folder of `hockney measure` with ping-pongs between nodes.")]
    hosts: Annotated[
        Path | None,
        Option("Lines `host node`. [default: hosts in the order of their names]", flags=("--host-map",)),
    ] = None
    size_B: Annotated[
        int | None,
        Option("[default: the smallest measured]", flags=("--bytes",), read=parse_bytes),
    ] = None
    variant: Annotated[str, Option()] = "default"


@verb(
    "locality",
    examples="hockney network locality campaign --topology torus:4x4x4\n"
    "hockney network locality campaign --topology fat-tree:nodes=64,leaf-ports=16:8,spines=4,spine-ports=8 "
    "--host-map hosts.txt --json",
    of=network,
)
def locality(options: LocalityOptions, on: OnTopology, json: JsonOption = False) -> None:
    """Latency by hops, and base + per hop as a line with intervals.

    Nothing checks whether the hosts are where the topology has them: a line that does not fit says so.
    """
    graph, hosts = on.graph, options.hosts
    campaign = Campaign.open(options.campaign)
    size_B, pairs = measured_pairs(campaign, options.size_B, options.variant)
    for warning in campaign.warnings:
        say.warn(warning)
    node_of = read_nodes(hosts, pairs, graph) if hosts else nodes_by_name(hosts_of(campaign), graph)
    if not hosts and len(node_of) < graph.nodes:
        say.warn(
            f"{len(node_of)} hosts are taken to be the first of the {graph.nodes} nodes, in the order of their "
            "names; --host-map says where they are"
        )
    latencies = by_hops(graph, pairs, node_of)
    line = latencies.fit()
    if json:
        say.json(
            {
                "topology": graph.spec,
                "bytes": size_B,
                "variant": options.variant,
                "hosts_from": str(hosts) if hosts else "order of their names",
                "nodes": dict(sorted(node_of.items(), key=lambda item: item[1])),
                "classes": latencies.classes(),
                "fit": line,
            }
        )
        return
    where = f"as {hosts} says" if hosts else "in the order of their names"
    heading = f"{counted(len(pairs), 'pair')} among {len(node_of)} hosts on {graph.spec} ({where})"
    say.line(f"{heading}, {format_bytes(size_B)}")
    table = Table("hops", "pairs", "least", "median", "largest", box=None)
    for row in latencies.classes():
        times = (format_time(row[key]) for key in ("least_s", "median_s", "largest_s"))
        table.add_row(str(row["hops"]), str(row["pairs"]), *times)
    say.table(table)
    if line["identifiable"]:
        for name, word in (("base_s", "base"), ("per_hop_s", "per hop")):
            value, low, high = (line[name][key] for key in ("value", "low", "high"))
            interval = "" if low is None else f" ({format_time(low)} to {format_time(high)})"
            say.line(f"{word}: {format_time(value)}{interval}")
        far = line["largest"]
        say.line(
            f"L, between the farthest hosts ({far['hops']} hops): {format_time(far['latency_s'])} by this line"
        )
    if reason := line.get("reason"):
        say.line(reason)
