"""The answer of `hockney identify`: which algorithm `default` uses, by the library's version or from times
alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.predict.collective import UNCALIBRATED, predict_one
from hockney.predict.decisions.base import decisions_for
from hockney.predict.estimators._default import Identification, Mixed, identify
from hockney.predict.estimators.base import (
    ANSWER,
    Array,
    Prediction,
    Progress,
    Training,
    estimators,
    silent,
    unknown,
)
from hockney.predict.identify.candidates import Candidate
from hockney.predict.identify.chains import Cell, Chain
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.points import APART, DEFAULT, points, positions
from hockney.predict.scenario import OWN
from hockney.records.keys import POINT_TO_POINT
from hockney.schedule.catalogue import ask

VERSION, TIMES = "version", "times"
"""How an answer was found: the library's decision read by version, or from times alone."""


@dataclass(frozen=True)
class Named:
    """A name of a set, with its probability; several schedules are one name where nobody could tell them
    apart."""

    names: tuple[str, ...]
    share: float

    @property
    def words(self) -> str:
        """`knomial, radix 4 = binomial`."""
        return " = ".join(self.names)


@dataclass(frozen=True)
class Answered:
    """What `default` runs for so many ranks and bytes; `names` None: it cannot be told."""

    ranks: int
    nodes: int | None
    size_B: int
    names: tuple[Named, ...] | None


@dataclass(frozen=True)
class Switch:
    """The library changes its algorithm above `last_B` and at most at `first_B`."""

    ranks: int
    nodes: int | None
    last_B: int
    first_B: int
    before: str
    after: str


@dataclass(frozen=True)
class Answer:
    """The default of one operation under one set of conditions; `way` is `VERSION` or `TIMES`."""

    operation: str
    statistic: str
    mpi: str
    way: str
    cells: list[Answered]
    switches: list[Switch]
    candidates: list[str]
    warnings: list[str] = field(default_factory=list)

    @property
    def untold(self) -> int:
        """Cells that cannot be told."""
        return sum(cell.names is None for cell in self.cells)


def answers(
    frame: pd.DataFrame,
    operation: str,
    *,
    statistic: str = "",
    ways: Sequence[str] = (VERSION, TIMES),
    system: object | None = None,
    costs: MachineCosts | None = None,
    progress: Progress = silent,
) -> list[Answer]:
    """The algorithms behind `default` of an operation of a tidy table, one answer for each set of conditions.

    The first of `ways` that can answer does. From times, candidates take what they took in the same table, else
    what a calibration on its named algorithms says, else what `costs` say. RequestError where the table has no
    default of the operation, or nothing says what candidates would take.
    """
    pooled = points(frame, operation, statistic)
    learn = pooled.frame
    if not (learn["algorithm"] == DEFAULT).any():
        held = ", ".join(sorted(set(learn["algorithm"])))
        raise RequestError(
            f"this table has no {DEFAULT} of {operation} ({pooled.statistic}), only {held}",
            f"measure it: `hockney measure --operations {operation} --algorithms default`",
        )
    found = []
    for index in positions(learn, APART).values():
        conditions = learn.iloc[index].reset_index(drop=True)
        if not (conditions["algorithm"] == DEFAULT).any():
            continue
        pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
        training = Training(conditions, pairs, system, operation, pooled.statistic, progress, asks_library=False)
        one = _by_version(training) if VERSION in ways else None
        if one is None and TIMES in ways:
            one = _by_times(training, costs)
        if one is None:
            why = decisions_for(str(conditions["mpi"].iloc[0])).reason
            raise RequestError(f"the version does not tell: {why}", "leave out --by, or say --by times")
        found.append(replace(one, warnings=[*pooled.warnings, *one.warnings]))
    return found


def of_version(
    operation: str, mpi: str, ranks: Sequence[int], sizes_B: Sequence[int], nodes: int | None
) -> Answer | None:
    """What the version in a word such as "Open MPI 4.1.5" tells of these; None where it tells nothing."""
    cells = [Case(count, nodes, size_B) for count in ranks for size_B in sizes_B]
    return _told(operation, "", mpi, cells)


@dataclass(frozen=True, order=True)
class Case:
    """So many ranks on so many nodes (None: nobody says), and bytes."""

    ranks: int
    nodes: int | None
    size_B: int


def _told(operation: str, statistic: str, mpi: str, cases: Sequence[Case]) -> Answer | None:
    library = decisions_for(mpi)
    if library.decisions is None:
        return None
    cells = []
    for case in cases:
        choice = library.decisions.default(
            operation, case.ranks, case.size_B, library.version, nodes=case.nodes or 1
        )
        names = None if choice is None else (Named((Candidate(choice).name,), 1.0),)
        cells.append(Answered(case.ranks, case.nodes, case.size_B, names))
    if all(cell.names is None for cell in cells):
        return None
    found = {name for cell in cells for one in cell.names or () for name in one.names}
    limits = [f"{mpi}: {library.reason}"] if any(cell.names is None for cell in cells) else []
    return Answer(operation, statistic, mpi, VERSION, cells, _switches_told(cells), sorted(found), limits)


