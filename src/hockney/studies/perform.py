"""Performing a study: its steps one after another, each in a folder of its own, and what came of each."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney import reading, writing
from hockney.apps.launched import Told
from hockney.campaign.events import Watcher
from hockney.campaign.further import write_table
from hockney.campaign.measure import run
from hockney.campaign.outcome import JOB_IS_OVER, TIME_IS_OVER, Outcome
from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import launches, with_transports
from hockney.campaign.trust import doubt, in_words, is_ordinary, is_sealed, seal
from hockney.errors import EnvironmentLack, HockneyError, Incomplete, NegativeAnswer, RequestError
from hockney.predict.adaptive import Adaptive
from hockney.records.answers import first_problem
from hockney.records.folder import PARTS, PLAN, Campaign
from hockney.report.application import apps
from hockney.runner.transports import ALL
from hockney.studies.asked import StudyRequest
from hockney.studies.files import RUN, Study, parse
from hockney.studies.steps import StudyStep
from hockney.terminal import say
from hockney.terminal.signals import Interrupted, interruptible

STUDY = "study.toml"
STATE = "study.json"
STEPS = "steps"


class Done(BaseModel):
    """What came of a step: `why` it failed, or is not whole."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["done", "partly", "failed"]
    took_s: float
    estimate_s: float
    why: str = ""
    hint: str = ""
    left_out: int = 0
    """Visits of points that its time did not allow."""

    @property
    def had_its_time(self) -> bool:
        """Whether its own time (--time) is all that ended it."""
        return self.state == "partly" and self.why == TIME_IS_OVER


