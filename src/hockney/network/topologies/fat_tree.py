"""A fat tree of two or three levels: leaf switches with nodes, spines above them, cores above pods of both."""

from __future__ import annotations

import itertools
import math
import operator
import re
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.topologies.base import (
    Link,
    Network,
    SwitchKind,
    Topology,
    check_size,
    limited,
    link_rate,
    topologies,
)
from hockney.units import counted


def ports(text: str) -> tuple[int, int]:
    """`32:16` → 32 ports down and 16 up; a bare number is down only."""
    match = re.fullmatch(r"\s*([0-9]+)(?::([0-9]+))?\s*", text)
    if match is None or not match[1].strip("0"):
        raise RequestError(f"{text!r} is not a number of ports", "write down:up, for example 32:16")
    return limited(match[1]), limited(match[2] or "0")


@dataclass
class _Bundles:
    rows: list[NDArray[np.int64]] = field(default_factory=list)
    parallel: list[int] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def add(self, lower: NDArray[np.int64], upper: NDArray[np.int64], parallel: int, rate: float) -> None:
        """Bundles between `lower` and `upper`, which broadcast against each other."""
        self.rows.append(np.stack(np.broadcast_arrays(lower, upper), -1).reshape(-1, 2))
        self.parallel.append(parallel)
        self.rates.append(rate)


