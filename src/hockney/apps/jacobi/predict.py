"""`hockney predict jacobi`: which grid, how fast, and where communication starts to matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel

from hockney.apps.jacobi.printed import jacobi_models
from hockney.apps.stencil.grids import parse_grids
from hockney.apps.stencil.options import parse_cells
from hockney.apps.stencil.verb import StencilCase, predict_stencil
from hockney.errors import RequestError
from hockney.fields import Option, flag, options
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import Extents, parse_rate, parse_time
from hockney.words import listed

with later():
    from hockney.apps.jacobi.compared import compare, prediction_data
    from hockney.apps.jacobi.links import Links, MachineLinks
    from hockney.apps.jacobi.printed import (
        PrintedPrediction,
        WeakScalingCase,
        exceeds,
        rank,
        weak_scaling,
    )
    from hockney.apps.jacobi.printed import predict as predict_formula
    from hockney.apps.jacobi.scaling import MeasuredGrid, scaling_tables, stated_links
    from hockney.apps.jacobi.tables import growth_in_words, show_comparison, show_grids, show_links
    from hockney.apps.stencil.choice import SHARES
    from hockney.apps.stencil.grids import Grid, by_ranks
    from hockney.machine.file import load
    from hockney.machine.placement import placement
    from hockney.machine.placement_of_launch import placement_of_launch
    from hockney.machine.select import parse_where
    from hockney.machine.system import find_system
    from hockney.predict.network_figures import has_machine, refuse_places
    from hockney.records.folder import Campaign


EXAMPLE = (
    "hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 "
    "--grid 24x1x1 --model weak_scaling_jacobi"
)


class JacobiCase(StencilCase):
    """Which sweeps are predicted."""

    operation: str = "jacobi"
    cells: Annotated[
        Extents | None,
        Option(
            "Cells: 400 is a cube; the same on any number of ranks.",
            flags=("--size",),
            read=parse_cells,
        ),
    ] = None


OF_FORMULAS = {"subdomain", "grids", "ranks", "runs", "machine", "where", "system", "mapping", "nodes", "ppn"}
"""Fields of a case that mean something for the formulas of --model."""


class FormulaOptions(BaseModel):
    """A formula, and what it takes."""

    model: Annotated[str | None, Option(f"Formula: {listed(jacobi_models.names())}.")] = None
    serial_time_s: Annotated[
        float | None,
        Option(
            "Formulas: what one rank takes for its subdomain alone.", flags=("--serial-time",), read=parse_time
        ),
    ] = None
    latency_s: Annotated[
        float | None,
        Option("For formulas.", flags=("--latency",), read=parse_time),
    ] = None
    bandwidth_B_per_s: Annotated[
        float | None,
        Option("For formulas.", flags=("--bandwidth",), read=parse_rate),
    ] = None
    locality: Annotated[
        str,
        Option("Neighbours, for formulas, where --machine gives the latency and the bandwidth."),
    ] = ""


@verb(
    "jacobi",
    examples=f"""
