"""Process grids ranked by predicted time: from a program's cells, costs of messages and measured runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hockney.apps.stencil.calibrate import calibrate
from hockney.apps.stencil.choice import (
    SHARES,
    USUAL_CELL_S,
    CommunicationGrowth,
    GridPrediction,
    PredictionSource,
    exceeds,
    growth,
    not_told_apart,
    predict_step,
    rank_grids,
)
from hockney.apps.stencil.grids import Grid, by_ranks
from hockney.apps.stencil.measured import Computation, MeasuredRuns, computation, largest_box_B, runs_of
from hockney.apps.stencil.options import MOST_CELLS
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.stencil.steps import SUMS, StencilStep
from hockney.apps.stencil.surroundings import Surroundings, Tuned
from hockney.apps.stencil.ways import EXCHANGES, VARIANTS, Exchange, Variant
from hockney.errors import RequestError
from hockney.predict.estimators.base import Progress
from hockney.records.app_record import AppRecord
from hockney.units import Extents

USUAL_SIDE = 480
"""Cells along each side of the whole where no size is given."""
MOST_SIMULATED = 200_000
"""Ranks of all grids together: a minute, and some gigabytes where one grid has them all."""


@dataclass(frozen=True)
class StencilProgram:
    """What runs on the grids: `operation` as `hockney run` calls it, with `formulation` if it is CG.

    `cells`: of the whole, or `subdomain`: along each side of the cube that each rank has; neither: `USUAL_SIDE`
    along each side of the whole.
    """

    operation: str
    cells: Extents | None
    subdomain: int | None
    halo: Exchange
    formulation: Variant | None = None

    @classmethod
    def checked(
        cls, operation: str, cells: Extents | None, subdomain: int | None, halo: str, formulation: str
    ) -> StencilProgram:
        """RequestError for an unknown exchange or formulation; `formulation` is empty for Jacobi."""
        if halo not in EXCHANGES:
            raise RequestError(f"unknown exchange {halo!r}", f"known: {', '.join(EXCHANGES)}")
        if not formulation:
            return cls(operation, cells, subdomain, halo)
        if formulation not in VARIANTS:
            raise RequestError(f"unknown formulation {formulation!r}", f"known: {', '.join(VARIANTS)}")
        return cls(operation, cells, subdomain, halo, formulation)

    def stencil(self, grid: Grid) -> Stencil:
        """Its cells on a grid. RequestError where they do not fit."""
        side = self.subdomain
        if side is None:
            return Stencil(self.cells or Extents(*(USUAL_SIDE,) * 3), grid, self.halo)
        cells = Extents(*(side * count for count in grid))
        if not side >= 1 or max(cells) > MOST_CELLS:
            raise RequestError(
                f"--subdomain {side} on {grid}: a direction has 1 to {MOST_CELLS} cells", "give a smaller cube"
            )
        return Stencil(cells, grid, self.halo)

    def step(self, grid: Grid, cell_s: float) -> StencilStep:
        """An iteration in which a rank takes `cell_s` for each of its cells."""
        if self.formulation is None:
            return StencilStep(self.stencil(grid), cell_s)
        return StencilStep(self.stencil(grid), cell_s, sums=SUMS, variant=self.formulation)

    def ran(self, record: AppRecord) -> bool:
        """Whether a run is of this program, so that its cells take what this one's do."""
        return record.operation == self.operation and record.parameters.get("variant") == self.formulation


@dataclass(frozen=True)
class RankedGrids:
    """Grids of one number of ranks, the fastest first; `rivals` cannot be told from it. `cells`: of the whole."""

    ordered: list[GridPrediction]
    rivals: list[GridPrediction]
    cells: tuple[int, int, int]

    @property
    def fastest(self) -> GridPrediction:
        """The first."""
        return self.ordered[0]


@dataclass(frozen=True)
class StencilPrediction:
    """`ranked`: one entry for each number of ranks, the fewest first; why other grids are `refused`.

    `alone`: the program on one rank; None where that cannot be predicted. `growth`: the share of communication as
    ranks are added; `exceeds`: where it first is more than a share of the time.
    `calibrated_on`: runs whose communication was used, which gave `tuned`.
    """

    ranked: list[RankedGrids]
    refused: dict[str, str]
    alone: GridPrediction | None
    growth: list[CommunicationGrowth]
    exceeds: dict[float, CommunicationGrowth | None]
    origin: str
    calibrated_on: int
    tuned: Tuned
    warnings: list[str]

    def speedup(self, prediction: GridPrediction) -> float | None:
        """Updates per second over those of one rank: P/P₁. The efficiency is that over the ranks."""
        return None if self.alone is None else prediction.updates_per_s / self.alone.updates_per_s


