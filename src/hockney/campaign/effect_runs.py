"""Measure effects: ask what each effect's file asks, keep each answer, and take those on disk for asked."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from socket import gethostname
from typing import Any

from hockney.campaign.effects.base import Asking, Here, NotMeasurable, Question, effects
from hockney.campaign.events import Progress, Watcher
from hockney.campaign.launch import Described, Launch, check_same_machine, launch_line, utc_now
from hockney.campaign.measure import MOST_FAILURES, Outcome
from hockney.campaign.pairs import choose
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.runner.session import LaunchFailed, Limitation, Refused, Session

LEAST_SAMPLES = 6
MOST_EXPECTED = 2000
"""Questions that are counted beforehand for the estimate, at most."""
BUDGETS = 4
"""Of its own time that a question may take before the time limit begins: disturbed samples are repeated."""


def run_effects(
    campaign: Campaign,
    plan: Plan,
    launches: Sequence[Launch],
    watcher: Watcher,
    outcome: Outcome,
    deadline: float | None = None,
) -> None:
    """Measure the plan's effects, all on one launch of each variant, what is on disk already excepted.

    Every answer is on disk before the next question. A launch that dies is started again; the question in flight
    is recorded as failed and passed over. After `deadline` (of time.monotonic) nothing more is asked.
    RequestError where another process measures into the folder, or it was begun with another MPI or elsewhere.
    """
    with campaign.locked():
        records = campaign.effects()
        for text in campaign.warnings:
            _warn(text, watcher, outcome)
        for before in {record.mpi for record in records} - {launch.mpi_name for launch in launches}:
            raise RequestError(
                f"{campaign.path} was begun with {before}; found now: {launches[0].mpi_name}",
                "start a new campaign",
            )
        run = _Run(campaign, plan, watcher, outcome, deadline)
        for index in range(plan.launches):
            for launch in launches:
                if launch.only is None:
                    run.launch(launch, index, records)


def here_of(hello: Mapping[str, Any], described: Described, plan: Plan) -> Here:
    """What this launch, which has said hello, offers to an effect under this plan."""
    ranks = sorted(hello["ranks"], key=lambda place: int(place["rank"]))
    kind = str(described.provenance.get("mpi", {}).get("kind", ""))
    return Here(
        pairs=choose(described.localities, plan.localities, 1),
        localities=described.localities,
        ranks=ranks,
        eager_limit_B=described.provenance.get("eager_limit_B", {}),
        settings=hello["settings"],
        usable_cpus={gethostname(): frozenset(os.sched_getaffinity(0))},
        mpi_kind=kind,
        oversubscribed="; ".join(text for text in described.warnings if text.startswith("oversubscribed")),
        simulated=kind == "smpi",
        sizes_B=plan.sizes_B,
        largest_B=plan.largest_B,
        budget_s=plan.budget_s,
        tolerance=plan.tolerance,
        least_samples=LEAST_SAMPLES,
        seed=plan.seed,
        topology=plan.topology,
    )


class _Run:
    """What the launches of one `run_effects` share."""

    def __init__(
        self, campaign: Campaign, plan: Plan, watcher: Watcher, outcome: Outcome, deadline: float | None
    ) -> None:
        self.campaign = campaign
        self.plan = plan
        self.watcher = watcher
        self.outcome = outcome
        self.deadline = deadline

    def launch(self, launch: Launch, index: int, records: Sequence[EffectRecord]) -> None:
        """All effects on this launch, started again after a failure until nothing is left or nothing works."""
        mine = [one for one in records if (one.variant, one.repetition) == (launch.variant, index)]
        known = _Known(mine)
        failures = 0
        if self.left_s() <= 0:
            self.outcome.left_out += len(self.plan.effects)
        while failures < MOST_FAILURES and self.left_s() > 0:
            before = len(known.answered)
            part: _Part | None = None
            try:
                with Session(launch.argv, launch.environment, self.plan.time_limit_s) as session:
                    part = _Part(self, launch, index, session, known)
                    for name in self.plan.effects:
                        part.effect(name)
                return
            except LaunchFailed as error:
                failures = failures + 1 if len(known.answered) == before else 1
                self.fail(error.message, launch, index, part.in_flight if part else None)
                if part is None:
                    # It did not even start; the same command would fail the same way.
                    return
                if part.in_flight is not None:
                    known.dead.add(part.in_flight)

    def left_s(self) -> float:
        """Time the campaign still has."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def fail(self, message: str, launch: Launch, index: int, asked: tuple[str, str] | None) -> None:
        """Write down what was not measured, and tell it."""
        name, words = asked or ("", "")
        self.campaign.append_failure(
            {
                "time": utc_now(),
                "index": index,
                "variant": launch.variant,
                "effect": name,
                "asked": words,
                "reason": message,
            }
        )
        told = f"{name}: {message}" if name else message
        self.outcome.failures.append(told)
        self.watcher.warning(told)


class _Known:
    """What is on disk, or was asked in vain: by effect and question."""

    def __init__(self, records: Sequence[EffectRecord]) -> None:
        self.answered = {
            (one.effect, _words(one.members, one.parameters)): one for one in records if not one.not_measurable
        }
        self.told = {(one.effect, one.locality, one.not_measurable) for one in records if one.not_measurable}
        self.dead: set[tuple[str, str]] = set()


