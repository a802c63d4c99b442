"""`hockney run sum3d`: matrices scattered, added and gathered, beside what the model says of it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.apps.launched import Repetitions
from hockney.apps.run import run, run_app
from hockney.apps.stencil.grids import Grid, parse_grids
from hockney.apps.sum3d.options import Sum3dCosts, parse_sizes, refuse_beside_table
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.runner.inventory import inventory
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without
from hockney.units import Extents, format_rate, format_time, parse_rate
from hockney.words import names

with later():
    from hockney.apps.stencil.loads import SPLITS, as_lines, loads
    from hockney.apps.sum3d.answer import Sum3dAnswer
    from hockney.apps.sum3d.collectives import MeasuredCollectives
    from hockney.apps.sum3d.model import costs_of
    from hockney.apps.sum3d.study import (
        Comparison,
        Sum3dProblem,
        Sum3dSweep,
        comparison,
        expect_measured,
        problem_of,
        summary,
    )
    from hockney.machine.file import load
    from hockney.predict.machine_costs import MachineCosts
    from hockney.records.app_record import AppRecord


SIMULATED_MEMORY = "10GB/s"
USUAL_ROUNDS = 5
"""Of several configurations: drift then hits all of them alike."""
FEW_RANKS = 8
"""Whose parts are all shown; of more, rank 0 and the slowest."""


class Sum3dStudy(BaseModel):
    """What is summed, on which grids, how it is split and how often."""

    nx: Annotated[int | None, Argument("Elements along x.", metavar="nx")] = None
    ny: Annotated[int | None, Argument("Elements along y.", metavar="ny")] = None
    nz: Annotated[int | None, Argument("Elements along z.", metavar="nz")] = None
    sizes: Annotated[
        list[str],
        Option("Elements, in place of nx ny nz; repeat for several.", flags=("--size",)),
    ] = Field(default_factory=list)
    grid: Annotated[
        list[str],
        Option(
            "Or several; all: every grid of --ranks; shapes: each once, longest along x. [default: as "
            "alike as possible]",
            read=names,
        ),
    ] = Field(default_factory=list)
    split: Annotated[
        list[str],
        Option(
            "balanced: all elements over all ranks; cartesian: as many as the grid says, in pieces; "
            "blocks: the blocks of the grid themselves. Or several.",
            read=names,
            show=",".join,
        ),
    ] = ["balanced"]
    pack: Annotated[
        bool,
        Option(
            "With --split blocks: rank 0 copies each block into a buffer itself, in place of a datatype.",
            flags=("--pack",),
        ),
    ] = False
    ranks: Annotated[int | None, Option("[default: the cores of this host]"), Field(ge=1)] = None
    repetitions: Repetitions = None
    cycles: Annotated[int, Option("Cycles of a repetition, whose time is their mean.")] = 1
    rounds: Annotated[
        int | None,
        Option("Visits of each configuration, in a new random order each time. [default: 1; 5 of several]"),
        Field(ge=1),
    ] = None
    seed: Annotated[int, Option("The elements and the order.")] = 1
    generate: Annotated[
        bool,
        Option("Rank 0 makes the elements anew in each cycle.", flags=("--generate",)),
    ] = False
    fresh: Annotated[
        bool,
        Option("Every rank has new memory for its parts in each cycle.", flags=("--fresh",)),
    ] = False
    loads_only: Annotated[
        bool,
        Option("How many elements each rank gets.", flags=("--dry-run",)),
    ] = False
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            f"Of a simulated host; a real host's is measured. [default: {SIMULATED_MEMORY}]",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None


class Predicting(Sum3dCosts):
    """What predictions beside the measured times are from."""

    machine: Annotated[Path | None, Option("Predictions beside what was measured.")] = None
    table: Annotated[
        Path | None,
        Option("With --machine: this library's scatter and gather on as many ranks."),
    ] = None


@verb(
    "sum3d",
    examples="""
