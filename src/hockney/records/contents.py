"""All that a campaign folder or a tidy table holds, read once for everything that fits, warns and draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from hockney.errors import RequestError
from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import apart
from hockney.records.causes import with_causes
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine, LaunchLine, StoredPlan
from hockney.records.keys import Key, key_of
from hockney.records.levels import common
from hockney.records.modes import Modes, find_modes
from hockney.records.record import Record
from hockney.records.visits import Choice, Levels, Settled, choice_of, levels_of, settle
from hockney.units import format_bytes


@dataclass(frozen=True)
class Contents:
    """What a folder holds; of a table, `frame` and `apps` alone: times in seconds, and runs of applications.

    Records that stand as columns are rows of `frame` alone, too: `records` is empty.
    `settled` holds what the visits of each point come to at the level that the plan asks for, `levels` the
    machine's levels and what goes with them, `modes` what they do not tell of times, and `warnings` what was
    damaged.
    """

    path: Path
    frame: pd.DataFrame
    records: list[Record] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    levels: Levels = field(default_factory=dict)
    choice: Choice = common
    apps: list[AppRecord] = field(default_factory=list)
    effects: list[EffectRecord] = field(default_factory=list)
    launches: list[LaunchLine] = field(default_factory=list)
    failures: list[FailureLine] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    plan: StoredPlan | RequestError = field(default_factory=StoredPlan)
    modes: list[Modes] = field(default_factory=list)

    def of_one_level(self) -> tuple[pd.DataFrame, int]:
        """The tidy table without times of another level and without wrong results, and how many points it lacks.

        Those are the points that no launch met at the level asked for: nothing can be compared with them. A table
        has no levels.
        """
        if not self.records:
            return self.frame, 0
        elsewhere = set(map(id, self.settled.elsewhere))
        right = [record for record in self.settled.records if record.verified is not False]
        return table.rows_of((record for record in right if id(record) not in elsewhere), self.launches), len(
            elsewhere
        )

    @property
    def topology(self) -> str:
        """The network that the plan names; RequestError where the plan is damaged: only fits need it."""
        if isinstance(self.plan, RequestError):
            raise self.plan
        return self.plan.topology


def is_measured(path: Path) -> bool:
    """Whether it is a campaign folder, or called as a tidy table."""
    return path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet"))


def read(path: Path, placed: Callable[[list[Record]], list[Record]] = list) -> Contents:
    """Read every file of a campaign folder, or a tidy table (`.csv`, `.csv.gz`, `.parquet`), once.

    `placed` says of a folder's records where their ranks were, as far as that was unknown. RequestError where
    `path` is neither, or a table is damaged; damaged lines of a folder are warnings.
    """
    if not path.is_dir():
        frame, apps = apart(table.load(path))
        return Contents(path, frame, apps=apps)
    return contents_of(Campaign.open(path), placed)


def contents_of(campaign: Campaign, placed: Callable[[list[Record]], list[Record]] = list) -> Contents:
    """The contents of a campaign folder, as `read`; damaged lines are warnings."""
    columns, apps, effects = campaign.columns(), campaign.apps(), campaign.effects()
    launches, failures = campaign.launches(), campaign.failures()
    records = placed(campaign.records()) if columns is None else []
    levels = levels_of(records)
    if any(len(of_ranks) > 1 for of_ranks in levels.values()):
        levels = with_causes(levels, records)
    plan = _plan(campaign)
    choice = common if isinstance(plan, RequestError) else choice_of(plan)
    modes = find_modes(records, levels, choice)
    settled, frame = _settled(records, launches, levels, choice)
    if columns is not None:
        frame = table.from_imported(columns, launches)
    return Contents(
        campaign.path,
        frame,
        records,
        settled,
        levels,
        choice,
        apps,
        effects,
        launches,
        failures,
        campaign.warnings,
        plan,
        modes,
    )


def unmeasured(records: Iterable[Record], failures: Iterable[FailureLine]) -> list[str]:
    """Series, size and reason of each point that gave no time, or was cut off, and that no launch measured."""
    reasons: dict[tuple[str, Key, int], str] = {}
    for failure in failures:
        key, size_B = failure.series, failure.bytes
        if key is not None and size_B is not None:
            why = failure.reason or failure.limitation or failure.left_out
            reasons[failure.variant, key, size_B] = f"{key.where}, {format_bytes(size_B)}: {why}"
    for record in records if reasons else ():
        with suppress(ValueError):
            reasons.pop((record.variant, key_of(record), record.bytes), None)
    return list(dict.fromkeys(reasons.values()))


def _settled(
    records: Sequence[Record], launches: Sequence[LaunchLine], levels: Levels, choice: Choice
) -> tuple[Settled, pd.DataFrame]:
    """What the visits of each point come to, and the tidy table of it."""
    settled = settle(records, levels, choice)
    right = [record for record in records if record.verified is not False]
    # A visit whose payload came out wrong has no time, so that another visit of its point may count.
    timed = settled if len(right) == len(records) else settle(right, levels, choice)
    return settled, table.rows_of(timed.records, launches)


def _plan(campaign: Campaign) -> StoredPlan | RequestError:
    try:
        return campaign.plan()
    except RequestError as error:
        return error
