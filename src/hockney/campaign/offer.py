"""What a launch can measure of a plan, and how one of its points is measured once."""

from __future__ import annotations

import uuid
from functools import partial

from hockney.campaign import collectives
from hockney.campaign.loop import Loop, Running
from hockney.campaign.pairs import choose
from hockney.campaign.plan import Plan
from hockney.campaign.visits_so_far import samples_asked
from hockney.records.answers import Measurement
from hockney.records.keys import COLLECTIVES, MESSAGES, CollectiveKey, Key, PairKey, caches_of
from hockney.records.record import Record
from hockney.runner.session import Refused, Session, operations

VANISHES = "vanishes in the noise"
"""Why a point of a kernel that subtracts has no time: see `Offer._of_pair`."""

HANG_S = 60.0
"""A collective that has not answered by then, beyond its own time, hangs."""


class Vanished(Refused):
    """A visit of a point gave no time, because a disturbance exceeded the difference of two measurements."""


class Offer:
    """What a launch can measure of the plan, and how a point is measured on it."""

    def __init__(self, loop: Loop, plan: Plan, running: Running, elsewhere: set[str]) -> None:
        self._loop = loop
        self._plan = plan
        self._running = running
        hello = running.hello
        known = [kernel.name for kernel in hello.operations]
        # All of them the most informative first: a campaign that ends early has these.
        named = plan.operations or [name for name in MESSAGES if name in known]
        self._kernels = operations(hello, [name for name in named if name not in COLLECTIVES])
        self._kinds = {(known.operation, known.algorithm): known.kind for known in hello.algorithms}
        chosen = collectives.choose(hello.algorithms, plan, elsewhere)
        self.ignored = collectives.ignored(chosen, plan)
        """What algorithms make of options that they do not take."""
        only = running.launch.only
        if only is not None:
            chosen = [collectives.launched_alone(*only)]
        collectives.expect_heeded(chosen, running.launch.mpi_name, hello.settings)
        self._collectives = collectives.keys(chosen, plan)

    def series(self) -> dict[Key, int]:
        """The series to measure, in order, with the largest size that makes sense (0: any)."""
        plan, largest_B = self._plan, dict[Key, int]()
        if self._kernels and self._running.launch.only is None:
            for locality, leader, follower in choose(
                self._running.described.localities, plan.localities, plan.pairs
            ):
                for name, kernel in self._kernels.items():
                    for cache in caches_of(name, plan.caches):
                        largest_B[PairKey(name, locality, leader, follower, cache)] = kernel.largest_B
        return largest_B | dict.fromkeys(self._collectives, 0)

    def visit(self, key: Key, size_B: int, budget_s: float, session: Session) -> list[Record]:
        """Measure one point once; the first record holds its samples. Failures as of `Session`, TimeOver, and
        Vanished.
        """
        plan = self._plan
        common = {"budget_s": budget_s, "tolerance": plan.tolerance, **samples_asked(key, plan)}
        if isinstance(key, PairKey):
            measure = partial(
                session.measure,
                operation=key.operation,
                leader=key.leader,
                follower=key.follower,
                bytes=size_B,
                window=plan.window,
                cache=key.cache,
                **common,
            )
            return [self._of_pair(key, size_B, self._loop.within(plan.time_limit_s, measure))]
        return self._of_collective(key, size_B, common, session)

    def _of_collective(
        self, key: CollectiveKey, size_B: int, common: dict[str, float], session: Session
    ) -> list[Record]:
        plan, running = self._plan, self._running
        name = key.algorithm if running.launch.only is None else "default"
        request = collectives.request(key, size_B, name)
        answer = self._loop.within(
            min(HANG_S, plan.time_limit_s), lambda limit_s: session.collective(limit_s, **request, **common)
        )
        kind = self._kinds.get((key.operation, key.algorithm), "")
        choice, why = collectives.selection(key, name, kind, answer)
        about = Record(
            source="hockney",
            operation=key.operation,
            bytes=size_B,
            statistic="completion",
            value=answer.median_s,
            algorithm=key.algorithm,
            cache=key.cache,
            segment_bytes=key.segment_B or None,
            radix=key.radix or None,
            root=key.root,
            start=key.start,
            visit=uuid.uuid4().hex[:12],
            selection=choice,
            selection_why=why,
        )
        return collectives.records(key, answer, running.hello.ranks, running.stamped(about, plan))

    def _of_pair(self, key: PairKey, size_B: int, answer: Measurement) -> Record:
        """Vanished where no positive time was left, which only kernels that subtract can come to.

        They subtract work alone from messages and the same work. A rank that loses its processor during the work
        alone makes the difference negative by a time slice, thousands of times what a send costs. On a crowded
        machine batches are short and samples few, so that even their median can be such a one.
        """
        plan, running = self._plan, self._running
        described = running.described
        median_s, low_s, high_s = answer.median_s, answer.low_s, answer.high_s
        if median_s is None or low_s is None or high_s is None or median_s <= 0:
            raise Vanished(VANISHES)
        # Ranks that are not pinned may be put on one processor and then time-share it, whatever their number.
        ends = (key.leader, key.follower)
        same_machine = len({place.machine for place in running.hello.ranks if place.rank in ends}) == 1
        shared_core = same_machine and 2 * answer.same_cpu > len(answer.samples_s)
        if shared_core and not described.oversubscribed:
            self._loop.warn(
                f"ranks {key.pair} shared one processor: times are not latencies; pin them with --bind-to"
            )
        record = Record(
            source="hockney",
            operation=key.operation,
            bytes=size_B,
            statistic="one_way",
            value=median_s,
            low=max(0.0, low_s),
            high=high_s,
            locality=key.locality,
            cache=key.cache,
            pair=key.pair,
            pairs=1,
            window=plan.window if self._kernels[key.operation].windowed else None,
            quantiles=answer.quantiles_s,
            samples=answer.samples_s,
            batch=answer.batch,
            disturbed=answer.disturbed,
            disturbed_at=answer.disturbed_at,
            elapsed_s=answer.elapsed_s,
            core_seconds=2 * answer.elapsed_s,
            stop=answer.stop,
            verified=answer.verified,
        )
        record = running.stamped(record.between(answer), plan)
        return record.model_copy(update={"oversubscribed": described.oversubscribed or shared_core})
