"""`hockney predict jacobi`: which grid, how fast, and where communication starts to matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from pydantic import Field

from hockney.apps.jacobi.app import EXAMPLE, FORMULAS, OF_FORMULAS, Formula, JacobiCase
from hockney.apps.jacobi.links import FormulaLinks
from hockney.apps.jacobi.printed import (
    MODELS,
    NO_MESSAGES,
    Links,
    PrintedPrediction,
    WeakScalingCase,
    WeakScalingStep,
    rank,
    weak_scaling,
)
from hockney.apps.jacobi.printed import predict as predict_formula
from hockney.apps.stencil.choice import SHARES
from hockney.apps.stencil.grids import Grid, by_ranks, parse_grids
from hockney.apps.stencil.predict import (
    GridsOfOneNumber,
    GridsOfSeveralNumbers,
    predict_grids,
)
from hockney.apps.stencil.surroundings import ranks_on_core, shared_cores
from hockney.errors import RequestError
from hockney.fields import refuse_written
from hockney.machine.file import load
from hockney.machine.placement import placement
from hockney.machine.select import parse_where
from hockney.machine.system import find_system
from hockney.predict.network_figures import has_machine, refuse_places
from hockney.progress import Progress
from hockney.report.application import AppAnswer
from hockney.report.run_tables import Column, table
from hockney.report.tables import Table
from hockney.units import counted, format_time, percent

SHOWN = 3
"""Grids of one place that a line of text names."""
SourceOfLinks = Callable[[Grid], Links]
"""λ and B of a grid."""


@dataclass(frozen=True, kw_only=True)
class RankedFormula(PrintedPrediction):
    """The fastest grid of one number of ranks, those that are as fast, and all with their places."""

    ranks: int
    tied: list[str]
    grids: list[PrintedPrediction]


@dataclass(frozen=True)
class DirectionsExceed:
    """From where on communication takes more than a share of the time; None: nowhere."""

    share: float
    ranks: int | None
    directions: int | None

    @property
    def words(self) -> str:
        """In a sentence."""
        what = f"communication exceeds {percent(self.share)} of the time"
        if self.ranks is None:
            return f"{what} on no number of ranks"
        least = "any grid" if self.directions == 1 else f"grids of at least {self.directions} such directions"
        return f"{what} from {counted(self.ranks, 'rank')} on, on {least}"


@dataclass(frozen=True, kw_only=True)
class FormulaOfSeveralNumbers(WeakScalingCase, AppAnswer):
    """Grids of several numbers of ranks by a formula, of the case of the most."""

    operation: str
    model: str
    formula: str
    weak_scaling: list[WeakScalingStep]
    communication_exceeds: list[DirectionsExceed]
    predictions: list[RankedFormula]

    def text(self) -> Iterator[str | Table]:
        """A row for each place, who is fastest of each number of ranks, and how communication grows."""
        on = f" on {self.predictions[0].ranks} ranks" if len(self.predictions) == 1 else ""
        yield f"jacobi{on}, {self.subdomain}³ cells each — {self.model}\n  {self.formula}"
        links = [grid.links for ranked in self.predictions for grid in ranked.grids]
        yield from dict.fromkeys(f"  {link.words}" for link in links if link and link is not NO_MESSAGES)
        places = [
            [*tied] for ranked in self.predictions for _, tied in groupby(ranked.grids, lambda grid: grid.place)
        ]
        columns: list[Column[list[PrintedPrediction]]] = [
            Column("N", lambda tied: str(tied[0].grid.ranks)),
            Column("grid", _names, is_text=True),
            Column("k", lambda tied: str(tied[0].k)),
            Column("c", lambda tied: f"{tied[0].halo_B / 1e6:.2f} MB"),
            Column("P MLUP/s", lambda tied: f"{tied[0].mlups:.3f}"),
            Column("N·P₁/P", lambda tied: f"{tied[0].ratio:.3f}"),
            Column("time", lambda tied: f"{tied[0].time_s:.6g} s"),
            Column("communication", lambda tied: format_time(tied[0].communication_s)),
            Column("efficiency", lambda tied: percent(tied[0].efficiency)),
        ]
        yield table("", places, columns)
        for ranked in self.predictions:
            if ranked.ranks_on_core > 1:
                gained = ranked.mlups * ranked.time_s / (self.serial_time_s + ranked.communication_s)
                yield shared_cores(
                    ranked.ranks, ranked.ranks_on_core, f"{ranked.mlups:.4g} to {gained:.4g} MLUP/s"
                )
        for _, of_ranks in groupby(places, key=lambda tied: tied[0].grid.ranks):
            yield from _best(list(of_ranks))
        along = ", ".join(
            f"{percent(step.communication_share)} along {step.directions} (from {counted(step.ranks, 'rank')})"
            for step in self.weak_scaling
        )
        yield f"weak scaling, share of communication by directions with more than one process: {along}"
        yield from (step.words for step in self.communication_exceeds)


@dataclass(frozen=True, kw_only=True)
class FormulaOfOneNumber(FormulaOfSeveralNumbers, RankedFormula):
    """Grids of one number of ranks."""

    predictions: Annotated[list[RankedFormula], Field(exclude=True)]


JacobiPrediction = GridsOfOneNumber | GridsOfSeveralNumbers | FormulaOfOneNumber | FormulaOfSeveralNumbers


def predict(progress: Progress, case: JacobiCase) -> JacobiPrediction:
    """Grids by simulation; by a formula where it is asked for."""
    if case.model is None:
        if case.serial_time_s is not None:
            raise RequestError("--serial-time needs --model", f"known: {', '.join(FORMULAS)}")
        return predict_grids(progress, case)
    refuse_written(case, "for the formulas of --model", but=OF_FORMULAS)
    return _predict(case, case.model)


def _source(case: JacobiCase) -> SourceOfLinks | None:
    """λ and B of a grid; None where neither numbers nor a file are given.

    RequestError for half of the numbers, and for numbers beside a machine file.
    """
    latency_s, rate_B_per_s = case.network
    if latency_s is not None and rate_B_per_s is not None:
        if "machine" in case.model_fields_set or case.system:
            raise RequestError(
                "--network stands in place of --machine and --system in a formula", "leave one of both out"
            )
        links_as_given = Links.given(latency_s, rate_B_per_s, "as given")
        return lambda _: links_as_given
    if latency_s is not None or rate_B_per_s is not None:
        raise RequestError(
            f"jacobi by {case.model} needs a latency and a bandwidth: --network", f"for example {EXAMPLE}"
        )
    system = find_system(case.system) if case.system else None
    if system is None:
        refuse_places(case)
    if not has_machine(case):
        return None
    where = parse_where(case.where)
    links = FormulaLinks(load(case.machine), where.pop("locality", ""), where)

    def of_machine(grid: Grid) -> Links:
        place = None if system is None else placement(system, case.mapping, grid.ranks, None, case.ppn)
        return links(grid, place)

    return of_machine


def _predict(case: JacobiCase, name: Formula) -> JacobiPrediction:
    """The grids asked for, the fastest of each number of ranks first, and how communication grows."""
    model, source = MODELS[name], _source(case)
    needed = {
        "--serial-time": case.serial_time_s,
        "--network or --machine": source,
        "--subdomain": case.subdomain,
        "--grid": case.grids or None,
    }
    if missing := [word for word, value in needed.items() if value is None]:
        raise RequestError(f"jacobi by {name} needs {', '.join(missing)}", f"for example {EXAMPLE}")
    assert source is not None
    grids = parse_grids(case.grids, case.ranks)
    cases: dict[Grid, WeakScalingCase] = {}
    predictions: dict[Grid, PrintedPrediction] = {}
    for grid in grids:
        links = source(grid)
        cases[grid] = WeakScalingCase(
            case.subdomain or 0,
            case.serial_time_s or 0.0,
            links.latency_s.value,
            links.bandwidth_B_per_s.value,
            ranks_on_core=ranks_on_core(case, grid.ranks),
        )
        predictions[grid] = predict_formula(model, cases[grid], grid, links)
    ranked = [
        _ranked(ranks, rank(predictions[grid] for grid in group)) for ranks, group in by_ranks(grids).items()
    ]
    largest = cases[max(grids, key=lambda grid: grid.ranks)]
    steps = weak_scaling(model, largest)
    firsts = [next((step for step in steps if step.communication_share > share), None) for share in SHARES]
    several = FormulaOfSeveralNumbers(
        operation="jacobi",
        model=name,
        formula=model.formula,
        **vars(largest),
        weak_scaling=steps,
        communication_exceeds=[
            DirectionsExceed(share, step.ranks, step.directions) if step else DirectionsExceed(share, None, None)
            for share, step in zip(SHARES, firsts, strict=True)
        ],
        predictions=ranked,
    )
    return several if len(ranked) > 1 else FormulaOfOneNumber(**vars(several) | vars(ranked[0]))


def _ranked(ranks: int, grids: list[PrintedPrediction]) -> RankedFormula:
    tied = [str(grid.grid) for grid in grids[1:] if grid.place == 1]
    return RankedFormula(**vars(grids[0]), ranks=ranks, tied=tied, grids=grids)


def _best(places: Sequence[list[PrintedPrediction]]) -> list[str]:
    first, *others = places
    lines = [f"tie: {_names(first)} take exactly the same time"] if len(first) > 1 else []
    if others:
        margin = others[0][0].time_s / first[0].time_s - 1
        verb = "are" if len(first) > 1 else "is"
        lines.append(f"{_names(first)} {verb} fastest, by {percent(margin)} over {_names(others[0])}")
    return lines


def _names(tied: Sequence[PrintedPrediction]) -> str:
    """`24x1x1, 1x24x1, 1x1x24`, or the first of them and how many more."""
    names = ", ".join(str(prediction.grid) for prediction in tied[:SHOWN])
    return names if len(tied) <= SHOWN else f"{names} and {len(tied) - SHOWN} more"
