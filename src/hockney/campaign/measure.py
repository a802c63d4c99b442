"""Measure a campaign: the points of each launch, most informative first, then effects; record failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, takewhile

from hockney.campaign.effect_runs import ask_effects
from hockney.campaign.estimate import series
from hockney.campaign.events import Watcher
from hockney.campaign.launch import Launch, measured_alone
from hockney.campaign.loop import (
    ANOTHER_LEVEL,
    Asking,
    Loop,
    Request,
    Running,
    Subject,
    TimeOver,
    require_same_mpi,
)
from hockney.campaign.offer import VANISHES, Offer, Vanished
from hockney.campaign.outcome import Outcome
from hockney.campaign.pace import Pace
from hockney.campaign.plan import Plan
from hockney.campaign.share import WHOLE, Share
from hockney.campaign.visits_so_far import LEAST_BUDGET_S, Lacking, are_shorter, lacking, settled_times, visits_of
from hockney.campaign.work import NextPoint, Work
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine
from hockney.records.keys import Key, key_of
from hockney.records.record import Record
from hockney.runner.session import LaunchFailed, Limitation, Refused
from hockney.units import counted, format_bytes

COARSE_SHARE = 0.8
"""Share of the campaign's time that the first pass may take where time is short."""

MOST_FURTHER = 2
"""Launches more, for points that too few met at the level asked for."""


def run(
    campaign: Campaign,
    plan: Plan,
    launches: Sequence[Launch],
    watcher: Watcher,
    chooser: Callable[[Plan], NextPoint] | None = None,
    *,
    job_s: float | None = None,
    share: Share = WHOLE,
) -> Outcome:
    """Measure what is still missing. Every record is on disk before the next point starts.

    `chooser` is for adaptive plans: what decides, for one launch index and variant, which point comes next.
    `job_s` is the time that a batch system's job has left, `share` what it makes of the plan's launches.
    RequestError where the campaign was begun with another MPI or on other processors, whose series would mix, or
    where another process is measuring into it.
    """
    with campaign.locked():
        loop = Loop(campaign, plan, watcher, plan.time_s, job_s)
        if plan.points:
            _measure_points(loop, campaign, plan, launches, chooser, share)
        if plan.effects and share.number == 1:
            ask_effects(loop, campaign, plan, launches)
        return loop.close(campaign, str(share) if share != WHOLE else "")


def _measure_points(
    loop: Loop,
    campaign: Campaign,
    plan: Plan,
    launches: Sequence[Launch],
    chooser: Callable[[Plan], NextPoint] | None,
    share: Share,
) -> None:
    records = campaign.records()
    require_same_mpi(campaign, (record.mpi for record in records), launches)
    for text in campaign.warnings:
        loop.warn(text)
    pace = Pace(len(launches) * len(share.of(plan.launches)))
    elsewhere = measured_alone(launches)
    if plan.adaptive and chooser is None:
        raise TypeError("an adaptive plan needs a chooser")
    # Those planned, as long as there is time; then, perhaps, further ones.
    reached: dict[_Part, _Points] = {}
    planned = takewhile(lambda _: loop.left_s() > 0, share.of(plan.launches))
    for index in chain(planned, share.further(plan.launches)):
        due = _due(loop, plan, records, launches, index)
        if not due:
            break
        # The first variants must not spend the time of all.
        waiting = [*dict.fromkeys(launch.name for launch, _ in due)]
        for launch, only in due:
            if launch.name in waiting:
                loop.take_turns(len(waiting))
                waiting.remove(launch.name)
            has_time = loop.left_s() > 0
            worth_most = chooser(plan) if plan.adaptive and chooser else None
            work = Work.resume(plan, records, launch.name, index, campaign.failures(), worth_most)
            if only is not None:
                work.keep_to(only, plan.launched(records, launch.name))
            points = _Points(loop, campaign, plan, work, pace, elsewhere)
            records += loop.run(launch, index, points.asking)
            if points.series or loop.left_s() > 0:
                reached[launch.name, launch.only, index] = points
            if points.series and not points.is_settled and loop.left_s() <= 0:
                loop.outcome.left_out += max(1, _left(work))
            for key, size_B in work.without_time():
                error = Vanished(f"{VANISHES}; no other visit was made", "--resume visits it again")
                loop.fail(error, launch, index, _subject(key, size_B, name=_point(key, size_B)))
            if has_time:
                pace.finish_part(work)
        loop.take_turns(1)
    if loop.left_s() <= 0:
        parts = [(launch.name, launch.only, index) for index in share.of(plan.launches) for launch in launches]
        loop.outcome.left_out += _unreached(
            plan, records, [part for part in parts if part not in reached], reached
        )
    _say_elsewhere(loop, plan, records)


