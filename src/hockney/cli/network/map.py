"""`hockney network map`: placements of a program's ranks on a topology, compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli.network import Allocation, Routed, allocated, message_size, network
from hockney.fields import Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted

with later():
    from hockney.network.topologies.torus import extents
    from hockney.network.traffic.base import Allocated, Links
    from hockney.network.traffic.mapping import MapComparison, check_ranks, compare, read_map
    from hockney.network.traffic.patterns.base import Volumes, parse_pattern
    from hockney.network.traffic.placements import Situation


class MapOptions(BaseModel):
    """The messages of a program's ranks, and the placements of the ranks that are compared."""

    empty_means_default: ClassVar[bool] = True

    pattern: Annotated[
        str, Option("jacobi:AxBxC, ring:P, alltoall:P, matrix:FILE, or collective:NAME:A:P by algorithm A.")
    ]
    ppn: Annotated[int, Option(), Field(ge=1)] = 1
    size_B: Annotated[
        int | None,
        Option("Or of a face. [default: count them]", flags=("--bytes",), read=message_size),
    ] = None
    cells: Annotated[
        tuple[int, ...] | None,
        Option(
            "With jacobi: such as 64x64x64, of 8 B each.",
            flags=("--subdomain",),
            read=lambda text: extents(text, "cells"),
        ),
    ] = None
    periodic: Annotated[bool, Option("jacobi: the boundaries are joined.")] = False
    map_file: Annotated[Path | None, Option("A map of your own to compare: lines `rank node`.")] = None
    samples: Annotated[int, Option("Maps, of which the median is shown."), Field(ge=1, le=1000)] = 9
    seed: Annotated[int, Option("Maps, and the order of swaps."), Field(ge=0)] = 0


@verb(
    "map",
    examples="hockney network map --pattern jacobi:8x8x4 --topology torus:8x8x4 --json\n"
    "hockney network map --pattern jacobi:16x16x8 --subdomain 64x64x64 --topology torus:8x8x4 --ppn 8\n"
    "hockney network map --pattern collective:allgather:ring:64 --bytes 64KiB --topology hypercube:6\n"
    "hockney network map --pattern ring:16 --topology torus:4x4 --map-file mine.txt",
    of=network,
)
def map_(routed: Routed, options: MapOptions, allocation: Allocation, json: JsonOption = False) -> None:
    """Hop-bytes and the most loaded link of several placements of a pattern, and which is best.

    Placements are sorted by their most loaded link, then by hop-bytes. What stays within a node crosses no link.
    The factors compare loads, not times: a program also computes, and messages also have latencies.
    """
    pattern = parse_pattern(options.pattern, Volumes(options.size_B, options.cells, options.periodic))
    graph = routed.graph
    among = Allocated(Links.of(graph), allocated(graph, allocation))
    situation = Situation(pattern, among, options.ppn, routed.routing_on(graph), options.seed)
    check_ranks(situation)
    own = {str(options.map_file): read_map(options.map_file, situation)} if options.map_file else {}
    with say.progress(quiet=json) as progress:
        comparison = compare(situation, samples=options.samples, own=own, progress=progress)
    if json:
        say.json(comparison.as_data())
        return
    _show(comparison)


def _show(comparison: MapComparison) -> None:
    data = comparison.as_data()
    say.line(
        f"{data['pattern']} on {data['topology']}: {counted(data['ranks'], 'rank')}, "
        f"{counted(data['nodes'], 'node')}, "
        f"routing {data['routing'].replace('_', '-')}; sizes in {data['unit']}"
    )
    table = Table("placement", "most loaded", "link", "hop-bytes", "average hops", "most hops", box=None)
    for row in data["placements"]:
        most = row["most_loaded_link"]
        table.add_row(
            row["placement"],
            f"{most['congestion']:.6g}" if most else "0",
            most["link"] if most else "",
            f"{row['hop_bytes']:.6g}",
            f"{row['average_hops']:.4g}",
            str(row["most_hops"]),
        )
    say.table(table)
    for name, reason in data["not_applicable"].items():
        say.line(f"{name}: {reason}")
    say.line(_verdict(comparison))


def _verdict(comparison: MapComparison) -> str:
    best, default = comparison.best.name, comparison.default.name
    worst, crossed = comparison.factor("worst"), comparison.factor("hop_bytes")
    if best == default:
        return f"{best}, the default, is best: nothing needs to be changed"
    if worst is None or crossed is None:
        return f"{best} is best: it needs no link, and {default}, the default, does"
    return (
        f"{best} is best: {default}, the default, has {worst:.3g} times its load on the most loaded "
        f"link and {crossed:.3g} times its hop-bytes"
    )