class State(BaseModel):
    """`study.json`: what the study was asked for, and what came of its steps so far."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    asked: StudyRequest
    study_sha256: str = Field(description="of study.toml as it was used")
    steps: dict[str, Done] = Field(default_factory=dict)


_BEST_FIRST = ("done", "partly", "failed")


def expect_new(path: Path) -> None:
    """RequestError where a new study would be in the way of what is there."""
    if (path / STATE).exists():
        raise RequestError(
            f"{path} already holds a study", "add --resume to go on with it, or choose another folder"
        )
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise RequestError(f"{path} is not empty", "choose another folder; nothing in it was changed")


class Folder:
    """A study's folder: `study.toml` as used, `study.json`, and below `steps` a campaign for each step.

    A job (`part` is its name) keeps what came of its steps in `parts/JOB/study.json`; whoever reads joins them.
    """

    def __init__(self, path: Path, study: Study, state: State, part: str = "") -> None:
        self.path = path
        self.study = study
        self.state = state
        """What came of the steps, in whichever job."""
        self.part = part
        self._own: dict[str, Done] = {}
        """What came of them in this job alone, a run of it before this one, too."""

    @classmethod
    def create(cls, path: Path, study: Study, asked: StudyRequest, part: str = "") -> Folder:
        """A new one; RequestError where something is there."""
        expect_new(path)
        writing.make_folder(path, "choose another folder")
        writing.replace(path / STUDY, study.text)
        folder = cls(path, study, State(asked=asked, study_sha256=_digest(study.text)))
        folder.save()
        folder.part = part
        return folder

    @classmethod
    def open(cls, path: Path, part: str = "") -> Folder:
        """One that is there; RequestError where it is no study's, or damaged, or a part is another study's."""
        hint = "give the folder of a study, or begin one without --resume"
        try:
            state = _state(path / STATE, path, hint)
        except reading.Absent:
            raise RequestError(f"{path} holds no study ({STATE} is not there)", hint) from None
        text = reading.text(path / STUDY, hint, within=path)
        study = Study(name=state.asked.name, text=text, file=parse(text, str(path / STUDY)))
        folder = cls(path, study, state, part)
        folder.join()
        return folder

    def join(self) -> None:
        """Learn what came of the steps in other jobs; RequestError where one was asked for another study."""
        for file in sorted((self.path / PARTS).glob(f"*/{STATE}")):
            theirs = _state(file, self.path, "remove it, if that job is over")
            if theirs.asked != self.state.asked or theirs.study_sha256 != self.state.study_sha256:
                raise RequestError(
                    f"{file} is of another study than {self.path / STATE}",
                    "two studies need two folders; nothing was changed",
                )
            if self.part == file.parent.name:
                self._own = theirs.steps | self._own
            for name, done in theirs.steps.items():
                known = self.state.steps.get(name)
                if known is None or _BEST_FIRST.index(done.state) <= _BEST_FIRST.index(known.state):
                    self.state.steps[name] = done

    @property
    def steps(self) -> Path:
        """Where the campaigns of the steps are."""
        return self.path / STEPS

    def save(self, step: str = "", done: Done | None = None) -> None:
        """Write what came of the steps so far, of `step` just now."""
        if done is not None:
            self.state.steps[step] = self._own[step] = done
        if self.part:
            own = self.path / PARTS / self.part
            writing.make_folder(own)
            _write(own / STATE, self.state.model_copy(update={"steps": self._own}))
            return
        _write(self.path / STATE, self.state)
        seal(self.path, STATE)

    def doubt(self, steps: Sequence[StudyStep]) -> str:
        """Why going on must be allowed first, and what it would run; empty where it needs no permission.

        As of campaigns: a study that this user began here, or that runs what any new one would, needs none.
        """
        launched = [model for step in steps for model in step.models.values() if isinstance(model, Launching)]
        if is_sealed(self.path, STATE) and self.state.study_sha256 == _digest(self.study.text):
            return ""
        unusual = list(dict.fromkeys(in_words(launch) for launch in launched if not is_ordinary(launch)))
        if not unusual:
            return ""
        return f"{self.path} is no study that you began on this machine; --resume would run: {unusual[0]}"

    def is_done(self, step: StudyStep) -> bool:
        """Whether going on with a step could measure no more."""
        done = self.state.steps.get(step.name)
        return done is not None and done.state == "done"

    def is_over(self, step: StudyStep) -> bool:
        """Whether a step is done, or had all of its own time (--time): --resume alone goes on with it."""
        done = self.state.steps.get(step.name)
        return done is not None and (done.state == "done" or done.had_its_time)

    def campaigns(self, steps: Sequence[StudyStep]) -> list[Path]:
        """The campaigns of these steps that hold anything."""
        return [path for step in steps if _holds_anything(path := self.steps / step.name)]


def _state(path: Path, within: Path, hint: str) -> State:
    try:
        return State.model_validate(reading.json_file(path, hint, within=within))
    except ValidationError as error:
        raise RequestError(f"{path} is damaged: {first_problem(error)}", hint) from error


def _write(path: Path, state: State) -> None:
    writing.replace(path, json.dumps(state.model_dump(), indent=2, ensure_ascii=False) + "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _holds_anything(path: Path) -> bool:
    try:
        campaign = Campaign.open(path)
    except RequestError:
        return False
    return bool(campaign.records() or campaign.apps() or campaign.effects())


def perform(
    folder: Folder,
    steps: Sequence[StudyStep],
    watching: Callable[[StudyStep], AbstractContextManager[Watcher]],
    job_end_s: float = math.inf,
) -> None:
    """Do each step that is not done; what came of each is on disk before the next begins.

    From `job_end_s` on (of `time.monotonic`) no step begins, nor one that cannot be ended in the middle and would
    take longer; the one under way ends.
    A step that fails leaves the others alone. EnvironmentLack, or RequestError, where that is why no step can be
    done; an interrupt passes through.
    """
    first: HockneyError | None = None
    writing.make_folder(folder.steps)
    for step in steps:
        # Another job may have done it since.
        folder.join()
        if folder.is_done(step):
            continue
        began_s = time.monotonic()
        if began_s + (0.0 if step.plan is not None else step.estimate_s) >= job_end_s:
            continue
        why, hint, left_out = "", "", 0
        state: Literal["done", "partly", "failed"] = "done"
        lacks_all = False
        try:
            with watching(step) as watcher:
                outcome = _do(folder, step, watcher, job_end_s)
            if outcome is not None:
                left_out = outcome.left_out
                if outcome.failures or left_out or outcome.effects_left_out or outcome.job_is_over:
                    state, why = "partly", outcome.why
                if not outcome.job_is_over and not _holds_anything(folder.steps / step.name):
                    state, why = "failed", outcome.lack
        except NegativeAnswer as error:
            state, why = "partly", error.message
        except HockneyError as error:
            if isinstance(error.__context__, Interrupted):
                raise  # An application's run was ended.
            first = first or error
            # Of another library it says nothing of the steps that follow.
            lacks_all = isinstance(error, EnvironmentLack) and step.library is None
            state, why, hint = "failed", error.message, error.hint
            say.warn(f"{step.name}: {why}" + (f" ({hint})" if hint else ""))
        took_s = time.monotonic() - began_s
        done = Done(state=state, took_s=took_s, estimate_s=step.estimate_s, why=why, hint=hint, left_out=left_out)
        folder.save(step.name, done)
        if lacks_all:
            break
    if not folder.campaigns(steps):
        last = next((folder.state.steps[step.name] for step in steps if step.name in folder.state.steps), None)
        if last is None:
            raise Incomplete(f"nothing could be measured: {JOB_IS_OVER}", "submit it with --site walltime=2h")
        kind = type(first) if isinstance(first, EnvironmentLack | RequestError) else Incomplete
        raise kind(f"nothing could be measured: {last.why}", last.hint or "run `hockney doctor --run`")


def _do(folder: Folder, step: StudyStep, watcher: Watcher, job_end_s: float) -> Outcome | None:
    path = folder.steps / step.name
    if step.plan is not None:
        plan = step.plan
        if ALL in plan.variants and not (path / PLAN).is_file():
            plan = with_transports(plan, lambda _: None)[0]
        return _measure(path, plan, watcher, folder.part, job_end_s)
    if path.exists():
        # A run that was ended in the middle is made again: runs are short, and half of them would count twice.
        _remove_own(path, folder.part)
    with interruptible():
        app = apps.get(step.verb.removeprefix(RUN))
        answer = app.answer("run", step.models, Told(say.warn, lambda _: None))
    for what, why in answer.wrong():
        say.wrong(what, why)
    if answer.is_no:
        raise NegativeAnswer("a result is not what it must be", "")
    return None


def _remove_own(path: Path, part: str) -> None:
    """Remove what this job, or whatever ran outside of jobs, wrote of a step; other jobs' parts stay.

    RequestError where another process writes there.
    """
    own = path / PARTS / part if part else path
    if not own.is_dir():
        return
    campaign = Campaign(path, part)
    with ExitStack() as held:
        held.enter_context(campaign.locked())
        for other in [] if part else campaign.parts:
            held.enter_context(Campaign(path, other.name).locked())
        # Where there are parts, the step's plan is theirs, too.
        kept = (PARTS, PLAN) if not part and campaign.parts else ()
        for one in own.iterdir():
            if one.name in kept:
                continue
            if one.is_dir():
                shutil.rmtree(one)
            else:
                one.unlink()


def _measure(path: Path, options: Plan, watcher: Watcher, part: str, job_end_s: float) -> Outcome:
    """A campaign from its beginning, or from where it was ended."""
    if (path / PLAN).is_file():
        campaign = Campaign.open(path, part)
        plan = Plan.stored(campaign.plan(), path)
        if reason := doubt(path, plan):
            raise RequestError(
                reason, f"look at {path / PLAN}; `hockney measure -o {path} --resume --trust` allows it"
            )
        prepared = launches(plan)
    else:
        plan = Plan.model_validate(options.model_dump())
        prepared = launches(plan)
        campaign = Campaign.create(path, plan.model_dump(), part)
        seal(path)
    job_s = None if job_end_s == math.inf else job_end_s - time.monotonic()
    outcome = run(campaign, plan, prepared, watcher, Adaptive, job_s=job_s)
    write_table(campaign, plan)
    return outcome
