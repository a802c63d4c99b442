"""`hockney predict sum3d`: what scattering, adding and gathering matrices takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.apps.stencil.loads import SPLITS
from hockney.apps.sum3d.options import Size, Sum3dCosts, refuse_beside_table
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.options import MachineFile, NetworkOptions
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_time, parse_rate, parse_time
from hockney.words import listed

with later():
    from hockney.apps.stencil.loads import as_lines, check_ranks, loads, usual_grid
    from hockney.apps.sum3d.collectives import MeasuredCollectives
    from hockney.apps.sum3d.model import PARTS, Sum3dPrediction, costs_of, predict_sum3d, usual_cache
    from hockney.predict.network_figures import figures_of, machine_of


class Sum3dCase(Size, MachineFile):
    """What is summed on which ranks, and how fast their memory is."""

    ranks: Annotated[int | None, Option("[default: those of --grid]")] = None
    grid: Annotated[Grid | None, Option(read=parse_grid)] = None
    split: Annotated[str, Option(f"{listed(SPLITS)}.")] = "balanced"
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Of a rank while all compute: `hockney run sum3d` measures it.",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None
    sum_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Memory bandwidth of the sum, where other ranks' caches hold what it writes. [default: the memory's]",
            flags=("--sum-bandwidth",),
            read=parse_rate,
        ),
    ] = None
    table: Annotated[
        Path | None,
        Option("Scatter and gather on as many ranks, in place of simulated ones."),
    ] = None
    element_time_s: Annotated[
        float,
        Option(
            "Where each cycle makes its elements: the time of one, such as 8ns; `hockney run sum3d` says it. "
            "[default: made before]",
            flags=("--element-time",),
            read=parse_time,
        ),
    ] = 0.0


@verb(
    "sum3d",
    examples="""
hockney predict sum3d 2400 100 100 --ranks 24 --memory-bandwidth 10GB/s --locality cache
hockney predict sum3d 800 300 100 --ranks 24 --grid 6x4x1 --split blocks --memory-bandwidth 10GB/s --json
""",
    of=predict,
)
def sum3d(case: Sum3dCase, costs: Sum3dCosts, between: NetworkOptions, as_json: JsonOption = False) -> None:
    """Time of one cycle of `hockney run sum3d`, by part: two scatters, the sum, the gather, and packing."""
    answer = predicted_sum3d(case, costs, between)
    predicted = answer.prediction
    if as_json:
        say.json(
            {
                **sum3d_row(case, answer),
                "size": list(case.size),
                "machine": str(case.machine),
                "warnings": predicted.warnings,
                "shares": shares(predicted),
                "elements": answer.elements,
            }
        )
        return
    how = f"{case.split} — {predicted.algorithm}, {predicted.origin}"
    say.line(f"{case.size} on {counted(answer.grid.ranks, 'rank')}, grid {answer.grid}, {how}")
    for line in as_lines(answer.elements):
        say.line(line)
    _show(predicted)
    for warning in predicted.warnings:
        say.warn(warning)


@dataclass(frozen=True)
class Sum3dAnswer:
    """A cycle on a grid; `elements` of each rank. Memory bandwidths of a rank, in B/s."""

    prediction: Sum3dPrediction
    grid: Grid
    elements: list[int]
    memory_bandwidth_B_per_s: float
    sum_bandwidth_B_per_s: float


def predicted_sum3d(case: Sum3dCase, costs: Sum3dCosts, between: NetworkOptions) -> Sum3dAnswer:
    """The time of a cycle by part; RequestError for what cannot be predicted."""
    memory_B_per_s = case.memory_bandwidth_B_per_s
    if memory_B_per_s is None:
        raise RequestError(
            "sum3d needs --memory-bandwidth", "for example 10GB/s; `hockney run sum3d` measures it in each run"
        )
    if case.ranks is None and case.grid is None:
        raise RequestError("sum3d needs --ranks or --grid", "for example --ranks 24")
    grid = case.grid or usual_grid(case.size, case.ranks or 1, case.split)
    check_ranks(grid, grid.ranks if case.ranks is None else case.ranks)
    of_ranks = loads(case.size, grid, case.split)
    if figures_of(between).are_given and costs.locality not in ("", "network"):
        raise RequestError(
            f"--locality {costs.locality} says that no message goes between nodes",
            "leave out --network-latency and --network-bandwidth",
        )
    if case.table is not None:
        refuse_beside_table(costs)
        if figures_of(between).are_given:
            raise RequestError("figures of a network mean nothing with --table", "leave them out")
    machine = None if case.table and "machine" not in case.model_fields_set else machine_of(case)
    messages = None
    if machine is not None:
        messages = costs_of(
            machine, str(case.machine), case.size, costs.locality, costs.cache, figures_of(between)
        )
    usual = "warm" if machine is None else usual_cache(machine, case.size)
    summing_B_per_s = memory_B_per_s if case.sum_bandwidth_B_per_s is None else case.sum_bandwidth_B_per_s
    predicted = predict_sum3d(
        case.size,
        grid,
        case.split,
        messages,
        memory_B_per_s,
        sum_bandwidth_B_per_s=summing_B_per_s,
        write_allocate=costs.write_allocate,
        algorithm=costs.algorithm,
        measured=MeasuredCollectives.of(case.table) if case.table else None,
        cache=costs.cache or usual,
        generation_s=2 * case.size.product * case.element_time_s,
    )
    return Sum3dAnswer(predicted, grid, of_ranks, memory_B_per_s, summing_B_per_s)


def sum3d_row(case: Sum3dCase, answer: Sum3dAnswer) -> dict[str, Any]:
    """A row as a table has it: the whole time and its parts in seconds, and what they were computed with."""
    return {
        "operation": "sum3d",
        "size": "x".join(map(str, case.size)),
        "grid": str(answer.grid),
        "split": case.split,
        "memory_bandwidth_B_per_s": answer.memory_bandwidth_B_per_s,
        "sum_bandwidth_B_per_s": answer.sum_bandwidth_B_per_s,
        "time_s": answer.prediction.time_s,
        **{name: value for name, value in vars(answer.prediction).items() if name != "warnings"},
    }


def shares(predicted: Sum3dPrediction) -> dict[str, float]:
    """Of the time, by part."""
    return {
        name.removesuffix("_s"): part_s / predicted.time_s
        for name in PARTS
        if (part_s := getattr(predicted, name)) or name != "generate_s"
    }


def _show(predicted: Sum3dPrediction) -> None:
    shown = Table(box=None)
    for heading in ("part", "time", "share"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for name, share in shares(predicted).items():
        shown.add_row(name, format_time(getattr(predicted, f"{name}_s")), f"{share:.1%}")
    shown.add_row("all", format_time(predicted.time_s), "")
    say.table(shown)
    if predicted.low_s is not None and predicted.high_s is not None:
        say.line(f"95 % of scatter and gather: {format_time(predicted.low_s)} to {format_time(predicted.high_s)}")
