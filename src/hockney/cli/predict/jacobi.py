"""`hockney predict jacobi`: which grid, how fast, and where communication starts to matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli.predict import predict
from hockney.errors import RequestError
from hockney.units import format_time, parse_rate, parse_time

if TYPE_CHECKING:
    from hockney.predict.apps.grids import Grid
    from hockney.predict.apps.jacobi.base import Case, Growth, Prediction

EXAMPLE = (
    "hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 "
    "--grid 24x1x1 --model document-000"
)
SHARES = (0.1, 0.5)
"""Of the time, from which communication is said to matter."""
SHOWN = 3
"""Grids of one place that a line of text names."""


@dataclass(frozen=True)
class Request:
    """What the options of `hockney predict` ask of Jacobi."""

    model: str | None
    serial_time: str
    latency: str
    bandwidth: str
    subdomain: int | None
    grids: Sequence[str]
    ranks: int | None


@verb(
    "jacobi",
    examples=f"""
{EXAMPLE} --json
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --ranks 48 --grid all --model document-001
""",  # noqa: E501 - an example is one line of a shell
    of=predict,
)
def jacobi(
    model: Annotated[str | None, typer.Option(help="document-000 or document-001.")] = None,
    serial_time: Annotated[str, typer.Option(help="What one rank takes for its subdomain alone.")] = "",
    latency: Annotated[str, typer.Option(help="Of a message, such as 0.98us.")] = "",
    bandwidth: Annotated[str, typer.Option(help="Of messages, such as 12185MB/s.")] = "",
    subdomain: Annotated[int | None, typer.Option(help="Cells along each side of a rank's cube.")] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(help="Processes along x, y and z, such as 4x3x2; repeat for several; `all` with --ranks."),
    ] = None,
    ranks: Annotated[int | None, typer.Option(help="How many ranks.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Lattice updates per second under weak scaling, grids ranked by predicted time.

    Also the ranks from which communication matters.
    """
    _predict(Request(model, serial_time, latency, bandwidth, subdomain, grid or [], ranks), as_json=as_json)


def _predict(request: Request, *, as_json: bool) -> None:
    """Print the fastest of the grids asked for, the others after it, and how communication grows."""
    from hockney.predict.apps.jacobi.base import exceeds, jacobi_models, rank, weak_scaling

    known = ", ".join(jacobi_models.names())
    if request.model is None:
        raise RequestError("jacobi needs --model", f"known: {known}")
    model = jacobi_models.get(request.model)
    case = _case(request)
    ranked = rank(model, case, _grids(request))
    steps = weak_scaling(model, case)
    matters = {share: exceeds(steps, share) for share in SHARES}
    if as_json:
        _, best = ranked[0]
        emit_json(
            {
                "operation": "jacobi",
                "model": request.model,
                "formula": model.formula,
                **vars(case),
                "ranks": best.grid.ranks,
                **_data(best),
                "tied": [str(one.grid) for place, one in ranked if place == 1 and one is not best],
                "grids": [{"place": place, **_data(one)} for place, one in ranked],
                "weak_scaling": [vars(step) for step in steps],
                "communication_exceeds": [
                    {"share": share, "ranks": step and step.ranks, "directions": step and step.directions}
                    for share, step in matters.items()
                ],
            }
        )
        return
    title = f"jacobi on {ranked[0][1].grid.ranks} ranks, {case.subdomain}³ cells each — {request.model}"
    out.print(f"{title}\n  {model.formula}", markup=False, soft_wrap=True)
    _show(ranked)
    out.print(_growth(steps, matters), markup=False, soft_wrap=True)


def _case(request: Request) -> Case:
    from hockney.predict.apps.jacobi.base import Case

    needed = {
        "--serial-time": request.serial_time,
        "--latency": request.latency,
        "--bandwidth": request.bandwidth,
        "--subdomain": request.subdomain,
        "--grid": request.grids,
    }
    if missing := [name for name, value in needed.items() if value in ("", None, [])]:
        raise RequestError(f"jacobi by {request.model} needs {', '.join(missing)}", f"for example {EXAMPLE}")
    return Case(
        request.subdomain or 0,
        parse_time(request.serial_time),
        parse_time(request.latency),
        parse_rate(request.bandwidth),
    )


def _grids(request: Request) -> list[Grid]:
    """Without repetitions."""
    from hockney.predict.apps.grids import factorisations, parse_grid

    if request.ranks is not None and request.ranks < 1:
        raise RequestError(
            f"the number of ranks must be at least 1, not {request.ranks}", "for example --ranks 48"
        )
    if "all" in request.grids:
        if len(request.grids) > 1:
            raise RequestError("--grid all holds every other grid", "leave the others out")
        if request.ranks is None:
            raise RequestError("--grid all needs --ranks", "for example --ranks 48")
        return factorisations(request.ranks)
    grids = list(dict.fromkeys(parse_grid(text) for text in request.grids))
    for grid in grids:
        if request.ranks is not None and grid.ranks != request.ranks:
            raise RequestError(
                f"grid {grid} has {grid.ranks} processes, not {request.ranks}",
                "leave out --ranks, or --grid all for every grid that fits",
            )
    return grids


def _data(one: Prediction) -> dict[str, Any]:
    return {**vars(one), "grid": str(one.grid)}


def _show(ranked: Sequence[tuple[int, Prediction]]) -> None:
    """A line for each place, then who is fastest."""
    from rich.table import Table

    places: dict[int, list[Prediction]] = {}
    for place, one in ranked:
        places.setdefault(place, []).append(one)
    shown = Table(box=None)
    for heading in ("grid", "k", "MLUP/s", "time", "communication", "efficiency"):
        shown.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=heading != "grid")
    for tied in places.values():
        one = tied[0]
        shown.add_row(
            _names(tied),
            str(one.k),
            f"{one.mlups:.3f}",
            f"{one.time_s:.6g} s",
            format_time(one.communication_s),
            _percent(one.efficiency),
        )
    out.print(shown)
    first, *others = places.values()
    if len(first) > 1:
        out.print(f"tie: {_names(first)} take exactly the same time", markup=False, soft_wrap=True)
    if others:
        margin = others[0][0].time_s / first[0].time_s - 1
        verb = "are" if len(first) > 1 else "is"
        out.print(
            f"{_names(first)} {verb} fastest, by {_percent(margin)} over {_names(others[0])}",
            markup=False,
            soft_wrap=True,
        )


def _names(tied: Sequence[Prediction]) -> str:
    """`24x1x1, 1x24x1, 1x1x24`, or the first of them and how many more."""
    names = ", ".join(str(one.grid) for one in tied[:SHOWN])
    return names if len(tied) <= SHOWN else f"{names} and {len(tied) - SHOWN} more"


def _percent(share: float) -> str:
    return f"{100 * share:.5g} %"


def _growth(steps: Sequence[Growth], matters: dict[float, Growth | None]) -> str:
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