_Part = tuple[str, tuple[str, str] | None, int]
"""A launch: its name, what alone it is for, its index."""


def _unreached(
    plan: Plan, records: Sequence[Record], parts: Sequence[_Part], reached: Mapping[_Part, _Points]
) -> int:
    """About how many visits are left of launches that the time did not let say hello, at least one if any is.

    Their series are those of launches that did; else those on disk; else those that the plan names.
    """
    begun = {(plan.launch_name(record.variant, record.mapping), record.repetition) for record in records}

    @cache
    def left(name: str, only: tuple[str, str] | None, index: int | None) -> int:
        """Of a launch, or (None) of one that was not begun: those are alike."""
        work = Work.resume(plan, records, name, plan.launches + MOST_FURTHER if index is None else index)
        known = (points.series for part, points in reached.items() if part[1] == only and points.series)
        work.largest_B = dict(next(known, {})) or {
            key: 0
            for key in set(map(key_of, plan.launched(records, name))) or series(plan)
            if only is None or (key.operation, getattr(key, "algorithm", "")) == only
        }
        return _left(work)

    count = sum(left(name, only, index if (name, index) in begun else None) for name, only, index in parts)
    return max(count, min(1, len(parts)))


def _left(work: Work) -> int:
    """About how many visits of its series are left."""
    done = sum(count for (key, _), count in work.visits.items() if key in work.largest_B)
    return max(0, work.expected_points() - done)


def _due(
    loop: Loop, plan: Plan, records: Sequence[Record], launches: Sequence[Launch], index: int
) -> list[tuple[Launch, Lacking | None]]:
    """The launches to be made of that index, with what alone is to be visited (None: all).

    First those planned. What differs from launch to launch is known of a level from the launches that met it: a
    variant and mapping is launched again for points that too few did, up to `MOST_FURTHER` times.
    """
    if index < plan.launches:
        return [(launch, None) for launch in launches]
    if plan.launches == 1:
        return []
    missing: dict[str, Lacking] = {}
    for name in dict.fromkeys(launch.name for launch in launches):
        launched = plan.launched(records, name)
        before = [record for record in launched if record.repetition < index]
        missing[name] = lacking(before, plan.level, plan.launches)
        if not missing[name].points or any(record.repetition == index for record in launched):
            continue  # begun before: said before
        can_be, has_time = index < plan.launches + MOST_FURTHER, loop.left_s() > 0
        count = len({(key_of(record), record.bytes) for record in launched})
        level = "a level" if plan.level == "all" else f"the level asked for ({plan.level})"
        what_follows = "their intervals rest on fewer"
        if can_be:
            what_follows = "one more is made for them" if has_time else "--resume makes one more for them"
        loop.warn(
            f"{len(missing[name].points)} of {count} points were met at {level} by fewer "
            f"than {counted(plan.launches, 'launch', plural='launches')} of {name}: {what_follows}"
        )
        if not (can_be and has_time):
            missing[name] = replace(missing[name], points=set())
    alone = {launch.only for launch in launches if launch.only is not None}
    due = [(launch, missing[launch.name].of_launch(launch.only, alone)) for launch in launches]
    return [(launch, lacking) for launch, lacking in due if lacking.points]


def _say_elsewhere(loop: Loop, plan: Plan, records: Sequence[Record]) -> None:
    """Points that no launch met at the level asked for are missing."""
    settled = settled_times(records, plan.level)
    if settled.elsewhere:
        text = (
            f"{len(settled.elsewhere)} of {len(settled.records)} {ANOTHER_LEVEL} "
            f"({plan.level}) and stand at another; --resume visits them again"
        )
        loop.warn(text)
        loop.outcome.failures.append(text)


def _point(key: Key, size_B: int) -> str:
    return f"{key.where}, {format_bytes(size_B)}"


