"""Jacobi: time of a sweep, updates per second, the bandwidth that bounds them, scaling beside the formula."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import APP, Formula
from hockney.apps.jacobi.figure import rates
from hockney.apps.jacobi.links import MachineLinks
from hockney.apps.jacobi.printed import MODELS, Links
from hockney.apps.jacobi.scaling import (
    Compared,
    MeasuredGrid,
    ScalingTable,
    compare,
    scaling_tables,
    stated_links,
)
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.apps.stencil.told_apart import which_grid
from hockney.errors import RequestError
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.models.base import Parameter
from hockney.models.scaling.fit import Break
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine
from hockney.report import runs_section
from hockney.report.app_sections import Contribution, Launches, Runs, page_id
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.run_tables import ReportedRun
from hockney.report.scaling import laws_of

ANCHOR = page_id("jacobi")
MODEL: Formula = "weak_scaling_jacobi"
"""The formula that the page sets beside weak scaling."""
ABOUT_TABLES = (
    "P: 10⁶ lattice updates per second, N·P₁/P: what N ranks lose, 1 is nothing. The formula is T_c = c/B + k·λ "
    "with c = 16·k·L² B beside the time T_s that one rank takes for its cube of L³ cells."
)


def reported(record: AppRecord) -> ReportedRun:
    """A sweep."""
    asked, answer = record.parameters, record.answer.read_as(JacobiAnswer)
    return reported_run(
        record,
        int(asked["iterations"]),
        f"{asked['halo']}, {asked['faces']}",
        [answer.compute_s, answer.pack_s or [], answer.wait_s],
        rate=answer.mlups,
        bound_share=answer.fraction_of_bound,
    )


def section(runs: Runs) -> Contribution:
    """The runs, and P against ranks and grids beside the formula where there are several."""
    contribution = runs_section.section(APP, runs, reported, simulated_s)
    page = contribution.sections[0]
    compared, timed = tables_beside(runs), contribution.timed
    if not compared:
        return contribution
    # In the order of their runs, as in the figure of times: a problem has one colour on the page.
    page.figures.append(rates(sorted((beside.table for beside in compared), key=lambda it: it.first_of(timed))))
    page.tables += [beside.shown(_caption(beside.table)) for beside in compared]
    sources = dict.fromkeys(words for beside in compared for words in beside.links)
    lacking = dict.fromkeys(why for beside in compared for why in beside.lacking)
    notes = [ABOUT_TABLES, f"Used: {'; '.join(sources)}." if sources else ""]
    notes += [f"Without the formula: {why}." for why in lacking]
    studies = {kind(beside.table): study for beside in compared if (study := beside.table.study()) is not None}
    laws = laws_of(studies, page.id)
    page.figures += laws.figures
    page.tables += laws.tables
    page.note = " ".join(filter(None, [page.note, *notes, laws.note]))
    contribution.findings += findings(compared, runs.basis.launches if runs.basis else {}) + laws.findings
    return contribution


def _caption(table: ScalingTable) -> str:
    what = "weak scaling, each rank's box" if table.is_weak else "strong scaling, the whole box"
    first = "" if table.alone is None else f"; P₁ = {table.alone.mlups.value:.5g} MLUP/s"
    return f"{what} {table.name}{first}"


def tables_beside(runs: Runs) -> list[Compared]:
    """The tables of scaling beside the formula, with the λ and B that a table states or the machine file has."""
    basis = runs.basis
    links = None if basis is None else MachineLinks(basis.machine)

    def links_of(run: MeasuredGrid) -> Links:
        if (stated := stated_links(run.record)) is not None:
            return stated
        if basis is None or links is None:
            raise RequestError("there is no machine file", "")
        if why := basis.refused(run.record):
            raise RequestError(why, "")
        return links(run.grid, basis.placement(run.record))

    return [compare(table, MODELS[MODEL], links_of) for table in scaling_tables(runs.records)]


def findings(compared: Sequence[Compared], launches: Launches | None = None) -> list[Finding]:
    """Sentences on each table, the more telling first. `launches`: lines of launches.jsonl by id."""
    found = []
    for beside in compared:
        table = beside.table
        found += [*_breaks(table, launches or {}), *_efficiency(table), *_formula(beside)]
        found += which_grid(kind(table), [run.record for run in table.runs], ANCHOR, 0.5)
    return sorted(found, key=lambda finding: -finding.weight)


def kind(table: ScalingTable) -> str:
    """`Jacobi, weak scaling (…)`: the words for a table."""
    return f"Jacobi, {'weak' if table.is_weak else 'strong'} scaling ({table.name})"


def _efficiency(table: ScalingTable) -> list[Finding]:
    last = table.fastest()[-1]
    if last.ratio is None or last.grid.ranks == 1:
        return []
    efficiency = _inverse(last.ratio)
    beyond = " (more than ideal)" if efficiency.value > 1 and (efficiency.low or 0.0) > 1 else ""
    text = (
        f"{kind(table)}: {last.grid.ranks} ranks on {last.grid} reach {last.mlups.value:.4g} MLUP/s, "
        f"{_percent(efficiency)} of {last.grid.ranks} times one rank{beyond}."
    )
    return [Finding(text, ANCHOR, 0.6)]


def _breaks(table: ScalingTable, launches: Launches) -> list[Finding]:
    made = table.study()
    if made is None or made.broken is None:
        return []
    broken = made.broken
    ratio, reach = broken.ratio, ""
    if ratio.low is not None and ratio.high is not None:
        reach = f" (95 %: {ratio.low:.3g} to {ratio.high:.3g})"
    text = (
        f"{kind(table)}: between {broken.before} and {broken.after} ranks a sweep's time steps by a factor of "
        f"{ratio.value:.3g}{reach}; {_cause(table, broken, launches)}."
    )
    return [Finding(text, ANCHOR, 0.9)]


def _cause(table: ScalingTable, broken: Break, launches: Launches) -> str:
    """What begins there by the places of the ranks, or that it is not explained."""
    runs = {run.grid.ranks: run for run in table.fastest()}
    try:
        before, after = (
            placement_of_launch(launches.get(runs[ranks].record.launch, LaunchLine()), ranks)
            for ranks in (broken.before, broken.after)
        )
    except RequestError:
        return "not explained: the runs do not say where their ranks were"
    if after.ranks > len(set(after.core.tolist())) and before.ranks == len(set(before.core.tolist())):
        return f"from {broken.after} ranks on, ranks share cores (hyper-threads)"
    for what in ("node", "package", "numa"):
        if len(set(getattr(after, what).tolist())) > len(set(getattr(before, what).tolist())):
            return f"there a further {'NUMA domain' if what == 'numa' else what} begins to be used"
    return "not explained: no node, socket, NUMA domain or shared core begins there"


def _formula(compared: Compared) -> list[Finding]:
    of_formula, of_ideal = compared.errors.formula_median, compared.errors.ideal_median
    if of_formula is None or of_ideal is None:
        return []
    explained = max(0.0, 1 - of_formula / of_ideal) if of_ideal else 0.0
    text = (
        f"{kind(compared.table)}: the formula, with its communication, is off by {percent(of_formula)} of the "
        f"updates per second (median), ranks that lose nothing by {percent(of_ideal)}: communication explains "
        f"{percent(explained)} of that."
    )
    return [Finding(text, ANCHOR, 0.4)]


def _inverse(ratio: Parameter) -> Parameter:
    return Parameter(
        value=1 / ratio.value,
        low=1 / ratio.high if ratio.high else None,
        high=1 / ratio.low if ratio.low else None,
        unit="1",
    )


def _percent(share: Parameter) -> str:
    if share.low is None or share.high is None:
        return f"{_tenths(share.value)} (no interval)"
    return f"{_tenths(share.value)} (95 %: {_tenths(share.low)} to {_tenths(share.high)})"


def _tenths(share: float) -> str:
    """To a tenth of a per cent, by which efficiencies near 1 differ."""
    return f"{100 * share:.1f} %"
