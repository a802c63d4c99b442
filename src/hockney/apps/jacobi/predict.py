"""`hockney predict jacobi`: which grid, how fast, and where communication starts to matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel
from rich.table import Table

from hockney.apps.stencil.grids import parse_grids
from hockney.apps.stencil.options import parse_cells
from hockney.apps.stencil.verb import StencilCase, predict_stencil
from hockney.errors import RequestError
from hockney.options import Option, flag, options
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import Extents, format_time, parse_rate, parse_time

with later():
    from hockney.apps.jacobi.printed import (
        RENAMED,
        PrintedPrediction,
        WeakScalingCase,
        WeakScalingStep,
        exceeds,
        jacobi_models,
        rank,
        weak_scaling,
    )


EXAMPLE = (
    "hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 "
    "--grid 24x1x1 --model weak_scaling_jacobi"
)
SHARES = (0.1, 0.5)
"""Of the time, from which communication is said to matter."""
SHOWN = 3
"""Grids of one place that a line of text names."""


class JacobiCase(StencilCase):
    """Which sweeps are predicted."""

    operation: str = "jacobi"
    cells: Annotated[
        Extents | None,
        Option(
            "Cells of the whole box: 400 for a cube, or 2000x2000x64; the same on any number of ranks.",
            read=parse_cells,
        ),
    ] = None


class FormulaOptions(BaseModel):
    """A formula, and what it takes."""

    model: Annotated[str | None, Option("Formula: weak_scaling_jacobi or weak_scaling_jacobi_per_message.")] = (
        None
    )
    serial_time_s: Annotated[
        float | None,
        Option(
            "Formulas: what one rank takes for its subdomain alone.", flags=("--serial-time",), read=parse_time
        ),
    ] = None
    latency_s: Annotated[
        float | None,
        Option("Formulas: latency of a message, such as 0.98us.", flags=("--latency",), read=parse_time),
    ] = None
    bandwidth_B_per_s: Annotated[
        float | None,
        Option("Formulas: bandwidth of messages, such as 12185MB/s.", flags=("--bandwidth",), read=parse_rate),
    ] = None


@verb(
    "jacobi",
    examples=f"""
