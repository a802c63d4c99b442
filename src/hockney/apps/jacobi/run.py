"""`hockney run jacobi`: sweeps on one launch, their rates and what bounds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import GridChoice, JacobiStudy
from hockney.apps.launched import Runs, Told, records
from hockney.apps.stencil.calibrate import PredictionSource
from hockney.apps.stencil.choice import USUAL_CELL_S, rank_grids
from hockney.apps.stencil.grids import Grid, cells_of, factorisations, grid_of
from hockney.apps.stencil.options import Exchange
from hockney.apps.stencil.run import asking
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.stencil.steps import StencilStep
from hockney.apps.stencil.surroundings import Surroundings
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.machine.file import load
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.records.app_record import AppRecord
from hockney.report.run_tables import Column
from hockney.report.tables import Table
from hockney.units import Extents, format_time


def _answer(record: AppRecord) -> JacobiAnswer:
    return record.answer.read_as(JacobiAnswer)


def _part(record: AppRecord, of_ranks_s: list[float] | None) -> str:
    """Of a sweep, on the slowest rank."""
    return format_time(max(of_ranks_s or [0.0]) / record.parameters["iterations"])


COLUMNS: list[Column[AppRecord]] = [
    Column("variant", lambda record: record.variant or record.mpi, is_text=True),
    Column("ranks", lambda record: str(record.ranks)),
    Column("grid", lambda record: str(grid_of(record)), is_text=True),
    Column("cells", lambda record: str(cells_of(record)), is_text=True),
    Column("sweep", lambda record: format_time(record.time_s / record.parameters["iterations"])),
    Column("MLUP/s", lambda record: f"{_answer(record).mlups:.5g}"),
    Column("bound", lambda record: f"{bound:.5g}" if (bound := _answer(record).bound_mlups) else ""),
    Column("of bound", lambda record: f"{share:.1%}" if (share := _answer(record).fraction_of_bound) else ""),
    Column("compute", lambda record: _part(record, _answer(record).compute_s)),
    Column("pack", lambda record: _part(record, _answer(record).pack_s)),
    Column("MPI", lambda record: _part(record, _answer(record).wait_s)),
]


@dataclass(frozen=True)
class JacobiRuns(Runs):
    """Runs of Jacobi: `strong` scaling of one box, or `weak` of a cube for each rank."""

    scaling: str

    def text(self) -> Iterator[str | Table]:
        """The runs, and what their bounds are made of."""
        yield from super().text()
        yield from dict.fromkeys(filter(None, map(bound_in_words, self.runs)))


def run(told: Told, study: JacobiStudy, launching: AppLaunching, choice: GridChoice) -> JacobiRuns:
    """Every number of ranks and grid; without a grid that of the machine's costs, where they are given."""
    if machine := choice.machine:
        if study.grids or study.every_grid:
            raise RequestError("--grid and --machine both say which grid", "give one of them")
        costs = of_machine(load(machine), str(machine), both_ways=True)
        try:
            chosen = {
                count: fastest_grid(count, study.cells, study.subdomain or 0, study.halo, costs)
                for count in study.ranks
            }
        except RequestError as error:
            raise RequestError(error.message, "name a --grid, or leave out --machine") from error
        study = study.model_copy(update={"chosen": chosen})
    # With threads a rank has as many cores; without, binding stays as the options say.
    threads = study.threads if study.threads > 1 else None
    placed = launching.model_copy(update={"ranks": max(study.ranks), "threads": threads})
    runs = records(told, partial(asking, "jacobi", study), placed, has_free_cells=not study.cell_s)
    return JacobiRuns(runs, COLUMNS, study.scaling)


def fastest_grid(ranks: int, cells: Extents | None, side: int, halo: Exchange, costs: MachineCosts) -> Grid:
    """The grid with the shortest predicted sweep, all ranks being as far apart as was measured."""

    def on(grid: Grid) -> StencilStep:
        whole = cells or Extents(side * grid.x, side * grid.y, side * grid.z)
        return StencilStep(Stencil(whole, grid, halo), USUAL_CELL_S)

    source = PredictionSource(Surroundings(costs, lambda _: None))
    return rank_grids(on, factorisations(ranks), source, 1)[0][0].grid


def bound_in_words(record: AppRecord) -> str:
    """What the bound of a run is made of, in one line; empty for a run without."""
    answer = _answer(record)
    if answer.stream_bandwidth_B_per_s is None or answer.bytes_per_update is None:
        return ""
    stores = "non-temporal stores" if answer.non_temporal else "regular stores"
    layer = "" if answer.is_layer_kept else ", planes read more than once because they do not fit the cache"
    bandwidth = answer.stream_bandwidth_B_per_s / 1e9
    return (
        f"bound: {bandwidth:.4g} GB/s / {answer.bytes_per_update:g} B per update "
        f"({answer.instructions}, {stores}, blocks of {answer.block_rows} rows{layer})"
    )
