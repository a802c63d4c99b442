"""All that a campaign folder or a tidy table holds, read once for everything that fits, warns and draws.

And two modes of times at one level of the references, which are short and cannot see what moves large messages.
A neighbour on the memory bus, say, moves neighbouring sizes by the same ratio, for some time. So each group's
median is divided by the time of its own point when it was quick, and levels are looked for in these ratios, in
the order of time, by the criterion that tells levels of references apart (`hockney.records.levels`). Each visit
has a place in memory of its own, which moves it by some percent; so modes are `LEAST_RATIO` apart at least, and
the slower was met by `LEAST_VISITS` visits, at `LEAST_SIZES` sizes. tests/records/test_modes.py says how often
this finds what is not there, and what is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import apart
from hockney.records.causes import with_causes
from hockney.records.columns import SAME_RANKS, VISITED, names
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine, LaunchLine, StoredPlan
from hockney.records.keys import Key, key_of
from hockney.records.levels import common, find_levels, groups_at
from hockney.records.record import Record
from hockney.records.visits import SUBTRACTED, Choice, Levels, Settled, choice_of, levels_of, ranks_of, settle
from hockney.units import counted, format_bytes, percent

QUICK = 0.1
"""The quantile of a point's groups that stands for its time in the quicker mode."""
LEAST_RATIO = 1.15
LEAST_VISITS, LEAST_SIZES = 5, 3
MET = 2
"""Groups by which a visit, or all of it if it has fewer, has met the slower mode."""

_series = attrgetter(*SAME_RANKS, *names("choice", "call"))
_point = attrgetter(*VISITED)


@dataclass(frozen=True)
class Modes:
    """From `smallest_B` to `largest_B` bytes the times of a series fall in two modes at one level of references.

    The slower takes `times_as_long`, and has the share `share` of the groups of these sizes. `example`: a record
    of the series.
    """

    example: Record
    smallest_B: int
    largest_B: int
    times_as_long: float
    share: float

    def concern(self, record: Record) -> bool:
        """Whether the record is of a point where the modes were met."""
        return self.smallest_B <= record.bytes <= self.largest_B and _series(record) == _series(self.example)


@dataclass(frozen=True)
class _Groups:
    """The groups of the visits of one series, in the order of time, shape (n,)."""

    visit: NDArray[np.int_]
    size_B: NDArray[np.int_]
    ratio: NDArray[np.float64]
    """Its median beside the time of its point when it was quick."""


def find_modes(records: Sequence[Record], levels: Levels, choice: Choice = common) -> list[Modes]:
    """The modes of each series at the chosen level of its ranks, from records in the order of time.

    Nothing is said of series without references, and of times that are a difference of two.
    """
    series: dict[object, list[tuple[Record, list[float]]]] = {}
    for record in records:
        level = choice(of_ranks) if (of_ranks := levels.get(ranks_of(record), ())) else None
        if level is None or record.oversubscribed or record.verified is False or record.operation in SUBTRACTED:
            continue
        if min(record.samples, default=0) <= 0:
            continue  # a ratio to no time means nothing
        medians_s = [median(record.samples[group]) for group in groups_at(record, len(record.samples), level)]
        if medians_s:
            series.setdefault(_series(record), []).append((record, medians_s))
    return [
        modes
        for visits in series.values()
        if (modes := _modes(visits[0][0], _groups(visits), len(visits))) is not None
    ]


ENOUGH_LAUNCHES = 5
"""To meet both states."""


def modes_in_words(modes: Sequence[Modes], launches: int = 1) -> str:
    """What was found in so many launches, the farthest apart first; empty where nothing was."""
    if not modes:
        return ""
    first, *others = sorted(modes, key=lambda each: -each.times_as_long)
    more = f", and {counted(len(others), 'further series', plural='further series')}" if others else ""
    sizes = f"{format_bytes(first.smallest_B)} to {format_bytes(first.largest_B)}"
    state = f"{first.times_as_long:.2g} × as long in {percent(first.share)} of the time{more}"
    return (
        f"Times switch between a fast and a slow state: {_where(first.example)}, {sizes}, {state}. "
        f"One launch may catch either{': use --launches 5' * (launches < ENOUGH_LAUNCHES)}."
    )


