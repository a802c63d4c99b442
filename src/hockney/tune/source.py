"""What a tuning starts from: a campaign or a table, the library that it is of, and the cells that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd

from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.locality import read
from hockney.machine.select import parse_where
from hockney.models.over_ranks.points import visits_of
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.records import table
from hockney.records.contents import Contents
from hockney.records.defaults import NOTHING_KNOWN, Defaults, defaults_of
from hockney.records.keys import COLLECTIVES
from hockney.records.series_of_table import default_statistic
from hockney.runner.find import find
from hockney.tune.cells import CallTimes, measured, operations_in
from hockney.tune.modelled import calibrated, from_costs
from hockney.tune.targets.base import Reader, RuleForm
from hockney.tune.tuned import TargetRules, tuned
from hockney.units import counted, listed, version_in


@dataclass(frozen=True)
class MeasuredSource:
    """Times of collectives, of one library; `frame` are those of `contents` that rules are made from."""

    path: Path
    frame: pd.DataFrame
    library: Reader
    contents: Contents
    mpi: str = ""
    left_out: int = 0
    """Points that were met at another level of the machine than the rest, which nothing can be compared with."""
    defaults: Defaults = NOTHING_KNOWN
    """What the launches say of settings that choose algorithms."""

    @property
    def variant(self) -> str:
        """The one variant that the times are of; RequestError where they are of several."""
        return self._only("variant", set(self.frame["variant"].fillna("")))

    @property
    def mapping(self) -> str:
        """The one mapping that the times are of; RequestError where they are of several."""
        return self._only("mapping", set(self.frame["mapping"].fillna("")))

    @property
    def cache(self) -> str:
        """Where the buffers of collectives were, empty where nobody says; RequestError where that differs."""
        collectives = self.frame["operation"].isin(list(COLLECTIVES))
        return self._only("cache", set(self.frame.loc[collectives, "cache"].fillna("")))

    def _only(self, column: str, words: set[str]) -> str:
        names = sorted(words)
        if len(names) > 1:
            raise RequestError(
                f"{self.path} has times of the {column}s {listed(names)}",
                f"choose one: --where {column}='{names[0]}'",
            )
        return names[0] if names else ""

    @property
    def launches(self) -> int:
        """Launches that the times of collectives are of."""
        return int(self.frame.loc[self.frame["operation"].isin(list(COLLECTIVES)), "repetition"].nunique())

    def plan(self) -> Plan:
        """How the campaign launched; RequestError where the times are of a table, or the plan is damaged."""
        stored = self.contents.plan
        if isinstance(stored, RequestError) or stored.schema_version is None:
            raise RequestError(
                f"{self.path} does not say how its ranks were launched",
                "verify rules from a campaign of `hockney measure`, or leave --verify out",
            )
        return Plan.stored(stored, self.path)

    @classmethod
    def read(cls, path: Path, where: Sequence[str], mpi: str) -> MeasuredSource:
        """Read a campaign folder or a tidy table; `mpi` names the library on this machine, as --mpi does.

        RequestError where there are no such rows, or where they are of several libraries or not of `mpi`.
        """
        contents = read(path)
        of_one_level, left_out = contents.of_one_level()
        if left_out and of_one_level.empty:
            raise RequestError(
                f"no launch met any of the {counted(left_out, 'point')} of {path} at the level that is compared",
                "measure them again, with more launches",
            )
        frame = table.with_words(of_one_level, parse_where(where))
        names = sorted(set(frame["mpi"]))
        if len(names) > 1:
            raise RequestError(f"{path} has times of {listed(names)}", f"choose one: --where mpi='{names[0]}'")
        name = names[0] if names else ""
        wrapper = None if mpi else _wrapper(contents, name)
        if mpi:
            found = find(mpi)
            if name and name != found.describe():
                raise RequestError(
                    f"the times in {path} are of {name}, and {found.wrapper} is of {found.describe()}",
                    "rules are of the library that was timed: name its wrapper, or measure with this one",
                )
            name, wrapper = found.describe(), found.wrapper
        known = defaults_of(path, contents.launches) if contents.launches else NOTHING_KNOWN
        return cls(path, frame, Reader(name, version_in(name), wrapper), contents, mpi, left_out, known)

    def cells(self, target: RuleForm, operations: Sequence[str], ranks: Sequence[int]) -> list[CallTimes]:
        """What was measured of the algorithms that the target can name; by the model on ranks that were not.

        Errors as of `cells.measured` and `modelled.calibrated`.
        """
        found: list[CallTimes] = []
        for operation in operations_in(self.frame, operations):
            known = partial(_knows, target, operation, self.library)
            visits = visits_of(self.contents, operation, default_statistic(self.frame, operation))
            here = measured(self.frame, operation, known, ranks, visits)
            found += here
            if absent := sorted(set(ranks) - {cell.ranks for cell in here}):
                found += calibrated(self.frame, operation, known, absent)
        return found

    def tuned(
        self,
        target: RuleForm,
        operations: Sequence[str],
        ranks: Sequence[int],
        *,
        to_be_verified: bool = False,
    ) -> TargetRules:
        """Rules for the target; those `to_be_verified` may be for gains within their intervals."""
        target.expect(self.library)
        cells = self.cells(target, operations, ranks)
        done = tuned(target, self.library, cells, self.path, to_be_verified=to_be_verified)
        return replace(done, left_out=self.left_out, launches=self.launches)


def _knows(target: RuleForm, operation: str, library: Reader, name: str) -> bool:
    return target.knows(operation, name, library)


@dataclass(frozen=True)
class MachineSource:
    """A machine file: no collectives, but what messages cost, and the library that passed them."""

    path: Path
    costs: MachineCosts
    library: Reader

    @classmethod
    def of(cls, machine: Machine, path: Path, where: Sequence[str], mpi: str) -> MachineSource:
        """RequestError where the machine has no messages, or is of several libraries. `path` is for messages."""
        chosen_by = parse_where(where)
        names = sorted({each.name for each in machine.mpi if chosen_by.get("mpi", each.name) == each.name})
        if len(names) != 1 and not mpi:
            raise RequestError(
                f"{path} has messages of {listed(names) if names else 'no library that it names'}",
                f"choose one: --where mpi='{names[0]}'" if names else "name the library: --mpi",
            )
        found = find(mpi) if mpi else None
        name = found.describe() if found else names[0]
        costs = of_machine(machine, str(path), where=chosen_by)
        return cls(path, costs, Reader(name, version_in(name), found.wrapper if found else None))

    def tuned(
        self, target: RuleForm, operations: Sequence[str], ranks: Sequence[int], sizes_B: Sequence[int]
    ) -> TargetRules:
        """Rules for the target, all by the model; RequestError where no number of ranks is named."""
        if not ranks:
            raise RequestError(
                f"{self.path} is a machine file and measured no collectives on any number of ranks",
                "name the ranks that the rules are for: --ranks 4,8",
            )
        target.expect(self.library)
        cells = [
            cell
            for operation in operations or list(COLLECTIVES)
            for cell in from_costs(self.costs, target, self.library, operation, ranks, sizes_B)
        ]
        return tuned(target, self.library, cells, self.path)

    def placed(self, ranks: Sequence[int]) -> str:
        """What was assumed of where the ranks are: no option says it; empty where all messages cost the same."""
        if self.costs.crosses_network(None, max(ranks)):
            where = "each rank was taken to have a node of its own"
        elif len(self.costs.messages) > 1:
            where = "all ranks were taken to be on one node"
        else:
            return ""
        return (
            f"no placement is known: {where}. On other placements other algorithms win; "
            "`hockney predict --system … --mapping …` has yours"
        )


def _wrapper(contents: Contents, name: str) -> Path | None:
    """The wrapper of that library as the launches were made with it, where it is still there."""
    for launch in contents.launches:
        wrapper = Path(launch.mpi.get("wrapper") or "")
        if launch.mpi_name == name and wrapper.is_file():
            return wrapper
    return None
