"""`hockney network map`: placements of a program's ranks on a topology, compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hockney.cli.network import Allocation, allocated, counted, network
from hockney.cli.network.traffic import RoutingOption, TopologyOption
from hockney.errors import RequestError
from hockney.options import named
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import parse_bytes

with later():
    from hockney.network.topologies.base import parse_spec
    from hockney.network.topologies.torus import extents
    from hockney.network.traffic.base import Allocated, Links, check_bytes
    from hockney.network.traffic.mapping import MapComparison, check_ranks, compare, read_map
    from hockney.network.traffic.patterns.base import Volumes, parse_pattern
    from hockney.network.traffic.placements import Situation
    from hockney.network.traffic.study import default_routing


@verb(
    "map",
    examples="hockney network map --pattern jacobi:8x8x4 --topology torus:8x8x4 --json\n"
    "hockney network map --pattern jacobi:16x16x8 --cells 64x64x64 --topology torus:8x8x4 --ppn 8\n"
    "hockney network map --pattern collective:allgather:ring:64 --bytes 64KiB --topology hypercube:6\n"
    "hockney network map --pattern ring:16 --topology torus:4x4 --map-file mine.txt",
    of=network,
)
def map_(
    pattern: Annotated[
        str,
        typer.Option(help="jacobi:AxBxC, ring:P, alltoall:P, matrix:FILE or collective:NAME:ALGORITHM:P."),
    ],
    topology: TopologyOption,
    ppn: Annotated[int, typer.Option(min=1, help="Ranks on each node.")] = 1,
    size: Annotated[
        str,
        typer.Option("--bytes", help="Size of one message or face. [default: count them]", show_default=False),
    ] = "",
    cells: Annotated[str, typer.Option(help="jacobi: cells of one rank, 64x64x64, of 8 B each.")] = "",
    periodic: Annotated[bool, typer.Option(help="jacobi: the boundaries are joined.")] = False,
    routing: RoutingOption = "",
    map_file: Annotated[
        Path | None, typer.Option(help="A map of your own to compare: lines `rank node`.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, max=1000, help="Random maps, of which the median is shown.")] = 9,
    seed: Annotated[int, typer.Option(min=0, help="Of random maps and of the order of swaps.")] = 0,
    *,
    allocation: Allocation,
    json: JsonOption = False,
) -> None:
    """Hop-bytes and the most loaded link of several placements of a pattern, and which is best.

    Sorted by the most loaded link, then by hop-bytes. What stays within a node crosses no link. The factors are
    of load, not of time: a program also computes, and messages also have latencies.
    """
    size_B = parse_bytes(size) if size else None
    if size_B == 0:
        raise RequestError("messages of 0 B load no link", "for example --bytes 64KiB")
    check_bytes(size_B or 0, f"--bytes {size}")
    with named("--cells"):
        box = extents(cells, "cells") if cells else None
    made = parse_pattern(pattern, Volumes(size_B, box, periodic))
    of = parse_spec(topology)
    nodes = allocated(of, allocation)
    way = routing.replace("-", "_") or default_routing(of)
    situation = Situation(made, Allocated(Links.of(of), nodes), ppn, way, seed)
    check_ranks(situation)
    own = {str(map_file): read_map(map_file, situation)} if map_file else {}
    with say.progress(quiet=json) as progress:
        found = compare(situation, samples=samples, own=own, progress=progress)
    if json:
        say.json(found.as_data())
        return
    _show(found)


def _show(found: MapComparison) -> None:
    told = found.as_data()
    say.line(
        f"{told['pattern']} on {told['topology']}: {counted(told['ranks'], 'rank')}, "
        f"{counted(told['nodes'], 'node')}, "
        f"routing {told['routing'].replace('_', '-')}; sizes in {told['unit']}"
    )
    table = Table("placement", "most loaded", "link", "hop-bytes", "average hops", "most hops", box=None)
    for one in told["placements"]:
        most = one["most_loaded_link"]
        table.add_row(
            one["placement"],
            f"{most['congestion']:.6g}" if most else "0",
            most["link"] if most else "",
            f"{one['hop_bytes']:.6g}",
            f"{one['average_hops']:.4g}",
            str(one["most_hops"]),
        )
    say.table(table)
    for name, reason in told["not_applicable"].items():
        say.line(f"{name}: {reason}")
    say.line(_verdict(found))


def _verdict(found: MapComparison) -> str:
    best, worst, crossed = found.best.name, found.factor("worst"), found.factor("hop_bytes")
    if best == found.default.name:
        return f"{best}, the default, is best: nothing needs to be changed"
    if worst is None or crossed is None:
        return f"{best} is best: it needs no link, and {found.default.name}, the default, does"
    return (
        f"{best} is best: {found.default.name}, the default, has {worst:.3g} times its load on the most loaded "
        f"link and {crossed:.3g} times its hop-bytes"
    )