def _where(record: Record) -> str:
    algorithm = "" if record.algorithm == "default" else record.algorithm
    ranks = f"ranks {record.pair}" if record.pair else f"{counted(record.ranks, 'rank')}" if record.ranks else ""
    return ", ".join(filter(None, [record.operation, algorithm, record.locality, ranks]))


def _groups(visits: Sequence[tuple[Record, Sequence[float]]]) -> _Groups:
    """The groups of visits of one series, each with the medians of its groups."""
    of_point: dict[object, list[float]] = {}
    for record, medians_s in visits:
        of_point.setdefault(_point(record), []).extend(medians_s)
    quick_s = {point: float(np.quantile(medians_s, QUICK)) for point, medians_s in of_point.items()}
    counts = [len(medians_s) for _, medians_s in visits]
    return _Groups(
        np.repeat(np.arange(len(visits)), counts),
        np.repeat([record.bytes for record, _ in visits], counts),
        np.concatenate([np.array(medians_s) / quick_s[_point(record)] for record, medians_s in visits]),
    )


def _modes(example: Record, groups: _Groups, visits: int) -> Modes | None:
    for is_within in _ranges(groups.size_B):
        ratio = groups.ratio[is_within].tolist()
        levels = find_levels(ratio, [0.0] * len(ratio))
        if len(levels) == 1:
            continue
        quick, slow = levels[0], common(levels[1:])
        times_as_long = slow.reference_s / quick.reference_s
        between = math.sqrt(quick.reference_s * levels[1].reference_s)
        is_slow = is_within & (groups.ratio > between)
        counts = np.bincount(groups.visit[is_slow], minlength=visits)
        has_met = counts >= np.minimum(MET, np.bincount(groups.visit, minlength=visits))
        met_B = np.unique(groups.size_B[has_met[groups.visit]])
        if times_as_long < LEAST_RATIO or has_met.sum() < LEAST_VISITS or met_B.size < LEAST_SIZES:
            continue
        low_B, high_B = _most_slow(groups.size_B, is_slow)
        is_between = (groups.size_B >= low_B) & (groups.size_B <= high_B)
        return Modes(example, low_B, high_B, times_as_long, float(np.mean(is_slow[is_between])))
    return None


def _most_slow(size_B: NDArray[np.int_], is_slow: NDArray[np.bool_]) -> tuple[int, int]:
    """The smallest and the largest size of the range in which slow groups exceed half their share by most."""
    sizes_B, place = np.unique(size_B, return_inverse=True)
    excess = np.bincount(place, is_slow - is_slow.mean() / 2)
    total = np.concatenate([[0.0], np.cumsum(excess)])
    of_range = np.triu(total[None, 1:] - total[:-1, None])
    first, last = np.unravel_index(np.argmax(of_range), of_range.shape)
    return int(sizes_B[first]), int(sizes_B[last])


def _ranges(size_B: NDArray[np.int_]) -> Iterator[NDArray[np.bool_]]:
    """Which groups to look at together: all, those of the larger half of the sizes, and of the smaller half."""
    middle_B = np.median(np.unique(size_B))
    yield np.ones(size_B.shape, dtype=bool)
    yield size_B >= middle_B
    yield size_B <= middle_B


