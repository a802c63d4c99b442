"""What is known of a library's default without its times: by a setting that forces it, or by watching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.predict.decisions.base import ScheduleChoice, decisions_for
from hockney.predict.identify.candidates import DefaultCandidate, of_name, of_schedule
from hockney.predict.identify.forced import Forced, forced, in_doubt
from hockney.predict.points import DEFAULT, PointRow, rows
from hockney.records.defaults import NOTHING_KNOWN, Defaults, Seen

VERSION, TIMES, SETTING, WATCHING = "version", "times", "setting", "watching"
"""How an answer was found: the library's decision read by version, from times alone, from a setting that the
library states, or by watching its messages."""
WAYS = (SETTING, WATCHING, VERSION, TIMES)
"""In the order in which they are asked."""


@dataclass(frozen=True)
class DefaultCall:
    """A call of `default`: on so many ranks of so many nodes (None: nobody says), and bytes."""

    operation: str
    mpi: str
    variant: str
    ranks: int
    nodes: int | None
    size_B: int


@dataclass(frozen=True)
class ToldDefault:
    """The algorithms that the default may be; `names` None: they cannot be told, and `why`.

    `is_other`: it is none of those that the version could tell.
    """

    way: str
    names: tuple[DefaultCandidate, ...] | None
    why: str = ""
    is_other: bool = False

    @property
    def choice(self) -> ScheduleChoice | None:
        """The schedule, where it is one."""
        return self.names[0].choice if self.names is not None and len(self.names) == 1 else None


def by_setting(defaults: Defaults, place: DefaultCall) -> ToldDefault | None:
    """What a setting forces; None where none is known to."""
    of_launches = place.mpi, place.variant
    settings = defaults.settings.get(of_launches, {})
    if name := in_doubt(place.operation, settings, defaults.differing.get(of_launches, ()), place.mpi):
        return ToldDefault(SETTING, None, f"the launches differ in the setting {name}")
    force = forced(place.operation, settings, mpi=place.mpi, ranks=place.ranks, nodes=place.nodes)
    return None if force is None else _of_force(force, place)


def _of_force(force: Forced, place: DefaultCall) -> ToldDefault:
    why = f"forced by the setting {force.setting}"
    if not force.algorithm:
        return ToldDefault(SETTING, None, f"the setting {force.setting} decides, not the shipped decision")
    candidate = named(force.algorithm, place, force.segment_B, force.radix)
    return ToldDefault(SETTING, None if candidate is None else (candidate,), why)


def named(algorithm: str, place: DefaultCall, segment_B: int = 0, radix: int = 0) -> DefaultCandidate | None:
    """The candidate behind the library's name of an algorithm at a place; None where no default can be it."""
    return of_name(
        place.operation,
        algorithm,
        place.mpi,
        ranks=place.ranks,
        size_B=place.size_B,
        segment_B=segment_B,
        radix=radix,
    )


def by_watching(defaults: Defaults, place: DefaultCall) -> ToldDefault | None:
    """What was seen at the place; None where nobody watched there."""
    cell = defaults.near(place.operation, place.mpi, place.variant, place.ranks, place.nodes, place.size_B)
    if cell is None:
        return None
    names = None if cell.names is None else tuple(_candidate(place.operation, one) for one in cell.names)
    return ToldDefault(WATCHING, names, cell.why, is_other=cell.fits_none)


def _candidate(operation: str, seen: Seen) -> DefaultCandidate:
    if not seen.algorithm:
        return DefaultCandidate(None, seen.library[0] if seen.library else "")
    choice = ScheduleChoice(seen.algorithm, seen.segment_B or None, seen.radix or None)
    return of_schedule(operation, choice)


def seen(candidate: DefaultCandidate, library: list[str]) -> Seen:
    """The candidate as the file keeps it."""
    if candidate.choice is None:
        return Seen(library=library)
    choice = candidate.choice
    return Seen(
        algorithm=choice.algorithm, segment_B=choice.segment_B or 0, radix=choice.radix or 0, library=library
    )


def tell(defaults: Defaults, place: DefaultCall) -> ToldDefault | None:
    """What predictions of the default go by in place of the shipped decision; None where that holds.

    It chooses among several that were seen, if it is one of them.
    """
    if (told := by_setting(defaults, place)) is not None:
        return told
    told = by_watching(defaults, place)
    if told is None or told.is_other:
        return told
    if told.names is None:
        return None
    shipped = decisions_for(place.mpi).default(place.operation, place.ranks, place.size_B, nodes=place.nodes or 1)
    return None if shipped and of_schedule(place.operation, shipped) in told.names else told


def told_by(defaults: Defaults, place: DefaultCall, ways: Sequence[str]) -> ToldDefault | None:
    """What the first of `ways` but times that can tell says; None where none can.

    Where a setting decides, or something else than the version knows was seen, the shipped decision is not
    asked.
    """
    of_setting = by_setting(defaults, place) if SETTING in ways else None
    if of_setting is not None and of_setting.names is not None:
        return of_setting
    seen_here = by_watching(defaults, place) if WATCHING in ways else None
    if seen_here is not None and seen_here.names is not None:
        return seen_here
    if of_setting is not None:
        return of_setting
    if seen_here is not None and seen_here.is_other:
        return seen_here
    if VERSION in ways:
        choice = decisions_for(place.mpi).default(
            place.operation, place.ranks, place.size_B, nodes=place.nodes or 1
        )
        if choice is not None:
            return ToldDefault(VERSION, (DefaultCandidate(choice),))
    return seen_here


def is_unknown(
    points: pd.DataFrame, *, asks_library: bool, defaults: Defaults = NOTHING_KNOWN
) -> NDArray[np.bool_]:
    """Which points are of a `default` of whose algorithm nothing but its times tells, shape (n,)."""
    is_default = (points["algorithm"] == DEFAULT).to_numpy(copy=True)
    is_default[is_default] = [
        not _is_told(point, defaults, asks_library=asks_library) for point in rows(points[is_default])
    ]
    return np.asarray(is_default)


def _is_told(point: PointRow, defaults: Defaults, *, asks_library: bool) -> bool:
    """Whether the library's own choice at this point is known by a setting, by watching, or by its version."""
    place = point.operation, point.mpi, point.variant, point.ranks, point.nodes, point.bytes
    told = tell(defaults, DefaultCall(*place))
    if told is not None or not asks_library:
        return told is not None and told.choice is not None
    library = decisions_for(point.mpi)
    return library.default(point.operation, point.ranks, point.bytes, nodes=point.nodes or 1) is not None
