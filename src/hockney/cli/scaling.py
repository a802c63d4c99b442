"""`hockney scaling`: compute speed-up laws, and fit them to measured times."""

from __future__ import annotations

from functools import partial

import typer

from hockney import api
from hockney.options.scaling import LawOptions, ScalingOptions
from hockney.terminal import JsonOption, chosen, group, say, verb
from hockney.terminal.say import Column
from hockney.units import format_number, format_time, percent

scaling = group(
    "scaling",
    examples="hockney scaling amdahl 0.01 --ranks 1,8,64\nhockney scaling fit times.csv",
    words={"law": "amdahl gustafson usl"},
)


@verb(
    "law",
    examples="""
hockney scaling amdahl 0.01 --ranks 1,8,64,512
hockney scaling gustafson 0.1 --efficiency 0.7 --json
hockney scaling usl 0.02 0.0001 --efficiency 0.5 --ranks 16,64,256
""",
    of=scaling,
)
def law(context: typer.Context, options: LawOptions, json: JsonOption = False) -> None:
    """What follows from a law of speed-up: amdahl, gustafson or usl.

    Amdahl, fixed work: S = 1/(s + (1 − s)/p), at most 1/s. Gustafson, work that grows with the processes:
    S = s + (1 − s)p. The universal scalability law (Gunther): S = p/(1 + σ(p − 1) + κp(p − 1)), with its peak
    at √((1 − σ)/κ).
    """
    answer = api.scaling_law(chosen(context), options)
    if json:
        say.json(answer)
        return
    say.line(f"{answer.title}: {answer.formula}")
    say.line(", ".join(f"{_word(key)} {value:g}" for key, value in answer.parameters.items()))
    for key, value in answer.limits.items():
        say.line(f"{_word(key)}: {'none' if value is None else format_number(value)}")
    if answer.efficiency is not None:
        kept = "with any number of processes"
        if answer.max_processes is not None:
            kept = f"up to {answer.max_processes} processes (p ≤ {answer.max_processes_bound:.6g})"
        say.line(f"efficiency of at least {answer.efficiency:g}: {kept}")
    if answer.points:
        say.rows("", answer.points, [PROCESSES, *_speedups("")])


PROCESSES = Column("processes", "processes", is_number=True)


def _speedups(kind: str) -> list[Column]:
    return [
        Column(f"{kind}speed-up", "speedup", format_number, is_number=True),
        Column("efficiency", "efficiency", percent, is_number=True),
    ]


@verb(
    "fit",
    examples="hockney scaling fit times.csv\n"
    "hockney scaling fit times.csv --law usl --figure scaling.svg --json\n"
    "hockney scaling fit weak.csv --weak --figure weak.html\n"
    "hockney scaling fit jacobi --weak",
    of=scaling,
)
def fit(options: ScalingOptions, json: JsonOption = False) -> None:
    """Fit laws to measured times: parameters with 95 % intervals, and which law the times support.

    Every row is one time; rows of the same number of processes are repetitions. The time of one process is fitted
    like the other parameters; speed-ups are against the median of those measured. Several problems, ways or
    systems in one file are fitted one after another. Where the times step, as where ranks begin to share cores,
    the laws have a factor from there on.
    """
    with say.at_end(json) as warn:
        answer = api.scaling_studies(options, warn)
        if json:
            say.json(answer)
            return
        for study in answer.studies:
            if study.curve:
                say.line(f"\n{study.curve}")
            _show(study)
        if answer.figure:
            say.line(f"wrote {answer.figure}")


def _by_law(name: str, point: api.MeasuredPoint) -> float:
    return point.law_speedup[name]


def _show(study: api.ScalingStudy) -> None:
    laws = [Column(name, partial(_by_law, name), format_number, is_number=True) for name in study.fits]
    columns = [
        PROCESSES,
        Column("times", "repetitions", is_number=True),
        Column("median", "median_time_s", format_time, is_number=True),
        *_speedups("scaled " if study.is_weak else ""),
        *laws,
    ]
    say.rows("", study.points, columns)
    for name, law_fit in study.fits.items():
        _show_law(name, law_fit)
    for name, why in study.skipped.items():
        say.line(f"{name}: skipped: {why}")
    for line in (study.comparison, *study.notes):
        say.line(line)


def _show_law(name: str, law_fit: api.LawFit) -> None:
    parts = [f"{_word(key)} {value.value:.3g}{value.bounds()}" for key, value in law_fit.parameters.items()]
    limits = [
        f"{_word(key)} {format_number(value)}" for key, value in law_fit.limits.items() if value is not None
    ]
    scatter = (
        "" if law_fit.relative_scatter is None else f"; times scatter by {percent(law_fit.relative_scatter)}"
    )
    say.line(f"{name}: {', '.join([*parts, *limits])}{scatter}")
    for note in law_fit.notes:
        say.line(f"  {note}")


def _word(key: str) -> str:
    return key.replace("_", " ").replace("speedup", "speed-up")
