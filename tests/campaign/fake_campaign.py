"""Campaigns against the fake runner."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hockney.campaign.events import Progress
from hockney.campaign.launch import Described, Launch
from hockney.campaign.loop import Outcome
from hockney.campaign.measure import run
from hockney.campaign.plan import Plan
from hockney.records.answers import Hello
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

FAKE = Path(__file__).with_name("fake_runner.py")


class Silent:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.progresses: list[Progress] = []

    def progress(self, progress: Progress) -> None:
        self.progresses.append(progress)

    def measured(self, record: Record) -> None:
        assert record.value > 0

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def fake_launch(*arguments: str, variant: str = "default") -> Launch:
    def describe(_: Hello) -> Described:
        return Described({(0, 1): "cache"}, False, 1, 2, LaunchLine(mpi={"kind": "fake"}), [])

    return Launch(variant, "Fake MPI 1", [sys.executable, str(FAKE), *arguments], {}, LaunchLine(), describe)


def plan(**choices: Any) -> Plan:
    return Plan.model_validate(
        {"ranks": 2, "visits": 1, "time_limit_s": 20.0, "operations": ["pingpong"], "largest_B": 65536, **choices}
    )


def measured(path: Path, asked: Plan, *launches: Launch) -> tuple[Campaign, Outcome, Silent]:
    campaign = Campaign.open(path) if path.exists() else Campaign.create(path, asked.model_dump())
    watcher = Silent()
    outcome = run(campaign, asked, list(launches), watcher)
    return campaign, outcome, watcher


def sizes(campaign: Campaign, **fixed: object) -> list[int]:
    chosen = [r for r in campaign.records() if all(getattr(r, name) == value for name, value in fixed.items())]
    return sorted(record.bytes for record in chosen)
