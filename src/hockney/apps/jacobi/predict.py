"""`hockney predict jacobi`: which grid, how fast, and how much of it is communication."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.apps.jacobi.app import EXAMPLE, OF_FORMULA, JacobiCase
from hockney.apps.jacobi.printed import FORMULA, PrintedPrediction, WeakScalingCase, predict_formula
from hockney.apps.stencil.grids import parse_grids
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers, predict_grids
from hockney.errors import RequestError
from hockney.fields import refuse_written
from hockney.progress import Progress
from hockney.report.application import AppAnswer
from hockney.report.run_tables import Column, table
from hockney.report.tables import Table
from hockney.units import format_rate, format_time, percent


@dataclass(frozen=True, kw_only=True)
class FormulaGrids(WeakScalingCase, AppAnswer):
    """Grids by the formula, the fastest of each number of ranks first."""

    operation: str
    formula: str
    grids: list[PrintedPrediction]

    def text(self) -> Iterator[str | Table]:
        """The formula, what it starts from, and a row for each grid."""
        yield f"jacobi, {self.subdomain}³ cells each: {self.formula}"
        yield f"  λ = {format_time(self.latency_s)}, B = {format_rate(self.bandwidth_B_per_s)}"
        columns: list[Column[PrintedPrediction]] = [
            Column("N", lambda row: str(row.grid.ranks)),
            Column("grid", lambda row: str(row.grid), is_text=True),
            Column("k", lambda row: str(row.k)),
            Column("c", lambda row: f"{row.halo_B / 1e6:.2f} MB"),
            Column("P MLUP/s", lambda row: f"{row.mlups:.3f}"),
            Column("N·P₁/P", lambda row: f"{row.ratio:.3f}"),
            Column("time", lambda row: f"{row.time_s:.6g} s"),
            Column("communication", lambda row: format_time(row.communication_s)),
            Column("efficiency", lambda row: percent(row.efficiency)),
        ]
        yield table("", self.grids, columns)


def predict(progress: Progress, case: JacobiCase) -> GridsOfOneNumber | GridsOfSeveralNumbers | FormulaGrids:
    """Grids by simulation; by the formula where the time of one rank is what is known."""
    if case.serial_time_s is None:
        return predict_grids(progress, case)
    refuse_written(case, "with --serial-time", but=OF_FORMULA)
    latency_s, rate_B_per_s = case.network
    if latency_s is None or rate_B_per_s is None or case.subdomain is None:
        raise RequestError("--serial-time needs --network LATENCY,BANDWIDTH and --subdomain", f"as {EXAMPLE}")
    start = WeakScalingCase(case.subdomain, case.serial_time_s, latency_s, rate_B_per_s)
    grids = [predict_formula(start, grid) for grid in parse_grids(case.grids, case.ranks)]
    grids.sort(key=lambda row: (row.grid.ranks, row.time_s))
    return FormulaGrids(**vars(start), operation="jacobi", formula=FORMULA, grids=grids)
