"""What the sections on Jacobi and CG have in common: boxes on process grids, and their simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hockney.apps.stencil.answer import StencilAnswer
from hockney.apps.stencil.grids import box_of_each, cells_of, grid_of
from hockney.apps.stencil.measured import computation, iterations_of, runs_of
from hockney.apps.stencil.steps import iteration
from hockney.apps.stencil.surroundings import Surroundings
from hockney.errors import RequestError
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.predict.machine_costs import of_machine
from hockney.predict.place import place_of
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis
from hockney.report.run_tables import ReportedRun

MOST_RANKS = 4096
"""Of a run that is predicted: more take seconds each."""
MOST_COMPUTED = 10
"""Times of the whole: a mean over repetitions may exceed their median, but no more than that."""


def reported_run(
    record: AppRecord,
    method: str,
    parts_s: Mapping[str, Sequence[float]],
    rate: float | None,
    bound_share: float | None,
) -> ReportedRun:
    """One iteration. `parts_s`: seconds of each rank, those of computation first."""
    totals_s = {name: sum(of_ranks_s) for name, of_ranks_s in parts_s.items()}
    _, *others_s = totals_s.values()
    every_s = sum(totals_s.values())
    return ReportedRun(
        record,
        problem=str(cells_of(record)),
        count=int(iterations_of(record)),
        of_rank=str(box_of_each(record) or ""),
        grid=str(grid_of(record)),
        way=method,
        rate=rate,
        bound_share=bound_share,
        communication=sum(others_s) / every_s if every_s else None,
        parts_s=totals_s,
    )


def simulated_s(record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
    """Seconds of an iteration in the mean of a repetition's (None on one rank, which sends nothing), and what is
    assumed.

    RequestError for a run too large to simulate, or one that contradicts itself.
    """
    if record.ranks == 1:
        return None, []
    if record.ranks > MOST_RANKS:
        raise RequestError(f"more than {MOST_RANKS} ranks take too long to simulate", "")
    answer = record.answer.read_as(StencilAnswer)
    if max(answer.compute_s) > MOST_COMPUTED * record.time_s:
        raise RequestError("it says that it computed for longer than it ran", "")
    (run,) = runs_of([record])
    surroundings = _surroundings(basis, record)
    if answer.pack_s is not None:
        costs = surroundings.costs.replaced({"copy_s_per_B": computation([record]).packing_s_per_B})
        surroundings = replace(surroundings, costs=costs)
    assumptions = surroundings.costs.assumptions(surroundings.place(record.ranks), record.ranks)
    return iteration(run.step, surroundings).mean_s(run.iterations), assumptions


def _surroundings(basis: Basis, record: AppRecord) -> Surroundings:
    """Costs and placement with which the run is simulated. RequestError for a file without ping-pongs."""
    key = Surroundings, record.variant, record.launch, record.nodes
    if key not in basis.kept:
        launch = basis.launches.get(record.launch)
        basis.kept[key] = Surroundings(
            of_machine(basis.of(record), basis.origin, both_ways=True).on_nodes(record.nodes),
            lambda ranks: place_of(placement_of_launch(launch, ranks)) if launch and launch.ranks else None,
        )
    surroundings: Surroundings = basis.kept[key]
    return surroundings
