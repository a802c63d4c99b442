"""All that a campaign folder or a tidy table holds, read once for everything that fits, warns and draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.levels import Level
from hockney.records.record import Record
from hockney.records.visits import Ranks, Settled, levels_of, settle


@dataclass(frozen=True)
class Contents:
    """What a folder holds; of a table, `frame` alone: the tidy table with times in seconds.

    `settled` holds what the visits of each point come to, `levels` the machine's levels, and `warnings` what was
    damaged.
    """

    path: Path
    frame: pd.DataFrame
    records: list[Record] = field(default_factory=list)
    settled: Settled = field(default_factory=lambda: Settled([], []))
    levels: Mapping[Ranks, Sequence[Level]] = field(default_factory=dict)
    apps: list[AppRecord] = field(default_factory=list)
    effects: list[EffectRecord] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def topology(self) -> str:
        """The network that the plan names; RequestError where the plan is damaged: only fits need it."""
        return str(Campaign(self.path).plan().get("topology", "")) if self.path.is_dir() else ""


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
    settled = settle(records, levels)
    right = [record for record in records if record.verified is not False]
    # A visit whose payload came out wrong has no time, so that another visit of its point may count.
    timed = settled if len(right) == len(records) else settle(right, levels)
    frame = table.rows_of(timed.records, launches)
    return Contents(path, frame, records, settled, levels, apps, effects, launches, failures, campaign.warnings)
