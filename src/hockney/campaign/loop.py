"""The loop of every campaign: launch, ask, keep what is answered, launch again after a failure.

An asker, a generator that is called with the running launch, yields the requests. It receives the records of
each request, which are on disk by then. Refusals of the runner (Refused, Limitation) are raised inside it, and so
is the end of the launch (LaunchFailed; TimeOver where the campaign's time ended it), which it must let pass. The
asker keeps whatever has to outlive a launch.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from hockney.campaign.collectives import programs
from hockney.campaign.events import Progress, Watcher
from hockney.campaign.launch import Launch, check_same_machine, launch_line, utc_now
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Launching
from hockney.errors import EnvironmentLack, HockneyError, RequestError
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign, Stored
from hockney.records.journal import Ended, FailureLine
from hockney.records.record import Record
from hockney.runner.session import LaunchFailed, Limitation, NoAnswer, Refused, Session

MOST_FAILURES = 3
"""A variant is given up after so many failed launches in a row without an answer."""

ANOTHER_LEVEL = "points were not met at the level asked for"
"""Of a campaign whose points are all there, some of another level than it asked for."""

LEAST_WAIT_S = 5.0
LEAST_START_S = 30.0
"""Least time to wait for an answer, and for a start, even if the campaign's time is over."""

LONG = 1
"""A launch that has lasted so many times as long as its start may make way: starts take half the time at most."""

Kept = TypeVar("Kept", bound=Stored)
Answered = TypeVar("Answered")
Measured = TypeVar("Measured", Record, EffectRecord)


class TimeOver(NoAnswer):
    """The campaign's time was over before the answer came, which a longer wait may have brought: no failure.

    `had_most`: the answer was waited for during most of a run's time.
    """

    had_most = False


@dataclass(frozen=True)
class Subject:
    """What a request is about: `line` in `failures.jsonl`, and `name` before the reason in messages."""

    line: FailureLine = field(default_factory=FailureLine)
    name: str = ""

    def say(self, error: HockneyError) -> str:
        """What went wrong with it."""
        return f"{self.name}: {error.message}" if self.name else error.message


@dataclass(frozen=True)
class Request(Generic[Kept]):
    """One request to the runner: `ask` puts it and returns what is kept; `progress` is shown before."""

    ask: Callable[[Session], Sequence[Kept]]
    subject: Subject = Subject()
    progress: Progress | None = None


class Running:
    """A launch that has said hello. `in_flight`: the last request; `answered`: the number of answered ones.

    `start_s`: how long its start took. An asker that ends with `makes_way` goes on in a new launch.
    """

    def __init__(
        self, campaign: Campaign | None, launch: Launch, index: int, session: Session, start_s: float
    ) -> None:
        self._campaign = campaign
        self.launch = launch
        self.index = index
        self.session = session
        self.hello = session.hello
        self.described = launch.describe(session.hello)
        self.in_flight: Request[Any] | None = None
        self.answered = 0
        self.makes_way = False
        self.start_s = start_s
        self._old_at_s = time.monotonic() + LONG * start_s
        self._id = ""

    def recorded(self) -> str:
        """The launch's id in `launches.jsonl`, where its provenance stands from the first call on."""
        if not self._id:
            self._id = uuid.uuid4().hex[:12]
            if self._campaign is not None:
                line = launch_line(self._id, self.index, self.launch, self.hello, self.described)
                self._campaign.append(line)
        return self._id

    def stamped(self, record: Measured, plan: Launching) -> Measured:
        """The record with what the launch knows: of what it is, how its ranks were placed, and when."""
        return record.model_copy(
            update={
                "system": plan.system,
                "mpi": self.launch.mpi_name,
                "mapping": self.launch.provenance.mapping,
                "variant": self.launch.variant,
                "ranks": plan.ranks,
                "nodes": self.described.nodes,
                "ppn": self.described.ppn,
                "oversubscribed": self.described.oversubscribed,
                "repetition": self.index,
                "launch": self.recorded(),
                "time": utc_now(),
            }
        )

    @property
    def is_old(self) -> bool:
        """Whether it has lasted so long that the start of another costs little."""
        return time.monotonic() > self._old_at_s

    def require_same_machine(self) -> None:
        """RequestError where earlier launches of the campaign ran on other processors."""
        if self._campaign is not None:
            check_same_machine(self._campaign.path, self._campaign.launches(), self.described)


Asking = Generator[Request[Kept], Sequence[Kept], None]
Asker = Callable[[Running], Asking[Kept]]


