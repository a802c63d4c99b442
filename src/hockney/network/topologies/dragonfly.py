"""A dragonfly (Kim, Dally, Scott, Abts 2008): groups of fully connected routers, any two of them linked."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.topologies.base import (
    Link,
    Network,
    SwitchKind,
    Topology,
    check_size,
    link_rate,
    topologies,
)

ARRANGEMENTS = ("absolute", "relative")
"""Which router holds which global link, as Hastings et al. (Cluster 2015) name them."""


def arrangement_name(text: str) -> str:
    """One of `ARRANGEMENTS`."""
    if text.strip() not in ARRANGEMENTS:
        raise RequestError(f"unknown arrangement {text!r}", f"known: {', '.join(ARRANGEMENTS)}")
    return text.strip()


def dragonfly(
    routers: int,
    nodes_per_router: int,
    global_links: int,
    groups: int | None = None,
    arrangement: str = "absolute",
    link: float = math.nan,
    global_link: float = math.nan,
) -> Network:
    """`routers` (a) in a group, `nodes_per_router` (p), `global_links` of a router (h), `groups` (g).

    At most, and by default, there are a·h + 1 groups, with one link between any two. With fewer, any two have
    ⌊a·h / (g − 1)⌋, and ports that are left over stay free. Port k of a group's a·h belongs to its router ⌊k/h⌋
    and leads, with `absolute`, to group k (leaving out its own), with `relative` to the k-th one after its own.
    `link` and `global_link` (default: `link`) in bit/s.
    """
    most = routers * global_links + 1
    count = most if groups is None else groups
    if count > most:
        raise RequestError(
            f"groups: {count} groups are too many: {routers} routers × {global_links} global links reach "
            f"{most - 1} others, so {most} groups at most",
            "give fewer groups, or groups more routers or global links",
        )
    nodes, switches = count * routers * nodes_per_router, count * routers
    each = routers * global_links // (count - 1) if count > 1 else 0
    links = count * math.comb(routers, 2) + math.comb(count, 2) * each
    check_size(nodes + switches, nodes + links, "dragonfly")
    router = nodes + np.arange(switches, dtype=np.int64).reshape(count, routers)
    node = np.arange(nodes, dtype=np.int64)
    parts = [np.stack([node, nodes + node // nodes_per_router], -1)]
    lower, higher = np.triu_indices(routers, 1)
    parts.append(np.stack([router[:, lower], router[:, higher]], -1).reshape(-1, 2))
    pairs = np.triu_indices(count, 1)
    local = sum(map(len, parts))
    turns = np.arange(each, dtype=np.int64)[:, None] * (count - 1)
    held = [router[i, (turns + _port(i, j, count, arrangement)) // global_links] for i, j in (pairs, pairs[::-1])]
    # One number a pair: millions of numbers are sorted in a second, millions of pairs are not.
    keys, parallel = np.unique(held[0] * (nodes + switches) + held[1], return_counts=True)
    far = np.stack(np.divmod(keys, nodes + switches), -1)
    ends = np.concatenate([*parts, far])
    return Network(
        kind="dragonfly",
        nodes=nodes,
        switches=switches,
        ends=ends,
        parallel=np.concatenate([np.ones(local, np.int64), parallel]),
        bandwidth_bit_per_s=np.repeat(
            [link, link if math.isnan(global_link) else global_link], [local, len(far)]
        ),
        names=(
            *(f"node {i}" for i in range(nodes)),
            *(f"router {group}.{i}" for group in range(count) for i in range(routers)),
        ),
        level=np.repeat(np.array([0, 1], np.int64), [nodes, switches]),
        attributes={
            "groups": count,
            "most_groups": most,
            "routers_per_group": routers,
            "nodes_per_router": nodes_per_router,
            "global_links_between_groups": each,
            "global_ports_free_per_group": routers * global_links - each * (count - 1),
            "arrangement": arrangement,
        },
        switch_kinds=(SwitchKind("router", nodes, switches, nodes_per_router + routers - 1 + global_links),),
    )


def _port(
    group: np.typing.NDArray[np.int64], to: np.typing.NDArray[np.int64], groups: int, arrangement: str
) -> np.typing.NDArray[np.int64]:
    if arrangement == "absolute":
        return to - (to > group)
    return (to - group - 1) % groups


class DragonflyOptions(BaseModel):
    """A dragonfly: routers fully connected within groups, groups fully connected by global links."""

    routers: Annotated[int, Option("Routers of a group: a.")]
    nodes_per_router: Annotated[int, Option("Nodes of a router: p.")]
    global_links: Annotated[int, Option("Global links of a router: h.")]
    groups: Annotated[
        int | None,
        Option("Groups, at most a·h + 1. [default: that many]"),
    ] = None
    arrangement: Annotated[
        str, Option("Which router holds which global link: absolute or relative.", read=arrangement_name)
    ] = "absolute"
    link: Link = math.nan
    global_link: Annotated[
        float, Option("Rate of a global link, where it is not --link.", read=link_rate, show=None)
    ] = math.nan


topologies.register("dragonfly")(
    Topology(
        "dragonfly",
        dragonfly,
        DragonflyOptions,
    )
)
