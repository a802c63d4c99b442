"""`hockney run jacobi`: sweeps on one launch, their rates and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.apps.jacobi.app import JacobiStudy
from hockney.apps.launched import Runs, Told
from hockney.apps.stencil.run import ran
from hockney.campaign.plan import AppLaunching


@dataclass(frozen=True)
class JacobiRuns(Runs):
    """Runs of Jacobi: `strong` scaling of one box, or `weak` of a cube for each rank."""

    scaling: str


def run(told: Told, study: JacobiStudy, launching: AppLaunching) -> JacobiRuns:
    """Every number of ranks and grid."""
    # With threads a rank has as many cores; without, binding stays as the options say.
    runs = ran("jacobi", told, study, launching, study.threads if study.threads > 1 else None)
    return JacobiRuns(runs, study.scaling)
