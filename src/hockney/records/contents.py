"""All that a campaign folder or a tidy table holds, read once for everything that fits, warns and draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from hockney.errors import RequestError
from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.levels import common
from hockney.records.modes import Modes, find_modes, holding_both
from hockney.records.record import Record
from hockney.records.visits import Choice, Levels, Settled, choice_of, levels_of, settle


@dataclass(frozen=True)
class Contents:
    """What a folder holds; of a table, `frame` alone: the tidy table with times in seconds.

    `settled` holds what the visits of each point come to at the level that the plan asks for, `levels` the
    machine's levels, `modes` what they do not tell of times, and `warnings` what was damaged.
    """

    path: Path
    frame: pd.DataFrame
    records: list[Record] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    levels: Levels = field(default_factory=dict)
    choice: Choice = common
    apps: list[AppRecord] = field(default_factory=list)
    effects: list[EffectRecord] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    plan: dict[str, Any] | RequestError = field(default_factory=dict)
    modes: list[Modes] = field(default_factory=list)

    @property
    def topology(self) -> str:
        """The network that the plan names; RequestError where the plan is damaged: only fits need it."""
        if isinstance(self.plan, RequestError):
            raise self.plan
        return str(self.plan.get("topology", ""))


def read(path: Path) -> Contents:
    """Read every file of a campaign folder, or a tidy table (`.csv`, `.csv.gz`, `.parquet`), once.

    RequestError where `path` is neither, or a table is damaged; damaged lines of a folder are warnings.
    """
    if not path.is_dir():
        return Contents(path, table.load(path))
    campaign = Campaign.open(path)
    records, apps, effects = campaign.records(), campaign.apps(), campaign.effects()
    launches, failures = campaign.launches(), campaign.failures()
    levels = levels_of(records)
    plan = _plan(campaign)
    choice = common if isinstance(plan, RequestError) else choice_of(plan)
    modes = find_modes(records, levels, choice)
    settled = holding_both(settle(records, levels, choice), modes)
    right = [record for record in records if record.verified is not False]
    # A visit whose payload came out wrong has no time, so that another visit of its point may count.
    timed = settled if len(right) == len(records) else holding_both(settle(right, levels, choice), modes)
    return Contents(
        path,
        table.rows_of(timed.records, launches),
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


def _plan(campaign: Campaign) -> dict[str, Any] | RequestError:
    try:
        return campaign.plan()
    except RequestError as error:
        return error
