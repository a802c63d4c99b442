"""Speed-up and efficiency of measured times, with the fitted laws and the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hockney.models.scaling.fit import LawFit
from hockney.models.scaling.study import ScalingStudy
from hockney.report.drawing import Drawing, write_drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.style import MEASURED, Style, plain, styles
from hockney.report.tables import NONE, Table
from hockney.units import counted, format_time

if TYPE_CHECKING:
    from hockney.report.page import Contribution, Section


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
    heading = f"{title}; one process takes {format_time(first.baseline_s)} (measured)" if is_alone else ""
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


def add_laws(studies: Mapping[str, ScalingStudy], page: Section, contribution: Contribution) -> None:
    """Add speed-ups of several curves of a program to its section, and the laws that were fitted to them.

    A curve of fewer than `LEAST_COUNTS` numbers of processes tries no law, and is named in the note.
    """
    long = {name: studied for name, studied in studies.items() if studied.times.counts.size >= LEAST_COUNTS}
    for is_weak in (True, False):
        own = {name: studied for name, studied in studies.items() if studied.is_weak == is_weak}
        if len(own) > 1 or not own.keys() <= long.keys():
            page.figures.append(replace(scaling(own), name=f"{page.id}-{'weak' if is_weak else 'strong'}"))
    for place, (name, studied) in enumerate(long.items(), 1):
        drawing = scaling({name: studied})
        page.figures.append(replace(drawing, name=f"{page.id}-law-{place}", title=f"{name}. {drawing.title}"))
    table_id = f"{page.id}-laws"
    rows = [
        [
            name,
            "weak" if studied.is_weak else "strong",
            law,
            "yes" if law == studied.preferred else "",
            _parameters(fit),
            _limits(fit),
            NONE if fit.relative_scatter is None else percent(fit.relative_scatter),
        ]
        for name, studied in long.items()
        for law, fit in studied.fits.items()
    ]
    if rows:
        columns = ["curve", "scaling", "law", "preferred", "parameters (95 %)", "what follows", "scatter"]
        page.tables.append(
            Table("Laws of scaling fitted to the times", columns, rows, frozenset(range(6)), table_id)
        )
    if short := "; ".join(name for name in studies if name not in long):
        page.note += f" No law of scaling is tried on fewer than {LEAST_COUNTS} numbers of ranks: {short}."
    for name, studied in long.items():
        law = studied.preferred or next(iter(studied.fits))
        limits = _limits(studied.fits[law])
        so = f", so {limits}" if limits else ""
        text = f"{name}: by {law}, {_parameters(studied.fits[law])}{so}; {studied.comparison}."
        contribution.findings.append(Finding(text, table_id, 0.55))


def _parameters(fit: LawFit) -> str:
    bounded = {
        key: f"{value.value:.3g}{value.bounds(about='', none=' (no interval)')}"
        for key, value in fit.parameters.items()
    }
    return ", ".join(f"{_words(key)} {value}" for key, value in bounded.items())


def _limits(fit: LawFit) -> str:
    return ", ".join(f"{_words(key)} {value:.3g}" for key, value in fit.limits.items() if value is not None)


def _words(key: str) -> str:
    return key.replace("_", " ").replace("speedup", "speed-up")


def write(path: Path, studies: Mapping[str, ScalingStudy]) -> None:
    """Draw studies into `.svg`, `.png` or `.html`; RequestError for another ending or an unwritable place."""
    write_drawing(path, lambda: scaling(studies))
