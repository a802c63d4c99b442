"""The answers of `hockney report` and `hockney study`."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.api.answers.campaigns import Jobs, SkippedFile
from hockney.api.pages import CardAnswer, ReportAnswer
from hockney.report.findings import Finding
from hockney.studies.files import StudyFile

answer("report")(ReportAnswer | CardAnswer)


class StudyStep(TypedDict):
    """A step of a study, as it is planned or as it was done."""

    name: str
    command: str
    why: str
    estimate_s: float
    bound_s: NotRequired[float | None]
    placement: NotRequired[str]
    state: NotRequired[str]
    took_s: NotRequired[float]
    hint: NotRequired[str]
    left_out: NotRequired[int]


StudyDone = TypedDict(
    "StudyDone",
    {
        "study": str,
        "folder": str,
        "report": str,
        "findings": list[Finding],
        "warnings": list[str],
        "from": NotRequired[str],
        "skipped": NotRequired[list[SkippedFile]],
        "estimate_s": NotRequired[float],
        "took_s": NotRequired[float],
        "crowding": NotRequired[dict[str, Any] | None],
        "steps": NotRequired[list[StudyStep]],
    },
)


class StudyPlanned(TypedDict):
    """With --dry-run: what would be done."""

    study: str
    question: str
    compares: str
    shows: str
    asked: dict[str, Any]
    estimate_s: float
    steps: list[StudyStep]


class KnownStudy(TypedDict):
    """A study and what it answers."""

    name: str
    question: str
    needs: list[str]


class StudyList(TypedDict):
    """`hockney study list`."""

    studies: list[KnownStudy]


class ShownStudy(StudyFile):
    """`hockney study show`: the file of a study, and its name."""

    name: str


class StudyLeft(TypedDict):
    """A job's part of a study that others have still to end."""

    study: str
    folder: str
    job: str
    steps: list[StudyStep]


answer("study")(StudyDone | StudyPlanned | StudyLeft | Jobs | StudyList | ShownStudy)
