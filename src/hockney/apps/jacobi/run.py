"""`hockney run jacobi`: sweeps on one launch, their rates and what bounds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import JacobiStudy
from hockney.apps.launched import Runs, Told
from hockney.apps.stencil.grids import cells_of, grid_of
from hockney.apps.stencil.run import ran
from hockney.campaign.plan import AppLaunching
from hockney.records.app_record import AppRecord
from hockney.report.run_tables import Column
from hockney.report.tables import Table
from hockney.units import format_time, percent


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
    Column("of bound", lambda record: percent(share) if (share := _answer(record).fraction_of_bound) else ""),
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


def run(told: Told, study: JacobiStudy, launching: AppLaunching) -> JacobiRuns:
    """Every number of ranks and grid."""
    # With threads a rank has as many cores; without, binding stays as the options say.
    runs = ran("jacobi", told, study, launching, study.threads if study.threads > 1 else None)
    return JacobiRuns(runs, COLUMNS, study.scaling)


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
