"""Measure a campaign: launch, choose points, record each as it completes, survive what fails."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hockney.campaign import collectives
from hockney.campaign.events import Watcher
from hockney.campaign.launch import Launch, check_same_machine, launch_line, utc_now
from hockney.campaign.pairs import choose
from hockney.campaign.plan import Plan
from hockney.campaign.work import Pace, Work
from hockney.errors import HockneyError, RequestError
from hockney.records.folder import Campaign
from hockney.records.keys import COLLECTIVES, Key, PairKey
from hockney.records.record import Record
from hockney.runner.session import LaunchFailed, Limitation, Operation, Refused, Session, operations

VANISHES = "vanishes in the noise"
"""Why a point of a kernel that subtracts has no time: see `_Part._record`."""

LEAST_BUDGET_S = 0.02
"""Less time for a visit of a point yields no interval."""

COARSE_SHARE = 0.8
"""Of the campaign's time, what the first pass may take where time is short."""

HANG_S = 60.0
"""A collective that has not answered by then, beyond its own time, hangs."""

LEAST_WAIT_S = 5.0
LEAST_START_S = 30.0
"""What does not answer, or does not start, is waited for so long even where the campaign's time is over."""

MOST_FAILURES = 3
"""Launches in a row that may fail without a point in between before a variant is given up."""

NOTABLE_CHANGE = 1.25
"""Ratio of two visits of one point, beyond their intervals, that the user should know of."""


class Vanished(Exception):
    """A visit of a point gave no time: what was subtracted was disturbed by more than the difference."""


@dataclass
class Outcome:
    """What a campaign came to."""

    measured: int = 0
    failures: list[str] = field(default_factory=list)
    limitations: list[str] = field(default_factory=list)
    """What an algorithm does not do; recorded, and no failure."""
    vanished: list[str] = field(default_factory=list)
    """Points whose time the noise swallowed at every visit; recorded, and no failure."""
    left_out: int = 0
    """Points that the campaign's time did not allow."""
    warnings: list[str] = field(default_factory=list)


def run(campaign: Campaign, plan: Plan, launches: list[Launch], watcher: Watcher) -> Outcome:
    """Measure what is still missing. Every record is on disk before the next point starts.

    RequestError where the campaign was begun with another MPI or on other processors, whose series would mix, or
    where another process is measuring into it.
    """
    with campaign.locked():
        return _run(campaign, plan, launches, watcher)


def _run(campaign: Campaign, plan: Plan, launches: list[Launch], watcher: Watcher) -> Outcome:
    records = campaign.records()
    for before in {record.mpi for record in records} - {launch.mpi_name for launch in launches}:
        raise RequestError(
            f"{campaign.path} was begun with {before}; found now: {launches[0].mpi_name}",
            "start a new campaign, and join the two with `hockney merge`",
        )
    run_ = _Run(campaign, plan, watcher, Pace(len(launches) * plan.launches))
    run_.elsewhere = {launch.only[1] for launch in launches if launch.only is not None}
    for text in campaign.warnings:
        run_.warn(text)
    for index in range(plan.launches):
        for launch in launches:
            work = Work.resume(plan, records, launch.variant, index, campaign.failures())
            records += run_.variant(launch, index, work)
            if work.level_change > NOTABLE_CHANGE:
                run_.warn(
                    "the machine changed its speed while it was measured: two visits of one point differ by a "
                    f"factor of {work.level_change:.2g}; the quieter visit counts"
                )
            run_.pace.finish_part(work)
    return run_.outcome


