"""`hockney network fat-tree`: leaf switches, spines, cores."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "fat-tree",
    examples="hockney network fat-tree --nodes 148 --links-per-node 2 --leaf-ports 32:16 "
    "--spines 4 --spine-ports 48 --link 100Gbit/s --allocation 32 --json\n"
    "hockney network fat-tree --nodes 16 --leaf-ports 2:2 --spines 2 --spine-ports 2:2 "
    "--cores 4 --core-ports 4 --svg fat-tree.svg",
    of=network,
)
def fat_tree(
    nodes: Annotated[int, typer.Option(help="Nodes in all.")],
    leaf_ports: Annotated[str, typer.Option(help="Ports of a leaf switch, 32:16 for 32 down and 16 up.")],
    spines: Annotated[int, typer.Option(help="Spine switches (of each pod, where there are cores).")],
    spine_ports: Annotated[str, typer.Option(help="Ports of a spine switch: 48, or down:up with cores.")],
    links_per_node: Annotated[int, typer.Option(help="Links of a node, all to one leaf switch.")] = 1,
    pod_leaves: Annotated[
        int | None, typer.Option(help="Leaf switches of a pod. [default: as many as its spines have ports for]")
    ] = None,
    cores: Annotated[int | None, typer.Option(help="Core switches, the third level.")] = None,
    core_ports: Annotated[int | None, typer.Option(help="Ports of a core switch.")] = None,
    uplink: Annotated[str, typer.Option(help="Rate of a link between switches, where it is not --link.")] = "",
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """Leaf switches filled with nodes one after another, spines above them, and cores above the spines of pods.

    Every leaf switch has the same number of links to each spine. With --cores there are three levels: pods with
    --spines spines each, and --pod-leaves leaf switches.
    """
    answer(
        "fat_tree",
        {
            "nodes": nodes,
            "links-per-node": links_per_node,
            "leaf-ports": leaf_ports,
            "pod-leaves": pod_leaves,
            "spines": spines,
            "spine-ports": spine_ports,
            "cores": cores,
            "core-ports": core_ports,
            "uplink": uplink,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