def predict_grids(
    program: StencilProgram,
    grids: Sequence[Grid],
    surroundings: Surroundings,
    iterations: int,
    cell_s: float | None,
    runs: MeasuredRuns | None,
    progress: Progress,
) -> StencilPrediction:
    """The mean of so many iterations on each grid, in seconds.

    A cell takes `cell_s`, else what it took in `runs`, else `USUAL_CELL_S`; communication is calibrated on `runs`
    where there are enough. RequestError for more ranks than are simulated at once, for runs of which none is of
    the program, and for a number of ranks of which no grid is possible.
    """
    if (together := sum(grid.ranks for grid in grids)) > MOST_SIMULATED:
        raise RequestError(
            f"{len(grids)} grids of {together} ranks together are more than the {MOST_SIMULATED} ranks that are "
            "simulated at once",
            "name fewer grids",
        )
    costs, of_ranks = surroundings.costs, by_ranks(grids)
    assumed = [costs.assumptions(surroundings.place(ranks), ranks) for ranks in of_ranks]
    warnings = [*costs.warnings, *dict.fromkeys(word for words in assumed for word in words)]
    if program.cells is None and program.subdomain is None:
        warnings.append(f"no size is given: {Extents(*(USUAL_SIDE,) * 3)} cells are taken")
    if cell_s is None and runs is None:
        warnings.append(
            "what a cell takes is not known: 1 ns is taken; --cell-time or --runs say what it is on this machine"
        )
    computed = None
    if runs is not None:
        warnings += runs.warnings
        alike = _alike(program, runs)
        computed = computation(alike) if cell_s is None else None
    if computed is not None and computed.packing_s_per_B is not None:
        surroundings = replace(surroundings, costs=replace(costs, copy_s_per_B=computed.packing_s_per_B))

    def step_on(grid: Grid) -> StencilStep:
        return program.step(grid, _cell_s(cell_s, computed, program.stencil(grid), surroundings))

    source, calibrated_on = _source(runs, surroundings, warnings, progress)
    ranked: list[RankedGrids] = []
    refused: dict[str, str] = {}
    for group in of_ranks.values():
        ordered, of_group = rank_grids(step_on, group, source, iterations)
        refused |= of_group
        fastest = program.stencil(ordered[0].grid)
        if computed is not None:
            warnings += computed.doubt(fastest)
            ordered = [_with_open_cells(prediction, program, computed, surroundings) for prediction in ordered]
        ranked.append(RankedGrids(ordered, not_told_apart(ordered, source), fastest.cells))
    growing = growth(step_on, source, iterations)
    return StencilPrediction(
        ranked,
        refused,
        _alone(step_on, source, iterations),
        growing,
        {share: exceeds(growing, share) for share in SHARES},
        costs.origin,
        calibrated_on,
        source.surroundings.tuned,
        list(dict.fromkeys(warnings)),
    )


def _alone(
    step_on: Callable[[Grid], StencilStep], source: PredictionSource, iterations: int
) -> GridPrediction | None:
    try:
        return predict_step(step_on(Grid(1, 1, 1)), source, iterations)
    except RequestError:
        return None


def _alike(program: StencilProgram, runs: MeasuredRuns) -> list[AppRecord]:
    """Runs of the program itself. RequestError without."""
    alike = [record for record in runs.records if program.ran(record)]
    if not alike:
        raise RequestError(
            f"{runs.folder} has no run of {' '.join(filter(None, (program.operation, program.formulation)))}",
            f"make some: `hockney run {program.operation} … -o {runs.folder}`",
        )
    return alike


def _cell_s(
    given_s: float | None, computed: Computation | None, stencil: Stencil, surroundings: Surroundings
) -> float:
    if given_s is not None:
        return given_s
    if computed is None:
        return USUAL_CELL_S
    return computed.at(_busy(computed, stencil.grid, surroundings)[0], largest_box_B(stencil))


def _busy(computed: Computation, grid: Grid, surroundings: Surroundings) -> tuple[int, int]:
    """The ranks on a node, and the most that there may be where no place says it."""
    place = surroundings.place(grid.ranks)
    if place is not None:
        return place.ppn, place.ppn
    usual = min(grid.ranks, max(computed.cell_s))
    return usual, usual if surroundings.costs.crosses_network(None, grid.ranks) else grid.ranks


def _with_open_cells(
    prediction: GridPrediction, program: StencilProgram, computed: Computation, surroundings: Surroundings
) -> GridPrediction:
    """The prediction with an interval that allows for what cells may take beyond the runs; none where boxes are
    of another size than theirs."""
    stencil = program.stencil(prediction.grid)
    if prediction.interval is None or not computed.has_boxes_like(stencil):
        return replace(prediction, low_s=None, high_s=None)
    fewest, most = _busy(computed, prediction.grid, surroundings)
    rank_B = largest_box_B(stencil)
    taken_s, (least_s, longest_s) = computed.at(fewest, rank_B), computed.open_at(fewest, most, rank_B)
    low_s, high_s = prediction.interval
    factor = prediction.compute_s / taken_s
    return replace(
        prediction,
        low_s=low_s - factor * (taken_s - least_s),
        high_s=high_s + factor * (longest_s - taken_s),
    )


def _source(
    runs: MeasuredRuns | None, surroundings: Surroundings, warnings: list[str], progress: Progress
) -> tuple[PredictionSource, int]:
    """Calibrated where enough runs communicate, else why not as a further warning; how many runs were used."""
    if runs is not None:
        try:
            calibrated = calibrate(runs_of(runs.records), surroundings, progress)
            return PredictionSource.of(calibrated), calibrated.runs
        except RequestError as error:
            warnings.append(f"communication is not calibrated: {error.message}")
    return PredictionSource(surroundings), 0
