"""Jacobi in three dimensions: the grid that is predicted fastest, and what came of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.stencil.choice import USUAL_CELL_S, PredictionSource, rank_grids
from hockney.apps.stencil.grids import Grid, factorisations
from hockney.apps.stencil.stencil import Exchange, Stencil
from hockney.apps.stencil.steps import StencilStep
from hockney.apps.stencil.surroundings import Surroundings
from hockney.predict.machine_costs import MachineCosts
from hockney.records.app_record import AppRecord
from hockney.units import Extents, format_time


def fastest_grid(ranks: int, cells: Extents | None, side: int, halo: Exchange, costs: MachineCosts) -> Grid:
    """The grid with the shortest predicted sweep, all ranks being as far apart as was measured."""

    def on(grid: Grid) -> StencilStep:
        whole = cells or Extents(side * grid.x, side * grid.y, side * grid.z)
        return StencilStep(Stencil(whole, grid, halo), USUAL_CELL_S)

    source = PredictionSource(Surroundings(costs, lambda _: None))
    return rank_grids(on, factorisations(ranks), source, 1)[0][0].grid


def wrong(records: Sequence[AppRecord]) -> list[AppRecord]:
    """Those whose solution is not what it must be after so many sweeps."""
    return [record for record in records if record.answer.verified is False]


HEADINGS = ("variant", "ranks", "grid", "cells", "sweep", "MLUP/s", "bound", "of bound", "compute", "pack", "MPI")
LEFT = {"variant", "grid", "cells"}


def table(records: Sequence[AppRecord]) -> list[str]:
    """A line for each run below a heading: time of a sweep, rate, bound and share, parts of the slowest rank."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    for record in records:
        parameters, answer = record.parameters, record.answer.read_as(JacobiAnswer)
        sweeps = parameters["iterations"]
        bound, share = answer.bound_mlups, answer.fraction_of_bound
        rows.append(
            (
                record.variant or record.mpi,
                str(record.ranks),
                "x".join(str(parameters[key]) for key in ("px", "py", "pz")),
                "x".join(str(parameters[key]) for key in ("nx", "ny", "nz")),
                format_time(record.time_s / sweeps),
                f"{answer.mlups:.5g}",
                f"{bound:.5g}" if bound else "",
                f"{100 * share:.1f} %" if share else "",
                *(
                    format_time(max(of_ranks_s) / sweeps)
                    for of_ranks_s in (answer.compute_s, answer.pack_s, answer.wait_s)
                ),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(HEADINGS, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def explained(record: AppRecord) -> str:
    """What the bound of a run is made of, in one line; empty for a run without."""
    answer = record.answer.read_as(JacobiAnswer)
    if answer.stream_bandwidth_B_per_s is None or answer.bytes_per_update is None:
        return ""
    stores = "non-temporal stores" if answer.non_temporal else "regular stores"
    layer = "" if answer.is_layer_kept else ", planes read more than once because they do not fit the cache"
    bandwidth = answer.stream_bandwidth_B_per_s / 1e9
    return (
        f"bound: {bandwidth:.4g} GB/s / {answer.bytes_per_update:g} B per update "
        f"({answer.instructions}, {stores}, blocks of {answer.block_rows} rows{layer})"
    )
