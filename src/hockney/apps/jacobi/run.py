"""`hockney run jacobi`: sweeps on one launch, their rates and what bounds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.jacobi.app import JacobiStudy
from hockney.apps.launched import Runs, Told
from hockney.apps.stencil.run import ran
from hockney.campaign.plan import AppLaunching
from hockney.records.app_record import AppRecord
from hockney.report.tables import Table


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
    return JacobiRuns(runs, study.scaling)


def bound_in_words(record: AppRecord) -> str:
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