hockney predict jacobi --size 800 --ranks 48 --grid all --cell-time 0.9ns
hockney predict jacobi --size 800 --ranks 48 --grid all --runs folder --machine machine.json --json
{EXAMPLE} --json
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --ranks 48 --grid all --model weak_scaling_jacobi_per_message
hockney predict jacobi --model weak_scaling_jacobi --serial-time 15.3276s --subdomain 1200 --machine orfeo_thin --locality network --grid 12x1x1 --grid 24x1x1
hockney predict jacobi --model weak_scaling_jacobi --runs folder --machine machine.json
""",  # noqa: E501 - an example is one line of a shell
    of=predict,
)
def jacobi(case: JacobiCase, formula: FormulaOptions, as_json: JsonOption = False) -> None:
    """The time of a sweep on process grids, ranked, with intervals, and where communication matters.

    Each grid's exchange is simulated, message by message, with the machine's costs; a cell takes what runs of
    `hockney run jacobi` took, or --cell-time. With --runs communication is calibrated on them, too.

    With --model a formula is evaluated: for --serial-time, --subdomain and --grid, or for runs, whose P stands
    beside the formula's. Latency and bandwidth are --latency and --bandwidth, or those of --machine at the
    locality of neighbours.
    """
    if not formula.model_fields_set:
        predict_stencil(case, as_json=as_json)
        return
    for name, _, option in options(JacobiCase):
        if name in case.model_fields_set - OF_FORMULAS:
            raise RequestError(f"{flag(name, option)} means nothing for the formulas of --model", "leave it out")
    if formula.model is None:
        raise RequestError("jacobi needs --model", f"known: {', '.join(jacobi_models.names())}")
    name = formula.model
    if case.runs is not None:
        _compare(case, formula, name, as_json=as_json)
    else:
        _predict(case, formula, name, as_json=as_json)


def _source(case: JacobiCase, formula: FormulaOptions) -> Callable[[Grid, Any], Links] | None:
    """λ and B of a grid, by a launch of runs where there is one; None where neither numbers nor a file are given.

    RequestError for half of the numbers, and for numbers beside a machine file.
    """
    latency_s, rate_B_per_s = formula.latency_s, formula.bandwidth_B_per_s
    if latency_s is not None and rate_B_per_s is not None:
        if "machine" in case.model_fields_set or formula.locality or case.system:
            raise RequestError(
                "--latency and --bandwidth stand in place of --machine, --locality and --system",
                "leave one of both out",
            )
        given = Links.given(latency_s, rate_B_per_s, "as given")
        return lambda _grid, _launch: given
    if latency_s is not None or rate_B_per_s is not None:
        missing = "--latency" if latency_s is None else "--bandwidth"
        raise RequestError(f"jacobi by {formula.model} needs {missing}", f"for example {EXAMPLE}")
    system = find_system(case.system) if case.system else None
    if system is None:
        refuse_places(case)
    if not has_machine(case):
        return None
    links = MachineLinks(load(case.machine), formula.locality, parse_where(case.where))

    def of_machine(grid: Grid, launch: Any) -> Links:
        if system is not None:
            return links(grid, placement(system, case.mapping, grid.ranks, case.nodes, case.ppn))
        known = launch is not None and launch.get("ranks")
        return links(grid, placement_of_launch(launch, grid.ranks) if known else None)

    return of_machine


def _predict(case: JacobiCase, formula: FormulaOptions, name: str, *, as_json: bool) -> None:
    """Print the grids asked for, the fastest of each number of ranks first, and how communication grows."""
    model, source = jacobi_models.get(name), _source(case, formula)
    needed = {
        "--serial-time": formula.serial_time_s,
        "--latency": source,
        "--bandwidth": source,
        "--subdomain": case.subdomain,
        "--grid": case.grids or None,
    }
    if missing := [word for word, value in needed.items() if value is None]:
        raise RequestError(f"jacobi by {formula.model} needs {', '.join(missing)}", f"for example {EXAMPLE}")
    assert source is not None
    grids = parse_grids(case.grids, case.ranks)
    links = {grid: source(grid, None) for grid in grids}
    cubes = {
        grid: WeakScalingCase(
            case.subdomain or 0, formula.serial_time_s or 0.0, of.latency_s.value, of.bandwidth_B_per_s.value
        )
        for grid, of in links.items()
    }
    ranked = {
        count: rank(predict_formula(model, cubes[grid], grid) for grid in group)
        for count, group in by_ranks(grids).items()
    }
    largest = cubes[max(grids, key=lambda grid: grid.ranks)]
    steps = weak_scaling(model, largest)
    matters = {share: exceeds(steps, share) for share in SHARES}
    if as_json:
        of_ranks = [_ranked_data(places, links) for places in ranked.values()]
        say.json(
            {
                "operation": "jacobi",
                "model": name,
                "formula": model.formula,
                **vars(largest),
                **(of_ranks[0] if len(of_ranks) == 1 else {"predictions": of_ranks}),
                "weak_scaling": [vars(step) for step in steps],
                "communication_exceeds": [
                    {"share": share, "ranks": step and step.ranks, "directions": step and step.directions}
                    for share, step in matters.items()
                ],
            }
        )
        return
    on = f" on {next(iter(ranked))} ranks" if len(ranked) == 1 else ""
    say.line(f"jacobi{on}, {largest.subdomain}³ cells each — {name}\n  {model.formula}")
    show_links(links.values())
    show_grids(ranked)
    say.line(growth_in_words(steps, matters))


def _ranked_data(places: Sequence[tuple[int, PrintedPrediction]], links: Mapping[Grid, Links]) -> dict[str, Any]:
    _, best = places[0]
    return {
        "ranks": best.grid.ranks,
        **prediction_data(best, links[best.grid]),
        "tied": [str(prediction.grid) for place, prediction in places if place == 1 and prediction is not best],
        "grids": [
            {"place": place, **prediction_data(prediction, links[prediction.grid])}
            for place, prediction in places
        ],
    }


def _compare(case: JacobiCase, formula: FormulaOptions, name: str, *, as_json: bool) -> None:
    """Print each table of the runs beside the formula, whose T_s is their own run on one rank."""
    assert case.runs is not None
    for option, value in (("--serial-time", formula.serial_time_s), ("--grid", case.grids or None)):
        if value is not None:
            raise RequestError(f"{option} means nothing with --runs", "leave it out: the runs say it")
    model, source = jacobi_models.get(name), _source(case, formula)
    campaign = Campaign.open(case.runs)
    launches = {str(launch.get("id")): launch for launch in campaign.launches()}
    tables = [
        table
        for table in scaling_tables(campaign.apps())
        if table.side is not None and case.subdomain in (None, table.side)
    ]
    if not tables:
        raise RequestError(
            f"{case.runs} has no runs in which every rank has the same cube, on several numbers of ranks",
            f"make them: `hockney run jacobi --subdomain 200 --ranks 1,2,4 -o {case.runs}`",
        )

    def links_of(run: MeasuredGrid) -> Links:
        stated = stated_links(run.record) if source is None else None
        if source is not None:
            return source(run.grid, launches.get(run.record.launch))
        if stated is not None:
            return stated
        raise RequestError(
            "nothing says the latency and the bandwidth of messages",
            "give --machine FILE, or --latency and --bandwidth",
        )

    compared = [compare(table, model, links_of) for table in tables]
    if as_json:
        say.json(
            {
                "operation": "jacobi",
                "model": name,
                "formula": model.formula,
                "tables": [one.as_data() for one in compared],
                "warnings": campaign.warnings,
            }
        )
        return
    say.line(f"jacobi — {name}\n  {model.formula}")
    for one in compared:
        show_comparison(one)
    for text in campaign.warnings:
        say.warn(text)
