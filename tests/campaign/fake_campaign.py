"""Campaigns against the fake runner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hockney.campaign.events import Progress
from hockney.campaign.launch import Described, Launch
from hockney.campaign.measure import run
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Plan
from hockney.campaign.work import NextPoint
from hockney.records.answers import Hello
from hockney.records.folder import Campaign
from hockney.records.journal import HostLine, LaunchLine
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
        assert record.value > 0, "a point"

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def fake_launch(
    *arguments: str,
    variant: str = "default",
    ranks: int = 2,
    cpu_model: str = "",
    crowded: bool = False,
    warnings: Sequence[str] = (),
    **changes: Any,
) -> Launch:
    """A launch of the fake runner, by default a good one; `crowded`: its ranks share cores."""

    def describe(_: Hello) -> Described:
        hosts = [HostLine(host="h", cpu_model=cpu_model)] if cpu_model else []
        line = LaunchLine(mpi={"kind": "fake"}, hosts=hosts)
        return Described({(0, 1): "cache"}, crowded, 1, ranks, line, [*warnings])

    argv = [sys.executable, str(FAKE), *(arguments or ("good",))]
    environment = {"HOCKNEY_FAKE_RANKS": str(ranks)}
    return replace(
        Launch(variant, variant, "Fake MPI 1", argv, environment, LaunchLine(mapping="core"), describe), **changes
    )


def plan(**choices: Any) -> Plan:
    return Plan.model_validate(
        {"ranks": 2, "visits": 1, "time_limit_s": 20.0, "operations": ["pingpong"], "largest_B": 65536, **choices}
    )


def measured(
    path: Path, asked: Plan, *launches: Launch, chooser: Callable[[Plan], NextPoint] | None = None, **more: Any
) -> tuple[Campaign, Outcome, Silent]:
    """The campaign in that folder, begun or gone on with on these launches, or a good one."""
    campaign = Campaign.open(path) if path.exists() else Campaign.create(path, asked.model_dump())
    watcher = Silent()
    outcome = run(campaign, asked, list(launches) or [fake_launch(ranks=asked.ranks)], watcher, chooser, **more)
    return campaign, outcome, watcher


def sizes(campaign: Campaign, **fixed: object) -> list[int]:
    chosen = [r for r in campaign.records() if all(getattr(r, name) == value for name, value in fixed.items())]
    return sorted(record.bytes for record in chosen)
