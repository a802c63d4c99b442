"""`hockney predict`: the time of a message that was not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb


@verb(
    "predict",
    examples="""
hockney predict pingpong --bytes 64KiB
hockney predict pingpong --bytes 8 --bytes 1MiB --locality package
hockney predict bandwidth --bytes 4MiB --machine machine.json --variant tcp --json
hockney predict pingpong --bytes 64KiB --where mapping=core --where mpi='Open MPI 5.0'
""",
)
def predict(
    operation: Annotated[str, typer.Argument(help="pingpong, pingping, bandwidth or bidirectional.")],
    sizes: Annotated[list[str], typer.Option("--bytes", help="Message size, such as 64KiB; repeat for several.")],
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
    as_json: JsonOption = False,
) -> None:
    """Predict the time of one message, with its 95 % interval, the formula used and the bandwidth."""
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
