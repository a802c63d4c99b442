"""`hockney scaling`: laws of speed-up, what follows from them, and their fits to measured times."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hockney.cli import JsonOption, emit_json, group, out, verb
from hockney.cli._words import LARGEST, wholes
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.models.base import Parameter
    from hockney.models.scaling.fit import LawFit
    from hockney.models.scaling.study import Study

scaling = group("scaling", help="Laws of speed-up: amdahl, gustafson, usl, and fits of them to measured times.")

LEAST = 1e-12
MOST_COHERENCY = 1e6
"""Beyond these the bounds leave the range of numbers."""

Serial = Annotated[
    float | None,
    typer.Option("--serial-fraction", help="s: the share of the time that does not run in parallel."),
]
Parallel = Annotated[float | None, typer.Option("--parallel-fraction", help="1 − s: the other way to say it.")]
Efficiency = Annotated[
    float | None, typer.Option(help="The least efficiency: up to how many processes is it kept?")
]
Processes = Annotated[str, typer.Option(help="Speed-up and efficiency at 8, 8,16 or 1-64 processes.")]


@verb(
    "amdahl",
    examples="hockney scaling amdahl --parallel-fraction 0.9 --efficiency 0.7 --json\n"
    "hockney scaling amdahl --serial-fraction 0.01 --processes 1,8,64,512",
    of=scaling,
)
def amdahl(
    serial: Serial = None,
    parallel: Parallel = None,
    efficiency: Efficiency = None,
    processes: Processes = "",
    json: JsonOption = False,
) -> None:
    """Fixed work (Amdahl): S = 1/(s + (1 − s)/p), at most 1/s."""
    _law("amdahl", [_serial_fraction(serial, parallel)], efficiency, processes, json)


@verb(
    "gustafson",
    examples="hockney scaling gustafson --serial-fraction 0.1 --processes 1,8,64\n"
    "hockney scaling gustafson --parallel-fraction 0.9 --efficiency 0.92 --json",
    of=scaling,
)
def gustafson(
    serial: Serial = None,
    parallel: Parallel = None,
    efficiency: Efficiency = None,
    processes: Processes = "",
    json: JsonOption = False,
) -> None:
    """Work that grows with the processes (Gustafson): the scaled speed-up is S = s + (1 − s)p."""
    _law("gustafson", [_serial_fraction(serial, parallel)], efficiency, processes, json)


@verb(
    "usl",
    examples="hockney scaling usl --contention 0.02 --coherency 0.0001\n"
    "hockney scaling usl --contention 0.02 --coherency 0.0001 --efficiency 0.5 --processes 16,64,256 --json",
    of=scaling,
)
def usl(
    contention: Annotated[float, typer.Option(help="σ: the share of the work that is done one at a time.")],
    coherency: Annotated[float, typer.Option(help="κ: the cost of each pair of processes that agree.")],
    efficiency: Efficiency = None,
    processes: Processes = "",
    json: JsonOption = False,
) -> None:
    """Universal scalability law (Gunther): S = p/(1 + σ(p − 1) + κp(p − 1)), with its peak at √((1 − σ)/κ)."""
    _fraction(contention, "--contention")
    if not 0 <= coherency <= MOST_COHERENCY:
        raise RequestError(
            f"--coherency {coherency:g} is not a number from 0 to {MOST_COHERENCY:g}",
            "for example 0.0001; 0 is Amdahl's law",
        )
    _not_tiny(coherency, "--coherency")
    _law("usl", [contention, coherency], efficiency, processes, json)


def _fraction(value: float, option: str) -> None:
    # Written so that NaN is refused.
    if not 0 <= value <= 1:
        raise RequestError(f"{option} {value:g} is not a fraction", "give a number from 0 to 1, for example 0.1")
    _not_tiny(value, option)


def _not_tiny(value: float, option: str) -> None:
    if 0 < value < LEAST:
        raise RequestError(f"{option} {value:g} is less than anybody can tell from 0", "give 0")


def _serial_fraction(serial: float | None, parallel: float | None) -> float:
    from hockney.models.scaling.laws import exact

    if (serial is None) == (parallel is None):
        what = "neither is given" if serial is None else "both are given"
        raise RequestError(
            f"--serial-fraction and --parallel-fraction say the same thing, and {what}", "give one of them"
        )
    if serial is not None:
        _fraction(serial, "--serial-fraction")
        return serial
    assert parallel is not None
    _fraction(parallel, "--parallel-fraction")
    return float(1 - exact(parallel))


def _law(name: str, theta: list[float], efficiency: float | None, processes: str, as_json: bool) -> None:
    from hockney.models.scaling.laws import exact, laws, whole_processes

    law = laws.get(name)
    data: dict[str, Any] = {"law": name, **dict(zip(law.upper, theta, strict=True))}
    if "serial_fraction" in data:
        data["parallel_fraction"] = float(1 - exact(theta[0]))
    data |= law.limits(theta)
    if efficiency is not None:
        if not LEAST <= efficiency <= 1:
            raise RequestError(
                f"--efficiency {efficiency:g} is not an efficiency",
                "give a number above 0, up to 1, for example 0.7",
            )
        found = whole_processes(law, efficiency, theta)
        most, bound = found or (None, None)
        data |= {"efficiency": efficiency, "max_processes": most, "max_processes_bound": bound}
    counts = wholes(processes, "--processes", range(1, LARGEST + 1)) if processes else []
    exactly = [exact(one) for one in theta]
    speedups = [law.speedup(Fraction(count), exactly) for count in counts]
    data["points"] = [
        {"processes": count, "speedup": float(speedup), "efficiency": float(speedup / count)}
        for count, speedup in zip(counts, speedups, strict=True)
    ]
    if as_json:
        emit_json(data)
        return
    out.print(f"{law.title}: {law.formula}", markup=False)
    out.print(", ".join(f"{_word(key)} {value:g}" for key, value in zip(law.upper, theta, strict=True)))
    for key, value in law.limits(theta).items():
        out.print(f"{_word(key)}: {'none' if value is None else f'{value:.4g}'}")
    if efficiency is not None:
        if found is None:
            out.print(f"efficiency of at least {efficiency:g}: with any number of processes")
        else:
            out.print(f"efficiency of at least {efficiency:g}: up to {found[0]} processes (p ≤ {found[1]:.6g})")
    if counts:
        shown = Table("processes", "speed-up", "efficiency", box=None)
        for row in data["points"]:
            shown.add_row(str(row["processes"]), f"{row['speedup']:.4g}", f"{row['efficiency']:.1%}")
        out.print(shown)


@verb(
    "fit",
    examples="hockney scaling fit times.csv\n"
    "hockney scaling fit times.csv --law usl --figure scaling.svg --json\n"
    "hockney scaling fit weak.csv --weak --figure weak.html",
    of=scaling,
)
def fit(
    path: Annotated[
        Path, typer.Argument(help="CSV or Parquet: ranks or processes, and time_s, time_ms, time_us or time_ns.")
    ],
    law: Annotated[str, typer.Option(help="amdahl, usl, gustafson (with --weak), or all that apply.")] = "all",
    weak: Annotated[bool, typer.Option("--weak", help="The work grew in proportion to the processes.")] = False,
    extrapolate: Annotated[
        bool,
        typer.Option("--extrapolate-baseline", help="No time of 1 process: let the fit say what it would be."),
    ] = False,
    figure: Annotated[Path | None, typer.Option(help="Draw speed-up and efficiency (.svg, .png, .html).")] = None,
    json: JsonOption = False,
) -> None:
    """Fit laws to measured times: parameters with 95 % intervals, and which law the times support.

    Every row is one time; rows of the same number of processes are repetitions. The time of one process is fitted
    like the other parameters; speed-ups are against the median of those measured.
    """
    from hockney.models.scaling.study import study
    from hockney.models.scaling.times import load

    made = study(load(path), law, is_weak=weak, extrapolate=extrapolate)
    if figure:
        from hockney.report.scaling import write

        write(figure, made)
    if json:
        emit_json({"times": str(path), **made.as_data(), "figure": str(figure) if figure else None})
        return
    _show(made)
    if figure:
        out.print(f"wrote {figure}", markup=False, soft_wrap=True)


def _show(made: Study) -> None:
    from hockney.units import format_time

    data = made.as_data()
    weak = "scaled " if made.is_weak else ""
    headings = ("processes", "times", "median", f"{weak}speed-up", "efficiency", *made.fits)
    shown = Table(*headings, box=None)
    for row in data["points"]:
        shown.add_row(
            str(row["processes"]),
            str(row["repetitions"]),
            format_time(row["median_time_s"]),
            f"{row['speedup']:.4g}",
            f"{row['efficiency']:.1%}",
            *(f"{value:.4g}" for value in row["law_speedup"].values()),
        )
    out.print(shown)
    for name, one in made.fits.items():
        _show_law(name, one)
    for name, why in made.skipped.items():
        out.print(f"{name}: skipped: {why}", markup=False, soft_wrap=True)
    for line in (made.comparison, *made.notes):
        out.print(line, markup=False, soft_wrap=True)


def _show_law(name: str, one: LawFit) -> None:
    parts = [f"{_word(key)} {_with_interval(value)}" for key, value in one.parameters.items()]
    limits = [f"{_word(key)} {value:.4g}" for key, value in one.limits.items() if value is not None]
    scatter = "" if one.relative_scatter is None else f"; times scatter by {one.relative_scatter:.2%}"
    out.print(f"{name}: {', '.join([*parts, *limits])}{scatter}", markup=False, soft_wrap=True)
    for note in one.notes:
        out.print(f"  {note}", markup=False, soft_wrap=True)


def _with_interval(one: Parameter) -> str:
    known = one.low is not None and one.high is not None
    return f"{one.value:.3g}" + (f" (95 %: {one.low:.3g} to {one.high:.3g})" if known else "")


def _word(key: str) -> str:
    return key.replace("_", " ").replace("speedup", "speed-up")
