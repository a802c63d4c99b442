"""Measure effects: ask what each effect's file asks, keep each answer, and take those on disk for asked."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hockney.campaign.effect_record import EffectRecord
from hockney.campaign.effects.base import Here, NotMeasurable, Question, effects
from hockney.campaign.events import Progress, Watcher
from hockney.campaign.folder import Campaign
from hockney.campaign.launch import Described, Launch, launch_line, utc_now
from hockney.campaign.measure import MOST_FAILURES, Outcome
from hockney.campaign.pairs import choose
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.runner.session import LaunchFailed, Limitation, Refused, Session

LEAST_SAMPLES = 6


def run_effects(
    campaign: Campaign, plan: Plan, launches: Sequence[Launch], watcher: Watcher, outcome: Outcome
) -> None:
    """Measure the plan's effects, each on every launch, what is on disk already excepted.

    Every answer is on disk before the next question. A launch that dies is started again, and the question in
    flight is recorded as failed and passed over. RequestError where another process measures into the folder, or
    where the folder was begun with another MPI.
    """
    names = plan.effects
    with campaign.locked():
        records = campaign.effects()
        for before in {record.mpi for record in records} - {launch.mpi_name for launch in launches}:
            raise RequestError(
                f"{campaign.path} was begun with {before}; found now: {launches[0].mpi_name}",
                "start a new campaign",
            )
        begun = time.monotonic()
        parts = [(index, launch, name) for index in range(plan.launches) for launch in launches for name in names]
        for number, (index, launch, name) in enumerate(parts):
            if launch.only is not None:
                continue
            spent_s = time.monotonic() - begun
            left_s = spent_s / number * (len(parts) - number) if number else 0.0
            watcher.progress(Progress(number, len(parts), left_s, name))
            _Part(campaign, plan, launch, index, name, watcher, outcome).run(records)


class _Part:
    """One effect on one launch."""

    def __init__(
        self,
        campaign: Campaign,
        plan: Plan,
        launch: Launch,
        index: int,
        name: str,
        watcher: Watcher,
        outcome: Outcome,
    ) -> None:
        self.campaign = campaign
        self.plan = plan
        self.launch = launch
        self.index = index
        self.name = name
        self.watcher = watcher
        self.outcome = outcome
        self.failed: list[str] = []

    def run(self, records: Sequence[EffectRecord]) -> None:
        mine = [
            record
            for record in records
            if (record.effect, record.variant, record.repetition) == (self.name, self.launch.variant, self.index)
        ]
        answered = {_words(record.members, record.parameters): record for record in mine}
        whole = {record.not_measurable for record in mine if record.not_measurable}
        while len(self.failed) < MOST_FAILURES:
            try:
                with Session(self.launch.argv, self.launch.environment, self.plan.time_limit_s) as session:
                    for record in self._asked(session, answered, whole):
                        self.campaign.append_effect(record)
                        self.outcome.measured += 1
                        answered[_words(record.members, record.parameters)] = record
                return
            except LaunchFailed as error:
                self._fail(error.message)

    def _asked(
        self, session: Session, answered: Mapping[str, EffectRecord], told: set[str]
    ) -> Iterator[EffectRecord]:
        """The records that are new; each must be on disk, and in `answered`, before the next is asked for."""
        described = self.launch.describe(session.hello)
        here = here_of(session.hello, described, self.plan)
        id_ = uuid.uuid4().hex[:12]
        self.campaign.append_launch(launch_line(id_, self.index, self.launch, session.hello, described))
        for text in described.warnings:
            if text not in self.outcome.warnings:
                self.outcome.warnings.append(text)
                self.watcher.warning(text)
        about = EffectRecord(
            effect=self.name,
            system=self.plan.system,
            mpi=self.launch.mpi_name,
            mapping=self.plan.map_by,
            variant=self.launch.variant,
            ranks=self.plan.ranks,
            nodes=described.nodes,
            ppn=described.ppn,
            oversubscribed=described.oversubscribed,
            repetition=self.index,
            launch=id_,
            about={
                "eager_limit_B": dict(here.eager_limit_B),
                "mpi_kind": here.mpi_kind,
                "simulated": here.simulated,
                "caches": _caches(session.hello["ranks"]),
            },
        )
        asking = effects.get(self.name)(here)
        answer: dict[str, Any] | None = None
        while True:
            try:
                question = asking.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(question, NotMeasurable):
                if question.why not in told:
                    told.add(question.why)
                    yield about.model_copy(
                        update={
                            "not_measurable": question.why,
                            "locality": question.locality,
                            "time": utc_now(),
                        }
                    )
                continue
            words = _words(question.members, question.parameters)
            if words in self.failed:
                continue
            if words not in answered:
                yield self._ask(session, question, about, words)
            answer = answered[words].answer or None

    def _ask(self, session: Session, question: Question, about: EffectRecord, words: str) -> EffectRecord:
        asked = about.model_copy(
            update={
                "members": list(question.members),
                "parameters": dict(question.parameters),
                "locality": question.locality,
                "time": utc_now(),
            }
        )
        try:
            answer = session.effect(
                self.plan.time_limit_s, operation=self.name, members=question.members, **question.parameters
            )
        except (Refused, Limitation) as error:
            self.outcome.limitations.append(f"{self.name}: {error.message}")
            return asked.model_copy(update={"refused": error.message})
        except LaunchFailed:
            self.failed.append(words)
            raise
        return asked.model_copy(update={"answer": {key: value for key, value in answer.items() if key != "type"}})

    def _fail(self, message: str) -> None:
        asked = self.failed[-1] if self.failed else ""
        self.campaign.append_failure(
            {
                "time": utc_now(),
                "index": self.index,
                "variant": self.launch.variant,
                "effect": self.name,
                "asked": asked,
                "reason": message,
            }
        )
        self.outcome.failures.append(f"{self.name}: {message}")
        self.watcher.warning(f"{self.name}: {message}")
        if not asked:
            # It did not even start; the same command would fail the same way.
            self.failed += [""] * MOST_FAILURES


def here_of(hello: Mapping[str, Any], described: Described, plan: Plan) -> Here:
    """What a launch that has said hello offers to an effect under this plan."""
    ranks = sorted(hello["ranks"], key=lambda place: int(place["rank"]))
    kind = str(described.provenance.get("mpi", {}).get("kind", ""))
    return Here(
        pairs=choose(described.localities, plan.localities, 1),
        localities=described.localities,
        ranks=ranks,
        eager_limit_B=described.provenance.get("eager_limit_B", {}),
        settings=hello["settings"],
        mpi_kind=kind,
        oversubscribed="; ".join(text for text in described.warnings if text.startswith("oversubscribed")),
        simulated=kind == "smpi",
        sizes_B=plan.sizes_B,
        largest_B=plan.largest_B,
        budget_s=plan.budget_s,
        tolerance=plan.tolerance,
        least_samples=LEAST_SAMPLES,
        seed=plan.seed,
    )


def _words(members: Sequence[int], parameters: Mapping[str, object]) -> str:
    """What tells one question from another."""
    return json.dumps([list(members), dict(parameters)], sort_keys=True, default=str)


def _caches(ranks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Size of each data cache of the first rank's processor, innermost first."""
    found = {
        int(cache["level"]): int(cache["size_B"])
        for cache in (ranks[0].get("caches", ()) if ranks else ())
        if cache["type"] != "Instruction"
    }
    return [{"level": level, "size_B": size} for level, size in sorted(found.items())]
