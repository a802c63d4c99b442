"""Speed-up and efficiency of measured times, with the fitted laws and the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hockney.models.base import Parameter
from hockney.models.scaling.study import ScalingStudy
from hockney.report.axes import plain
from hockney.report.drawing import Drawing
from hockney.report.drawn import write_drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.style import MEASURED, Style, styles
from hockney.report.tables import NONE, Table
from hockney.units import counted, format_time


def scaling(studies: Mapping[str, ScalingStudy]) -> Drawing:
    """Two panels over the number of processes: the speed-up (both axes logarithmic) and the efficiency.

    Of one curve small dots are times, large dots their medians, lines the laws; of several the medians, joined.
    The grey line is the ideal.
    """
    first, is_alone = next(iter(studies.values())), len(studies) == 1
    most = max(float(study.times.counts[-1]) for study in studies.values())
    curve = np.geomspace(1.0, most, 200)
    looks = styles(list(first.fits) if is_alone else list(studies))
    lines, words = [Line("ideal", curve, curve, width=0.9)], []
    for name, study in studies.items():
        times, counts = study.times, study.times.counts
        typical = study.speedups(counts, times.medians_s())
        words.append(f"{name}: speed-up {typical[-1]:.3g} at {plain(float(counts[-1]))}")
        if not is_alone:
            lines.append(Line(name, counts, typical, style=replace(looks[name], dashes=()), width=1.2, dots=4.0))
            continue
        lines += [Line(law, curve, study.law_speedups(law, curve), style=looks[law]) for law in study.fits]
        every, dots = study.speedups(times.processes, times.time_s), Style(MEASURED, (), ".")
        lines.append(Line("", times.processes, every, style=dots, width=0, dots=3.0, opacity=0.35, order=2.5))
        medians = replace(dots, marker="o")
        lines.append(Line("measured (median)", counts, typical, style=medians, width=0, dots=4.0))
        words = [f"speed-up {typical[-1]:.3g} and efficiency {typical[-1] / counts[-1]:.3g}. {study.comparison}"]
    ticks = np.array(sorted({1.0, *(float(n) for study in studies.values() for n in study.times.counts)}))
    panels = [_panel(lines, ticks, divided=divided, is_weak=first.is_weak) for divided in (False, True)]
    of_curves = "" if is_alone else f" of {counted(len(studies), 'curve')}"
    title = f"{'Weak' if first.is_weak else 'Strong'} scaling{of_curves} to {plain(most)} processes"
    base = "extrapolated" if first.is_extrapolated else "measured"
    heading = f"{title}; one process takes {format_time(first.baseline_s)} ({base})" if is_alone else ""
    caption = "Small dots are single times, large ones medians" if is_alone else "Dots are medians"
    return Drawing(
        "scaling",
        f"{title}.",
        f"{title}. {'; '.join(words)}.",
        f"{caption}; the grey line is the ideal.",
        Chart([panels], 3.8, title=heading, columns=3),
    )


def _panel(lines: Sequence[Line], counts: NDArray[np.float64], *, divided: bool, is_weak: bool) -> Panel:
    """The speed-ups, or the efficiencies: the same `divided` by the number of processes."""
    x = Axis("processes", "counts", values=counts)
    if not divided:
        return Panel(lines, x, Axis("scaled speed-up" if is_weak else "speed-up", "log"))
    shares = [replace(line, y=line.y / line.x) for line in lines]
    return Panel(shares, x, Axis("efficiency", "from_0"))


LEAST_COUNTS = 3
"""Numbers of processes from which on a law's two parameters, T(1) and another, leave a point to be tried on."""


@dataclass
class Laws:
    """What the laws of scaling make of several curves of a program: figures, a table, sentences and answers."""

    figures: list[Drawing]
    tables: list[Table]
    note: str
    findings: list[Finding]


def laws_of(studies: Mapping[str, ScalingStudy], section: str) -> Laws:
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
            for place, (name, drawing) in enumerate(
                ((name, scaling({name: made})) for name, made in told.items()), 1
            )
        ],
        [table] if rows else [],
        note if short else "",
        [_law_finding(name, made, table_id) for name, made in told.items()],
    )


def _law_finding(name: str, made: ScalingStudy, anchor: str) -> Finding:
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


def write(path: Path, studies: Mapping[str, ScalingStudy]) -> None:
    """Draw studies into `.svg`, `.png` or `.html`; RequestError for another ending or an unwritable place."""
    write_drawing(path, lambda: scaling(studies))