def _subject(key: Key, size_B: int, name: str = "") -> Subject:
    return Subject(FailureLine(series=key, bytes=size_B), name)


class _Points:
    """Asks for the points of one launch index and variant until nothing, or no time, is left."""

    def __init__(
        self, loop: Loop, campaign: Campaign, plan: Plan, work: Work, pace: Pace, elsewhere: set[str]
    ) -> None:
        self._loop = loop
        self._campaign = campaign
        self._plan = plan
        self._work = work
        self._pace = pace
        self._elsewhere = elsewhere
        self._next: tuple[Key, int] | None = None
        """The point with which the next launch begins."""
        self.series: Mapping[Key, int] = {}
        """Those of the launch; none of one that never said hello."""
        self.is_settled = False
        """Whether nothing is left, or what is left has been counted."""

    def asking(self, running: Running) -> Asking[Record]:
        """The asker. Rounds of a collective's visits are spread over launches, which differ by up to a fifth."""
        loop, work = self._loop, self._work
        offer = Offer(loop, self._plan, running, self._elsewhere)
        running.require_same_machine()
        # A relaunch may have placed the ranks differently.
        self.series = work.largest_B = offer.series()
        self.is_settled = False
        running.recorded()
        for text in offer.ignored:
            self._limit(text, running)
        # A simulation's launches are all alike.
        is_spread = self._plan.mpi != "smpi" and any(are_shorter(key, self._plan) for key in work.largest_B)
        while (point := self._next or work.next_point()) is not None:
            key, size_B = point
            budget_s = self._budget_s(key)
            if loop.left_s() < budget_s:
                self._leave_out_rest()
                loop.stop()
                return
            has_time = loop.left_s() > running.start_s + budget_s
            if is_spread and self._next is None and work.begins_round and running.is_old and has_time:
                self._next, running.makes_way = point, True
                return
            self._next = None
            time.sleep(min(work.pause_s, max(0.0, loop.left_s() - budget_s)))
            request = Request(
                partial(offer.visit, key, size_B, budget_s),
                _subject(key, size_B),
                self._pace.progress(work, f"{key.where} {format_bytes(size_B)}"),
            )
            try:
                records = yield request
            except TimeOver:
                self._leave_out_rest()
                raise
            except LaunchFailed:
                work.fail(*point)
                raise
            except Limitation as error:
                work.refuse(*point)
                self._limit(f"{key.where}: {error.message}", running, size_B)
                continue
            except Vanished as error:
                if work.vanish(*point):
                    line = request.subject.line
                    loop.write_down(running.launch, running.index, line, limitation=error.message)
                    loop.outcome.vanished.append(f"{_point(*point)}: {error.message}")
                continue
            except Refused as error:
                work.fail(*point)
                loop.fail(error, running.launch, running.index, request.subject)
                continue
            work.add(records[0])
            if records[0].verified:
                loop.watcher.measured(records[0])
            else:
                # The record stays, marked; the table leaves it out.
                work.fail(*point)
                wrong = Refused(f"{_point(*point)}: wrong data", "do not use it; report it to the library")
                loop.fail(wrong, running.launch, running.index, request.subject)
        self.is_settled = True

    def _leave_out_rest(self) -> None:
        work, self.is_settled = self._work, True
        self._loop.outcome.left_out += max(1, work.expected_points() - work.visits.total())

    def _budget_s(self, key: Key) -> float:
        """Time for one visit of a point: less than in the plan if the first pass would not fit otherwise."""
        whole_s = self._plan.budget_s / visits_of(key, self._plan)
        # A job that ends is no reason to measure worse: the next goes on.
        left_s = self._loop.own_left_s()
        if left_s == float("inf") or not (coarse := self._work.coarse_left()):
            return whole_s
        return min(whole_s, max(LEAST_BUDGET_S, COARSE_SHARE * left_s / coarse))

    def _limit(self, text: str, running: Running, size_B: int | None = None) -> None:
        """Write down, once, what an algorithm does not do."""
        limitations = self._loop.outcome.limitations
        if text in limitations:
            return
        limitations.append(text)
        if all(failure.limitation != text for failure in self._campaign.failures()):
            line = FailureLine() if size_B is None else FailureLine(bytes=size_B)
            self._loop.write_down(running.launch, running.index, line, limitation=text)