class _Run:
    """What the parts of one `run` share."""

    def __init__(self, campaign: Campaign, plan: Plan, watcher: Watcher, pace: Pace) -> None:
        self.campaign = campaign
        self.plan = plan
        self.watcher = watcher
        self.pace = pace
        self.outcome = Outcome()
        self.deadline = None if plan.time_s is None else time.monotonic() + plan.time_s
        self.elsewhere: set[str] = set()

    def left_s(self) -> float:
        """Time the campaign still has."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def wait_s(self, limit_s: float, least_s: float = LEAST_WAIT_S) -> float:
        """How long to wait for what may hang: never far beyond the campaign's time."""
        return min(limit_s, max(self.left_s(), least_s))

    def warn(self, text: str) -> None:
        if text not in self.outcome.warnings:
            self.outcome.warnings.append(text)
            self.watcher.warning(text)

    def variant(self, launch: Launch, index: int, work: Work) -> list[Record]:
        """One variant of one launch index, relaunched after a failure until nothing is left or nothing works."""
        new: list[Record] = []
        failures = 0
        while failures < MOST_FAILURES and self.left_s() > 0:
            before = len(new)
            part: _Part | None = None
            try:
                start_s = self.wait_s(self.plan.time_limit_s, LEAST_START_S)
                with Session(launch.argv, launch.environment, start_s) as session:
                    part = _Part(self, launch, index, work, session)
                    part.begin()
                    part.points(new)
                return new
            except LaunchFailed as error:
                failures = failures + 1 if len(new) == before else 1
                point = None if part is None else part.in_flight
                self.fail(error, launch.variant, index, point)
                if point is not None:
                    work.fail(*point)
                elif not work.largest_B:
                    # It never got as far as a point; the same command would fail the same way.
                    return new
        return new

    def fail(self, error: HockneyError, variant: str, index: int, point: tuple[Key, int] | None) -> None:
        self._write_down(variant, index, {"reason": error.message}, point)
        self.outcome.failures.append(error.message)
        self.watcher.warning(error.message + (f" ({error.hint})" if error.hint else ""))

    def vanish(self, variant: str, index: int, point: tuple[Key, int]) -> None:
        """Write down a point that no visit gave a time: a limitation of this machine today, no failure."""
        key, size_B = point
        self._write_down(variant, index, {"limitation": VANISHES}, point)
        self.outcome.vanished.append(f"{key.where}, {size_B} B: {VANISHES}")

    def _write_down(
        self, variant: str, index: int, why: Mapping[str, str], point: tuple[Key, int] | None
    ) -> None:
        about = {} if point is None else {"series": asdict(point[0]), "bytes": point[1]}
        self.campaign.append_failure({"time": utc_now(), "index": index, "variant": variant, **why, **about})

    def limit(self, text: str, variant: str, index: int, **about: object) -> None:
        """Write down, once, what an algorithm does not do."""
        if text in self.outcome.limitations:
            return
        self.outcome.limitations.append(text)
        if all(failure.get("limitation") != text for failure in self.campaign.failures()):
            self.campaign.append_failure(
                {"time": utc_now(), "index": index, "variant": variant, "limitation": text, **about}
            )


