"""What runs of Jacobi say, in sentences: how well it scales, where it breaks, which grid, and the formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hockney.apps.jacobi.compared import Compared
from hockney.apps.jacobi.scaling import MeasuredGrid, ScalingTable
from hockney.apps.stencil.told_apart import are_told_apart
from hockney.errors import RequestError
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.models.base import Parameter
from hockney.models.scaling.fit import Break
from hockney.report.findings import Finding
from hockney.report.marks import percent

ANCHOR = "app-jacobi"


def findings(
    compared: Sequence[Compared], launches: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Finding]:
    """Sentences on each table, the more telling first. `launches`: lines of launches.jsonl by id."""
    found = [
        finding
        for one in compared
        for finding in (
            *_breaks(one.table, launches or {}),
            *_efficiency(one.table),
            *_grid(one.table),
            *_formula(one),
        )
    ]
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


def _breaks(table: ScalingTable, launches: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
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


def _cause(table: ScalingTable, broken: Break, launches: Mapping[str, Mapping[str, Any]]) -> str:
    """What begins there by the places of the ranks, or that it is not explained."""
    runs = {run.grid.ranks: run for run in table.fastest()}
    try:
        before, after = (
            placement_of_launch(launches.get(runs[ranks].record.launch, {}), ranks)
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


def _grid(table: ScalingTable) -> list[Finding]:
    """Which grid, on the most ranks of which there are several."""
    by_ranks: dict[int, list[MeasuredGrid]] = {}
    for run in table.runs:
        by_ranks.setdefault(run.grid.ranks, []).append(run)
    several = [ranks for ranks, runs in by_ranks.items() if len({run.grid for run in runs}) > 1]
    if not several:
        return []
    ordered = sorted(by_ranks[max(several)], key=lambda run: -run.mlups.value)
    best, worst = ordered[0], ordered[-1]
    margin = best.mlups.value / worst.mlups.value - 1
    if not are_told_apart([run.record for run in ordered]):
        text = f"{kind(table)}: on {max(several)} ranks no process grid can be told from the others."
        return [Finding(text, ANCHOR, 0.3)]
    is_bounded = all(run.record.high_s is not None for run in ordered)
    without = "" if is_bounded else "; not all runs have intervals"
    text = (
        f"{kind(table)}: on {max(several)} ranks the grid {best.grid} is {percent(margin)} faster than "
        f"{worst.grid}{without}."
    )
    return [Finding(text, ANCHOR, 0.5)]


def _formula(compared: Compared) -> list[Finding]:
    errors = compared.errors()
    of_formula, of_ideal = errors["formula_median"], errors["ideal_median"]
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
