"""The three-dimensional sum: time of a cycle of scatters, sum and gather, and whether the grid matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from hockney.apps.stencil.grid_test import COLUMNS, Configuration
from hockney.apps.sum3d.answer import Sum3dAnswer
from hockney.apps.sum3d.app import APP
from hockney.apps.sum3d.model import costs_of, predict_sum3d
from hockney.apps.sum3d.sums import comparison, problem_of
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import UNREADABLE, Basis, Contribution, Runs, page_id
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.run_tables import ReportedRun, table
from hockney.report.style import styles, time_unit
from hockney.units import counted, grouped

ANCHOR = page_id("sum3d")
MOST_ROWS = 120
"""Configurations in the table of the page."""
MOST_PANELS = 6
MOST_GRIDS = 40


def reported(record: AppRecord) -> ReportedRun:
    """A cycle; of a run that another program timed, its time alone."""
    problem = problem_of(record)
    parts_s = _parts_s(record)
    return ReportedRun(
        record,
        problem=str(problem.size),
        grid=str(problem.grid),
        way=problem.split,
        rate=problem.size.product / record.time_s / 1e6 if record.time_s else None,
        communication=_moving(parts_s) if sum(parts_s.values()) else None,
    )


def predicted_s(record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
    """With linear scatter and gather."""
    if not _parts_s(record):
        raise RequestError("another program timed it, which says no memory bandwidth", "")
    problem, answer = problem_of(record), record.answer.read_as(Sum3dAnswer)
    costs = costs_of(basis.of(record), basis.origin, problem.size).on_nodes(record.nodes)
    costs.check_network(None, record.ranks)
    predicted = predict_sum3d(
        problem.size,
        problem.grid,
        problem.split,
        costs,
        # Each rank measured its own while all did: rank 0 copies, and the slowest holds up the gather.
        answer.memory_bandwidth_B_per_s[0],
        sum_bandwidth_B_per_s=min(answer.sum_bandwidth_B_per_s),
    )
    return predicted.time_s, costs.assumptions(None, record.ranks)


def _parts_s(record: AppRecord) -> dict[str, float]:
    """Seconds of all ranks together, by part; nothing of a run that another program timed."""
    if "scatter_s" not in record.answer.as_said():
        return {}
    return record.answer.read_as(Sum3dAnswer).parts_s


def _moving(parts_s: Mapping[str, float]) -> float:
    """The share of scatters and gather."""
    return (parts_s["scatter"] + parts_s["gather"]) / sum(parts_s.values())


def section(runs: Runs) -> Contribution:
    """Runs, and with several grids the table of configurations and the test whether they matter."""
    contribution = runs_section.section(APP, runs, reported, predicted_s)
    (page,) = contribution.sections
    try:
        compared = comparison([run for run in runs.records if run.time_s > 0])
    except (*UNREADABLE, RequestError):
        return contribution
    by_size = grouped(compared.configurations, lambda each: each.size)
    sentences = [test.words for test in compared.tests]
    if any(len(group) > 1 for group in by_size.values()):
        rows = compared.configurations
        more = f", the first {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
        page.tables.insert(0, table(f"Configurations{more}", rows[:MOST_ROWS], COLUMNS))
        if any(len({configuration.grid for configuration in group}) > 1 for group in by_size.values()):
            page.figures = [figure for figure in page.figures if figure.name != "app-sum3d-grids"]
            page.figures.insert(0, _all_grids(by_size))
        page.note = " ".join([*sentences, page.note])
    contribution.findings += findings(runs, sentences)
    return contribution


def findings(runs: Runs, of_grids: Sequence[str]) -> list[Finding]:
    """Whether the grid matters, and what share scatter and gather have."""
    answers = [(sentence, 0.6) for sentence in of_grids]
    several = [parts_s for run in runs.records if run.ranks > 1 and any((parts_s := _parts_s(run)).values())]
    shares = list(map(_moving, several))
    if shares:
        reach = f"{percent(min(shares))} to {percent(max(shares))} in {counted(len(shares), 'run')}"
        text = (
            f"Scattering and gathering take {percent(fmean(shares))} of the sum's time ({reach}), with waiting."
        )
        answers.append((text, 0.5))
    return [Finding(text, ANCHOR, weight) for text, weight in answers]


def _all_grids(groups: Mapping[str, Sequence[Configuration]]) -> Drawing:
    """Means with 95 % intervals, the grids of a panel from top to bottom; all panels share their axis of time."""
    shown = dict([*groups.items()][:MOST_PANELS])
    every = [each for group in shown.values() for each in group]
    looks = styles(list(dict.fromkeys(each.split for each in every)))
    longest_s = max(each.high_s or each.mean_s for each in every)
    scale, unit = time_unit(longest_s)
    ends_s = np.array([0.98 * min(each.low_s or each.mean_s for each in every), 1.02 * longest_s])
    x = Axis(f"time of a cycle [{unit}]", "linear", scale, ends_s)
    panels = []
    for size, group in shown.items():
        names = list(dict.fromkeys(each.grid for each in group))[:MOST_GRIDS]
        lines = []
        for number, (split, look) in enumerate(looks.items()):
            own = [each for each in group if each.split == split and each.grid in names]
            values = [(each.mean_s, each.low_s, each.high_s) for each in own]
            mean_s, low_s, high_s = np.array(values, dtype=np.float64).reshape(-1, 3).T
            places = np.array([names.index(each.grid) for each in own]) + 0.25 * (number - (len(looks) - 1) / 2)
            lines.append(Line(split, mean_s, places, low_s, high_s, look, width=0, dots=3.6, is_across=True))
        panels.append(Panel(lines, x, Axis("process grid", "names", names=names), size))
    left_out = len(groups) - len(shown)
    caption = "Dots are means, bars their 95 % intervals (Student's t). The axis of time begins above zero."
    caption += f" {left_out} further sizes are in the table only." if left_out else ""
    title = "Sum of matrices: every grid"
    alt = f"{title}: the time of a cycle for {', '.join(shown)}."
    chart = Chart([panels], 1.6 + 0.19 * max(len(panel.y.names) for panel in panels))
    return Drawing("app-sum3d-all-grids", f"{title}.", alt, caption, chart)
