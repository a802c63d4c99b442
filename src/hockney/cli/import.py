# ruff: noqa: N999 - the file bears the verb's name
"""`hockney import`: results of other benchmarks and tidy tables into a campaign folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.errors import RequestError
from hockney.registry import unit_files
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.importers import _collect
    from hockney.importers.base import Given
    from hockney.records.record import LOCALITIES


@verb(
    "import",
    examples="""
hockney import osu_latency.txt osu_bw.txt -o c --system mycluster --mpi "Open MPI 5.0.5"
hockney import results/ -o c --json
hockney import pingpong.out -o c --format imb --nodes 2 --ppn 1
hockney import osu_bcast.txt -o c --ranks 64 --ppn 32 --mapping core --algorithm tuned:binomial
hockney import table.csv.gz -o c && hockney fit c -o machine.json
""",
)
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", help="Results of OSU, IMB, PICO, nccl-tests; tidy tables; or folders with them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="CAMPAIGN", help="Folder to make; never overwritten.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"{', '.join(unit_files('hockney.importers'))}; default: what a file looks like.",
        ),
    ] = None,
    system: Annotated[str, typer.Option(metavar="NAME", help="The machine, where the text does not say.")] = "",
    mpi: Annotated[str, typer.Option(metavar="TEXT", help="The library and its version.")] = "",
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of the job.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="Ranks per node.")] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Ranks, where the text does not say.")] = None,
    mapping: Annotated[str, typer.Option(help="How ranks were mapped: core, socket, node, …")] = "",
    algorithm: Annotated[
        str, typer.Option(help="Of the collectives, where one was forced and the text does not say which.")
    ] = "",
    variant: Annotated[
        str, typer.Option(help="Name of the configuration; default: from the folders of the files.")
    ] = "",
    locality: Annotated[
        str | None, typer.Option(help="Of the two ranks: core, cache, numa, package, node or network.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Read results of OSU, IMB, PICO and nccl-tests and tidy tables into a campaign.

    Folders are walked. What is no benchmark result is named and skipped; if nothing could be read, nothing
    is written.
    """
    place = next((name for name in LOCALITIES if name == locality), None)
    if locality is not None and place is None:
        raise RequestError(f"unknown locality {locality!r}", f"known: {', '.join(LOCALITIES)}")
    given = Given(system, mpi, nodes, ppn, ranks, mapping, algorithm, variant, place)
    collection = _collect.collect(files, given, format_name)
    _collect.write(collection, output, given)
    summary = _collect.summary(collection, output)
    if json:
        say.json(summary)
        return
    for file in summary["files"]:
        for warning in file["warnings"]:
            say.warn(warning)
    for skipped in summary["skipped"]:
        say.note(f"skipped: {skipped['file']}: {skipped['reason']}")
    counts = f"{summary['records']} records from {len(summary['files'])} files, {len(summary['skipped'])} skipped"
    say.line(f"{output}: {counts}")
    say.line(f"next: hockney fit {output} -o machine.json")