def _switches_told(cells: Sequence[Answered]) -> list[Switch]:
    found = []
    for first, second in pairwise(cells):
        if (first.ranks, first.nodes) != (second.ranks, second.nodes) or not (first.names and second.names):
            continue
        if first.names != second.names:
            words = first.names[0].words, second.names[0].words
            found.append(Switch(first.ranks, first.nodes, first.size_B, second.size_B, *words))
    return found


def _by_version(training: Training) -> Answer | None:
    default = training.points[training.points["algorithm"] == DEFAULT]
    cases = sorted(
        {
            Case(int(row["ranks"]), None if pd.isna(row["nodes"]) else int(row["nodes"]), int(row["bytes"]))
            for row in default.to_dict("records")
        },
        key=lambda case: (case.ranks, case.nodes or 0, case.size_B),
    )
    return _told(training.operation, training.statistic, str(default["mpi"].iloc[0]), cases)


def _by_times(training: Training, costs: MachineCosts | None) -> Answer:
    warnings = []
    fitted = _calibrated(training)
    if isinstance(fitted, Mixed):
        found = fitted.found
    else:
        if costs is None:
            raise RequestError(
                f"nothing says what the candidates of {training.operation} would take: {fitted}",
                "measure named algorithms or ping-pongs beside default, or give a machine file with --machine",
            )
        found = identify(training, FromCosts(costs))
        warnings.append(
            f"no named algorithm was measured beside {DEFAULT}: candidates are simulated with {costs.origin}, "
            f"which may be off by a factor of {UNCALIBRATED:g}"
        )
    if any(len(chain.cells) == 1 for chain in found.chains):
        warnings.append("some ranks have a single size: there no switch can be seen")
    cells, switches = [], []
    for chain in found.chains:
        cells += [_answered(chain, cell, found) for cell in chain.cells]
        switches += _switches(chain, found)
    names = [candidate.name for candidate in found.candidates]
    mpi = str(training.points["mpi"].iloc[0])
    return Answer(training.operation, training.statistic, mpi, TIMES, cells, switches, names, warnings)


def _calibrated(training: Training) -> object:
    """The calibration on the named algorithms; a text that says why where there is none."""
    if (training.points["algorithm"] == DEFAULT).all():
        return f"only {DEFAULT} was measured"
    try:
        return estimators.get(ANSWER)(training)
    except RequestError as error:
        return error.message


def _answered(chain: Chain, cell: Cell, found: Identification) -> Answered:
    names = None
    if cell.names is not None:
        names = tuple(
            Named(tuple(found.candidates[state].name for state in name), float(cell.share[name].sum()))
            for name in cell.names
        )
    return Answered(cell.ranks, chain.nodes, cell.size_B, names)


def _switches(chain: Chain, found: Identification) -> list[Switch]:
    """Where the most probable sequence goes from one name to another, and both sides are told."""
    switches = []
    for first, second in pairwise(chain.cells):
        if first.names is None or second.names is None or first.best == second.best:
            continue
        count = len(found.candidates)
        if count in (first.best, second.best) or (
            first.same[first.best, second.best] and second.same[first.best, second.best]
        ):
            continue
        words = (found.candidates[cell.best].name for cell in (first, second))
        switches.append(Switch(first.ranks, chain.nodes, first.size_B, second.size_B, *words))
    return switches


@dataclass(frozen=True)
class FromCosts:
    """Candidates simulated with point-to-point costs; no collective was measured, so that they are rough."""

    costs: MachineCosts

    def predict(self, asked: pd.DataFrame) -> Prediction:
        """Completion times of schedules, wide as uncalibrated times are."""
        made, time_s = unknown(len(asked)), self.plain_s(asked)
        made.time_s[:], made.low_s[:], made.high_s[:] = time_s, time_s / UNCALIBRATED, time_s * UNCALIBRATED
        return made

    def plain_s(self, asked: pd.DataFrame) -> Array:
        """Seconds, shape (n,); NaN where a schedule is refused."""
        return np.array([self._time_s(row) for row in asked.to_dict("records")])

    def _time_s(self, row: dict[Any, Any]) -> float:
        number = {
            name: 0 if pd.isna(row[name]) else int(row[name]) for name in ("segment_bytes", "radix", "root")
        }
        try:
            request = ask(
                str(row["operation"]),
                str(row["algorithm"]).removeprefix(OWN),
                ranks=int(row["ranks"]),
                root=number["root"],
                size_B=int(row["bytes"]),
                segment_B=number["segment_bytes"],
                radix=number["radix"],
            )
        except RequestError:
            return float("nan")
        nodes = None if pd.isna(row["nodes"]) else int(row["nodes"])
        made = predict_one(request, self.costs.on_nodes(nodes), None)
        return float("nan") if made.time_s is None else made.time_s