hockney run sum3d 240 100 100 --ranks 2 --machine machine.json
hockney run sum3d 2400 100 100 --grid 8x3x1 --split cartesian --repetitions 10 --cycles 50
hockney run sum3d --size 240x100x100 --size 120x200x100 --ranks 4 --grid all --split balanced,cartesian -o sums
hockney run sum3d 800 300 100 --grid 6x4x1 --split cartesian --dry-run
hockney run sum3d 64 64 64 --ranks 8 --split blocks --pack --mpi smpi --platform cluster.xml
""",
    of=run,
)
def sum3d(
    study: Sum3dStudy,
    predicting: Predicting,
    launching: Annotated[AppLaunching, Without("ranks")],
    json: JsonOption = False,
) -> None:
    """C = A + B of random matrices that rank 0 holds: two scatters, the sum and a gather, by collectives alone.

    Says what each rank gets, mean and 95 % interval over the repetitions, and the shares of scatter, sum, gather
    and packing. Every element of the result is checked bitwise. Of several sizes, grids or splits there is a
    table, and a test whether the grid matters.
    """
    if study.memory_bandwidth_B_per_s is not None and not launching.platform:
        raise RequestError("--memory-bandwidth is that of a simulated host", "leave it out: it is measured")
    if predicting.table is not None:
        refuse_beside_table(predicting)
    problems = _problems(study)
    if study.loads_only:
        _show_loads(problems, as_json=json)
        return
    costs = {size: _costs(size, predicting) for size in dict.fromkeys(problem.size for problem in problems)}
    collectives = MeasuredCollectives.of(predicting.table) if predicting.table else None
    if collectives is not None:
        for problem in problems:
            expect_measured(problem, collectives)
    bandwidth_B_per_s = study.memory_bandwidth_B_per_s
    sweep = Sum3dSweep(
        problems,
        {
            "seed": study.seed,
            "cycles": study.cycles,
            "repetitions": study.repetitions,
            "bandwidth_B_per_s": parse_rate(SIMULATED_MEMORY) if bandwidth_B_per_s is None else bandwidth_B_per_s,
            "generate": study.generate,
            "fresh": study.fresh,
        },
        rounds=study.rounds or (1 if len(problems) == 1 else USUAL_ROUNDS),
        seed=study.seed,
    )
    records = run_app(sweep.asking, launching.model_copy(update={"ranks": problems[0].grid.ranks}))
    allocates, algorithm = predicting.write_allocate, predicting.algorithm
    summaries = []
    for record in records:
        problem = problem_of(record)
        known = costs[problem.size]
        summaries.append(
            summary(
                problem,
                record,
                known if known is not None and _reaches(known, record) else None,
                write_allocate=allocates,
                algorithm=algorithm,
                collectives=collectives,
            )
        )
    compared = comparison(records)
    if json:
        say.json(
            {
                "runs": [
                    {**record.model_dump(), **of_run} for record, of_run in zip(records, summaries, strict=True)
                ],
                **compared.as_data(),
            }
        )
    elif len(problems) == 1 and len(records) == 1:
        _show(problems[0], records, summaries)
    else:
        _show_comparison(compared, summaries)
    if wrong := [record for record in records if not record.answer.verified]:
        answer_no(
            f"{wrong[0].answer.read_as(Sum3dAnswer).wrong_elements} elements are wrong with {wrong[0].mpi}",
            "this MPI delivers wrong data: please report it to its makers",
            as_json=json,
        )


def _problems(study: Sum3dStudy) -> list[Sum3dProblem]:
    """Each size on each grid by each split. RequestError for what does not fit together."""
    along = (study.nx, study.ny, study.nz)
    if study.sizes and any(one is not None for one in along):
        raise RequestError("nx ny nz and --size say the same", "leave one out")
    if not study.sizes and None in along:
        raise RequestError("sum3d needs nx ny nz, or --size", "for example 240 100 100, or --size 240x100x100")
    sizes = parse_sizes(study.sizes) or [Extents(*(one or 0 for one in along))]
    several = not study.grid or {"all", "shapes"} & set(study.grid)
    ranks = study.ranks or (inventory().cores if several else None)
    grids: list[Grid | None] = [None]
    if study.grid:
        grids = [*parse_grids(["all"] if "shapes" in study.grid else study.grid, [ranks] if ranks else [])]
    if "shapes" in study.grid:
        if len(study.grid) > 1:
            raise RequestError("--grid shapes holds one grid of each shape", "leave the others out")
        grids = [grid for grid in grids if grid is not None and list(grid) == sorted(grid, reverse=True)]
    named = not study.grid or not several
    problems = []
    for size, split, grid in product(sizes, dict.fromkeys(study.split), grids):
        try:
            of_ranks = ranks if grid is None else grid.ranks
            problems.append(Sum3dProblem.checked(size, of_ranks or 1, grid, split, packed=study.pack))
        except RequestError:
            # Of all grids, those that fit are meant.
            if named or split not in SPLITS or study.pack:
                raise
    if not problems:
        raise RequestError(f"no grid of {ranks} processes fits a matrix of {sizes[0]}", "ask for fewer ranks")
    counts = sorted({problem.grid.ranks for problem in problems})
    if len(counts) > 1 and not study.loads_only:
        raise RequestError(
            f"grids of {' and '.join(map(str, counts))} processes do not fit one launch",
            "name grids of as many processes, and launch once for each number",
        )
    return problems


def _reaches(costs: MachineCosts, record: AppRecord) -> bool:
    """Whether the costs hold for the nodes of this run; says why not."""
    try:
        costs.on_nodes(record.nodes).check_network(None, record.ranks)
    except RequestError as error:
        say.warn(f"not predicted: {error.message}")
        return False
    return True


def _costs(size: Extents, predicting: Predicting) -> MachineCosts | None:
    if predicting.machine is None:
        if predicting.locality or predicting.cache:
            raise RequestError("--locality and --cache are of predictions", "name a --machine")
        return None
    return costs_of(
        load(predicting.machine), str(predicting.machine), size, predicting.locality, predicting.cache
    )


def _show_loads(problems: list[Sum3dProblem], *, as_json: bool) -> None:
    shown = []
    for problem in problems:
        of_ranks = loads(problem.size, problem.grid, problem.split)
        shown.append(
            {
                "operation": "sum3d",
                "size": list(problem.size),
                "grid": str(problem.grid),
                "split": problem.split,
                "elements": of_ranks,
                "loads": as_lines(of_ranks),
            }
        )
        if as_json:
            continue
        if len(problems) > 1:
            say.line(f"{problem.size}, grid {problem.grid}, {problem.split}")
        for line in as_lines(of_ranks):
            say.line(line)
    if as_json:
        say.json(shown[0] if len(shown) == 1 else {"operation": "sum3d", "loads": shown})


def _show_comparison(compared: Comparison, summaries: list[dict[str, Any]]) -> None:
    shown = Table(box=None)
    rows = compared.rows()
    for heading in rows[0]:
        shown.add_column(
            heading, justify="left" if "ranks" in heading else "right", no_wrap="ranks" not in heading
        )
    for row in rows:
        shown.add_row(*row.values())
    say.table(shown)
    for sentence in compared.sentences:
        say.line(sentence)
    off = [
        error
        for of_run in summaries
        if of_run["predicted"] and (error := of_run["predicted"]["parts"]["time_s"]["error"]) is not None
    ]
    if off:
        sizes = sorted(abs(error) for error in off)
        say.line(
            f"predicted: {len(off)} runs, error of the cycle median {sizes[len(sizes) // 2]:.1%}, largest "
            f"{sizes[-1]:.1%}"
        )


def _show(problem: Sum3dProblem, records: list[AppRecord], summaries: list[dict[str, Any]]) -> None:
    for record, of_run in zip(records, summaries, strict=True):
        title = f"{problem.size} on {record.ranks} ranks, grid {problem.grid}, {problem.split}, {record.mpi}"
        say.line(f"{title}{f', {record.variant}' if record.variant else ''}")
        for line in of_run["loads"]:
            say.line(line)
        _show_statistics(record, of_run["statistics"])
        _show_parts(record, of_run)
        if (apart := of_run["apart"]) is not None and apart["error"] is not None:
            say.line(
                f"parts timed apart, behind barriers: {format_time(apart['time_s'])} in all "
                f"({format_time(apart['low_s'])} to {format_time(apart['high_s'])}), {apart['error']:+.1%}"
            )
        if of_run["predicted"]:
            _show_predicted(of_run["predicted"])


def _show_statistics(record: AppRecord, statistics: dict[str, Any]) -> None:
    cycles = record.parameters["cycles"]
    text = f"{statistics['runs']} repetitions of {cycles} cycle{'s' * (cycles > 1)}: "
    text += f"mean {statistics['mean_s']:.6g} s"
    if statistics["standard_deviation_s"] is not None:
        text += f", S {statistics['standard_deviation_s']:.3g} s, 95 % interval "
        text += f"[{statistics['student_low_s']:.6g}, {statistics['student_high_s']:.6g}] s by Student's t, "
        text += f"[{statistics['normal_low_s']:.6g}, {statistics['normal_high_s']:.6g}] s with c = 1.96"
    say.line(text + f"; median {record.time_s:.6g} s")


def _show_parts(record: AppRecord, of_run: dict[str, Any]) -> None:
    shares, answer = of_run["shares"], record.answer.read_as(Sum3dAnswer)
    slowest = shares["slowest"]
    names = list(shares["by_rank"][0])
    shown = Table(box=None)
    for heading in ("rank", *names, "memory", "in place"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for rank in range(record.ranks) if record.ranks <= FEW_RANKS else dict.fromkeys((0, slowest)):
        cells = [f"{format_time(answer.parts_s[f'{n}_s'][rank])} {shares['by_rank'][rank][n]:.1%}" for n in names]
        rates = [
            format_rate(of_ranks[rank])
            for of_ranks in (answer.memory_bandwidth_B_per_s, answer.sum_bandwidth_B_per_s)
        ]
        mark = "*" if rank == slowest else ""
        shown.add_row(f"{rank}{mark}", *cells, *rates)
    say.table(shown)
    say.line("* spends the most; time and its share by part; STREAM's triad alone, and in place of the sum")


def _show_predicted(predicted: dict[str, Any]) -> None:
    shown = Table(box=None)
    for heading in ("part", "predicted", "measured", "error"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for name, part in predicted["parts"].items():
        error = "–" if part["error"] is None else f"{part['error']:+.1%}"
        shown.add_row(
            name.removesuffix("_s"), format_time(part["predicted_s"]), format_time(part["measured_s"]), error
        )
    how = "from scatters and gathers of" if predicted["algorithm"] == "measured" else predicted["algorithm"] + ","
    say.line(f"predicted {how} {predicted['origin']}")
    say.table(shown)
    if predicted["inside"] is not None:
        say.line(f"the prediction lies {'inside' if predicted['inside'] else 'outside'} the run's 95 % interval")
    for warning in predicted["warnings"]:
        say.warn(warning)
