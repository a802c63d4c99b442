"""`hockney scaling`: laws of speed-up, what follows from them, and their fits to measured times."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.models.scaling.laws import exact, laws, whole_processes
from hockney.terminal import JsonOption, group, say, verb
from hockney.terminal.loading import later
from hockney.units import format_time
from hockney.words import LARGEST, wholes

with later():
    from hockney.models.base import Parameter
    from hockney.models.scaling.fit import LawFit
    from hockney.models.scaling.study import Study, study
    from hockney.models.scaling.times import curves
    from hockney.report.scaling import write


scaling = group(
    "scaling",
    examples="hockney scaling amdahl --serial-fraction 0.01 --ranks 1,8,64\nhockney scaling fit times.csv",
)

LAWS = ", ".join(f"{name} (with --weak)" if law.is_weak else name for name, law in laws)

LEAST = 1e-12
MOST_COHERENCY = 1e6
"""Beyond these the bounds leave the range of numbers."""


class LawOptions(BaseModel):
    """What is derived from a law: the most processes for an efficiency, and points of its curve."""

    efficiency: Annotated[
        float | None, Option("Least efficiency: print up to how many processes the law keeps it.")
    ] = None
    processes: Annotated[
        list[int],
        Option(
            "Speed-up and efficiency are printed for 8, 8,16 or 1-64.",
            flags=("--ranks",),
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=list)


class SerialOptions(LawOptions):
    """The share that does not run in parallel, said one way or the other."""

    serial: Annotated[
        float | None,
        Option("s: the share of the time that does not run in parallel.", flags=("--serial-fraction",)),
    ] = None
    parallel: Annotated[
        float | None, Option("1 − s: the other way to say it.", flags=("--parallel-fraction",))
    ] = None


class UslOptions(LawOptions):
    """The parameters of the universal scalability law."""

    contention: Annotated[float, Option("σ: the share of the work that is done one at a time.")]
    coherency: Annotated[float, Option("κ: the cost of each pair of processes that agree.")]


@verb(
    "amdahl",
    examples="hockney scaling amdahl --parallel-fraction 0.9 --efficiency 0.7 --json\n"
    "hockney scaling amdahl --serial-fraction 0.01 --ranks 1,8,64,512",
    of=scaling,
)
def amdahl(options: SerialOptions, json: JsonOption = False) -> None:
    """Fixed work (Amdahl): S = 1/(s + (1 − s)/p), at most 1/s."""
    _law("amdahl", [_serial_fraction(options)], options, json)


@verb(
    "gustafson",
    examples="hockney scaling gustafson --serial-fraction 0.1 --ranks 1,8,64\n"
    "hockney scaling gustafson --parallel-fraction 0.9 --efficiency 0.92 --json",
    of=scaling,
)
def gustafson(options: SerialOptions, json: JsonOption = False) -> None:
    """Work that grows with the processes (Gustafson): the scaled speed-up is S = s + (1 − s)p."""
    _law("gustafson", [_serial_fraction(options)], options, json)


@verb(
    "usl",
    examples="hockney scaling usl --contention 0.02 --coherency 0.0001\n"
    "hockney scaling usl --contention 0.02 --coherency 0.0001 --efficiency 0.5 --ranks 16,64,256 --json",
    of=scaling,
)
def usl(options: UslOptions, json: JsonOption = False) -> None:
    """Universal scalability law (Gunther): S = p/(1 + σ(p − 1) + κp(p − 1)), with its peak at √((1 − σ)/κ)."""
    _fraction(options.contention, "--contention")
    if not 0 <= options.coherency <= MOST_COHERENCY:
        raise RequestError(
            f"--coherency {options.coherency:g} is not a number from 0 to {MOST_COHERENCY:g}",
            "for example 0.0001; 0 is Amdahl's law",
        )
    _not_tiny(options.coherency, "--coherency")
    _law("usl", [options.contention, options.coherency], options, json)


def _fraction(value: float, option: str) -> None:
    # Written so that NaN is refused.
    if not 0 <= value <= 1:
        raise RequestError(f"{option} {value:g} is not a fraction", "give a number from 0 to 1, for example 0.1")
    _not_tiny(value, option)


def _not_tiny(value: float, option: str) -> None:
    if 0 < value < LEAST:
        raise RequestError(f"{option} {value:g} is less than anybody can tell from 0", "give 0")


def _serial_fraction(options: SerialOptions) -> float:
    serial, parallel = options.serial, options.parallel
    if serial is not None and parallel is None:
        _fraction(serial, "--serial-fraction")
        return serial
    if parallel is not None and serial is None:
        _fraction(parallel, "--parallel-fraction")
        return float(1 - exact(parallel))
    what = "neither is given" if serial is None else "both are given"
    raise RequestError(
        f"--serial-fraction and --parallel-fraction say the same thing, and {what}", "give one of them"
    )


def _law(name: str, theta: list[float], options: LawOptions, as_json: bool) -> None:
    law, efficiency, counts = laws.get(name), options.efficiency, options.processes
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
        most, bound = whole_processes(law, efficiency, theta) or (None, None)
        data |= {"efficiency": efficiency, "max_processes": most, "max_processes_bound": bound}
    exactly = [exact(parameter) for parameter in theta]
    speedups = [law.speedup(Fraction(count), exactly) for count in counts]
    data["points"] = [
        {"processes": count, "speedup": float(speedup), "efficiency": float(speedup / count)}
        for count, speedup in zip(counts, speedups, strict=True)
    ]
    if as_json:
        say.json(data)
        return
    say.line(f"{law.title}: {law.formula}")
    say.line(", ".join(f"{_word(key)} {value:g}" for key, value in zip(law.upper, theta, strict=True)))
    for key, value in law.limits(theta).items():
        say.line(f"{_word(key)}: {'none' if value is None else f'{value:.4g}'}")
    if efficiency is not None:
        if most is None:
            say.line(f"efficiency of at least {efficiency:g}: with any number of processes")
        else:
            say.line(f"efficiency of at least {efficiency:g}: up to {most} processes (p ≤ {bound:.6g})")
    if counts:
        shown = Table("processes", "speed-up", "efficiency", box=None)
        for row in data["points"]:
            shown.add_row(str(row["processes"]), f"{row['speedup']:.4g}", f"{row['efficiency']:.1%}")
        say.table(shown)


class StudyOptions(BaseModel):
    """The times, the laws that are fitted to them, and the figure."""

    path: Annotated[
        Path,
        Argument(
            "CSV or Parquet: ranks or processes, and time_s, time_ms, time_us or time_ns; or a folder of "
            "`hockney run`."
        ),
    ]
    law: Annotated[str, Option(f"{LAWS}, or all that apply.")] = "all"
    weak: Annotated[bool, Option("The work grew in proportion to the processes.", flags=("--weak",))] = False
    extrapolate: Annotated[
        bool,
        Option(
            "Without a time of 1 process, take the one that the fit gives.", flags=("--extrapolate-baseline",)
        ),
    ] = False
    figure: Annotated[Path | None, Option("Speed-up and efficiency.")] = None


@verb(
    "fit",
    examples="hockney scaling fit times.csv\n"
    "hockney scaling fit times.csv --law usl --figure scaling.svg --json\n"
    "hockney scaling fit weak.csv --weak --figure weak.html\n"
    "hockney scaling fit jacobi --weak",
    of=scaling,
)
def fit(options: StudyOptions, json: JsonOption = False) -> None:
    """Fit laws to measured times: parameters with 95 % intervals, and which law the times support.

    Every row is one time; rows of the same number of processes are repetitions. The time of one process is fitted
    like the other parameters; speed-ups are against the median of those measured. Several problems, ways or
    systems in one file are fitted one after another. Where the times step, as where ranks begin to share cores,
    the laws have a factor from there on.
    """
    studies: dict[str, Study] = {}
    found = curves(options.path, is_weak=options.weak)
    for curve in found:
        try:
            made = study(curve.times, options.law, is_weak=options.weak, extrapolate=options.extrapolate)
        except RequestError as error:
            if len(found) == 1:
                raise
            say.warn(f"{curve.name} is left out: {error.message}; {error.hint}")
            continue
        studies[curve.name] = replace(made, notes=[*curve.notes, *made.notes])
    if not studies:
        raise RequestError(f"{options.path}: no curve can be fitted", "see the warnings")
    figure = options.figure
    if figure:
        write(figure, studies)
    if json:
        data = [{"curve": name, **result.as_data()} for name, result in studies.items()]
        of_one = data[0] if len(data) == 1 else {"curves": data}
        say.json({"times": str(options.path), **of_one, "figure": str(figure) if figure else None})
        return
    for name, result in studies.items():
        if name:
            say.line(f"\n{name}")
        _show(result)
    if figure:
        say.line(f"wrote {figure}")


def _show(result: Study) -> None:
    weak = "scaled " if result.is_weak else ""
    headings = ("processes", "times", "median", f"{weak}speed-up", "efficiency", *result.fits)
    table = Table(*headings, box=None)
    for row in result.as_data()["points"]:
        table.add_row(
            str(row["processes"]),
            str(row["repetitions"]),
            format_time(row["median_time_s"]),
            f"{row['speedup']:.4g}",
            f"{row['efficiency']:.1%}",
            *(f"{value:.4g}" for value in row["law_speedup"].values()),
        )
    say.table(table)
    for name, law_fit in result.fits.items():
        _show_law(name, law_fit)
    for name, why in result.skipped.items():
        say.line(f"{name}: skipped: {why}")
    for line in (result.comparison, *result.notes):
        say.line(line)


def _show_law(name: str, law_fit: LawFit) -> None:
    parts = [f"{_word(key)} {_with_interval(value)}" for key, value in law_fit.parameters.items()]
    limits = [f"{_word(key)} {value:.4g}" for key, value in law_fit.limits.items() if value is not None]
    scatter = "" if law_fit.relative_scatter is None else f"; times scatter by {law_fit.relative_scatter:.2%}"
    say.line(f"{name}: {', '.join([*parts, *limits])}{scatter}")
    for note in law_fit.notes:
        say.line(f"  {note}")


def _with_interval(parameter: Parameter) -> str:
    low, high = parameter.low, parameter.high
    return f"{parameter.value:.3g}" + ("" if low is None or high is None else f" (95 %: {low:.3g} to {high:.3g})")


def _word(key: str) -> str:
    return key.replace("_", " ").replace("speedup", "speed-up")
