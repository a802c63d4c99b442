"""`hockney predict jacobi`: which grid, how fast, and where communication starts to matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.cli._words import current
from hockney.cli.predict import MACHINE, MachineFile, predict
from hockney.cli.predict._stencil import (
    Asked,
    Cells,
    CellTime,
    Grids,
    Halo,
    Iterations,
    Mapping,
    Nodes,
    Ppn,
    RankCount,
    Runs,
    Subdomain,
    Systems,
    grids_of,
    predict_stencil,
)
from hockney.errors import RequestError
from hockney.units import format_time, parse_rate, parse_time

if TYPE_CHECKING:
    from hockney.apps.jacobi.printed import Case, Growth, Prediction

EXAMPLE = (
    "hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 "
    "--grid 24x1x1 --model weak_scaling_jacobi"
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
hockney predict jacobi --cells 800 --ranks 48 --grid all --cell-time 0.9ns
hockney predict jacobi --cells 800 --ranks 48 --grid all --runs folder --machine machine.json --json
{EXAMPLE} --json
hockney predict jacobi --serial-time 15.3276s --latency 0.98us --bandwidth 12185MB/s --subdomain 1200 --ranks 48 --grid all --model weak_scaling_jacobi_per_message
""",  # noqa: E501 - an example is one line of a shell
    of=predict,
)
def jacobi(
    cells: Cells = "",
    subdomain: Subdomain = None,
    grid: Grids = None,
    ranks: RankCount = None,
    halo: Halo = "nonblocking",
    iterations: Iterations = 10,
    cell_time: CellTime = "",
    runs: Runs = None,
    machine: MachineFile = MACHINE,
    system: Systems = "",
    mapping: Mapping = "",
    nodes: Nodes = None,
    ppn: Ppn = None,
    network_latency: NetworkLatency = "",
    network_bandwidth: NetworkBandwidth = "",
    model: Annotated[
        str | None,
        typer.Option(help="Formula: weak_scaling_jacobi or weak_scaling_jacobi_per_message."),
    ] = None,
    serial_time: Annotated[str, typer.Option(help="Formulas: what one rank takes for its subdomain alone.")] = "",
    latency: Annotated[str, typer.Option(help="Formulas: of a message, such as 0.98us.")] = "",
    bandwidth: Annotated[str, typer.Option(help="Formulas: of messages, such as 12185MB/s.")] = "",
    as_json: JsonOption = False,
) -> None:
    """The time of a sweep on process grids, ranked, with intervals, and where communication matters.

    Each grid's exchange is simulated, message by message, with the machine's costs; a cell takes what runs of
    `hockney run jacobi` took, or --cell-time. With --runs communication is calibrated on them, too.

    With --model a formula is evaluated, for which --serial-time, --latency, --bandwidth,
    --subdomain and --grid are needed.
    """
    if model is None and not (serial_time or latency or bandwidth):
        predict_stencil(
            Asked(
                "jacobi",
                cells,
                subdomain,
                grid or [],
                ranks,
                halo,
                iterations,
                cell_time,
                runs,
                machine,
                system,
                mapping,
                nodes,
                ppn,
                network_figures(network_latency, network_bandwidth),
            ),
            as_json=as_json,
        )
        return
    given = {
        "--cells": cells,
        "--cell-time": cell_time,
        "--halo": None if halo == "nonblocking" else halo,
        "--iterations": None if iterations == 10 else iterations,
        "--runs": runs,
        "--system": system,
        "--mapping": mapping,
        "--nodes": nodes,
        "--ppn": ppn,
        "--network-latency": network_latency,
        "--network-bandwidth": network_bandwidth,
        "--machine": None if machine == MACHINE else machine,
    }
    for name, value in given.items():
        if value not in (None, ""):
            raise RequestError(f"{name} means nothing for the formulas of --model", "leave it out")
    _predict(Request(model, serial_time, latency, bandwidth, subdomain, grid or [], ranks), as_json=as_json)


def _predict(request: Request, *, as_json: bool) -> None:
    """Print the fastest of the grids asked for, the others after it, and how communication grows."""
    from hockney.apps.jacobi.printed import RENAMED, exceeds, jacobi_models, rank, weak_scaling

    known = ", ".join(jacobi_models.names())
    if request.model is None:
        raise RequestError("jacobi needs --model", f"known: {known}")
    name = current(request.model, "--model", RENAMED)
    model = jacobi_models.get(name)
    case = _case(request)
    ranked = rank(model, case, grids_of(request.grids, request.ranks))
    steps = weak_scaling(model, case)
    matters = {share: exceeds(steps, share) for share in SHARES}
    if as_json:
        _, best = ranked[0]
        emit_json(
            {
                "operation": "jacobi",
                "model": name,
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
    title = f"jacobi on {ranked[0][1].grid.ranks} ranks, {case.subdomain}³ cells each — {name}"
    out.print(f"{title}\n  {model.formula}", markup=False, soft_wrap=True)
    _show(ranked)
    out.print(_growth(steps, matters), markup=False, soft_wrap=True)


def _case(request: Request) -> Case:
    from hockney.apps.jacobi.printed import Case

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
