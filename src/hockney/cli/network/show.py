"""`hockney network show`: hops, ports and bisection of a network."""

from __future__ import annotations

from hockney import api
from hockney.cli.network import network
from hockney.options.network import GraphOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted


@verb(
    "show",
    examples="hockney network show --topology torus:8x8x4,link=10Gbit/s\n"
    "hockney network show --topology fat-tree:nodes=64,leaf-ports=16:8,spines=4,spine-ports=8 --json\n"
    "hockney network show --topology hypercube:10 --allocation 0-31 --figure hypercube.svg",
    of=network,
)
def show(options: GraphOptions, json: JsonOption = False) -> None:
    """Hops, ports and bisection of a network: a torus, fat tree, dragonfly, hypercube, switch or edge list.

    A network is one word: torus:8x8x4, fat-tree:nodes=148,leaf-ports=32:16,spines=4,spine-ports=48,
    dragonfly:routers=4,nodes-per-router=2,global-links=2, hypercube:6, single-switch:16, complete:16, edges:FILE;
    link=100Gbit/s after a comma is the rate of its links.
    """
    with say.status("measuring …"):
        answer = api.network_measures(options)
    if json:
        say.json(answer)
    else:
        _show(answer)


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