def fat_tree(
    nodes: int,
    leaf_ports: tuple[int, int],
    spines: int,
    spine_ports: tuple[int, int],
    links_per_node: int = 1,
    pod_leaves: int | None = None,
    cores: int | None = None,
    core_ports: int | None = None,
    link: float = math.nan,
    uplink: float = math.nan,
) -> Network:
    """Leaves are filled with nodes one after another; `link` and `uplink` (default: `link`) in bit/s.

    Every leaf switch has the same number of parallel links to each of the `spines` above it. With `cores` there
    are pods of `pod_leaves` leaves and `spines` spines each (default: as many as the spines have ports for).
    Spines reach all cores if their up ports divide evenly among them, else the cores of their own plane: spine i
    of every pod has the i-th of `spines` equal parts of the cores, as in the k-ary fat tree (Al-Fares et al.
    2008).
    """
    down, up = leaf_ports
    per_leaf = down // links_per_node
    if per_leaf < 1:
        raise RequestError(
            f"leaf-ports: {down} down ports hold no node of {counted(links_per_node, 'link')}",
            "give leaf switches more down ports, or nodes fewer links",
        )
    leaves = -(-nodes // per_leaf)
    above = _shared_evenly(up, spines, "leaf-ports", "up ports of a leaf switch", "spines")
    in_pod = _pod_leaves(leaves, above, spine_ports, pod_leaves, cores, core_ports)
    pods = -(-leaves // in_pod)
    links = nodes + leaves * spines + pods * spines * min(cores or 0, spine_ports[1])
    check_size(nodes + leaves + pods * spines + (cores or 0), links, "fat tree")

    uplink = link if math.isnan(uplink) else uplink
    bundles = _Bundles()
    node, leaf = np.arange(nodes, dtype=np.int64), np.arange(leaves, dtype=np.int64)
    first_spine = nodes + leaves
    spine = np.arange(pods * spines, dtype=np.int64).reshape(pods, spines)
    bundles.add(node, nodes + node // per_leaf, links_per_node, link)
    bundles.add(nodes + leaf[:, None], first_spine + spine[leaf // in_pod], above, uplink)
    names = [f"node {i}" for i in range(nodes)] + [f"leaf {i}" for i in range(leaves)]
    kinds = [SwitchKind("leaf", nodes, leaves, down + up)]
    kinds.append(SwitchKind("spine", first_spine, pods * spines, sum(spine_ports)))
    about = {
        "nodes_per_leaf": per_leaf,
        "links_per_node": links_per_node,
        "leaf_switches": leaves,
        "nodes_of_last_leaf": nodes - (leaves - 1) * per_leaf,
        "spine_switches": pods * spines,
    }
    tapers = [_taper(leaf_ports, uplink / link if uplink != link and not math.isnan(link) else 1.0)]
    alike = np.arange(first_spine + pods * spines + (cores or 0), dtype=np.int64)
    alike[first_spine : first_spine + pods * spines] = first_spine + np.repeat(spine[:, 0], spines)
    if cores is None:
        names += [f"spine {i}" for i in range(spines)]
        used = leaves * above
    else:
        names += [f"spine {pod}.{i}" for pod in range(pods) for i in range(spines)]
        first_core = first_spine + pods * spines
        used = min(in_pod, leaves) * above + spine_ports[1]
        core_used = _cores(bundles, spine, first_spine, cores, core_ports or 0, spine_ports[1], uplink)
        names += [f"core {i}" for i in range(cores)]
        kinds.append(SwitchKind("core", first_core, cores, core_ports or 0))
        alike[first_core:] = first_core
        tapers.append(_taper(spine_ports, 1.0))
        about |= {"pods": pods, "leaf_switches_per_pod": in_pod, "core_switches": cores}
        about |= {"core_ports_used": core_used, "core_ports_free": (core_ports or 0) - core_used}
    levels = [nodes, leaves, pods * spines] + ([cores] if cores else [])
    return Network(
        kind="fat_tree",
        nodes=nodes,
        switches=sum(levels[1:]),
        ends=np.concatenate(bundles.rows),
        parallel=np.repeat(bundles.parallel, [len(rows) for rows in bundles.rows]).astype(np.int64),
        bandwidth_bit_per_s=np.repeat(bundles.rates, [len(rows) for rows in bundles.rows]),
        names=tuple(names),
        level=np.repeat(np.arange(len(levels), dtype=np.int64), levels),
        attributes={
            **about,
            # What leaves a leaf shares its links up whatever the pods have: a wide level above undoes no taper.
            "taper": max(itertools.accumulate(tapers, operator.mul)),
            "tapers": tapers,
            "spine_ports_used": used,
            "spine_ports_free": sum(spine_ports) - used,
        },
        switch_kinds=tuple(kinds),
        alike=alike,
    )


def _shared_evenly(count: int, among: int, option: str, what: str, whom: str) -> int:
    if count < among:
        raise RequestError(
            f"{option}: {count} {what} do not reach {among} {whom}: {among} are needed",
            f"give more ports or fewer {whom}",
        )
    if count % among:
        raise RequestError(
            f"{option}: {count} {what} do not divide evenly among {among} {whom} ({count % among} left over)",
            f"{count // among * among} would; describe an uneven network with edges:FILE",
        )
    return count // among


def _pod_leaves(
    leaves: int,
    above: int,
    spine_ports: tuple[int, int],
    pod_leaves: int | None,
    cores: int | None,
    core_ports: int | None,
) -> int:
    """Leaves below one set of spines; RequestError where ports or options do not go together."""
    down, up = spine_ports
    if cores is None:
        for name, value in (("core-ports", core_ports), ("pod-leaves", pod_leaves)):
            if value is not None:
                raise RequestError(f"{name} needs a tree of three levels, and there are no cores", "give cores")
        if up:
            raise RequestError(
                f"spine-ports: {up} ports up, and there are no cores to connect them to",
                "give cores and core-ports, or the number of ports alone",
            )
        if leaves * above > down:
            raise RequestError(
                f"spine-ports: {leaves} leaf switches × {above} links need {leaves * above} ports of every "
                f"spine, it has {down}",
                "give spines more ports, or a third level: spine-ports DOWN:UP, cores and core-ports",
            )
        return leaves
    if core_ports is None or not up:
        missing = "core-ports are" if core_ports is None else "spine-ports gives no up ports, DOWN:UP is"
        raise RequestError(
            f"there are cores, and {missing} missing", "for example spine-ports 24:24, core-ports 48"
        )
    in_pod = min(leaves, down // above) if pod_leaves is None else pod_leaves
    if in_pod * above > down or in_pod < 1:
        raise RequestError(
            f"spine-ports: {max(in_pod, 1)} leaf switches × {above} links need {max(in_pod, 1) * above} down "
            f"ports of every spine, it has {down}",
            "give spines more down ports, or pods fewer leaf switches",
        )
    return in_pod


def _cores(
    bundles: _Bundles,
    spine: NDArray[np.int64],
    first_spine: int,
    cores: int,
    core_ports: int,
    up: int,
    uplink: float,
) -> int:
    """Links from `spine` (pods, spines) to the cores; the ports of a core that they use."""
    pods, spines = spine.shape
    first = first_spine + spine.size
    if up % cores == 0:
        links, reached = up // cores, np.broadcast_to(np.arange(cores), (spines, cores))
        used = pods * spines * links
    else:
        if cores % spines:
            raise RequestError(
                f"cores: {up} up ports of a spine do not divide evenly among {cores} cores, and {cores} cores "
                f"do not make {spines} equal planes",
                f"give a number of cores that divides {up}, or a multiple of {spines}",
            )
        plane = cores // spines
        links = _shared_evenly(up, plane, "spine-ports", "up ports of a spine", "cores of its plane")
        reached = np.arange(cores).reshape(spines, plane)
        used = pods * links
    if used > core_ports:
        raise RequestError(
            f"core-ports: {pods} pods need {used} ports of every core, it has {core_ports}",
            "give cores more ports, or more cores",
        )
    bundles.add(first_spine + spine[:, :, None], first + reached[None].astype(np.int64), links, uplink)
    return int(used)


def _taper(level: tuple[int, int], faster: float) -> float:
    down, up = level
    return down / (up * faster)


class FatTreeOptions(BaseModel):
    """Leaf switches filled with nodes one after another, spines above them, and cores above the spines of pods.

    Every leaf switch has the same number of links to each spine. With --cores there are three levels: pods with
    --spines spines each, and --pod-leaves leaf switches.
    """

    nodes: Annotated[int, Option()]
    links_per_node: Annotated[
        int,
        Option("All to one leaf switch."),
    ] = 1
    leaf_ports: Annotated[
        tuple[int, int], Option("Ports of a leaf switch, 32:16 for 32 down and 16 up.", read=ports)
    ]
    pod_leaves: Annotated[
        int | None, Option("Leaf switches of a pod. [default: as many as its spines have ports for]")
    ] = None
    spines: Annotated[int, Option("Spine switches (of each pod, where there are cores).")]
    spine_ports: Annotated[
        tuple[int, int], Option("Ports of a spine switch: 48, or down:up with cores.", read=ports)
    ]
    cores: Annotated[
        int | None,
        Option("Core switches, the third level."),
    ] = None
    core_ports: Annotated[
        int | None,
        Option("Ports of a core switch."),
    ] = None
    link: Link = math.nan
    uplink: Annotated[
        float, Option("Rate of a link between switches, where it is not --link.", read=link_rate, show=None)
    ] = math.nan


topologies.register("fat_tree")(
    Topology(
        "fat-tree",
        fat_tree,
        FatTreeOptions,
    )
)