class Loop:
    """What all launches of a campaign share: folder (None: nothing is kept), plan, time and outcome."""

    def __init__(
        self,
        campaign: Campaign | None,
        plan: Launching,
        watcher: Watcher,
        time_s: float | None = None,
        job_s: float | None = None,
    ) -> None:
        self.campaign = campaign
        self.plan = plan
        self.watcher = watcher
        self.outcome = Outcome()
        self._deadline = None if time_s is None else time.monotonic() + time_s
        self._turn_end = float("inf")
        self._time_s = min(float("inf") if limit_s is None else limit_s for limit_s in (time_s, job_s))
        self._job_end = float("inf") if job_s is None else time.monotonic() + job_s
        self._is_cut_by_job = job_s is not None and (time_s is None or job_s < time_s)
        self._interrupt: KeyboardInterrupt | None = None

    def left_s(self) -> float:
        """Time the campaign still has, in this job; inf where it has no limit."""
        return min(self.own_left_s(), self._job_end - time.monotonic())

    def own_left_s(self) -> float:
        """The same without the limit of a job, in the next of which it goes on."""
        return min(float("inf") if self._deadline is None else self._deadline, self._turn_end) - time.monotonic()

    def take_turns(self, of: int) -> None:
        """From now on allow one of so many an equal share of the time that is left; 1: all of it."""
        self._turn_end = float("inf")
        if of > 1:
            self._turn_end = time.monotonic() + self.own_left_s() / of

    def close(self, campaign: Campaign, share: str) -> Outcome:
        """The outcome, which the folder gets, too: `share` is what of the launches this was."""
        outcome = self.outcome
        outcome.job_is_over = self._is_cut_by_job and self.left_s() <= 0
        if any(end.whole and end.share in ("", share) for end in campaign.ends().values()):
            # An earlier run left nothing: that the time let nobody look again takes nothing away.
            outcome.left_out, outcome.effects_left_out, outcome.job_is_over = 0, [], False
        whole, left_out = outcome.is_whole, outcome.left_out
        campaign.end(Ended(time=utc_now(), whole=whole, why=outcome.why, left_out=left_out, share=share))
        return outcome

    def stop(self) -> None:
        """End the campaign's time, or the turn's: the rest of it allows no further request."""
        if self._turn_end < float("inf"):
            self._turn_end = time.monotonic()
        else:
            self._deadline = time.monotonic()

    def within(self, limit_s: float, ask: Callable[[float], Answered], least_s: float | None = None) -> Answered:
        """What `ask` returns, given how long to wait: `limit_s`, but not far beyond the campaign's time.

        TimeOver where that time, and not `limit_s`, ended the wait. Whether the answer was slow or would never
        have come is not known then.
        """
        most_s = max(self.left_s(), LEAST_WAIT_S if least_s is None else least_s)
        try:
            return ask(min(limit_s, most_s))
        except NoAnswer as error:
            if limit_s <= most_s:
                raise
            whose = "job" if self._is_cut_by_job else "campaign"
            over = TimeOver(
                f"{error.message}, as the {whose}'s time was over", "left out, no failure: --resume asks again"
            )
            over.had_most = most_s > self._time_s / 2
            raise over from error

    def warn(self, text: str) -> None:
        """Report a warning, once."""
        if text not in self.outcome.warnings:
            self.outcome.warnings.append(text)
            self.watcher.warning(text)

    def run(self, launch: Launch, index: int, asker: Asker[Kept]) -> list[Kept]:
        """Ask until the asker ends, launching again after failures and where it says so; returns what was kept.

        An interrupt that comes after the last answer, while the launch ends, is raised before the next launch: if
        there is none, it interrupts nothing.
        """
        kept: list[Kept] = []
        failures, has_begun, is_over, is_owed = 0, False, False, False
        # What made way has points left, which the asker counts even if there is no more time.
        while failures < MOST_FAILURES and (is_owed or self.left_s() > 0):
            if self._interrupt is not None:
                raise self._interrupt
            running: Running | None = None
            try:
                with self._started(launch, index) as running:
                    has_begun = True
                    for records in self._answers(running, asker(running)):
                        kept += records
                    is_owed = running.makes_way
                    is_over = not is_owed
                if is_over:
                    return kept
                failures = 0
            except KeyboardInterrupt as error:
                if not is_over:
                    raise
                self._interrupt = error
                return kept
            except TimeOver as error:
                self._leave_out(error, launch, index, running)
                return kept
            except LaunchFailed as error:
                failures = 1 if running is not None and running.answered else failures + 1
                self.fail(error, launch, index, _in_flight(running))
                if not has_begun:
                    # The same command would fail the same way.
                    return kept
        return kept

    def once(self, launch: Launch, index: int, asker: Asker[Kept]) -> list[Kept]:
        """Ask until the asker ends; returns what was kept. LaunchFailed where the launch ends before."""
        with self._started(launch, index) as running:
            return [record for records in self._answers(running, asker(running)) for record in records]

    @contextmanager
    def _started(self, launch: Launch, index: int) -> Iterator[Running]:
        began_s = time.monotonic()

        def start(most_s: float) -> Session:
            return Session(launch.argv, launch.environment, most_s)

        with self.within(self.plan.time_limit_s, start, LEAST_START_S) as session:
            for operation, name, program in programs(self.plan):
                session.define(operation, name, program)
            running = Running(self.campaign, launch, index, session, time.monotonic() - began_s)
            self._require_nodes(running)
            for text in running.described.warnings:
                self.warn(text)
            yield running

    def _require_nodes(self, running: Running) -> None:
        """EnvironmentLack where the ranks are on another number of nodes than was asked for."""
        wanted, nodes = self.plan.nodes, running.described.nodes
        # Those of a simulation are its platform's.
        if wanted is not None and nodes != wanted and self.plan.mpi != "smpi":
            raise EnvironmentLack(
                f"{running.launch.name}: the ranks are on {nodes} node{'s' * (nodes != 1)}, not on {wanted}",
                "does the launcher know the job's nodes? Name them with --hosts, or try another --launcher",
            )

    def _answers(self, running: Running, asking: Asking[Kept]) -> Iterator[Sequence[Kept]]:
        """The records of each request, on disk."""
        following: Callable[[], Request[Kept]] = partial(next, asking)
        while True:
            try:
                request = following()
            except StopIteration:
                return
            if request.progress is not None:
                self.watcher.progress(request.progress)
            running.in_flight = request
            try:
                records = request.ask(running.session)
            except (Refused, Limitation, LaunchFailed) as error:
                following = partial(asking.throw, error)
                continue
            self.keep(records)
            running.answered += 1
            self.outcome.measured += 1
            yield records
            following = partial(asking.send, records)

    def keep(self, records: Iterable[Stored]) -> None:
        """Write records to disk before returning, where there is a folder."""
        if self.campaign is not None:
            self.campaign.append_all(records)

    def fail(self, error: HockneyError, launch: Launch, index: int, subject: Subject) -> None:
        """Record and report what was not measured: a request, or a launch that did not start."""
        self.write_down(launch, index, subject.line, reason=error.message)
        self.outcome.failures.append(subject.say(error))
        self.watcher.warning(subject.say(error) + (f" ({error.hint})" if error.hint else ""))

    def _leave_out(self, error: TimeOver, launch: Launch, index: int, running: Running | None) -> None:
        """Record and report the request, or the launch, that the campaign's time ended.

        What had most of a run's time, and was left out by an earlier run, is a failure: otherwise a --time below
        the limit of a launch would leave out what hangs for ever.
        """
        subject = _in_flight(running)
        if error.had_most and self._was_left_out(launch, index, subject):
            again = TimeOver(
                f"{error.message}, not for the first time", "does it hang? Give it more --time to tell"
            )
            self.fail(again, launch, index, subject)
            return
        self.write_down(launch, index, subject.line, left_out=error.message)
        self.warn(f"{subject.say(error)} ({error.hint})")

    def _was_left_out(self, launch: Launch, index: int, subject: Subject) -> bool:
        """Whether an earlier run left out the same."""
        # Older lines do not say the mapping: there was one.
        about = [
            subject.line.of_launch(launch.variant, mapping, index).subject
            for mapping in ("", launch.provenance.mapping)
        ]
        earlier = self.campaign.failures() if self.campaign is not None else ()
        return any(line.left_out and line.subject in about for line in earlier)

    def write_down(self, launch: Launch, index: int, line: FailureLine, **why: str) -> None:
        """Record why something was not measured: `reason`, `limitation` or `left_out`."""
        if self.campaign is not None:
            self.campaign.append(line.of_launch(*launch.place, index, time=utc_now(), **why))


def _in_flight(running: Running | None) -> Subject:
    request = None if running is None else running.in_flight
    return Subject() if request is None else request.subject


def require_same_mpi(campaign: Campaign, names: Iterable[str], launches: Sequence[Launch]) -> None:
    """RequestError where one of the MPIs that a campaign's records name is none of these launches'."""
    for before in sorted(set(names) - {launch.mpi_name for launch in launches}):
        raise RequestError(
            f"{campaign.path} was begun with {before}; found now: {launches[0].mpi_name}",
            "start a new campaign, and join the two with `hockney merge`",
        )
