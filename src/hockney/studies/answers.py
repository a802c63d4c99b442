"""What `hockney study` answers: the page, the plan, a job's part, jobs, or the studies that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from hockney.errors import RequestError
from hockney.report.findings import Finding
from hockney.studies.asked import StudyRequest
from hockney.studies.crowding import Crowding
from hockney.studies.files import StudyFile, find, names
from hockney.studies.perform import Done
from hockney.studies.steps import StudyStep


@dataclass(frozen=True)
class StepAnswer:
    """A step as it is planned, or what came of it: `why` it failed or is not whole, then.

    `state` is None of a plan, and what follows is None of a step that was not begun.
    """

    name: str
    command: str
    why: str
    placement: str
    estimate_s: float
    bound_s: float | None
    state: str | None = None
    took_s: float | None = None
    hint: str | None = None
    left_out: int | None = None

    @classmethod
    def of(cls, step: StudyStep, done: Done | None = None, state: str | None = None) -> StepAnswer:
        """What a step would do and takes, or what came of it; `state` where nothing did yet."""
        planned = (step.placement, step.estimate_s, step.estimate.bound_s if step.estimate else None)
        if done is None:
            return cls(step.name, step.command, step.why, *planned, state)
        return cls(
            *(step.name, step.command, done.why, step.placement, done.estimate_s, planned[-1]),
            *(done.state, done.took_s, done.hint, done.left_out),
        )


@dataclass(frozen=True)
class NotRead:
    """A file that is no result."""

    file: str
    reason: str


@dataclass(frozen=True)
class StudyDone:
    """The page of a study and what it begins with; `source` (in JSON `from`) is what was measured elsewhere.

    `unfinished` says why it is not whole, empty where it is, and `resume` how to go on.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(serialize_by_alias=True)

    study: str
    folder: str
    report: str
    findings: list[Finding]
    warnings: list[str]
    source: Annotated[str | None, Field(serialization_alias="from")] = None
    skipped: list[NotRead] | None = None
    estimate_s: float | None = None
    took_s: float | None = None
    crowding: Crowding | None = None
    steps: list[StepAnswer] | None = None
    unfinished: Annotated[str, Field(exclude=True)] = ""
    resume: Annotated[str, Field(exclude=True)] = ""


@dataclass(frozen=True)
class StudyPlanned:
    """What a study would do; `text` of each step says what it takes, and `remark` what is not known before."""

    study: str
    question: str
    compares: str
    shows: str
    asked: StudyRequest
    estimate_s: float
    steps: list[StepAnswer]
    takes: Annotated[list[str], Field(exclude=True)]
    remark: Annotated[str, Field(exclude=True)]


@dataclass(frozen=True)
class StudyLeft:
    """A job's part of a study that others have still to end; `done` of all its steps are.

    `unfinished` says what of this job's own part is not done, empty where all is, and `resume` how to go on.
    """

    study: str
    folder: str
    job: str
    steps: list[StepAnswer]
    done: Annotated[int, Field(exclude=True)]
    unfinished: Annotated[str, Field(exclude=True)]
    resume: Annotated[str, Field(exclude=True)]


@dataclass(frozen=True)
class KnownStudy:
    """A study and what it answers."""

    name: str
    question: str
    needs: Sequence[str]


@dataclass(frozen=True)
class StudyList:
    """The studies that come with hockney."""

    studies: list[KnownStudy]


class ShownStudy(StudyFile):
    """The file of a study, its name and its text."""

    name: str
    text: str = Field(exclude=True)


def listed(words: Sequence[str]) -> StudyList:
    """All of them; RequestError for words after `list`."""
    if words:
        raise RequestError(f"`list` takes no name, {words[0]!r} was given", "leave it out, or write `show`")
    every = [find(name) for name in names()]
    return StudyList([KnownStudy(study.name, study.file.question, study.file.needs) for study in every])


def shown(words: Sequence[str]) -> ShownStudy:
    """The one that is named; RequestError for none, or several."""
    if len(words) != 1:
        raise RequestError("`hockney study show` needs the name of a study", f"known: {', '.join(names())}")
    study = find(words[0])
    return ShownStudy(name=study.name, text=study.text, **study.file.model_dump())
