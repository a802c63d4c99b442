"""The answers of verbs that make, join and look at campaigns: `measure`, `import`, `merge`, `doctor`, `lab`."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.api.installation import DoctorAnswer, Lab, LabDown
from hockney.campaign.jobs import WrittenJobs
from hockney.campaign.plan import Plan
from hockney.studies.status import Status

answer("status")(Status)


class MeasureAnswer(TypedDict):
    """What was measured, and what was not."""

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
    plan: Plan


class MeasurePlanned(TypedDict):
    """With --dry-run: what would be launched. `points` and `visits` are of a launch, and about so many.

    `estimate_s`: at most `bound_s`, the campaign's time; `whole_s`: all of it, whatever its time.
    `warnings`: what of it is not known before.
    """

    campaign: str
    launches: int
    points: int
    visits: int
    estimate_s: float
    whole_s: float
    bound_s: float | None
    compile_s: float
    warnings: list[str]
    plan: Plan


answer("measure")(MeasureAnswer | WrittenJobs | MeasurePlanned)


class ImportedFile(TypedDict):
    """A file that was read."""

    file: str
    format: str
    records: int
    runs: int
    operations: dict[str, int]
    variants: list[str]
    warnings: list[str]


class SkippedFile(TypedDict):
    """A file that is no result."""

    file: str
    reason: str


@answer("import")
class ImportAnswer(TypedDict):
    """What was read into the campaign."""

    campaign: str
    records: int
    runs: int
    files: list[ImportedFile]
    skipped: list[SkippedFile]
    notes: list[str]


@answer("merge")
class MergeAnswer(TypedDict):
    """What the joined campaign holds."""

    campaign: str
    records: int
    runs: int
    answers_about_effects: int
    merged: list[str]
    warnings: list[str]


answer("doctor")(DoctorAnswer)
answer("lab up")(Lab)
answer("lab down")(LabDown)
LabRunAnswer = answer("lab run")(Any)
