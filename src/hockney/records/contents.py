"""All that a campaign folder or a tidy table holds, read once for everything that fits, warns and draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.record import Record


@dataclass(frozen=True)
class Contents:
    """What a folder holds; of a table, `frame` alone: the tidy table with times in seconds.

    `quiet` holds the records that count (`hockney.records.table.quietest`), `warnings` names what was damaged.
    """

    path: Path
    frame: pd.DataFrame
    records: list[Record] = field(default_factory=list)
    quiet: list[Record] = field(default_factory=list)
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
    quiet = table.quietest(records)
    right = [record for record in records if record.verified is not False]
    # A visit whose payload came out wrong has no time, so that another visit of its point may count.
    timed = quiet if len(right) == len(records) else table.quietest(right)
    frame = table.rows_of(timed, launches)
    return Contents(path, frame, records, quiet, apps, effects, launches, failures, campaign.warnings)
