"""Places of ranks: by system files, otherwise by the launches, otherwise only the number of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd

from hockney.errors import RequestError
from hockney.machine.locality import systems_of
from hockney.machine.placement import Placement, placement
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.machine.system import System
from hockney.models.over_ranks.boundaries import Boundary, Domains, boundaries, node_boundaries
from hockney.models.over_ranks.points import Configuration
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine


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
