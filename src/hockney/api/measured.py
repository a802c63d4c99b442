"""What `hockney measure` answers: what was measured, or what would be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hockney.campaign.estimate import Estimate
from hockney.campaign.plan import Plan
from hockney.machine.file import Noise
from hockney.machine.measured import MeasuredCollective as MeasuredCollective
from hockney.machine.measured import MeasuredPair as MeasuredPair
from hockney.machine.measured import Throughput as Throughput
from hockney.records.next_step import next_step


@dataclass(frozen=True)
class MeasureAnswer:
    """What was measured, and what was not.

    `pairs` and `collectives` are its numbers, `effects` what answers about effects say. `run`: quiet, disturbed
    or unusable, "" where it is not known.
    """

    campaign: str
    records: int
    answers_about_effects: int
    core_seconds: float
    references_share: float
    measured: int
    prepare_s: float
    measure_s: float
    failures: list[str]
    vanished: list[str]
    limitations: list[str]
    left_out: int
    job_is_over: bool
    effects_left_out: list[str]
    warnings: list[str]
    pairs: list[MeasuredPair]
    collectives: list[MeasuredCollective]
    effects: list[str]
    run: Noise
    plan: Plan

    @property
    def next_step(self) -> str:
        """The verb that goes on from it."""
        return next_step(Path(self.campaign), self.plan.operations, has_effects=bool(self.plan.effects))


@dataclass(frozen=True)
class MeasurePlanned(Estimate):
    """With --dry-run: what would be launched. `warnings`: what of it is not known before. `takes`: in words."""

    campaign: str
    compile_s: float
    warnings: list[str]
    plan: Plan
    takes: Annotated[str, Field(exclude=True)]
