"""`hockney predict` of one message: a verb for each operation between two ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli.predict import MACHINE, MachineFile, Sizes, predict
from hockney.errors import RequestError
from hockney.records.keys import POINT_TO_POINT


def _enter(operation: str) -> Callable[..., None]:
    @verb(
        operation,
        examples=f"""
hockney predict {operation} --bytes 64KiB
hockney predict {operation} --bytes 8 --bytes 1MiB --locality package
hockney predict {operation} --bytes 4MiB --machine machine.json --variant tcp --json
hockney predict {operation} --bytes 64KiB --where mapping=core --where mpi='Open MPI 5.0'
""",
        of=predict,
    )
    def command(
        sizes: Sizes = None,
        machine: MachineFile = MACHINE,
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
        """The time of one message, with its 95 % interval, the formula used and the bandwidth."""
        if not sizes:
            raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
        from hockney.machine.file import load
        from hockney.machine.select import one, parse_where, title
        from hockney.predict.message import predict_message
        from hockney.report.views.prediction import as_data, as_text
        from hockney.units import parse_bytes

        lengths = [parse_bytes(size) for size in sizes]
        asked = {"operation": operation, "locality": locality, "variant": variant, "cache": cache}
        whole = load(machine)
        entry = one(whole, asked | parse_where(where or []))
        predictions = [predict_message(entry, length, model) for length in lengths]
        if as_json:
            emit_json({"machine": str(machine), **as_data(entry, model, predictions)})
            return
        heading = f"{title(entry, whole.point_to_point)} — {model}"
        out.print(as_text(heading, entry, predictions), markup=False, soft_wrap=True)

    return command


for _operation in POINT_TO_POINT:
    _enter(_operation)