class _Part:
    """One launch that runs."""

    def __init__(self, run_: _Run, launch: Launch, index: int, work: Work, session: Session) -> None:
        self.run = run_
        self.launch = launch
        self.index = index
        self.work = work
        self.session = session
        self.id = uuid.uuid4().hex[:12]
        self.in_flight: tuple[Key, int] | None = None
        self.described = launch.describe(session.hello)
        pairwise = [name for name in run_.plan.operations if name not in COLLECTIVES]
        self.operations: dict[str, Operation] = (
            operations(session.hello, pairwise) if pairwise or not run_.plan.operations else {}
        )
        known = collectives.candidates(session.hello)
        self.kinds = {(one.operation, one.algorithm): one.kind for one in known}
        chosen = collectives.choose(known, run_.plan, run_.elsewhere)
        self.ignored = collectives.ignored(chosen, run_.plan)
        if launch.only is not None:
            chosen = [collectives.Candidate(*launch.only, "library", segmented=False, radix=0)]
        self.collectives = collectives.keys(chosen, run_.plan)

    def begin(self) -> None:
        """Write the launch's provenance and find its series."""
        plan, hello, described = self.run.plan, self.session.hello, self.described
        check_same_machine(self.run.campaign.path, self.run.campaign.launches(), described)
        # A relaunch may have placed the ranks differently.
        self.work.largest_B.clear()
        pairs = choose(described.localities, plan.localities, plan.pairs) if self.operations else []
        for locality, leader, follower in pairs if self.launch.only is None else ():
            for cache in plan.caches:
                for name, operation in self.operations.items():
                    key = PairKey(name, locality, leader, follower, cache)
                    self.work.largest_B[key] = operation.largest_B
        self.work.largest_B.update(dict.fromkeys(self.collectives, 0))
        self.run.campaign.append_launch(launch_line(self.id, self.index, self.launch, hello, described))
        for text in described.warnings:
            self.run.warn(text)
        for text in self.ignored:
            self.run.limit(text, self.launch.variant, self.index)

    def points(self, new: list[Record]) -> None:
        """Measure point after point until nothing, or no time, is left."""
        run_, work = self.run, self.work
        while (point := work.next_point()) is not None:
            key, size_B = self.in_flight = point
            budget_s = self._budget_s()
            if run_.left_s() < budget_s:
                run_.outcome.left_out += max(1, work.expected_points() - work.done_points())
                run_.deadline = 0.0
                return
            run_.watcher.progress(run_.pace.progress(work, f"{key.where} {size_B} B"))
            try:
                records = self._visit(key, size_B, budget_s)
            except Limitation as error:
                work.refuse(*point)
                text = f"{key.where}: {error.message}"
                run_.limit(text, self.launch.variant, self.index, bytes=size_B)
                continue
            except Vanished:
                if work.vanish(*point):
                    run_.vanish(self.launch.variant, self.index, point)
                continue
            except Refused as error:
                work.fail(*point)
                run_.fail(error, self.launch.variant, self.index, point)
                continue
            run_.campaign.append_all(records)
            run_.outcome.measured += 1
            new += records
            work.add(records[0])
            if records[0].verified:
                run_.watcher.measured(records[0])
            else:
                # The record stays, marked; the table leaves it out.
                work.fail(*point)
                wrong = Refused(f"{key.where}, {size_B} B: wrong data", "do not use it; report it to the library")
                run_.fail(wrong, self.launch.variant, self.index, point)

    def _budget_s(self) -> float:
        """Time for one visit of a point: less than asked for where the first pass would not fit otherwise."""
        plan = self.run.plan
        whole_s = plan.budget_s / plan.visits
        if self.run.deadline is None or not (coarse := self.work.coarse_left()):
            return whole_s
        return min(whole_s, max(LEAST_BUDGET_S, COARSE_SHARE * self.run.left_s() / coarse))

    def _visit(self, key: Key, size_B: int, budget_s: float) -> list[Record]:
        plan = self.run.plan
        common = {"budget_s": budget_s, "tolerance": plan.tolerance, "least_samples": plan.least_samples}
        if isinstance(key, PairKey):
            answer = self.session.measure(
                self.run.wait_s(plan.time_limit_s),
                operation=key.operation,
                leader=key.leader,
                follower=key.follower,
                bytes=size_B,
                window=plan.window,
                cache=key.cache,
                **common,
            )
            return [self._record(key, size_B, answer)]
        name = key.algorithm if self.launch.only is None else "default"
        limit_s = self.run.wait_s(min(HANG_S, plan.time_limit_s))
        answer = self.session.collective(limit_s, **collectives.request(key, size_B, name), **common)
        kind = self.kinds.get((key.operation, key.algorithm), "")
        choice, why = collectives.selection(key, name, kind, answer)
        about = Record(
            source="hockney",
            operation=key.operation,
            bytes=size_B,
            statistic="completion",
            value=answer["median_s"],
            system=plan.system,
            mpi=self.launch.mpi_name,
            mapping=plan.map_by,
            variant=self.launch.variant,
            repetition=self.index,
            launch=self.id,
            visit=uuid.uuid4().hex[:12],
            time=utc_now(),
            selection=choice,
            selection_why=why,
        )
        return collectives.records(key, size_B, answer, self.session.hello["ranks"], about)

    def _machine(self, rank: int) -> str:
        return next(str(place.get("machine")) for place in self.session.hello["ranks"] if place["rank"] == rank)

    def _record(self, key: PairKey, size_B: int, answer: Mapping[str, Any]) -> Record:
        """Vanished where no positive time was left, which only kernels that subtract can come to.

        They subtract work alone from messages and the same work. A rank that loses its processor during the work
        alone makes the difference negative by a time slice, thousands of times what a send costs. On a crowded
        machine batches are short and samples few, so that even their median can be such a one.
        """
        plan, described = self.run.plan, self.described
        if not answer["median_s"] or answer["median_s"] <= 0:
            raise Vanished
        # Ranks that are not pinned may be put on one processor and then time-share it, whatever their number.
        same_machine = len({self._machine(rank) for rank in (key.leader, key.follower)}) == 1
        shared_core = same_machine and 2 * answer["same_cpu"] > len(answer["samples_s"])
        if shared_core and not described.oversubscribed:
            self.run.warn(
                f"ranks {key.pair} shared one processor: times are not latencies; pin them with --bind-to"
            )
        return Record(
            source="hockney",
            system=plan.system,
            mpi=self.launch.mpi_name,
            operation=key.operation,
            bytes=size_B,
            statistic="one_way",
            value=answer["median_s"],
            low=max(0.0, answer["low_s"]),
            high=answer["high_s"],
            mapping=plan.map_by,
            variant=self.launch.variant,
            locality=key.locality,
            cache=key.cache,
            nodes=described.nodes,
            ppn=described.ppn,
            ranks=plan.ranks,
            pair=key.pair,
            pairs=1,
            window=plan.window if self.operations[key.operation].windowed else None,
            repetition=self.index,
            oversubscribed=described.oversubscribed or shared_core,
            quantiles=answer["quantiles_s"],
            samples=answer["samples_s"],
            batch=answer["batch"],
            disturbed=len(answer["disturbed_at"]),
            disturbed_at=answer["disturbed_at"],
            elapsed_s=answer["elapsed_s"],
            core_seconds=2 * answer["elapsed_s"],
            stop=answer["stop"],
            verified=answer["verified"],
            launch=self.id,
            time=utc_now(),
        )
