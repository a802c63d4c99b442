"""How far two ranks are apart, and where they were: by system files, else by launches, else by nodes and ranks.

What is not certain is not claimed: the reason says what lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from hockney.errors import RequestError
from hockney.machine.placement import Placement, placement, placement_of_pair
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.machine.system import LEVELS, System, find_system, known_systems
from hockney.machine.system_of_table import ORDERS
from hockney.models.over_ranks.boundaries import Boundary, Domains, boundaries, node_boundaries
from hockney.models.over_ranks.points import Configuration
from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine
from hockney.records.keys import POINT_TO_POINT
from hockney.records.record import Locality, Record
from hockney.units import counted
from hockney.vocabulary import HOW_RANKS_WERE_MAPPED, WHERE_RANKS_WERE

if TYPE_CHECKING:
    from hockney.records.contents import Contents


class PairRow(NamedTuple):
    """What of a row between two ranks tells their locality; `repetition` where it is the core of a receiver."""

    system: str | None
    mapping: str | None
    nodes: int | None
    ppn: int | None
    ranks: int | None
    pair: str | None
    variant: str | None
    source: str | None
    repetition: int | None


HALVES = ("osu", "imb")
"""Programs whose several pairs are rank i of the first half and rank i of the second."""
_OF_JOB = re.compile(r"\b2 of (\d+) ranks$")
_PAIR = re.compile(r"(\d+)-(\d+)$")


@dataclass(frozen=True)
class PairLocality:
    """How far two ranks are apart; None where that is not certain, and `why` not."""

    locality: Locality | None
    why: str = ""


def locality_of(
    system: System | None,
    mapping: str,
    ranks: int | None,
    nodes: int | None = None,
    ppn: int | None = None,
    pairs: Sequence[tuple[int, int]] = ((0, 1),),
) -> PairLocality:
    """The locality that each of `pairs` has among `ranks` ranks; None where they differ or it is not certain.

    A rank on each of several nodes is `network`, whatever the system. `nodes` and `ppn` that so many ranks cannot
    have are those of a job of more ranks, and only one rank a node then says something.
    """
    if nodes == ppn == 1:
        return PairLocality(None, "nodes 1 and ppn 1 hold one rank, not two")
    is_of_ranks = _is_of_ranks(ranks, nodes, ppn)
    if ppn == 1 or (is_of_ranks and nodes == ranks):
        return PairLocality("network")
    if system is None and mapping and mapping in ORDERS and (of_each := nodes if mapping == "node" else ppn):
        # Without a node's inside: ranks go round the nodes, or a node is filled before the next.
        nth = [[(rank % of_each if mapping == "node" else rank // of_each) for rank in pair] for pair in pairs]
        if all(first != second for first, second in nth):
            return PairLocality("network")
    if system is None:
        where = "they share a node that no system describes" if nodes == 1 else "no system is described"
        of_job = "" if is_of_ranks or ranks is None else f"nodes and ppn are not those of {ranks} ranks; "
        return PairLocality(None, of_job + where)
    if not mapping:
        return PairLocality(None, "their mapping is not stated")
    if ranks is None:
        return PairLocality(None, "the number of ranks is not stated")
    ranks = max(ranks, 1 + max(rank for pair in pairs for rank in pair))
    try:
        placed = placement(system, mapping, ranks, *((nodes, ppn) if is_of_ranks else (None, None)))
    except RequestError as error:
        return PairLocality(None, error.message)
    rule = system.mappings[mapping]
    if nodes == 1 and (rule.nodes or 1) > 1:
        return PairLocality(None, f"mapping {mapping} of {system.name} is of {rule.nodes} nodes, not of one")
    is_shared = "thread" not in rule.order and bool(placed.turns.any())
    found = {_certain(system, placed, is_shared, *pair) for pair in pairs}
    return found.pop() if len(found) == 1 else PairLocality(None, "their pairs differ")


def _is_of_ranks(ranks: int | None, nodes: int | None, ppn: int | None) -> bool:
    """Whether so many ranks may hold these nodes, at most `ppn` on each: as a table's columns mean them."""
    if ranks is None:
        return False
    return (nodes or 1) - 1 + (ppn or 1) <= ranks and (nodes is None or ppn is None or nodes * ppn >= ranks)


def _certain(system: System, placed: Placement, is_shared: bool, a: int, b: int) -> PairLocality:
    """The locality of two ranks that stay where their binding holds them.

    `is_shared`: cores hold several ranks, and the mapping does not say which.
    """
    locality = placed.locality(a, b)
    if locality == "network" or (placed.binding == "core" and not is_shared):
        return PairLocality(locality)
    if is_shared:
        return PairLocality(None, "which of their ranks share a core is not stated")
    free = placed.binding or "node"
    if LEVELS.index(locality) > LEVELS.index(free):
        return PairLocality(locality)
    radices = system.node.radices
    inside = LEVELS[LEVELS.index("cache") : LEVELS.index(free)]
    if system.node.threads_per_core == 1 and all(radices[level] == 1 for level in inside):
        return PairLocality("cache")
    held = f"they may be anywhere on a {free}" if placed.binding else "what they are bound to is not known"
    return PairLocality(None, held)


