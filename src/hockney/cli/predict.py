"""`hockney predict`: the time of a message, a collective or an application that was not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.errors import RequestError

MACHINE = Path("machine.json")
"""The file that is read where none is named."""


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
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --grid 24x1x1 --model document-000 --json
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --ranks 48 --grid all --model document-001
""",  # noqa: E501 - an example is one line of a shell
)
def predict(
    operation: Annotated[
        str,
        typer.Argument(
            help="pingpong, pingping, bandwidth, bidirectional, a collective such as bcast, or jacobi."
        ),
    ],
    sizes: Annotated[
        list[str] | None,
        typer.Option("--bytes", help="Size, such as 64KiB; repeat for several. [default of collectives: 1KiB]"),
    ] = None,
    machine: Annotated[Path, typer.Option(help="Machine file.")] = MACHINE,
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
    model: Annotated[
        str | None,
        typer.Option(
            help="Model to predict with. Messages: piecewise unless said otherwise. Jacobi: such as document-000."
        ),
    ] = None,
    ranks: Annotated[int | None, typer.Option(help="Collectives, Jacobi: how many ranks.")] = None,
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
    serial_time: Annotated[str, typer.Option(help="Jacobi: what one rank takes for its subdomain alone.")] = "",
    latency: Annotated[str, typer.Option(help="Jacobi: of a message, such as 0.98us.")] = "",
    bandwidth: Annotated[str, typer.Option(help="Jacobi: of messages, such as 12185MB/s.")] = "",
    subdomain: Annotated[int | None, typer.Option(help="Jacobi: cells along each side of a rank's cube.")] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            help="Jacobi: processes along x, y and z, such as 4x3x2; repeat for several; `all` with --ranks."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict the time of one message, of a collective by every algorithm, or of an application on process grids.

    A message: with its 95 % interval, the formula used and the bandwidth.

    A collective: each algorithm is simulated with the machine's point-to-point costs (or those of a description
    of the system, as a rough bound), or, with --table, calibrated on measured collectives, with intervals. Where
    ranks are symmetric one stands for all (`by_class`); where each further rank adds the same round, the line is
    used (`closed_form`). The best algorithm is named with its margin, or that it cannot be told apart.

    Jacobi: lattice updates per second under weak scaling, grids ranked by predicted time, and the ranks from
    which communication matters. It needs `--serial-time`, `--latency`, `--bandwidth`, `--subdomain`, `--grid` and
    `--model`.
    """
    from hockney.campaign.keys import COLLECTIVES

    kind = "jacobi" if operation == "jacobi" else "collective" if operation in COLLECTIVES else "message"
    # Each option with the kinds of operation that it means something for.
    meant: dict[str, tuple[object, tuple[str, ...]]] = {
        "--bytes": (sizes, ("message", "collective")),
        "--locality": (locality, ("message",)),
        "--variant": (variant, ("message",)),
        "--cache": (cache, ("message",)),
        "--where": (where, ("message",)),
        "--machine": (None if machine == MACHINE else machine, ("message", "collective")),
        "--model": (model, ("message", "jacobi")),
        "--ranks": (ranks, ("collective", "jacobi")),
        "--algorithm": (None if algorithm == "all" else algorithm, ("collective",)),
        "--root": (root or None, ("collective",)),
        "--segment": (None if segment == "none" else segment, ("collective",)),
        "--system": (system, ("collective",)),
        "--mapping": (mapping, ("collective",)),
        "--nodes": (nodes, ("collective",)),
        "--ppn": (ppn, ("collective",)),
        "--table": (table, ("collective",)),
        "--statistic": (statistic, ("collective",)),
        "--serial-time": (serial_time, ("jacobi",)),
        "--latency": (latency, ("jacobi",)),
        "--bandwidth": (bandwidth, ("jacobi",)),
        "--subdomain": (subdomain, ("jacobi",)),
        "--grid": (grid, ("jacobi",)),
    }
    for name, (value, kinds) in meant.items():
        if value not in (None, "", []) and kind not in kinds:
            raise RequestError(f"{name} means nothing for {operation}", "leave it out")
    if kind == "jacobi":
        from hockney.cli._jacobi import Request as JacobiRequest
        from hockney.cli._jacobi import predict_jacobi

        predict_jacobi(
            JacobiRequest(model, serial_time, latency, bandwidth, subdomain, grid or [], ranks), as_json=as_json
        )
        return
    if statistic and table is None:
        raise RequestError("--statistic needs --table", "leave it out, or give a table")
    if kind == "collective":
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
    named = model or "piecewise"
    predictions = [predict_message(entry, length, named) for length in lengths]
    if as_json:
        emit_json({"machine": str(machine), **as_data(entry, named, predictions)})
        return
    out.print(
        as_text(f"{title(entry, whole.point_to_point)} — {named}", entry, predictions),
        markup=False,
        soft_wrap=True,
    )
