"""`hockney network traffic`: what a traffic does to the links of a topology."""

from __future__ import annotations

from hockney import api
from hockney.cli.network import network
from hockney.options.network import SAMPLES, NodeChoice, Routed, TrafficOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_rate, format_time

_EQUATION_2 = {
    "worst_pairing": "; of this pairing, worst by distance and not a bound,",
    "worst_permutation": " ≤",
}


@verb(
    "traffic",
    examples="hockney network traffic --topology torus:8x8x8 --pattern worst-pairing\n"
    "hockney network traffic --topology torus:8x8x8,link=10Gbit/s --pattern alltoall --routing dimension-order\n"
    "hockney network traffic --topology hypercube:6 --pattern random-bisection --json",
    of=network,
)
def traffic(routed: Routed, options: TrafficOptions, nodes: NodeChoice, json: JsonOption = False) -> None:
    """Worst and average congestion of a traffic: the most loaded links and the bandwidth they leave to a node.

    Congestion is the number of messages that share one link of a node. On a faster or slower link it is the
    number that would take as long on a node's link. Bounds follow from links and routing alone: no protocol, no
    overhead, no contention for buffers.
    """
    with say.progress(quiet=json) as progress:
        answer = api.network_traffic(routed, options, nodes, progress)
    if json:
        say.json(answer)
        return
    say.line(f"{answer.topology}: {answer.allocated_nodes} of {counted(answer.nodes, 'node')}")
    say.line(f"traffic {answer.traffic.name.replace('_', '-')}: {answer.traffic.meaning}")
    say.line(f"routing {answer.routing.name.replace('_', '-')}: {answer.routing.meaning}")
    say.line(
        f"{counted(answer.messages, 'message')} of {format_bytes(answer.message_bytes)}, "
        f"{counted(answer.mean_hops, 'hop', '.4g')} on average"
    )
    worst = counted(answer.congestion.worst, "message", ".6g")
    say.line(f"congestion: {worst} on the most loaded link, {answer.congestion.average:.6g} on average")
    if answer.exact_alltoall_congestion is not None:
        exact = answer.exact_alltoall_congestion
        say.line(f"exact congestion of an alltoall on this torus, ideally spread: {exact:.6g}")
    if (bound := answer.beta_factor) is not None and answer.traffic.name in _EQUATION_2:
        say.line(
            f"point to point: α + β·S ≤ T(S){_EQUATION_2[answer.traffic.name]} α + β·S·{bound.high:.6g}, when "
            f"every node sends {bound.streams} streams (after Hoefler et al. 2010, equation 2)"
        )
    rate, fraction = answer.bandwidth_per_node.bandwidth_B_per_s, answer.bandwidth_per_node.fraction_of_a_link
    all_take = format_time(answer.time_s or 0.0)
    also = "" if rate is None else f" = {format_rate(rate)}; all messages take {all_take} or more"
    say.line(f"bandwidth per node at most {fraction:.4g} of one of its links{also}")
    say.rows(
        "",
        answer.most_loaded,
        [
            Column("most loaded link", "link"),
            Column("messages", "messages", "{:.6g}".format),
            Column("congestion", "congestion", "{:.6g}".format),
        ],
    )
    if (share := answer.effective_bisection) is not None:
        within = "" if share.low is None else f" (95 % {share.low:.3g} to {share.high:.3g})"
        drawn = counted(SAMPLES, "bisection")
        say.line(f"effective bisection bandwidth, {share.ways}: {share.fraction:.4g} of full{within}, of {drawn}")
    if (spread := answer.samples) is not None:
        for over, what in (
            (spread.worst, "congestion"),
            (spread.fraction_of_a_link, "bandwidth per node, of a link,"),
        ):
            say.line(
                f"{what} of {counted(spread.count, 'sample')}: {over.least:.4g} to {over.largest:.4g}, "
                f"median {over.median:.4g}, mean {over.mean:.4g}"
            )