def systems_of(names: Iterable[str], given: Sequence[System] = ()) -> dict[str, System]:
    """The description of each of these systems: given by its name or as the only one, else shipped."""
    named, by_name = sorted(set(map(str, names))), {system.name: system for system in given}
    if len(named) == len(given) == 1:
        return {named[0]: given[0]}
    shipped = known_systems() if any(named) else ()
    return {name: by_name.get(name) or find_system(name) for name in named if name in by_name or name in shipped}


class Localities:
    """Says the localities of rows between two ranks.

    `unknown` counts rows by their ranks, whether their nodes are known, and why their locality is not.
    """

    def __init__(self, systems: Sequence[System] = ()) -> None:
        self._given = systems
        self.unknown: dict[tuple[int | None, bool, str], int] = {}

    @property
    def notes(self) -> list[str]:
        """A sentence on the rows without a locality, with the options that say what lacks; none without such."""
        if not self.unknown:
            return []
        why = "; ".join(
            f"{count}{f' of {ranks} ranks' if ranks else ''}: {reason}"
            for (ranks, _, reason), count in self.unknown.items()
        )
        # Nodes that are given already are no advice.
        has_nodes = all(is_given for _, is_given, _ in self.unknown)
        return [
            f"How far apart the two ranks of {counted(sum(self.unknown.values()), 'record')} were is unknown "
            f"({why}): {HOW_RANKS_WERE_MAPPED if has_nodes else WHERE_RANKS_WERE}."
        ]

    def of(self, rows: pd.DataFrame) -> pd.Series[str]:
        """Of each row with the columns of `PairRow`, "" where it is unknown."""
        facts = rows[[*PairRow._fields]].astype(object).where(rows[[*PairRow._fields]].notna(), None)
        systems = systems_of(facts["system"], self._given)
        receivers = {key: set(of["repetition"]) for key, of in facts.groupby(["system", "mapping"])}
        said: dict[PairRow, PairLocality] = {}
        words = []
        for row in map(PairRow._make, facts.itertuples(index=False)):
            system = systems.get(row.system or "")
            channel = None if system is None else system.channels.get(row.mapping or "")
            if (
                channel is None
                or not channel.takes(receivers[row.system, row.mapping])
                or (row.nodes == 1 and channel.receiver_offset)
            ):
                row = row._replace(repetition=None)
            if row not in said:
                said[row] = _of_row(system, row)
            words.append(said[row].locality or "")
            if why := said[row].why:
                kind = row.ranks, (row.nodes or 1) > 1 and row.ppn is None, why
                self.unknown[kind] = self.unknown.get(kind, 0) + 1
        return pd.Series(words, rows.index, dtype="str")

    def of_records(self, records: Sequence[Record]) -> list[Record]:
        """The records, those between two ranks with the locality that was unknown."""
        lacking = [
            place
            for place, record in enumerate(records)
            if record.locality is None and record.operation in POINT_TO_POINT and record.source != "hockney"
        ]
        if not lacking:
            return list(records)
        facts = [[getattr(records[at], name) for name in PairRow._fields] for at in lacking]
        rows = pd.DataFrame(facts, columns=[*PairRow._fields], dtype=object)
        every = list(records)
        for place, word in zip(lacking, self.of(rows), strict=True):
            every[place] = records[place].model_copy(update={"locality": word or None})
        return every

    def of_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A tidy table, its rows between two ranks with the locality that was unknown."""
        known = pd.Series(frame.get("locality", ""), frame.index, dtype="str")
        lacking = frame["operation"].isin(POINT_TO_POINT) & known.isin([""])
        if not lacking.any():
            return frame
        rows = frame[lacking]
        rows = rows.assign(**{name: None for name in PairRow._fields if name not in rows.columns})
        attributes = frame.attrs
        frame = frame.assign(locality=known.mask(lacking, self.of(rows)))
        frame.attrs = attributes
        return frame


def _of_row(system: System | None, row: PairRow) -> PairLocality:
    if row.repetition is not None and system is not None and row.mapping:
        return PairLocality(placement_of_pair(system, row.mapping, row.repetition).locality(0, 1))
    ranks, nodes, pair = row.ranks, row.nodes, _PAIR.match(row.pair or "")
    pairs = [(int(pair[1]), int(pair[2]))] if pair else [(0, 1)]
    if ranks is not None and ranks > 2 and not pair:
        if row.source not in HALVES and row.ppn != 1 and nodes != ranks:
            return PairLocality(None, "which of their ranks made a pair is not stated")
        pairs = [(rank, rank + ranks // 2) for rank in range(ranks // 2)]
    if job := _OF_JOB.search(row.variant or ""):
        ranks, nodes = int(job[1]), nodes if nodes == 1 else None
    return locality_of(system, row.mapping or "", ranks, nodes, row.ppn, pairs)


def given_system(name_or_path: str) -> tuple[str, list[System]]:
    """The name of a system that rows are given, and its description where that is a file."""
    if "/" not in name_or_path and not name_or_path.endswith(".json"):
        return name_or_path, []
    system = find_system(name_or_path)
    return system.name, [system]


def read(
    path: Path, systems: Sequence[System] = (), then: Callable[[list[Record]], list[Record]] = list
) -> Contents:
    """`records.contents.read`, with the localities that the systems tell, and what lacks among the warnings.

    `then` is what becomes of records whose ranks are placed.
    """
    # Whoever asks for a table does not wait for what campaigns hold.
    from hockney.records import contents

    localities = Localities(systems)
    held = contents.read(path, lambda records: then(localities.of_records(records)))
    return replace(
        held,
        frame=held.frame if held.records else localities.of_frame(held.frame),
        warnings=[*localities.notes, *held.warnings],
    )


def load(path: Path, statistic: str = "", systems: Sequence[System] = ()) -> pd.DataFrame:
    """`records.table.load`, as `read`."""
    localities = Localities(systems)
    frame = localities.of_frame(table.load(path, statistic))
    frame.attrs["warnings"] = [*localities.notes, *frame.attrs.get("warnings", [])]
    return frame


class Places:
    """Boundaries of curves against ranks. `notes` say why a placement is not known, each reason once."""

    def __init__(
        self,
        frame: pd.DataFrame,
        systems: Sequence[System] = (),
        launches: Sequence[LaunchLine] = (),
        apps: Sequence[AppRecord] = (),
    ) -> None:
        """`systems` are those of `systems_of`: given, else shipped.

        RequestError for a system that is neither in the table nor in a run of an application.
        """
        self.notes: list[str] = []
        names = sorted(set(frame["system"].astype(str))) or sorted({run.system for run in apps})
        every = {*names, *(run.system for run in apps)}
        self._systems = systems_of(every, systems)
        if other := [system for system in systems if system not in self._systems.values()]:
            raise RequestError(
                f"the table has no rows of system {other[0].name!r}",
                f"it has {', '.join(filter(None, names)) or 'no named system'}",
            )
        # A launch does not name its system: with several, it could be of any.
        self._by_id = {launch.id: launch for launch in launches if launch.ranks}
        self._launches = list(self._by_id.values()) if len(names) == 1 else []
        # Curves of all sizes and algorithms mostly have the same ranks.
        self._between = cache(self._boundaries)

    @property
    def systems(self) -> list[System]:
        """The descriptions of what was measured."""
        return list(self._systems.values())

    def system(self, name: str) -> System | None:
        """The description of a system; None if the caller gave none."""
        return self._systems.get(name)

    def boundaries(self, configuration: Configuration, curve: pd.DataFrame) -> list[Boundary]:
        """Boundaries of one curve of `models.over_ranks.points.curves`."""
        key = configuration["system"], configuration["mapping"], configuration["variant"]
        nodes, ppn = (map(_count, curve[name]) for name in ("nodes", "ppn"))
        return self._between(*key, tuple(zip(map(int, curve["ranks"]), nodes, ppn, strict=True)))

    def _boundaries(
        self, name: str, mapping: str, variant: str, counts: tuple[tuple[int, int | None, int | None], ...]
    ) -> list[Boundary]:
        """Those of ranks on so many nodes, so many on each."""
        system, launch = self.system(name), self._launch(mapping, variant)
        domains_at: dict[int, Domains] = {}
        try:
            for ranks, nodes, ppn in counts:
                if system is not None:
                    domains_at[ranks] = domains(placement(system, mapping, ranks, nodes, ppn))
                elif launch is not None and ranks <= len(launch.ranks):
                    domains_at[ranks] = domains(placement_of_launch(launch, ranks))
        except RequestError as error:
            note = f"only boundaries of nodes are known: {error.message}"
            self.notes += [note] if note not in self.notes else []
            domains_at = {}
        if domains_at:
            return boundaries([ranks for ranks, *_ in counts], domains_at.get)
        return node_boundaries({ranks: nodes for ranks, nodes, _ in counts if nodes is not None})

    def of_run(self, run: AppRecord) -> Placement | None:
        """Where a run's ranks were: by its system, otherwise by its launch; None where neither says."""
        system, launch = self.system(run.system), self._by_id.get(run.launch)
        try:
            if system is not None:
                return placement(system, run.mapping, run.ranks, run.nodes, run.ppn)
            return None if launch is None else placement_of_launch(launch, run.ranks)
        except RequestError as error:
            note = f"{run.operation}: where ranks were is not known: {error.message}"
            self.notes += [note] if note not in self.notes else []
            return None

    def _launch(self, mapping: str, variant: str) -> LaunchLine | None:
        fitting = [launch for launch in self._launches if launch.mapping == mapping and launch.variant == variant]
        return max(fitting, key=lambda launch: len(launch.ranks), default=None)


def domains(placed: Placement) -> Domains:
    """The domains of a placement by level, as `hockney.models.over_ranks.boundaries` takes them."""
    return {"core": placed.turns, **dict(zip(placed.levels, placed.domains(), strict=True))}


def _count(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
