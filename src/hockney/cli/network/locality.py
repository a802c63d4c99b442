"""`hockney network locality`: measured latencies between nodes against hops on a topology."""

from __future__ import annotations

from hockney import api
from hockney.cli.network import network
from hockney.options.network import LocalityOptions, NamedTopology
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_time


@verb(
    "locality",
    examples="hockney network locality campaign --topology torus:4x4x4\n"
    "hockney network locality campaign --topology fat-tree:nodes=64,leaf-ports=16:8,spines=4,spine-ports=8 "
    "--mapping hosts.txt --json",
    of=network,
)
def locality(options: LocalityOptions, on: NamedTopology, json: JsonOption = False) -> None:
    """Latency by hops, and base + per hop as a line with intervals.

    Nothing checks whether the hosts are where the topology has them: a line that does not fit says so.
    """
    answer, warnings = api.network_locality(options, on)
    if json:
        say.json(answer)
        return
    where = f"as {options.hosts} says" if options.hosts else "in the order of their names"
    pairs = counted(sum(row.pairs for row in answer.classes), "pair")
    say.line(
        f"{pairs} among {len(answer.nodes)} hosts on {answer.topology} ({where}), {format_bytes(answer.bytes)}"
    )
    say.rows(
        "",
        answer.classes,
        [
            Column("hops", "hops"),
            Column("pairs", "pairs"),
            Column("least", "least_s", format_time),
            Column("median", "median_s", format_time),
            Column("largest", "largest_s", format_time),
        ],
    )
    for fitted, name in ((answer.fit.base_s, "base"), (answer.fit.per_hop_s, "per hop")):
        if fitted is not None:
            ends = ""
            if fitted.low is not None and fitted.high is not None:
                ends = f" ({format_time(fitted.low)} to {format_time(fitted.high)})"
            say.line(f"{name}: {format_time(fitted.value)}{ends}")
    if (far := answer.fit.largest) is not None:
        say.line(f"L, between the farthest hosts ({far.hops} hops): {format_time(far.latency_s)} by this line")
    if answer.fit.reason:
        say.line(answer.fit.reason)
    say.warnings(warnings)
