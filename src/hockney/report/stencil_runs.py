"""What the sections on Jacobi and CG have in common: boxes on process grids, and their simulation."""

from __future__ import annotations

from hockney.campaign.app_record import AppRecord
from hockney.errors import RequestError
from hockney.predict.apps.measured import runs_of
from hockney.predict.apps.steps import iteration
from hockney.report.apps.base import Basis

MOST_RANKS = 4096
"""Of a run that is predicted: more take seconds each."""
ABOUT_PREDICTION = (
    "only communication is predicted, simulated with the measured messages between two ranks; what a cell "
    "takes is what each run measured itself."
)


def sides(record: AppRecord, letter: str) -> str:
    """`nx`, `ny` and `nz` of the request as 400x400x400, or of the grid with `p`."""
    return "x".join(str(int(record.parameters[f"{letter}{axis}"])) for axis in "xyz")


def of_rank(record: AppRecord) -> str:
    """One rank's box where all have the same, else nothing."""
    along = [(int(record.parameters[f"n{axis}"]), int(record.parameters[f"p{axis}"])) for axis in "xyz"]
    return "" if any(n % p for n, p in along) else "x".join(str(n // p) for n, p in along)


def simulated_s(record: AppRecord, basis: Basis, sums: str | None) -> float:
    """Seconds of an iteration in the mean of a repetition's.

    `sums`: the schedule of its allreduce; None: it has none. RequestError for a run too large to simulate.
    """
    if record.ranks > MOST_RANKS:
        raise RequestError(f"more than {MOST_RANKS} ranks take too long to simulate", "")
    (run,) = runs_of([record], sums)
    return iteration(run.step, basis.surroundings(record)).mean_s(run.iterations)
