"""`hockney predict sum3d`: what scattering, adding and gathering matrices takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.cli.predict import MACHINE, MachineFile, predict
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.apps.sum3d.model import Prediction

Locality = Annotated[
    str, typer.Option(help="Of rank 0 and the others: core, cache … network. [default: the farthest measured]")
]
CacheOf = Annotated[
    str,
    typer.Option(
        "--cache",
        help="warm or off: messages that were measured so. [default: off where the matrices exceed the caches]",
    ),
]
WriteAllocate = Annotated[
    bool, typer.Option("--write-allocate", help="The cache reads what is written: 32 B for each sum, not 24 B.")
]
Algorithm = Annotated[str, typer.Option(help="Of scatter and gather: linear or binomial.")]


@verb(
    "sum3d",
    examples="""
hockney predict sum3d 2400 100 100 --ranks 24 --memory-bandwidth 10GB/s --locality cache
hockney predict sum3d 800 300 100 --ranks 24 --grid 6x4x1 --split blocks --memory-bandwidth 10GB/s --json
""",
    of=predict,
)
def sum3d(
    nx: Annotated[int, typer.Argument(help="Elements along x.")],
    ny: Annotated[int, typer.Argument(help="Along y.")],
    nz: Annotated[int, typer.Argument(help="Along z.")],
    ranks: Annotated[int | None, typer.Option(help="How many ranks. [default: those of --grid]")] = None,
    grid: Annotated[str, typer.Option(help="Processes along x, y and z, such as 6x4x1.")] = "",
    split: Annotated[str, typer.Option(help="balanced, cartesian or blocks.")] = "balanced",
    machine: MachineFile = MACHINE,
    memory_bandwidth: Annotated[
        str, typer.Option(help="Of a rank while all compute, such as 10GB/s: `hockney run sum3d` measures it.")
    ] = "",
    sum_bandwidth: Annotated[
        str,
        typer.Option(help="Of the sum, where other ranks' caches hold what it writes. [default: the memory's]"),
    ] = "",
    locality: Locality = "",
    cache: CacheOf = "",
    network_latency: NetworkLatency = "",
    network_bandwidth: NetworkBandwidth = "",
    write_allocate: WriteAllocate = False,
    algorithm: Algorithm = "linear",
    as_json: JsonOption = False,
) -> None:
    """Time of one cycle of `hockney run sum3d`, by part: two scatters, the sum, the gather, and packing."""
    from hockney.apps.stencil.grids import parse_grid
    from hockney.apps.stencil.loads import Size, as_lines, check_ranks, loads, usual_grid
    from hockney.apps.sum3d.model import costs_of, predict_sum3d
    from hockney.machine.file import load
    from hockney.units import parse_rate

    if not memory_bandwidth:
        raise RequestError(
            "sum3d needs --memory-bandwidth", "for example 10GB/s; `hockney run sum3d` measures it in each run"
        )
    size = Size(nx, ny, nz)
    if ranks is None and not grid:
        raise RequestError("sum3d needs --ranks or --grid", "for example --ranks 24")
    made = parse_grid(grid) if grid else usual_grid(size, ranks or 1, split)
    check_ranks(made, made.ranks if ranks is None else ranks)
    of_ranks = loads(size, made, split)
    bandwidth_B_per_s = parse_rate(memory_bandwidth)
    network = network_figures(network_latency, network_bandwidth)
    if network.are_given and locality not in ("", "network"):
        raise RequestError(
            f"--locality {locality} says that no message goes between nodes",
            "leave out --network-latency and --network-bandwidth",
        )
    summing_B_per_s = parse_rate(sum_bandwidth) if sum_bandwidth else bandwidth_B_per_s
    predicted = predict_sum3d(
        size,
        made,
        split,
        costs_of(load(machine), str(machine), size, locality, cache, network),
        bandwidth_B_per_s,
        sum_bandwidth_B_per_s=summing_B_per_s,
        write_allocate=write_allocate,
        algorithm=algorithm,
    )
    if as_json:
        emit_json(
            {
                "operation": "sum3d",
                "size": list(size),
                "ranks": made.ranks,
                "grid": str(made),
                "split": split,
                "machine": str(machine),
                "memory_bandwidth_B_per_s": bandwidth_B_per_s,
                "sum_bandwidth_B_per_s": summing_B_per_s,
                "time_s": predicted.time_s,
                **vars(predicted),
                "shares": shares(predicted),
                "elements": of_ranks,
            }
        )
        return
    title = f"{size} on {made.ranks} ranks, grid {made}, {split} — {predicted.algorithm}, {predicted.origin}"
    out.print(title, markup=False, soft_wrap=True)
    for line in as_lines(of_ranks):
        out.print(line, markup=False, soft_wrap=True)
    _show(predicted)
    for warning in predicted.warnings:
        err.print(f"[yellow]warning:[/yellow] {warning}", soft_wrap=True)


def shares(predicted: Prediction) -> dict[str, float]:
    """Of the time, by part."""
    from hockney.apps.sum3d.model import PARTS

    return {name.removesuffix("_s"): getattr(predicted, name) / predicted.time_s for name in PARTS}


def _show(predicted: Prediction) -> None:
    from rich.table import Table

    from hockney.units import format_time

    shown = Table(box=None)
    for heading in ("part", "time", "share"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for name, share in shares(predicted).items():
        shown.add_row(name, format_time(getattr(predicted, f"{name}_s")), f"{share:.1%}")
    shown.add_row("all", format_time(predicted.time_s), "")
    out.print(shown)