@dataclass(frozen=True)
class Contents:
    """What a folder holds; of a table, `frame` and `apps` alone: times in seconds, and runs of applications.

    Records that stand as columns are rows of `frame` alone, too: `records` is empty.
    `settled` holds what the visits of each point come to at the level that the plan asks for, `levels` the
    machine's levels and what goes with them, `modes` what they do not tell of times, and `warnings` what was
    damaged.
    """

    path: Path
    frame: pd.DataFrame
    records: list[Record] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    levels: Levels = field(default_factory=dict)
    choice: Choice = common
    apps: list[AppRecord] = field(default_factory=list)
    effects: list[EffectRecord] = field(default_factory=list)
    launches: list[LaunchLine] = field(default_factory=list)
    failures: list[FailureLine] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    plan: StoredPlan | RequestError = field(default_factory=StoredPlan)
    modes: list[Modes] = field(default_factory=list)

    def of_one_level(self) -> tuple[pd.DataFrame, int]:
        """The tidy table without times of another level and without wrong results, and how many points it lacks.

        Those are the points that no launch met at the level asked for: nothing can be compared with them. A table
        has no levels.
        """
        if not self.records:
            return self.frame, 0
        elsewhere = set(map(id, self.settled.elsewhere))
        right = [record for record in self.settled.records if record.verified is not False]
        return table.rows_of((record for record in right if id(record) not in elsewhere), self.launches), len(
            elsewhere
        )

    @property
    def topology(self) -> str:
        """The network that the plan names; RequestError where the plan is damaged: only fits need it."""
        if isinstance(self.plan, RequestError):
            raise self.plan
        return self.plan.topology


def is_measured(path: Path) -> bool:
    """Whether it is a campaign folder, or called as a tidy table."""
    return path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet"))


def read(path: Path, placed: Callable[[list[Record]], list[Record]] = list) -> Contents:
    """Read every file of a campaign folder, or a tidy table (`.csv`, `.csv.gz`, `.parquet`), once.

    `placed` says of a folder's records where their ranks were, as far as that was unknown. RequestError where
    `path` is neither, or a table is damaged; damaged lines of a folder are warnings.
    """
    if not path.is_dir():
        frame, apps = apart(table.load(path))
        return Contents(path, frame, apps=apps)
    return contents_of(Campaign.open(path), placed)


def contents_of(campaign: Campaign, placed: Callable[[list[Record]], list[Record]] = list) -> Contents:
    """The contents of a campaign folder, as `read`; damaged lines are warnings."""
    columns, apps, effects = campaign.columns(), campaign.apps(), campaign.effects()
    launches, failures = campaign.launches(), campaign.failures()
    records = placed(campaign.records()) if columns is None else []
    levels = levels_of(records)
    if any(len(of_ranks) > 1 for of_ranks in levels.values()):
        levels = with_causes(levels, records)
    plan = _plan(campaign)
    choice = common if isinstance(plan, RequestError) else choice_of(plan)
    modes = find_modes(records, levels, choice)
    settled, frame = _settled(records, launches, levels, choice)
    if columns is not None:
        frame = table.from_imported(columns, launches)
    return Contents(
        campaign.path,
        frame,
        records,
        settled,
        levels,
        choice,
        apps,
        effects,
        launches,
        failures,
        campaign.warnings,
        plan,
        modes,
    )


def unmeasured(records: Iterable[Record], failures: Iterable[FailureLine]) -> list[str]:
    """Series, size and reason of each point that gave no time, or was cut off, and that no launch measured."""
    reasons: dict[tuple[str, str, Key, int], str] = {}
    for failure in failures:
        key, size_B = failure.series, failure.bytes
        if key is not None and size_B is not None:
            why = failure.reason or failure.limitation or failure.left_out
            reasons[failure.variant, failure.mapping, key, size_B] = f"{key.where}, {format_bytes(size_B)}: {why}"
    for record in records if reasons else ():
        with suppress(ValueError):
            # Older lines of failures do not say the mapping: there was one.
            for mapping in (record.mapping, ""):
                reasons.pop((record.variant, mapping, key_of(record), record.bytes), None)
    return list(dict.fromkeys(reasons.values()))


def _settled(
    records: Sequence[Record], launches: Sequence[LaunchLine], levels: Levels, choice: Choice
) -> tuple[Settled, pd.DataFrame]:
    """What the visits of each point come to, and the tidy table of it."""
    settled = settle(records, levels, choice)
    right = [record for record in records if record.verified is not False]
    # A visit whose payload came out wrong has no time, so that another visit of its point may count.
    timed = settled if len(right) == len(records) else settle(right, levels, choice)
    return settled, table.rows_of(timed.records, launches)


def _plan(campaign: Campaign) -> StoredPlan | RequestError:
    try:
        return campaign.plan()
    except RequestError as error:
        return error
