"""Formulas of Jacobi as text: a line for each grid, alone or beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from hockney.apps.jacobi.compared import Compared
from hockney.apps.jacobi.links import NO_MESSAGES, Links
from hockney.apps.jacobi.printed import PrintedPrediction, WeakScalingStep
from hockney.models.base import Parameter
from hockney.terminal import say
from hockney.units import format_rate, format_time

SHOWN = 3
"""Grids of one place that a line of text names."""


def show_links(links: Iterable[Links]) -> None:
    """The different λ and B, and where they come from."""
    for of in dict.fromkeys((one.origin, one.latency_s.value, one.bandwidth_B_per_s.value) for one in links):
        origin, latency_s, rate_B_per_s = of
        if origin != "no messages":
            say.line(f"  λ = {format_time(latency_s)}, B = {format_rate(rate_B_per_s)}: {origin}")


HEADINGS = ("N", "grid", "k", "c", "P MLUP/s", "N·P₁/P")


def show_grids(ranked: Mapping[int, Sequence[tuple[int, PrintedPrediction]]]) -> None:
    """A line for each place, then who is fastest of each number of ranks."""
    shown = Table(box=None)
    for heading in (*HEADINGS, "time", "communication", "efficiency"):
        shown.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=heading != "grid")
    lines = []
    for count, places in ranked.items():
        of_place: dict[int, list[PrintedPrediction]] = {}
        for place, prediction in places:
            of_place.setdefault(place, []).append(prediction)
        for tied in of_place.values():
            prediction = tied[0]
            shown.add_row(
                str(count),
                _names(tied),
                *_printed(prediction),
                f"{prediction.time_s:.6g} s",
                format_time(prediction.communication_s),
                _percent(prediction.efficiency),
            )
        lines += _best(list(of_place.values()))
    say.table(shown)
    for line in lines:
        say.line(line)


def _printed(prediction: PrintedPrediction) -> tuple[str, str, str, str]:
    """k, c, P and N P₁/P, with the digits of the published tables."""
    return (
        str(prediction.k),
        f"{prediction.halo_B / 1e6:.2f} MB",
        f"{prediction.mlups:.3f}",
        f"{1 / prediction.efficiency:.3f}",
    )


def _best(of_place: Sequence[Sequence[PrintedPrediction]]) -> list[str]:
    first, *others = of_place
    lines = [f"tie: {_names(first)} take exactly the same time"] if len(first) > 1 else []
    if others:
        margin = others[0][0].time_s / first[0].time_s - 1
        verb = "are" if len(first) > 1 else "is"
        lines.append(f"{_names(first)} {verb} fastest, by {_percent(margin)} over {_names(others[0])}")
    return lines


def show_comparison(compared: Compared) -> None:
    """A measured table beside the formula, with the errors of both the formula and N P₁."""
    table = compared.table
    say.line(f"\n{table.name}")
    if (case := table.case(NO_MESSAGES)) is not None and table.alone is not None:
        say.line(f"  P₁ = {table.alone.mlups.value:.2f} MLUP/s, T_s = {case.serial_time_s:.6g} s")
    else:
        say.line("  no run on one rank: neither P₁ nor the formula is known")
    show_links(compared.links)
    for why in compared.lacking:
        say.line(f"  not by the formula: {why}")
    shown = Table(box=None)
    for heading in (*HEADINGS, "measured P", "95 % interval", "N·P₁/P", "95 % interval", "error"):
        shown.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=True)
    for row in compared.rows:
        run = row.run
        shown.add_row(
            str(run.grid.ranks),
            str(run.grid),
            *(("", "", "", "") if row.predicted is None else _printed(row.predicted)),
            f"{run.mlups.value:.3f}",
            _interval(run.mlups),
            "" if run.ratio is None else f"{run.ratio.value:.3f}",
            "" if run.ratio is None else _interval(run.ratio),
            "" if row.error is None else f"{row.error:+.1%}",
        )
    say.table(shown)
    errors = compared.errors()
    if errors["formula_median"] is not None:
        say.line(
            f"|error| of P: formula median {errors['formula_median']:.2%}, largest "
            f"{errors['formula_largest']:.2%}; "
            f"N·P₁ median {errors['ideal_median']:.2%}, largest {errors['ideal_largest']:.2%}"
        )


def _interval(parameter: Parameter) -> str:
    low, high = parameter.low, parameter.high
    return "–" if low is None or high is None else f"{low:.4g} to {high:.4g}"


def _names(tied: Sequence[PrintedPrediction]) -> str:
    """`24x1x1, 1x24x1, 1x1x24`, or the first of them and how many more."""
    names = ", ".join(str(prediction.grid) for prediction in tied[:SHOWN])
    return names if len(tied) <= SHOWN else f"{names} and {len(tied) - SHOWN} more"


def _percent(share: float) -> str:
    return f"{100 * share:.5g} %"


def growth_in_words(steps: Sequence[WeakScalingStep], matters: dict[float, WeakScalingStep | None]) -> str:
    """How communication grows with the directions, and where it exceeds a share of the time."""
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
