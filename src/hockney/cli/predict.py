"""`hockney predict`: the time of a message or a collective that was not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.errors import RequestError


@verb(
    "predict",
    examples="""
hockney predict pingpong --bytes 64KiB
hockney predict pingpong --bytes 8 --bytes 1MiB --locality package
hockney predict bandwidth --bytes 4MiB --machine machine.json --variant tcp --json
hockney predict pingpong --bytes 64KiB --where mapping=core --where mpi='Open MPI 5.0'
hockney predict allreduce --ranks 1048576 --algorithm all
hockney predict bcast --ranks 128 --bytes 8 --bytes 1MiB --system orfeo-epyc --mapping core
hockney predict bcast --ranks 200 --bytes 64KiB --table table.csv.gz --system orfeo-epyc --mapping core
""",
)
def predict(
    operation: Annotated[
        str, typer.Argument(help="pingpong, pingping, bandwidth, bidirectional, or a collective such as bcast.")
    ],
    sizes: Annotated[
        list[str] | None,
        typer.Option("--bytes", help="Size, such as 64KiB; repeat for several. [default of collectives: 1KiB]"),
    ] = None,
    machine: Annotated[Path, typer.Option(help="Machine file.")] = Path("machine.json"),
    locality: Annotated[
        str | None,
        typer.Option(help="core, cache, numa, package, node or network. [default: the nearest measured]"),
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Variant that was measured.")] = None,
    cache: Annotated[str | None, typer.Option(help="warm or off. [default: warm where measured]")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="NAME=WORD, where a file holds more: mapping, mpi, system, source, window, pairs."),
    ] = None,
    model: Annotated[str, typer.Option(help="Model to predict with.")] = "piecewise",
    ranks: Annotated[int | None, typer.Option(help="Collectives: how many ranks.")] = None,
    algorithm: Annotated[
        str, typer.Option(help="Collectives: names with commas, `all`, or `best` for the fastest alone.")
    ] = "all",
    system: Annotated[
        str, typer.Option(help="Collectives: description of the system, a known name or a JSON file.")
    ] = "",
    mapping: Annotated[str, typer.Option(help="Collectives: where the system's mapping puts ranks.")] = "",
    nodes: Annotated[int | None, typer.Option(help="Collectives: nodes that are used.")] = None,
    ppn: Annotated[int | None, typer.Option(help="Collectives: the most ranks on a node.")] = None,
    root: Annotated[int, typer.Option(help="Collectives: the root.")] = 0,
    segment: Annotated[str, typer.Option(help="Collectives: segment size; `none`.")] = "none",
    table: Annotated[
        Path | None,
        typer.Option(help="Collectives: calibrate on the collectives of this tidy table or campaign folder."),
    ] = None,
    statistic: Annotated[str, typer.Option(help="Collectives: which time of the table is predicted.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Predict the time of one message or of a collective by every algorithm.

    A message: with its 95 % interval, the formula used and the bandwidth.

    A collective: each algorithm is simulated with the machine's point-to-point costs (or those of a description
    of the system, as a rough bound), or, with --table, calibrated on measured collectives, with intervals. Where
    ranks are symmetric one stands for all (`by_class`); where each further rank adds the same round, the line is
    used (`closed_form`). The best algorithm is named with its margin, or that it cannot be told apart.
    """
    from hockney.campaign.keys import COLLECTIVES

    of_collectives = {
        "--ranks": ranks,
        "--system": system,
        "--mapping": mapping,
        "--nodes": nodes,
        "--ppn": ppn,
        "--table": table,
        "--statistic": statistic,
    }
    of_messages = {"--locality": locality, "--variant": variant, "--cache": cache, "--where": where}
    strange = of_messages if operation in COLLECTIVES else of_collectives
    if given := [name for name, value in strange.items() if value not in (None, "", [])]:
        raise RequestError(f"{given[0]} means nothing for {operation}", "leave it out")
    if statistic and table is None:
        raise RequestError("--statistic needs --table", "leave it out, or give a table")
    if operation in COLLECTIVES:
        from hockney.cli._collective import Request, predict_collective

        request = Request(
            operation,
            sizes or [],
            ranks,
            algorithm,
            mapping,
            nodes,
            ppn,
            root,
            segment,
            system,
            machine,
            table,
            statistic,
        )
        predict_collective(request, as_json=as_json)
        return
    if not sizes:
        raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
    from hockney.machine.file import load
    from hockney.machine.select import one, parse_where, title
    from hockney.predict.message import predict_message
    from hockney.predict.text import as_data, as_text
    from hockney.units import parse_bytes

    lengths = [parse_bytes(size) for size in sizes]
    asked = {"operation": operation, "locality": locality, "variant": variant, "cache": cache}
    whole = load(machine)
    entry = one(whole, asked | parse_where(where or []))
    predictions = [predict_message(entry, length, model) for length in lengths]
    if as_json:
        emit_json({"machine": str(machine), **as_data(entry, model, predictions)})
        return
    out.print(
        as_text(f"{title(entry, whole.point_to_point)} — {model}", entry, predictions),
        markup=False,
        soft_wrap=True,
    )
