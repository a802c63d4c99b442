"""How many iterations conjugate gradients need, from runs of several sizes."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.stencil.grids import cells_of
from hockney.apps.stencil.measured import MeasuredRuns
from hockney.apps.stencil.solution import IterationsLaw, Solution, equal_side, fit_iterations
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.units import Extents

FARTHEST = 2.0
"""How far beyond the sizes of the runs a law is followed without a warning."""


def sides_of(cells: Extents) -> tuple[int, ...]:
    """Unknowns along each direction that there is: a plane has two."""
    return (cells.x, cells.y) if cells.z == 1 else tuple(cells)


def solved(records: Sequence[AppRecord]) -> dict[tuple[int, float], dict[float, int]]:
    """Iterations of converged runs: by (dimensions, eps), then by n of `equal_side`; the most of equal sizes.

    Neither the process grid nor the formulation changes them, but for rounding.
    """
    found: dict[tuple[int, float], dict[float, int]] = {}
    for record in records:
        answer, asked = record.answer.read_as(CgAnswer), record.parameters
        if not (answer.converged and asked["eps"] > 0):
            continue
        sides = sides_of(cells_of(record))
        of_kind = found.setdefault((len(sides), float(asked["eps"])), {})
        side = equal_side(sides)
        of_kind[side] = max(of_kind.get(side, 0), answer.iterations)
    return found


def laws(records: Sequence[AppRecord]) -> dict[tuple[int, float], IterationsLaw]:
    """A law for each (dimensions, eps) of which two sizes or more converged."""
    return {
        kind: fit_iterations(list(counts), list(counts.values()))
        for kind, counts in solved(records).items()
        if len(counts) > 1
    }


def solution(runs: MeasuredRuns, cells: Extents) -> Solution:
    """What the runs say of a whole solution on so many unknowns; RequestError where they do not say it."""
    dimensions = len(sides_of(cells))
    records = [record for record in runs.records if record.operation == "cg"]
    known = {kind[1]: counts for kind, counts in solved(records).items() if kind[0] == dimensions}
    if not known:
        raise RequestError(
            f"{runs.folder} has no run in {dimensions} dimensions that converged",
            f"make some of several sizes: `hockney run cg --size … -o {runs.folder}`",
        )
    if len(known) > 1:
        raise RequestError(
            f"the runs of {runs.folder} end at several eps: {', '.join(f'{eps:g}' for eps in sorted(known))}",
            "keep those of each in a folder of its own",
        )
    ((eps, counts),) = known.items()
    law = fit_iterations(list(counts), list(counts.values()))
    side = equal_side(sides_of(cells))
    warnings = []
    if not law.smallest_n / FARTHEST <= side <= law.largest_n * FARTHEST:
        warnings.append(
            f"n = {side:.4g} is far from the sizes of the runs, {law.smallest_n:.4g} to {law.largest_n:.4g}: "
            "their law of iterations may not hold there"
        )
    return Solution(**vars(law), iterations=law.at(side), eps=eps, warnings=warnings)
