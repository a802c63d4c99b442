"""`hockney network map`: a map of a program's ranks onto a topology, beside the default and its bound."""

from __future__ import annotations

from hockney import api
from hockney.cli.network import network
from hockney.options.network import MapOptions, NodeChoice, Routed
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted


@verb(
    "map",
    examples="hockney network map --pattern jacobi:8x8x4 --topology torus:8x8x4 --json\n"
    "hockney network map --pattern jacobi:16x16x8 --subdomain 64x64x64 --topology torus:8x8x4 --ppn 8\n"
    "hockney network map --pattern collective:allgather:ring:64 --bytes 64KiB --topology hypercube:6\n"
    "hockney network map --pattern ring:16 --topology torus:4x4 --mapping mine.txt",
    of=network,
)
def map_(routed: Routed, options: MapOptions, nodes: NodeChoice, json: JsonOption = False) -> None:
    """Hop-bytes and the most loaded link of maps of a pattern, beside what no map can be below.

    The maps: ranks in order (linear), dealt out in turn (cyclic, with --ppn), and your own. What stays within a
    node crosses no link. The factors compare loads, not times: a program also computes, and messages also have
    latencies.
    """
    with say.status("routing …"):
        answer = api.network_map(routed, options, nodes)
    if json:
        say.json(answer)
        return
    say.line(
        f"{answer.pattern} on {answer.topology}: {counted(answer.ranks, 'rank')}, "
        f"{counted(answer.nodes, 'node')}, "
        f"routing {answer.routing.replace('_', '-')}; sizes in {answer.unit}"
    )
    say.rows(
        "",
        answer.placements,
        [
            Column("placement", "placement"),
            Column("most loaded", "worst", "{:.6g}".format),
            Column("link", lambda row: row.most_loaded_link.link if row.most_loaded_link else ""),
            Column("hop-bytes", "hop_bytes", "{:.6g}".format),
            Column("average hops", "average_hops", "{:.4g}".format),
            Column("most hops", "most_hops"),
        ],
    )
    bound, best = answer.bound, answer.best
    say.line(
        f"no map has fewer than {bound.hop_bytes:.6g} hop-bytes, "
        f"or less than {bound.most_loaded_link:.6g} on its most loaded link"
    )
    if best.placement == best.default:
        if len(answer.placements) > 1:
            say.line(f"{best.placement}, the default, is the best of these")
    elif best.factor_of_most_loaded_link is None or best.factor_of_hop_bytes is None:
        say.line(f"{best.placement} is best: it needs no link, and {best.default}, the default, does")
    else:
        say.line(
            f"{best.placement} is best: {best.default}, the default, has "
            f"{best.factor_of_most_loaded_link:.3g} times its load on the most loaded link "
            f"and {best.factor_of_hop_bytes:.3g} times its hop-bytes"
        )