hockney predict jacobi --cells 800 --ranks 48 --grid all --cell-time 0.9ns
hockney predict jacobi --cells 800 --ranks 48 --grid all --runs folder --machine machine.json --json
{EXAMPLE} --json
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --ranks 48 --grid all --model weak_scaling_jacobi_per_message
""",  # noqa: E501 - an example is one line of a shell
    of=predict,
)
def jacobi(case: JacobiCase, formula: FormulaOptions, as_json: JsonOption = False) -> None:
    """The time of a sweep on process grids, ranked, with intervals, and where communication matters.

    Each grid's exchange is simulated, message by message, with the machine's costs; a cell takes what runs of
    `hockney run jacobi` took, or --cell-time. With --runs communication is calibrated on them, too.

    With --model a formula is evaluated, for which --serial-time, --latency, --bandwidth,
    --subdomain and --grid are needed.
    """
    if not formula.model_fields_set:
        predict_stencil(case, as_json=as_json)
        return
    for name, _, option in options(JacobiCase):
        if name in case.model_fields_set - {"subdomain", "grids", "ranks"}:
            raise RequestError(f"{flag(name, option)} means nothing for the formulas of --model", "leave it out")
    _predict(case, formula, as_json=as_json)


def _predict(case: JacobiCase, formula: FormulaOptions, *, as_json: bool) -> None:
    """Print the fastest of the grids asked for, the others after it, and how communication grows."""
    known = ", ".join(jacobi_models.names())
    if formula.model is None:
        raise RequestError("jacobi needs --model", f"known: {known}")
    name = say.current(formula.model, "--model", RENAMED)
    model = jacobi_models.get(name)
    cube = _cube(case, formula)
    ranked = rank(model, cube, parse_grids(case.grids, case.ranks))
    steps = weak_scaling(model, cube)
    matters = {share: exceeds(steps, share) for share in SHARES}
    if as_json:
        _, best = ranked[0]
        say.json(
            {
                "operation": "jacobi",
                "model": name,
                "formula": model.formula,
                **vars(cube),
                "ranks": best.grid.ranks,
                **_data(best),
                "tied": [
                    str(prediction.grid) for place, prediction in ranked if place == 1 and prediction is not best
                ],
                "grids": [{"place": place, **_data(prediction)} for place, prediction in ranked],
                "weak_scaling": [vars(step) for step in steps],
                "communication_exceeds": [
                    {"share": share, "ranks": step and step.ranks, "directions": step and step.directions}
                    for share, step in matters.items()
                ],
            }
        )
        return
    title = f"jacobi on {ranked[0][1].grid.ranks} ranks, {cube.subdomain}³ cells each — {name}"
    say.line(f"{title}\n  {model.formula}")
    _show(ranked)
    say.line(_growth(steps, matters))


def _cube(case: JacobiCase, formula: FormulaOptions) -> WeakScalingCase:
    needed = {
        "--serial-time": formula.serial_time_s,
        "--latency": formula.latency_s,
        "--bandwidth": formula.bandwidth_B_per_s,
        "--subdomain": case.subdomain,
        "--grid": case.grids or None,
    }
    if missing := [name for name, value in needed.items() if value is None]:
        raise RequestError(f"jacobi by {formula.model} needs {', '.join(missing)}", f"for example {EXAMPLE}")
    return WeakScalingCase(
        case.subdomain or 0,
        formula.serial_time_s or 0.0,
        formula.latency_s or 0.0,
        formula.bandwidth_B_per_s or 0.0,
    )


def _data(prediction: PrintedPrediction) -> dict[str, Any]:
    return {**vars(prediction), "grid": str(prediction.grid)}


def _show(ranked: Sequence[tuple[int, PrintedPrediction]]) -> None:
    """A line for each place, then who is fastest."""
    places: dict[int, list[PrintedPrediction]] = {}
    for place, prediction in ranked:
        places.setdefault(place, []).append(prediction)
    shown = Table(box=None)
    for heading in ("grid", "k", "MLUP/s", "time", "communication", "efficiency"):
        shown.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=heading != "grid")
    for tied in places.values():
        prediction = tied[0]
        shown.add_row(
            _names(tied),
            str(prediction.k),
            f"{prediction.mlups:.3f}",
            f"{prediction.time_s:.6g} s",
            format_time(prediction.communication_s),
            _percent(prediction.efficiency),
        )
    say.table(shown)
    first, *others = places.values()
    if len(first) > 1:
        say.line(f"tie: {_names(first)} take exactly the same time")
    if others:
        margin = others[0][0].time_s / first[0].time_s - 1
        verb = "are" if len(first) > 1 else "is"
        say.line(f"{_names(first)} {verb} fastest, by {_percent(margin)} over {_names(others[0])}")


def _names(tied: Sequence[PrintedPrediction]) -> str:
    """`24x1x1, 1x24x1, 1x1x24`, or the first of them and how many more."""
    names = ", ".join(str(prediction.grid) for prediction in tied[:SHOWN])
    return names if len(tied) <= SHOWN else f"{names} and {len(tied) - SHOWN} more"


def _percent(share: float) -> str:
    return f"{100 * share:.5g} %"


def _growth(steps: Sequence[WeakScalingStep], matters: dict[float, WeakScalingStep | None]) -> str:
    along = ", ".join(
        f"{_percent(step.communication_share)} along {step.directions} (from {step.ranks} ranks)"
        for step in steps
    )
    lines = [f"weak scaling, share of communication by directions with more than one process: {along}"]
    for share, step in matters.items():
        what = f"communication exceeds {_percent(share)} of the time"
        if step is None:
            lines.append(f"{what} on no number of ranks")
        else:
            least = "any grid" if step.directions == 1 else f"grids of at least {step.directions} such directions"
            lines.append(f"{what} from {step.ranks} ranks on, on {least}")
    return "\n".join(lines)
