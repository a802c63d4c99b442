"""`hockney predict cg`: an iteration of conjugate gradients on process grids, and whole solutions."""

from __future__ import annotations

from hockney.apps.cg.app import CgCase
from hockney.apps.cg.iterations import solution
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers, predict_grids
from hockney.progress import Progress


def predict(progress: Progress, case: CgCase) -> GridsOfOneNumber | GridsOfSeveralNumbers:
    """With runs of several sizes also how long a whole solution takes, where they say it of such unknowns."""
    cells = case.cells
    return predict_grids(progress, case, None if cells is None else lambda runs: solution(runs, cells))
