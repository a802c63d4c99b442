"""`hockney predict cg`: an iteration of conjugate gradients on process grids, and whole solutions."""

from __future__ import annotations

from hockney.apps.cg.app import CgCase
from hockney.apps.cg.iterations import solution
from hockney.apps.stencil.measured import MeasuredRuns
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers, predict_grids
from hockney.apps.stencil.solution import Solution
from hockney.errors import RequestError
from hockney.predict.estimators.base import Progress


def predict(progress: Progress, case: CgCase) -> GridsOfOneNumber | GridsOfSeveralNumbers:
    """Grids by simulation, with the time of a solution where runs say how many iterations it takes."""
    unsolved: list[str] = []

    def of_runs(runs: MeasuredRuns) -> Solution | None:
        if case.cells is None:
            return None
        try:
            return solution(runs, case.cells, case.eps)
        except RequestError as error:
            if case.eps is not None:
                raise
            unsolved.append(f"no time of a solution: {error.message}; {error.hint}")
            return None

    answer = predict_grids(progress, case, of_runs)
    answer.warnings.extend(unsolved)
    return answer
