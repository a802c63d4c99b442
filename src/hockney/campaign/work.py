"""What to measure next: the order of points, resumption, and an estimate of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from random import Random
from typing import Protocol

from hockney.campaign.plan import Plan
from hockney.campaign.sizes import ladder, refine, spread
from hockney.campaign.visits_so_far import Lacking, VisitsSoFar, half_width, next_round, undecided, visits_of
from hockney.records.journal import FailureLine
from hockney.records.keys import TRANSFERS, CollectiveKey, Key, key_of, sizes_are_blocks
from hockney.records.record import Record
from hockney.statistics import NORMAL
from hockney.units import grouped

REFINED = 2
"""Refinement adds one in so many of the sizes that a series may have, for the estimate of time only: 22 to 42 of
56 and 15 of 28 in ten quick campaigns, 35 to 48 of 72 in ten others."""

LARGEST_TOTAL = 16
"""The blocks of all ranks together may be so many times the largest message."""

FEWER = 4
"""So many times fewer sizes a series of a collective or an overhead is refined to than one of messages: there are
many collectives, and models take an overhead at its smallest sizes."""

COLLECTIVE_LADDER_RATIO = 4
"""Of neighbouring sizes of a collective before refinement."""

MOST_RANK_COUNTS = 24
NARROWEST_RANKS = 1.1
"""Ratio of neighbouring rank counts between which no further one is measured."""

MORE_VISITS = 2
"""A point gets so many visits more, where some met other levels or they disagree."""
MORE_SHARE, MORE_LEAST = 1 / 8, 30
"""This share of all visits at most, but so many in any case, is made because others disagree: where those of most
points do, the machine changes, and a campaign half as long again does not settle that."""

FIRST_PAUSE_S, MOST_PAUSE_S, MOST_WAIT_S, MOST_WAIT_BUDGETS = 0.1, 2.0, 15.0, 30
"""Before visits that wait for a level, which lasts from some tenths of a second to ten seconds and more."""

HOPELESS = 2
"""A series that ended the launch so often is left alone."""

UNDECIDED_VISITS, UNDECIDED_BUDGETS = 5, 10
"""An algorithm that may be the fastest gets up to so many times the visits, in so many times the budget.

