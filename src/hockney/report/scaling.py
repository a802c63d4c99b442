"""Speed-up and efficiency of measured times, with the fitted laws and the ideal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hockney.models.base import Parameter
from hockney.models.scaling.study import Study
from hockney.report.axes import count_axis, log_axis, plain
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.drawn import write_drawing
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.style import MEASURED, QUIET, styles
from hockney.report.tables import NONE, Table
from hockney.units import counted, format_time


def scaling(study: Study) -> Drawing:
    """Two panels over the number of processes: the speed-up (both axes logarithmic) and the efficiency.

    Small dots are times, large dots their medians, lines the laws; the grey line is the ideal.
    """
    times = study.times
    counts, medians_s = times.counts, times.medians_s()
    curve = np.geomspace(1.0, float(counts[-1]), 200)
    laws = {name: study.law_speedups(name, curve) for name in study.fits}
    looks = styles(list(laws))
    every, typical = study.speedups(times.processes, times.time_s), study.speedups(counts, medians_s)
    figure = Figure(figsize=(WIDTH_IN, 3.7), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, divided in ((left, False), (right, True)):
        axes.plot(curve, np.ones_like(curve) if divided else curve, color=QUIET, linewidth=0.9, label="ideal")
        for name, speedup in laws.items():
            axes.plot(curve, speedup / curve if divided else speedup, label=name, **looks[name].line)
        axes.plot(
            times.processes, every / times.processes if divided else every, ".", color=MEASURED, alpha=0.35,
            markersize=3, zorder=2.5,
        )  # fmt: skip
        middle = typical / counts if divided else typical
        axes.plot(counts, middle, "o", color=MEASURED, label="measured (median)", zorder=3)
        count_axis(axes, [1.0, *counts], "processes")
    drawn = np.concatenate([every, curve, *laws.values()])
    log_axis(left, float(drawn.min()), float(drawn.max()))
    left.set_ylabel("scaled speed-up" if study.is_weak else "speed-up")
    highest = max(
        float((every / times.processes).max()), *(float((speedup / curve).max()) for speedup in laws.values())
    )
    right.set_ylim(0, 1.08 * max(1.0, highest))
    right.set_ylabel("efficiency")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    kind = "weak" if study.is_weak else "strong"
    base = "extrapolated" if study.is_extrapolated else "measured"
    title = f"{kind.capitalize()} scaling to {plain(float(counts[-1]))} processes"
    figure.suptitle(f"{title}; one process takes {format_time(study.baseline_s)} ({base})", fontsize=9)
    return Drawing(
        "scaling",
        f"{title}.",
        f"{title}: speed-up {typical[-1]:.3g} and efficiency {typical[-1] / counts[-1]:.3g} at "
        f"{plain(float(counts[-1]))} processes. {study.comparison}.",
        "Small dots are single times, large ones medians; the grey line is the ideal.",
        figure,
    )


def several(studies: Mapping[str, Study]) -> Drawing:
    """The same two panels for several curves: medians of the times, joined, and the ideal; no laws."""
    looks = styles(list(studies))
    most = max(float(study.times.counts[-1]) for study in studies.values())
    figure = Figure(figsize=(WIDTH_IN, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    ideal = np.geomspace(1.0, most, 50)
    left.plot(ideal, ideal, color=QUIET, linewidth=0.9, label="ideal")
    right.axhline(1.0, color=QUIET, linewidth=0.9)
    drawn, words = [ideal], []
    for name, study in studies.items():
        counts = study.times.counts
        speedup = study.speedups(counts, study.times.medians_s())
        drawn.append(speedup)
        look = looks[name]
        for axes, values in ((left, speedup), (right, speedup / counts)):
            axes.plot(counts, values, marker=look.marker, linewidth=1.2, color=look.colour, label=name)
        words.append(f"{name}: speed-up {speedup[-1]:.3g} at {plain(float(counts[-1]))}")
    for axes in (left, right):
        count_axis(
            axes,
            sorted({1.0, *(float(n) for study in studies.values() for n in study.times.counts)}),
            "processes",
        )
    log_axis(left, float(min(map(np.min, drawn))), float(max(map(np.max, drawn))))
    is_weak = next(iter(studies.values())).is_weak
    left.set_ylabel("scaled speed-up" if is_weak else "speed-up")
    right.set_ylim(bottom=0)
    right.set_ylabel("efficiency")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(1, min(3, 110 // max(map(len, labels)))))
    curves = counted(len(studies), "curve")
    title = f"{'Weak' if is_weak else 'Strong'} scaling of {curves} to {plain(most)} processes"
    return Drawing(
        "scaling",
        f"{title}.",
        f"{title}. {'; '.join(words)}.",
        "Dots are medians; the grey line is the ideal.",
        figure,
    )


LEAST_COUNTS = 3
"""Numbers of processes from which on a law's two parameters, T(1) and another, leave a point to be tried on."""


