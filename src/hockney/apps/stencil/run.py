"""Runs of Jacobi and CG: every number of ranks and each of its grids on one launch."""

from __future__ import annotations

from functools import partial

from hockney.apps.launched import Launched, Told, records
from hockney.apps.stencil.options import StencilStudy
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.records.app_record import AppRecord


def ran(
    operation: str, told: Told, study: StencilStudy, launching: AppLaunching, threads: int | None = None
) -> list[AppRecord]:
    """What `records` keeps of a study; with `threads` a rank has as many cores."""
    placed = launching.model_copy(update={"ranks": max(study.ranks), "threads": threads})
    return records(told, partial(_asking, operation, study), placed, has_free_cells=not study.cell_s)


def _asking(operation: str, study: StencilStudy, launched: Launched) -> Asking[AppRecord]:
    """One run after another."""
    for ranks, asked in study.requests(is_simulated=launched.placement[0].simulated):
        yield launched.request(operation, asked, ranks)