Large messages are to have as many visits as small ones: what comes before and behind their samples takes longer.
"""

Point = tuple[CollectiveKey, int]


class NextPoint(Protocol):
    """Chooses the next point of collectives. It knows the measurements and their order, nothing else.

    `sizes_B`: what may be measured of each series. `measured`: what visits of a point come to, in the order
    in which they were first measured. None where nothing is left that matters.
    """

    def __call__(
        self,
        sizes_B: Mapping[CollectiveKey, Sequence[int]],
        measured: Mapping[Point, Record],
        failed: Set[Point],
    ) -> Point | None: ...


@dataclass
class Work:
    """The points of one launch index and variant. `reference`: sizes of the first launch, for later ones."""

    plan: Plan
    reference: dict[Key, list[int]]
    so_far: VisitsSoFar
    """The visits that gave a time."""
    visits: Counter[tuple[Key, int]] = field(default_factory=Counter)
    """All visits of each point, in the order of the first ones."""
    failed: set[tuple[Key, int]] = field(default_factory=set)
    vanished: Counter[tuple[Key, int]] = field(default_factory=Counter)
    """Visits of each point that gave no time."""
    troubles: Counter[Key] = field(default_factory=Counter)
    """Failures of each series, this time and before: troubled ones wait until the others are done."""
    asked: Counter[tuple[Key, int]] = field(default_factory=Counter)
    """Visits of this run, as against those that a campaign held before."""
    only: Set[tuple[Key, int]] | None = None
    """The points to be visited, where not all are."""
    largest_B: dict[Key, int] = field(default_factory=dict)
    """The series to measure, in order, with the largest size that makes sense (0: any)."""
    worth_most: NextPoint | None = None
    """Chooses the points of collectives of an adaptive plan."""
    pause_s: float = 0.0
    """How long to wait before the point that `next_point` has named: a level may come back meanwhile."""
    begins_round: bool = False
    """Whether the point that `next_point` has named is the first of a round of further visits."""
    _waited_s: float = 0.0
    _random: Random = field(default_factory=lambda: Random(0))
    _round: list[tuple[Key, int]] = field(default_factory=list)
    """Points that are to be visited again before those with more visits."""
    _undecided: set[tuple[Key, int]] = field(default_factory=set)
    """Points that may be the fastest algorithm's, and are not known well enough to tell."""
    _further: int = 0
    """Visits that were made because others disagree."""
    _passed: int = 0
    """With so many series the first pass was over."""

    @classmethod
    def resume(
        cls,
        plan: Plan,
        records: Iterable[Record],
        name: str,
        index: int,
        failures: Iterable[FailureLine] = (),
        worth_most: NextPoint | None = None,
    ) -> Work:
        """What the records and failures of a campaign leave to do for the launch of that name and index."""
        reference: dict[Key, list[int]] = {}
        work = cls(plan, reference, VisitsSoFar(plan.level), worth_most=worth_most)
        for record in plan.launched(records, name):
            if record.statistic not in ("one_way", "completion"):
                continue  # made from the same samples
            if record.repetition == index:
                work.add(record)
            if record.repetition == 0 and index > 0:
                reference.setdefault(key_of(record), []).append(record.bytes)
        for failure in failures:
            here = plan.launch_name(failure.variant, failure.mapping) == name and failure.index == index
            if here and failure.series is not None and not failure.limitation:
                work.troubles[failure.series] += 1
        return work

    def fail(self, key: Key, size_B: int) -> None:
        """Leave a failed point out of this run; a series that has failed `HOPELESS` times, as a whole."""
        self.refuse(key, size_B)
        self.troubles[key] += 1
        if self.troubles[key] >= HOPELESS and isinstance(key, CollectiveKey):
            self.failed.update((key, size) for size in self._given(key))

    def refuse(self, key: Key, size_B: int) -> None:
        """Leave out a point that cannot be measured; this is no failure."""
        self.failed.add((key, size_B))

    def keep_to(self, lacking: Lacking, records: Iterable[Record]) -> None:
        """Visit only what is lacking, at its level; `records` of all launches tell the levels."""
        self.only = lacking.points
        self.so_far.keep_to(lacking.level, records)

    def _is_left_out(self, point: tuple[Key, int]) -> bool:
        return point in self.failed or (self.only is not None and point not in self.only)

    def vanish(self, key: Key, size_B: int) -> bool:
        """A visit gave no time. True where no other visit gave one, and none is left that could."""
        self.visits[key, size_B] += 1
        self.vanished[key, size_B] += 1
        return self.visits[key, size_B] >= self.plan.visits and size_B not in self.done.get(key, {})

    def without_time(self) -> list[tuple[Key, int]]:
        """Points whose visits gave no time so far and which `plan.visits` entitles to further ones."""
        return [
            (key, size_B)
            for key, size_B in sorted(set(self.vanished) - self.failed, key=lambda point: point[1])
            if size_B not in self.done.get(key, {}) and self.visits[key, size_B] < self.plan.visits
        ]

    def add(self, record: Record) -> None:
        """Enter a visit that gave a time."""
        point = key_of(record), record.bytes
        self._further += not self._is_due(point) and self.visits[point] < self.plan.visits + MORE_VISITS
        self.visits[point] += 1
        self.so_far.add(record)

    @property
    def done(self) -> dict[Key, dict[int, Record]]:
        """What the visits of each point that was measured come to."""
        return self.so_far.done

    def elsewhere(self) -> list[tuple[Key, int]]:
        """Points that were never met at the level asked for."""
        return [
            (key, size_B)
            for key in self.largest_B
            for size_B in self.done.get(key, {})
            if not self.so_far.met_s(key, size_B)
        ]

    def next_point(self) -> tuple[Key, int] | None:
        """The next point: coarse sizes of every series first, then refinement, then second visits.

        A campaign that ends early is thus coarse, but even. The visits of a point lie far apart, so that other
        work on the machine that lasts seconds disturbs one of them at most.
        """
        self.pause_s, self.begins_round = 0.0, False
        if self.worth_most is not None and not self.reference and self.only is None:
            return self._worth_most(self.worth_most)
        if self._passed < len(self.largest_B):
            if (coarse := next(self._coarse(), None)) is not None:
                return coarse
            self._passed = len(self.largest_B)
        if self.only is not None:
            return self._again()
        if (more := self._missing_ranks()) is not None:
            self.largest_B[more] = 0
            return self.next_point()
        return self._refined(list(self.largest_B)) or self._again()

    def _worth_most(self, next_point: NextPoint) -> tuple[Key, int] | None:
        """Pairs of ranks in their usual order; points of collectives until no decision changes any more."""
        pairs: list[Key] = [key for key in self.largest_B if not isinstance(key, CollectiveKey)]
        if (coarse := next((point for point in self._coarse() if point[0] in pairs), None)) is not None:
            return coarse
        sizes_B = {key: self._given(key) for key in self.largest_B if isinstance(key, CollectiveKey)}
        # `visits` keeps the order of first visits.
        measured = {
            (key, size): self.done[key][size]
            for key, size in self.visits
            if isinstance(key, CollectiveKey) and key in sizes_B and size in self.done.get(key, {})
        }
        failed = {(key, size) for key, size in self.failed if isinstance(key, CollectiveKey)}
        return next_point(sizes_B, measured, failed) or self._refined(pairs) or self._again()

    def _refined(self, keys: list[Key]) -> tuple[Key, int] | None:
        """One step for each series in turn."""
        for key in sorted(keys, key=lambda key: len(self.done.get(key, {}))):
            refined = self._refinement(key)
            if refined is not None and (key, refined) not in self.failed:
                return key, refined
        return None

    def _again(self) -> tuple[Key, int] | None:
        """A further visit, of the points with the fewest: in random order, so that they lie far apart.

        A point gets up to `MORE_VISITS` more where some met other levels, or, while `MORE_SHARE` of all allows
        it, where they disagree. Those that were never at the level asked for wait until it comes back, together
        no longer than `MOST_WAIT_S` or the budgets of `MOST_WAIT_BUDGETS` points.
        """
        chosen = self._of_round()
        if chosen is None and self._waited_s < min(MOST_WAIT_S, MOST_WAIT_BUDGETS * self.plan.budget_s):
            points = [point for point in self.elsewhere() if not self._is_left_out(point)]
            if points:
                self.pause_s = min(FIRST_PAUSE_S + self._waited_s, MOST_PAUSE_S)
                self._waited_s += self.pause_s
                fewest = min(self.visits[point] for point in points)
                chosen = self._random.choice([point for point in points if self.visits[point] == fewest])
        if chosen is not None:
            self.asked[chosen] += 1
        return chosen

    def _of_round(self) -> tuple[Key, int] | None:
        """One of the points with the fewest visits that are to have more; they are looked for once a round."""
        while self._round:
            point = self._round.pop()
            if self._is_open_again(point):
                return point
        self._undecided = undecided(self.so_far) if self.plan.visits > 1 else set()
        vanished = grouped(self.vanished, lambda point: point[0])
        points = [
            (key, size)
            for key in self.largest_B
            for size in dict.fromkeys([*self.done.get(key, {}), *(size for _, size in vanished.get(key, ()))])
            if self._is_open_again((key, size))
        ]
        self._round = next_round(points, self.visits, self._undecided, self._random)
        self.begins_round = bool(self._round)
        return self._round.pop() if self._round else None

    def _is_open_again(self, point: tuple[Key, int]) -> bool:
        """Whether too few visits count, or those that do disagree; one that gave no time counts as made."""
        if self._is_left_out(point) or self.asked[point] + 1 >= self._due(point) + MORE_VISITS:
            return False
        if self._is_due(point):
            return True
        may_disagree = self.visits[point] < self.plan.visits + MORE_VISITS and self.so_far.disagree(*point)
        return may_disagree and self._further < max(MORE_SHARE * self.visits.total(), MORE_LEAST)

    def _is_due(self, point: tuple[Key, int]) -> bool:
        return self.so_far.counting(*point) + self.vanished[point] < self._due(point)

    def _due(self, point: tuple[Key, int]) -> int:
        """How many visits a point is to have, at most: more if which algorithm is the fastest depends on it."""
        more, budgets = (UNDECIDED_VISITS, UNDECIDED_BUDGETS) if point in self._undecided else (1, 1)
        if self.so_far.spent_s(*point) >= budgets * self.plan.budget_s:
            return self.plan.visits
        return more * visits_of(point[0], self.plan)

    def _coarse(self) -> Iterator[tuple[Key, int]]:
        """Points of the first pass that are not measured yet.

        Pairs come series after series. Collectives come size after size: each size for every algorithm and rank
        count, the ends and the middle first, so that even a short campaign shows which algorithm is fast where.
        """
        keys = sorted(self.largest_B, key=lambda key: self.troubles[key])
        columns = []
        for key in keys:
            if isinstance(key, CollectiveKey):
                columns.append([(key, size) for size in spread(self._given(key))])
            else:
                # A level that lasts for some sizes in a row would look like a break.
                sizes = Random(f"{self.plan.seed} {key.where}").sample(given := self._given(key), len(given))
                yield from (point for size in sizes if self._is_open(point := (key, size)))
        for row in zip_longest(*columns):
            yield from (point for point in row if point is not None and self._is_open(point))

    def _is_open(self, point: tuple[Key, int]) -> bool:
        if self.worth_most is not None and self.reference and point[1] not in self.reference.get(point[0], ()):
            return False  # a later launch repeats what the first one chose
        return not self.visits[point] and not self._is_left_out(point)

    def coarse_left(self) -> int:
        """Points of the first pass still to be measured."""
        return sum(1 for _ in self._coarse())

    def _given(self, key: Key) -> list[int]:
        largest = self.largest_B[key]
        if self.plan.sizes_B:
            return key.sizes([size for size in self.plan.sizes_B if not largest or size <= largest])
        # A later launch repeats the sizes of the first, so that they can be compared point by point.
        if known := sorted(set(self.reference.get(key, ()))):
            return known
        top = min(largest or self.plan.largest_B, self.plan.largest_B)
        if isinstance(key, CollectiveKey) and sizes_are_blocks(key.operation):
            # Every rank holds a block of every other: large groups get smaller ones.
            top = max(1, min(top, LARGEST_TOTAL * self.plan.largest_B // key.ranks))
        is_collective = isinstance(key, CollectiveKey)
        return key.sizes(ladder(top, COLLECTIVE_LADDER_RATIO if is_collective else self.plan.ladder_ratio))

    def _most_sizes(self, key: Key) -> int:
        """Up to how many sizes a series is refined: pingpong's, from which most is predicted, up to most."""
        if key.operation == TRANSFERS[0]:
            return self.plan.most_sizes
        most = self.plan.most_sizes_of_others or self.plan.most_sizes
        return most // (1 if key.operation in TRANSFERS else FEWER)

    def _refinement(self, key: Key) -> int | None:
        points = self.done.get(key, {})
        is_full = len(points) >= self._most_sizes(key)
        if self.plan.sizes_B or key in self.reference or is_full or self._given(key) == [0]:
            return None
        times_s = {size: record.value for size, record in points.items()}
        # One standard error: a whole interval hid a jump of a tenth from one of five campaigns.
        error_s = {size: half_width(record) / NORMAL for size, record in points.items()}
        failed = {size for other, size in self.failed | set(self.vanished) if other == key}
        # The model of a pair needs three sizes to follow a slope that changes before the largest.
        with_end = not isinstance(key, CollectiveKey)
        tolerances = self.plan.size_tolerance, self.plan.narrowest
        suspect = refine(times_s, error_s, *tolerances, failed, with_end=with_end)
        if suspect is None:
            return None
        # Before a jump is believed and looked into, those who saw it look again.
        for size in suspect.witnesses:
            if self.visits[key, size] < self.plan.visits and (key, size) not in self.failed:
                return size
        return suspect.size

    def _missing_ranks(self) -> CollectiveKey | None:
        """A rank count where interpolation between the measured ones misses, in the middle of the sizes."""
        if self.plan.rank_counts or self.reference:
            return None
        sound = [key for key in self.largest_B if isinstance(key, CollectiveKey) and not self.troubles[key]]
        for family, keys in grouped(sound, lambda key: replace(key, ranks=0)).items():
            shared = set.intersection(*(set(self.done.get(key, {})) for key in keys))
            if len(keys) < 3 or len(keys) >= MOST_RANK_COUNTS or not shared:
                continue
            size = sorted(shared)[len(shared) // 2]
            points = {key.ranks: self.done[key][size] for key in keys}
            times_s = {ranks: record.value for ranks, record in points.items()}
            half_s = {ranks: half_width(record) for ranks, record in points.items()}
            suspect = refine(times_s, half_s, self.plan.size_tolerance, NARROWEST_RANKS)
            if suspect is not None:
                return replace(family, ranks=suspect.size)
        return None

    def expected_points(self) -> int:
        """The approximate number of all visits of points."""
        if self.only is not None:
            return sum(visits_of(key, self.plan) for key, _ in self.only)
        total = 0
        for key, largest in self.largest_B.items():
            fixed = bool(self.plan.sizes_B) or key in self.reference or largest > 0
            fixed = fixed or isinstance(key, CollectiveKey)
            count = len(self._given(key))
            most = self._most_sizes(key)
            refined = count if fixed else min(count + most // REFINED, most)
            total += visits_of(key, self.plan) * max(count, refined, len(self.done.get(key, {})))
        return total
