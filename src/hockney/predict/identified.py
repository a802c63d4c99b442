"""The answer of `hockney identify`: which algorithm `default` uses, by a setting, by watching, by the library's
version or from times alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import pandas as pd
from pydantic import computed_field

from hockney.errors import RequestError
from hockney.predict.decisions.base import decisions_for
from hockney.predict.estimators._default import Identification, Mixed, identify
from hockney.predict.estimators.base import (
    ANSWER,
    Training,
    estimators,
    known_defaults,
    training_of,
)
from hockney.predict.from_costs import FromCosts
from hockney.predict.identify.chains import Chain, ChainCell
from hockney.predict.identify.told import SETTING, TIMES, VERSION, WAYS, DefaultCall, told_by
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.place import NETWORK
from hockney.predict.points import APART, DEFAULT, points, positions, rows
from hockney.progress import Progress, silent
from hockney.records.defaults import NOTHING_KNOWN, Defaults
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import least_B
from hockney.units import counted, format_bytes

WITHOUT_COSTS = "measure named algorithms or ping-pongs beside default, or give a machine file with --machine"
WITHOUT_LOCALITY = (
    "say where their ranks were: `hockney import --locality network`; or give a file with --machine"
)
"""Hints where no ping-pong was measured, and where none can be used."""


@dataclass(frozen=True)
class NameSet:
    """Schedules that nobody could tell apart, and how probable it is that one of them ran."""

    schedules: Sequence[str]
    probability: float

    @property
    def words(self) -> str:
        """`knomial, radix 4 = binomial`."""
        return " = ".join(self.schedules)


@dataclass(frozen=True)
class IdentifiedCell:
    """What `default` runs for so many ranks and bytes; `names` None: it cannot be told.

    `way`: how it was told (`hockney.predict.identify.told`); `why`: what forces it, or why it cannot be told.
    `is_none`: it is none of the candidates, because none fits within its error.
    """

    ranks: int
    nodes: int | None
    bytes: int
    names: Sequence[NameSet] | None
    way: str = ""
    why: str = ""
    is_none: bool = False


@dataclass(frozen=True)
class AlgorithmSwitch:
    """The library changes its algorithm above `last_bytes` and at most at `first_bytes`; None: which one it runs
    there cannot be told, though it is another one than beside it."""

    ranks: int
    nodes: int | None
    last_bytes: int
    first_bytes: int
    before: str | None
    after: str | None


@dataclass(frozen=True)
class IdentifiedOperation:
    """The default of one operation under one set of conditions.

    `way`: how its cells were told, joined by `and` where they differ (`hockney.predict.identify.told`).
    """

    operation: str
    statistic: str
    mpi: str
    way: str
    cells: Sequence[IdentifiedCell]
    switches: Sequence[AlgorithmSwitch]
    candidates: Sequence[str]
    warnings: Sequence[str] = ()
    variant: str = ""

    @computed_field
    @property
    def n_cells(self) -> int:
        """Numbers of ranks and sizes."""
        return len(self.cells)

    @computed_field
    @property
    def n_cannot_be_told(self) -> int:
        """Cells that cannot be told."""
        return sum(cell.names is None and not cell.is_none for cell in self.cells)


@dataclass(frozen=True)
class IdentifyAnswer:
    """What the library runs by default."""

    answers: Sequence[IdentifiedOperation]
    warnings: Sequence[str]


def answers(
    frame: pd.DataFrame,
    operation: str,
    *,
    statistic: str = "",
    ways: Sequence[str] = WAYS,
    system: object | None = None,
    costs: MachineCosts | str = "",
    progress: Progress = silent,
) -> list[IdentifiedOperation]:
    """The algorithms behind `default` of an operation of a tidy table, one answer for each set of conditions.

    The first of `ways` that can answer does, but where a setting decides the version is not asked. From times,
    candidates take what they took in the same table, else what a calibration on its named algorithms says, else
    what `costs` say; a text says why there are none. RequestError where the table has no default of the
    operation, or nothing says what
    candidates would take.
    """
    pooled = points(frame, operation, statistic)
    learn = pooled.frame
    if not (learn["algorithm"] == DEFAULT).any():
        held = ", ".join(sorted(set(learn["algorithm"])))
        raise RequestError(
            f"this table has no {DEFAULT} of {operation} ({pooled.statistic}), only {held}",
            f"measure it: `hockney measure --operation {operation} --algorithm default`",
        )
    identified = []
    for index in positions(learn, APART).values():
        conditions = learn.iloc[index].reset_index(drop=True)
        if not (conditions["algorithm"] == DEFAULT).any():
            continue
        training = training_of(
            frame, conditions, operation, pooled.statistic, system, progress, asks_library=False
        )
        # What else tells the default goes before its times, which are asked where it does not.
        training = replace(training, defaults=NOTHING_KNOWN)
        answer = _answer_told(_places(training), pooled.statistic, known_defaults(frame), ways)
        if all(cell.names is None for cell in answer.cells):
            answer = _further(answer, training, costs, ways)
        identified.append(replace(answer, warnings=[*pooled.warnings, *answer.warnings]))
    return identified


def _further(
    untold: IdentifiedOperation, training: Training, costs: MachineCosts | str, ways: Sequence[str]
) -> IdentifiedOperation:
    """From times, where nothing else tells; the answer as it is where a setting decides and times do not tell."""
    why = next((cell.why for cell in untold.cells if cell.why), "")
    if TIMES in ways:
        try:
            return _by_times(training, costs)
        except RequestError:
            if not why:
                raise
            return untold
    if why:
        return untold
    if VERSION not in ways:
        raise RequestError(
            f"nobody has watched these sizes of {untold.operation}",
            "watch them: `hockney identify CAMPAIGN --watch`",
        )
    reason = decisions_for(untold.mpi).reason
    raise RequestError(f"the version does not decide: {reason}", "leave out --evidence, or say --evidence times")


def of_version(
    operation: str,
    mpi: str,
    ranks: Sequence[int],
    sizes_B: Sequence[int],
    nodes: int | None,
    defaults: Defaults = NOTHING_KNOWN,
) -> IdentifiedOperation | None:
    """What the version in a word such as "Open MPI 4.1.5" tells of these; None where it tells nothing.

    `defaults`: settings by which it does not hold.
    """
    places = [DefaultCall(operation, mpi, "", count, nodes, size_B) for count in ranks for size_B in sizes_B]
    answer = _answer_told(places, "", defaults, (SETTING, VERSION))
    return None if all(cell.names is None and not cell.why for cell in answer.cells) else answer


def _answer_told(
    places: Sequence[DefaultCall], statistic: str, defaults: Defaults, ways: Sequence[str]
) -> IdentifiedOperation:
    first = places[0]
    cells = []
    for place in places:
        named = told_by(defaults, place, ways)
        names = None
        if named is not None and named.names is not None:
            names = tuple(NameSet((name.name,), 1 / len(named.names)) for name in named.names)
        way, why = ("", "") if named is None else (named.way, named.why)
        cells.append(IdentifiedCell(place.ranks, place.nodes, place.size_B, names, way, why))
    names_told = {name for cell in cells for each in cell.names or () for name in each.schedules}
    is_limited = any(cell.names is None and not cell.why for cell in cells)
    limits = [f"{first.mpi}: {decisions_for(first.mpi).reason}"] if is_limited else []
    way = ways_of(cells)
    return IdentifiedOperation(
        first.operation,
        statistic,
        first.mpi,
        way,
        cells,
        _switches_told(cells),
        sorted(names_told),
        limits,
        first.variant,
    )


def ways_of(cells: Sequence[IdentifiedCell]) -> str:
    """How the cells were told, joined where they differ."""
    return " and ".join(dict.fromkeys(cell.way for cell in cells if cell.way))


def _switches_told(cells: Sequence[IdentifiedCell]) -> list[AlgorithmSwitch]:
    found = []
    for first, second in pairwise(cells):
        if (first.ranks, first.nodes) != (second.ranks, second.nodes) or not (first.names and second.names):
            continue
        if not {tuple(name.schedules) for name in first.names} & {tuple(name.schedules) for name in second.names}:
            words = (" or ".join(name.words for name in cell.names or ()) for cell in (first, second))
            found.append(AlgorithmSwitch(first.ranks, first.nodes, first.bytes, second.bytes, *words))
    return found


def _places(training: Training) -> list[DefaultCall]:
    default = rows(training.points[training.points["algorithm"] == DEFAULT])
    mpi, variant = default[0].mpi, default[0].variant
    places = {(point.ranks, point.nodes, point.bytes) for point in default}
    return [
        DefaultCall(training.operation, mpi, variant, *place)
        for place in sorted(places, key=lambda place: (place[0], place[1] or 0, place[2]))
    ]


def _by_times(training: Training, costs: MachineCosts | str) -> IdentifiedOperation:
    warnings = []
    fitted = _calibrated(training)
    if isinstance(fitted, Mixed):
        found = fitted.found
    else:
        if isinstance(costs, str):
            raise RequestError(
                f"nothing says what the candidates of {training.operation} would take: "
                + ", and ".join(filter(None, (str(fitted), costs))),
                WITHOUT_LOCALITY if costs else WITHOUT_COSTS,
            )
        reduces = COLLECTIVES[training.operation].reduces
        placements = (False, True) if _shares_nodes(training, costs) else (False,)
        cases = product(costs.unsure(reduces=reduces), placements)
        found = identify(training, [FromCosts(*case, training.progress) for case in cases], is_rough=True)
        warnings.append(
            f"no named algorithm was measured beside {DEFAULT}: candidates are simulated with {costs.origin}, "
            "and may be off by a factor of two. Most other algorithms would go unnoticed"
        )
    warnings += [*found.limits, *_below(training, found)]
    if any(len(chain.cells) == 1 for chain in found.chains):
        warnings.append("some ranks have a single size: there no switch can be seen")
    cells, switches = [], []
    for chain in found.chains:
        cells += [_answered(chain, cell, found) for cell in chain.cells]
        switches += _switches(chain, found)
    names = [candidate.name for candidate in found.candidates]
    first = _places(training)[0]
    return IdentifiedOperation(
        training.operation, training.statistic, first.mpi, TIMES, cells, switches, names, warnings, first.variant
    )


def _shares_nodes(training: Training, costs: MachineCosts) -> bool:
    """Whether a table has several ranks on each of several nodes, and messages inside and between are known."""
    points = training.points
    is_known = NETWORK in costs.messages and len(costs.messages) > 1
    return is_known and bool(((points["nodes"] > 1) & (points["ppn"] > 1)).fillna(False).any())


def _calibrated(training: Training) -> object:
    """The calibration on the named algorithms; a text that says why where there is none."""
    if (training.points["algorithm"] == DEFAULT).all():
        return f"only {DEFAULT} was measured"
    try:
        return estimators.get(ANSWER)(training)
    except RequestError as error:
        return error.message


def _answered(chain: Chain, cell: ChainCell, found: Identification) -> IdentifiedCell:
    names = None
    if cell.names is not None:
        names = tuple(
            NameSet(tuple(found.candidates[state].name for state in name), float(cell.share[name].sum()))
            for name in cell.names
        )
    return IdentifiedCell(cell.ranks, chain.nodes, cell.size_B, names, TIMES, is_none=cell.is_none)


def _below(training: Training, found: Identification) -> list[str]:
    """Which candidates are out because libraries would run others, in words."""
    operation, mpi = training.operation, _places(training)[0].mpi
    needs: dict[str, list[str]] = {}
    for ranks in sorted({chain.ranks for chain in found.chains}):
        least = min(cell.size_B for chain in found.chains if chain.ranks == ranks for cell in chain.cells)
        for name in {each.choice.algorithm: None for each in found.candidates if each.choice is not None}:
            if (need := least_B(operation, name, ranks)) > least:
                needs.setdefault(name, []).append(f"{format_bytes(need)} on {counted(ranks, 'rank')}")
    # Of many numbers of ranks the ends tell how the need grows.
    said = [f"{name} below {' to '.join(dict.fromkeys([of[0], of[-1]]))}" for name, of in needs.items()]
    components = {decisions_for(mpi).component(operation, chain.ranks, chain.nodes) for chain in found.chains}
    return [
        *([f"no candidates for want of elements: {', '.join(said)}"] if said else []),
        *(f"{mpi}: its component {component} serves {operation}" for component in sorted(components - {""})),
    ]


def _switches(chain: Chain, found: Identification) -> list[AlgorithmSwitch]:
    """Where the library most probably changes from one name to another."""
    return [
        AlgorithmSwitch(
            chain.ranks,
            chain.nodes,
            first.size_B,
            second.size_B,
            *(_word(cell, state, found) for cell, state in ((first, change.before), (second, change.after))),
        )
        for change in chain.changes
        for first, second in [chain.cells[change.at - 1 : change.at + 1]]
    ]


def _word(cell: ChainCell, state: int, found: Identification) -> str | None:
    """The name of a state at a size; None where that cannot be told."""
    is_told = cell.names is not None and state < len(found.candidates)
    return found.candidates[state].name if is_told else None
