"""The answers of `hockney report` and `hockney study`."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.api.answers.evaluate import CollectiveEvaluation
from hockney.campaign.jobs import WrittenJobs
from hockney.report.card.content import CardModel, Number
from hockney.report.findings import Finding
from hockney.studies.answers import ShownStudy, StudyDone, StudyLeft, StudyList, StudyPlanned


class WithInterval(TypedDict):
    """A number; the interval is [low, high]."""

    value: float
    interval: tuple[float, float] | None


class Headline(TypedDict):
    """The numbers of one curve."""

    operation: str
    locality: str | None
    variant: str
    label: str
    model: str
    latency_s: WithInterval
    bandwidth_B_per_s: WithInterval | None
    n_half_B: WithInterval | None
    eager_limit_B: float | None
    formulas: list[str]
    highest_throughput_B_per_s: float
    peaks: dict[str, float]
    text: str


class ReportAnswer(TypedDict):
    """What the page says; rows of its tables are those of the files that --csv writes."""

    report: str
    figures: list[str]
    csv: list[str]
    headline: list[Headline]
    left_out: str
    evaluations: dict[str, CollectiveEvaluation]
    collectives: dict[str, dict[str, list[dict[str, Any]]]]
    applications: list[dict[str, Any]]
    findings: list[Finding]
    warnings: list[str]


class CardAnswer(TypedDict):
    """The card that was written, and what stands on it (`Card` of hockney.report.card.content)."""

    card: str
    title: str
    lead: list[str]
    key: list[Number]
    messages: list[CardModel]
    effects: list[CardModel]
    collectives: list[CardModel]
    closed_forms: list[CardModel]
    limits: list[str]
    provenance: list[str]


answer("report")(ReportAnswer | CardAnswer)


answer("study")(StudyDone | StudyPlanned | StudyLeft | WrittenJobs | StudyList | ShownStudy)