class _Part:
    """One launch that runs. `in_flight`: the effect and question that have no answer yet."""

    def __init__(self, run: _Run, launch: Launch, index: int, session: Session, known: _Known) -> None:
        self.run = run
        self.launch = launch
        self.index = index
        self.session = session
        self.known = known
        self.in_flight: tuple[str, str] | None = None
        self.described = launch.describe(session.hello)
        self.here = here_of(session.hello, self.described, run.plan)
        self.id = ""
        self._begun = time.monotonic()
        self._asked = 0
        check_same_machine(run.campaign.path, run.campaign.launches(), self.described)
        if any(name not in session.hello["effects"] for name in run.plan.effects):
            raise RequestError(
                f"the runner knows the effects {', '.join(session.hello['effects'])}", "reinstall hockney"
            )
        for text in self.described.warnings:
            _warn(text, run.watcher, run.outcome)

    def effect(self, name: str) -> None:
        """Ask what is missing of one effect. LaunchFailed: the launch is over."""
        expected = _expected(effects.get(name)(self.here))
        asking = effects.get(name)(self.here)
        answer: dict[str, Any] | None = None
        done = 0
        while True:
            try:
                question = asking.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(question, NotMeasurable):
                self._not_measurable(name, question)
                continue
            done += 1
            key = (name, _words(question.members, question.parameters))
            if key in self.known.dead:
                continue
            if key not in self.known.answered:
                if self.run.left_s() <= 0:
                    self.run.outcome.left_out += max(1, expected - done + 1)
                    return
                self._progress(name, done, max(expected, done))
                self._ask(key, question)
            found = self.known.answered.get(key)
            answer = found.answer or None if found is not None else None

    def _ask(self, key: tuple[str, str], question: Question) -> None:
        self.in_flight = key
        asked = self._record(key[0]).model_copy(
            update={
                "members": list(question.members),
                "parameters": dict(question.parameters),
                "locality": question.locality,
            }
        )
        limit_s = self.run.plan.time_limit_s + BUDGETS * float(str(question.parameters.get("budget_s", 0)))
        try:
            answer = self.session.effect(
                limit_s, operation=key[0], members=question.members, **question.parameters
            )
        except Limitation as error:
            self.run.outcome.limitations.append(f"{key[0]}: {error.message}")
            self._keep(key, asked.model_copy(update={"refused": error.message}))
        except Refused as error:
            # Another time there may be room.
            self.known.dead.add(key)
            self.run.fail(error.message, self.launch, self.index, key)
        else:
            told = {word: value for word, value in answer.items() if word != "type"}
            self._keep(key, asked.model_copy(update={"answer": told}))
            self.run.outcome.measured += 1
            if answer.get("verified") is False:
                # The record stays, marked; models leave it out.
                self.run.fail("wrong data: do not use it; report it to the library", self.launch, self.index, key)
        self.in_flight = None
        self._asked += 1

    def _keep(self, key: tuple[str, str], record: EffectRecord) -> None:
        self.run.campaign.append_effect(record)
        self.known.answered[key] = record

    def _not_measurable(self, name: str, why: NotMeasurable) -> None:
        key = (name, why.locality, why.why)
        if key not in self.known.told:
            self.known.told.add(key)
            told = {"not_measurable": why.why, "locality": why.locality}
            self.run.campaign.append_effect(self._record(name).model_copy(update=told))

    def _progress(self, name: str, done: int, expected: int) -> None:
        pace_s = (time.monotonic() - self._begun) / self._asked if self._asked else 0.0
        left_s = pace_s * (expected - done + 1)
        self.run.watcher.progress(Progress(done - 1, expected, left_s, name))

    def _record(self, name: str) -> EffectRecord:
        """A record without its question. The first of a launch brings the launch to disk."""
        plan, described = self.run.plan, self.described
        if not self.id:
            self.id = uuid.uuid4().hex[:12]
            line = launch_line(self.id, self.index, self.launch, self.session.hello, described)
            self.run.campaign.append_launch(line)
        return EffectRecord(
            effect=name,
            system=plan.system,
            mpi=self.launch.mpi_name,
            mapping=plan.map_by,
            variant=self.launch.variant,
            ranks=plan.ranks,
            nodes=described.nodes,
            ppn=described.ppn,
            oversubscribed=described.oversubscribed,
            repetition=self.index,
            launch=self.id,
            time=utc_now(),
            about={
                "eager_limit_B": dict(self.here.eager_limit_B),
                "mpi_kind": self.here.mpi_kind,
                "simulated": self.here.simulated,
                "caches": _caches(self.here.ranks),
            },
        )


def _expected(asking: Asking) -> int:
    """Questions of an effect if none were answered: near what it asks, as few answers change the number."""
    count = 0
    for question in asking:
        count += isinstance(question, Question)
        if count >= MOST_EXPECTED:
            break
    return count


def _warn(text: str, watcher: Watcher, outcome: Outcome) -> None:
    if text not in outcome.warnings:
        outcome.warnings.append(text)
        watcher.warning(text)


def _words(members: Sequence[int], parameters: Mapping[str, object]) -> str:
    """What tells one question from another: not the processors that a thread may use, which are the launch's."""
    asked = {name: name if name == "thread_cpus" else value for name, value in parameters.items()}
    return json.dumps([list(members), asked], sort_keys=True, default=str)


def _caches(ranks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Size of each data cache of the first rank's processor, innermost first."""
    found = {
        int(cache["level"]): int(cache["size_B"])
        for cache in (ranks[0].get("caches", ()) if ranks else ())
        if cache["type"] != "Instruction"
    }
    return [{"level": level, "size_B": size} for level, size in sorted(found.items())]
