"""What a simulation of one collective starts from: the costs of its messages, and what they share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import load
from hockney.machine.system import find_system
from hockney.predict.costs import CostSource, LoggopsParameters
from hockney.predict.machine_costs import of_machine, of_system, placed
from hockney.predict.message_costs import COMMAND_LINE
from hockney.predict.network_figures import NetworkFigures, with_network
from hockney.predict.place import LOCALITIES, NETWORK, Place
from hockney.predict.simulation_options import MOST_PLACES, SharedLinks, SharingOptions, SimulationOptions
from hockney.units import counted

Parameters = Mapping[str, Mapping[str, Mapping[str, float | str | None]]]
"""Of each locality the value of each parameter, and what it is from."""


def source(
    given: dict[str, float | None],
    options: SimulationOptions,
    network: NetworkFigures,
    ranks: int,
    size_B: int,
    sharing: SharingOptions,
) -> tuple[CostSource, Place | None, Parameters, list[str]]:
    """What messages of up to `size_B` cost, where ranks are, {locality: {parameter: {value, from}}}, and
    warnings.

    `given` are parameters that replace those of a machine file or system. RequestError where nothing says what a
    message costs, or two options say the same thing.
    """
    on_nodes = _on_nodes(sharing, ranks, has_localities=bool(options.machine or options.system))
    node_s_per_B = sharing.node_gap_s_per_B or 0.0
    link_s_per_B = sharing.links.link_s_per_B if sharing.links else 0.0
    if options.machine is None and not options.system:
        if "latency_s" not in given:
            raise RequestError(
                "a simulation needs --loggops L=…, or --machine or --system",
                "for example --loggops L=2.5us,G=10GB/s",
            )
        if options.mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        if network.are_given:
            raise RequestError(
                "--network completes a --machine or --system",
                "without one --loggops is for all messages",
            )
        nothing = {"overhead_s": 0.0, "receive_overhead_s": 0.0, "gap_s": 0.0, "gap_s_per_B": 0.0}
        plain = LoggopsParameters(**nothing | given)  # type: ignore[arg-type]
        origins = {
            name: {"value": value, "from": COMMAND_LINE if name in given else "default"}
            for name, value in vars(plain).items()
            if name not in ("node_s_per_B", "link_s_per_B")
        }
        return (
            replace(plain, node_s_per_B=node_s_per_B, link_s_per_B=link_s_per_B),
            on_nodes,
            {"all": origins},
            [],
        )
    described = find_system(options.system) if options.system else None
    if described and on_nodes:
        raise RequestError(
            "--system says what nodes and links are shared", "leave out --ppn, --node-bandwidth, networks"
        )
    if options.machine:
        costs = of_machine(load(options.machine), str(options.machine))
    elif described:
        costs = of_system(described)
    costs = with_network(costs, network, described).replaced(given)
    warnings = [*costs.warnings, *costs.beyond(size_B)]
    if described is None:
        if options.mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        on_nodes = on_nodes or costs.own_nodes(ranks)
        if on_nodes is None:
            warnings += costs.assumptions(None, ranks)
            costs = costs.alike(ranks)
            return costs, None, costs.described(given, list(costs.messages)), warnings
        costs = replace(costs, node_s_per_B=node_s_per_B or costs.node_s_per_B, link_s_per_B=link_s_per_B)
        if sharing.links and sharing.links.torus:
            costs = costs.with_links(link_s_per_B)
        costs.check_network(on_nodes, ranks)
        warnings += costs.assumptions(on_nodes, ranks)
        return costs, on_nodes, costs.described(given, [NETWORK - 1, NETWORK]), warnings
    costs, place = placed(costs, network.of(described), options.mapping, ranks)
    costs.check_network(place, ranks)
    warnings += costs.assumptions(place, ranks)
    return costs, place, costs.described(given, range(len(LOCALITIES))), warnings


def _on_nodes(sharing: SharingOptions, ranks: int, *, has_localities: bool) -> Place | None:
    """Where ranks are on nodes that share links, or are nearer than others; None where neither is so.

    RequestError for half a network, and for one with too few nodes.
    """
    ppn = sharing.ppn or 1
    if ppn > MOST_PLACES:
        raise RequestError(f"a node must have at most {MOST_PLACES} ranks, not {ppn}", "for example --ppn 8")
    if sharing.node_gap_s_per_B is None and sharing.links is None and not (sharing.ppn and has_localities):
        if ppn > 1:
            raise RequestError("--ppn alone changes nothing", "add --machine, --node-bandwidth, or a network")
        return None
    links = sharing.links or SharedLinks()
    places = math.prod(links.torus) if links.torus else math.prod(children for children, _ in links.tree)
    needed = -(-ranks // ppn)
    if sharing.links and needed > places:
        raise RequestError(
            f"{ranks} ranks need {counted(needed, 'node')}, but the network has {places}",
            "give fewer ranks, a larger --ppn or a larger network",
        )
    node = (np.arange(ranks) // ppn).astype(np.int32)
    below, uplinks = zip(*links.tree, strict=True) if links.tree else ((), ())
    return Place.of_nodes(node, min(ppn, ranks), links.torus, below, uplinks)
