"""`hockney predict sum3d`: what scattering, adding and gathering matrices takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hockney.apps.stencil.grids import GridText, check_ranks
from hockney.apps.stencil.loads import as_lines, loads, usual_grid
from hockney.apps.sum3d.answer import PARTS
from hockney.apps.sum3d.app import Sum3dCase
from hockney.apps.sum3d.model import Sum3dPrediction, costs_of, predict_sum3d
from hockney.errors import RequestError
from hockney.predict.network_figures import figures_of, machine_of
from hockney.progress import Progress
from hockney.report.application import AppAnswer, Row
from hockney.report.run_tables import Column, table
from hockney.report.tables import Table
from hockney.units import Extents, counted, format_time, percent


@dataclass(frozen=True, kw_only=True)
class PredictedSum(Sum3dPrediction, AppAnswer):
    """A cycle on a grid, with the shares of its parts; `elements` of each rank. Memory bandwidths of a rank."""

    operation: str
    size: list[int]
    grid: GridText
    split: str
    machine: Path
    memory_bandwidth_B_per_s: float
    shares: dict[str, float]
    elements: list[int]

    def text(self) -> Iterator[str | Table]:
        """What each rank gets, and the time of each part."""
        how = f"{self.split} — {self.algorithm}, {self.origin}"
        yield f"{Extents(*self.size)} on {counted(self.ranks, 'rank')}, grid {self.grid}, {how}"
        yield from as_lines(self.elements)
        columns: list[Column[str]] = [
            Column("part", str, is_text=True),
            Column(
                "time", lambda name: format_time(self.time_s if name == "all" else getattr(self, f"{name}_s"))
            ),
            Column("share", lambda name: percent(self.shares[name]) if name in self.shares else ""),
        ]
        yield table("", [*self.shares, "all"], columns)

    def rows(self) -> list[Row]:
        """A row as a table has it: the whole time and its parts in seconds, and what they were computed with."""
        left_out = ("warnings", "shares", "elements", "machine")
        own = {name: value for name, value in vars(self).items() if name not in left_out}
        return [{**own, "time_s": self.time_s, "size": str(Extents(*self.size)), "grid": str(self.grid)}]


def predict(_: Progress, case: Sum3dCase) -> PredictedSum:
    """The time of a cycle by part; RequestError for what cannot be predicted."""
    memory_B_per_s = case.memory_bandwidth_B_per_s
    if memory_B_per_s is None:
        raise RequestError(
            "sum3d needs --memory-bandwidth", "for example 10GB/s; `hockney run sum3d` measures it in each run"
        )
    if case.ranks is None and case.grid is None:
        raise RequestError("sum3d needs --ranks or --grid", "for example --ranks 24")
    grid = case.grid or usual_grid(case.size, case.ranks or 1, case.split)
    check_ranks(grid, [grid.ranks if case.ranks is None else case.ranks])
    elements = loads(case.size, grid, case.split)
    network = figures_of(case)
    if network.are_given and case.locality not in ("", "network"):
        raise RequestError(
            f"--locality {case.locality} says that no message goes between nodes",
            "leave out --network",
        )
    costs = costs_of(machine_of(case), str(case.machine), case.size, case.locality, network)
    predicted = predict_sum3d(case.size, grid, case.split, costs, memory_B_per_s, algorithm=case.algorithm)
    parts_s = {name: getattr(predicted, name) for name in (*PARTS, "pack_s")}
    return PredictedSum(
        **vars(predicted),
        operation="sum3d",
        size=list(case.size),
        grid=grid,
        split=case.split,
        machine=case.machine,
        memory_bandwidth_B_per_s=memory_B_per_s,
        shares={name.removesuffix("_s"): part_s / predicted.time_s for name, part_s in parts_s.items()},
        elements=elements,
    )