@dataclass
class Laws:
    """What the laws of scaling make of several curves of a program: figures, a table, sentences and answers."""

    figures: list[Drawing]
    tables: list[Table]
    note: str
    findings: list[Finding]


def laws_of(studies: Mapping[str, Study], section: str) -> Laws:
    """The laws that were fitted to curves of a program, for its section of that id.

    A curve of fewer than `LEAST_COUNTS` numbers of processes tries no law, and is named in `note`.
    """
    told = {name: made for name, made in studies.items() if made.times.counts.size >= LEAST_COUNTS}
    short = [name for name in studies if name not in told]
    note = f"No law of scaling is tried on fewer than {LEAST_COUNTS} numbers of ranks: {'; '.join(short)}."
    table_id = f"{section}-laws"
    rows = [
        [
            name,
            "weak" if made.is_weak else "strong",
            law,
            "yes" if law == made.preferred else "",
            ", ".join(f"{_words(key)} {_with_interval(value)}" for key, value in fit.parameters.items()),
            ", ".join(f"{_words(key)} {value:.3g}" for key, value in fit.limits.items() if value is not None),
            NONE if fit.relative_scatter is None else percent(fit.relative_scatter),
        ]
        for name, made in told.items()
        for law, fit in made.fits.items()
    ]
    columns = ["curve", "scaling", "law", "preferred", "parameters (95 %)", "what follows", "times scatter by"]
    table = Table("Laws of scaling fitted to the times", columns, rows, frozenset(range(6)), table_id)
    return Laws(
        [
            replace(drawing, name=f"{section}-law-{place}", title=f"{name}. {drawing.title}")
            for place, (name, drawing) in enumerate(((name, scaling(made)) for name, made in told.items()), 1)
        ],
        [table] if rows else [],
        note if short else "",
        [_law_finding(name, made, table_id) for name, made in told.items()],
    )


def _law_finding(name: str, made: Study, anchor: str) -> Finding:
    law = made.preferred or next(iter(made.fits))
    fit = made.fits[law]
    said = ", ".join(f"{_words(key)} {_with_interval(value)}" for key, value in fit.parameters.items())
    follows = [f"{_words(key)} {value:.3g}" for key, value in fit.limits.items() if value is not None]
    further = f", so {', '.join(follows)}" if follows else ""
    return Finding(f"{name}: by {law}, {said}{further}; {made.comparison}.", anchor, 0.55)


def _with_interval(parameter: Parameter) -> str:
    low, high = parameter.low, parameter.high
    reach = " (no interval)" if low is None or high is None else f" ({low:.3g} to {high:.3g})"
    return f"{parameter.value:.3g}{reach}"


def _words(key: str) -> str:
    return key.replace("_", " ").replace("speedup", "speed-up")


def write(path: Path, studies: Mapping[str, Study]) -> None:
    """Draw one study, or several, into `.svg`, `.png` or `.html`.

    RequestError for another ending or an unwritable place.
    """
    write_drawing(path, lambda: scaling(*studies.values()) if len(studies) == 1 else several(studies))
