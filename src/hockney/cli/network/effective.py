"""`hockney network effective-bisection`: the bandwidth of the bisection against nodes, computed and measured."""

from __future__ import annotations

from hockney import api
from hockney.cli.network import network
from hockney.options.network import SAMPLES, EffectiveOptions, Routed
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted


@verb(
    "effective-bisection",
    examples="hockney network effective-bisection --topology torus:4x4x4 --figure ebb.svg\n"
    "hockney network effective-bisection --topology fat-tree:nodes=64,leaf-ports=8:8,spines=8,spine-ports=8 "
    "--routing d-mod-k --nodes 8,16,32,64 --machine merged.json --json",
    of=network,
)
def effective_bisection(on: Routed, options: EffectiveOptions, json: JsonOption = False) -> None:
    """Effective bisection bandwidth against the number of nodes, one way, with the bounds of the topology.

    One way: half of the nodes sends to the other half, in what is computed and in what was measured.
    Computed: the mean over the pairs of random bisections, of which each gets what its most loaded link leaves.
    Measured: the effect `congestion` of a machine file, one point for each number of ranks of its campaigns.
    """
    with say.progress(quiet=json) as progress:
        answer = api.network_effective(on, options, progress)
    if json:
        say.json(answer)
        return
    say.line(f"effective bisection bandwidth of {answer.title}, one way, as a share of full bisection")
    computed = {share.nodes: share for share in answer.computed}
    measured = {share.ranks: share for share in answer.measured}
    say.rows(
        "",
        [(count, computed.get(count), measured.get(count)) for count in sorted({*computed, *measured})],
        [
            Column("nodes", lambda row: row[0]),
            Column("mean over pairs", lambda row: row[1] and row[1].fraction, "{:.3f}".format),
            Column("95 % interval", lambda row: row[1] and _interval(row[1].low, row[1].high)),
            Column("least bisection", lambda row: row[1] and row[1].bisection_share, "{:.3f}".format),
            Column(
                "worst permutation, all send",
                lambda row: row[1] and row[1].worst_permutation_share,
                "{:.3f}".format,
            ),
            Column("measured", lambda row: row[2] and _measured(row[2].fraction, row[2].low, row[2].high)),
        ],
    )
    for finding in answer.findings():
        say.line(finding)
    say.line(f"means over the pairs of {counted(SAMPLES, 'random bisection')} of each number of nodes")
    if options.figure is not None:
        say.line(f"wrote {options.figure}")


def _interval(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _measured(fraction: float, low: float | None, high: float | None) -> str:
    interval = _interval(low, high)
    return f"{fraction:.3f} ({interval})" if interval else f"{fraction:.3f}"
