"""Measure the effects of a plan: each effect's file asks its questions, except those answered on disk."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from socket import gethostname

from hockney.campaign.collectives import choose as choose_algorithms
from hockney.campaign.collectives import expect_heeded, keys, of_subsets
from hockney.campaign.effects.base import Here, NotMeasurable, Question, Questions, effects
from hockney.campaign.effects.subsets import TRANSPOSITION, subset_sizes
from hockney.campaign.events import Progress
from hockney.campaign.launch import Described, Launch, measured_alone
from hockney.campaign.loop import Asking, Loop, Request, Running, Subject, TimeOver, require_same_mpi
from hockney.campaign.pairs import choose
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.records.answers import Answer, Candidate, Hello, RankPlace
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine
from hockney.records.keys import CollectiveKey
from hockney.records.record import LOCALITIES
from hockney.runner.session import LaunchFailed, Limitation, Refused, Session

LEAST_SAMPLES = 6
MOST_EXPECTED = 2000
"""Questions that the estimate counts beforehand, at most."""
BUDGETS = 4
"""Budgets that a question may take before its time limit begins: disturbed samples are repeated."""


def ask_effects(loop: Loop, campaign: Campaign, plan: Plan, launches: Sequence[Launch]) -> None:
    """Measure the plan's effects, all on one launch of each variant, what is on disk already excepted.

    A question that ends its launch, or is refused for want of memory, is recorded as failed and passed over.
    RequestError where the campaign was begun with another MPI or elsewhere.
    """
    records = campaign.effects()
    for text in campaign.warnings:
        loop.warn(text)
    require_same_mpi(campaign, (record.mpi for record in records), launches)
    elsewhere = measured_alone(launches)
    for index in range(plan.launches):
        for launch in launches:
            if launch.only is not None:
                continue
            before = [record for record in plan.launched(records, launch.name) if record.repetition == index]
            asker = _Effects(loop, plan, before, elsewhere)
            loop.run(launch, index, asker.asking)
            if loop.left_s() <= 0:
                if not asker.was_asked:
                    loop.outcome.left_out += len(plan.effects)
                unfinished = [name for name in plan.effects if name not in asker.finished]
                left_out = loop.outcome.effects_left_out
                left_out += [name for name in unfinished if name not in left_out]


def here_of(hello: Hello, described: Described, plan: Plan) -> Here:
    """What a launch offers for effects, from its hello and the plan."""
    kind = described.provenance.mpi.get("kind") or ""
    return Here(
        pairs=choose(described.localities, plan.localities, 1),
        localities=described.localities,
        ranks=sorted(hello.ranks, key=lambda place: place.rank),
        eager_limit_B=described.provenance.eager_limit_B,
        settings=hello.settings,
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


def _collectives(
    running: Running, plan: Plan, elsewhere: Collection[str], warn: Callable[[str], None], default: str
) -> list[CollectiveKey]:
    """As `Here.collectives`. `warn` tells of words that no collective of a plan with points can heed."""
    hello, asked = running.hello, of_subsets(plan, default)
    try:
        chosen = choose_algorithms(hello.algorithms, asked, elsewhere)
        expect_heeded(chosen, running.launch.mpi_name, hello.settings)
    except RequestError as error:
        # With a collective among the points this was said before the first of them.
        if plan.has_collectives or not plan.points:
            raise
        warn(f"{error.message}: of {default}, which no --operation names, the default is measured")
        chosen = choose_algorithms(hello.algorithms, asked.model_copy(update={"algorithms": ["default"]}))
    return keys(chosen, asked)


def expect_subsets(plan: Plan) -> None:
    """RequestError where nothing else heeds --rank-counts, or is asked for, and no such subsets exist."""
    if "subsets" not in plan.effects or plan.has_collectives:
        return
    sizes, whys = subset_sizes(plan.ranks, plan.rank_counts)
    if not sizes and (plan.rank_counts or [*plan.operations, *plan.effects] == ["subsets"]):
        raise RequestError(
            f"subsets: {'; '.join(whys)}",
            "all have as many ranks: give --rank-counts below --ranks that divide it",
        )


def questions_of_subsets(plan: Plan, candidates: Callable[[Plan], Sequence[Candidate]]) -> int:
    """How many a plan asks: it is the one effect of which that depends on the plan alone."""
    if "subsets" not in plan.effects:
        return 0
    asked = of_subsets(plan, TRANSPOSITION)
    here = Here(
        pairs=[(LOCALITIES[0], 0, 1)],
        localities={},
        ranks=[RankPlace(rank=rank, host="") for rank in range(plan.ranks)],
        simulated=plan.mpi == "smpi",
        sizes_B=plan.sizes_B,
        largest_B=plan.largest_B,
        collectives=lambda _: keys(candidates(asked), asked),
    )
    return sum(isinstance(question, Question) for question in effects.get("subsets")(here))


QuestionKey = tuple[str, str]
"""The effect, and the question in words."""


class _Effects:
    """Asks all effects of one variant and launch index; remembers what is on disk and what failed."""

    def __init__(
        self, loop: Loop, plan: Plan, records: Sequence[EffectRecord], elsewhere: Collection[str]
    ) -> None:
        self._loop = loop
        self._plan = plan
        self._elsewhere = elsewhere
        self._answers: dict[QuestionKey, Answer | None] = {
            (record.effect, _words(record.members, record.parameters)): record.answer
            for record in records
            if not record.not_measurable
        }
        self._not_measurable = {
            (record.effect, record.locality, record.not_measurable) for record in records if record.not_measurable
        }
        self._failed: set[QuestionKey] = set()
        self.finished: set[str] = set()
        """Effects of which every question has been asked."""
        self.was_asked = False
        """Whether a launch said hello, and what is left out is counted here."""

    def asking(self, running: Running) -> Asking[EffectRecord]:
        """The asker."""
        self.was_asked = True
        here = replace(
            here_of(running.hello, running.described, self._plan),
            collectives=partial(_collectives, running, self._plan, self._elsewhere, self._loop.warn),
        )
        running.require_same_machine()
        if any(name not in running.hello.effects for name in self._plan.effects):
            raise RequestError(
                f"the runner knows the effects {', '.join(running.hello.effects)}", "reinstall hockney"
            )
        begin_s = time.monotonic()
        over: TimeOver | None = None
        for name in self._plan.effects:
            try:
                yield from self._effect(name, running, here, begin_s)
            except TimeOver as error:
                # The others ask nothing any more, and count what that leaves out.
                over = error
        if over is not None:
            raise over

    def _effect(self, name: str, running: Running, here: Here, begin_s: float) -> Asking[EffectRecord]:
        """What is missing of one effect."""
        expected = _expected(effects.get(name)(here))
        asking = effects.get(name)(here)
        answer: Answer | None = None
        done = 0
        while True:
            try:
                question = asking.send(answer)
            except StopIteration:
                self.finished.add(name)
                return
            answer = None
            if isinstance(question, NotMeasurable):
                self._note(name, question, running, here)
                continue
            done += 1
            key = (name, _words(question.members, question.parameters))
            if key in self._failed:
                continue
            if key not in self._answers:
                if self._loop.left_s() <= 0:
                    self._loop.outcome.left_out += max(1, expected - done + 1)
                    return
                pace_s = (time.monotonic() - begin_s) / running.answered if running.answered else 0.0
                expected = max(expected, done)
                progress = Progress(done - 1, expected, pace_s * (expected - done + 1), name)
                try:
                    yield from self._ask(key, question, progress, running, here)
                except TimeOver:
                    self._loop.outcome.left_out += expected - done + 1
                    raise
            answer = self._answers.get(key)

    def _ask(
        self, key: QuestionKey, question: Question, progress: Progress, running: Running, here: Here
    ) -> Asking[EffectRecord]:
        name, words = key
        record = self._record(name, running, here).model_copy(
            update={
                "members": list(question.members),
                "parameters": dict(question.parameters),
                "locality": question.locality,
            }
        )

        def ask(session: Session) -> list[EffectRecord]:
            own_s = BUDGETS * float(str(question.parameters.get("budget_s", 0)))
            answer = self._loop.within(
                self._plan.time_limit_s,
                lambda limit_s: session.effect(
                    limit_s + own_s, question.members, operation=name, **question.parameters
                ),
            )
            return [record.model_copy(update={"answer": answer})]

        request = Request(ask, Subject(FailureLine(effect=name, asked=words), name), progress)
        try:
            (answered,) = yield request
        except TimeOver:
            raise
        except LaunchFailed:
            self._failed.add(key)
            raise
        except Limitation as error:
            self._loop.outcome.limitations.append(f"{name}: {error.message}")
            self._loop.keep([record.model_copy(update={"refused": error.message})])
            self._answers[key] = None
        except Refused as error:
            # Another time there may be room.
            self._failed.add(key)
            self._loop.fail(error, running.launch, running.index, request.subject)
        else:
            self._answers[key] = answered.answer
            if answered.answer is not None and answered.answer.verified is False:
                # The record stays, marked; models leave it out.
                wrong = Refused("wrong data: do not use it; report it to the library")
                self._loop.fail(wrong, running.launch, running.index, request.subject)

    def _note(self, name: str, why: NotMeasurable, running: Running, here: Here) -> None:
        """Keep, once, why an effect cannot be measured."""
        key = (name, why.locality, why.why)
        if key not in self._not_measurable:
            self._not_measurable.add(key)
            said = {"not_measurable": why.why, "locality": why.locality}
            self._loop.keep([self._record(name, running, here).model_copy(update=said)])
            self._loop.warn(f"{name} is not measurable: {why.why}")

    def _record(self, name: str, running: Running, here: Here) -> EffectRecord:
        """A record without its question."""
        record = EffectRecord(
            effect=name,
            about={
                "eager_limit_B": dict(here.eager_limit_B),
                "mpi_kind": here.mpi_kind,
                "simulated": here.simulated,
                "caches": _caches(here.ranks),
            },
        )
        return running.stamped(record, self._plan)


def _expected(asking: Questions) -> int:
    """Questions of an effect if none were answered: near what it asks, as few answers change the number."""
    count = 0
    for question in asking:
        count += isinstance(question, Question)
        if count >= MOST_EXPECTED:
            break
    return count


def _words(members: Sequence[int], parameters: Mapping[str, float | str]) -> str:
    """A question's identity: its members and parameters but for a thread's processors, which vary by launch."""
    identity = {name: name if name == "thread_cpus" else value for name, value in parameters.items()}
    return json.dumps([list(members), identity], sort_keys=True, default=str)


def _caches(ranks: Sequence[RankPlace]) -> list[dict[str, int]]:
    """Size of each data cache of the first rank's processor, innermost first."""
    caches = ranks[0].caches if ranks else []
    sizes_B = {cache.level: cache.size_B for cache in caches if cache.type != "Instruction"}
    return [{"level": level, "size_B": size_B} for level, size_B in sorted(sizes_B.items())]
