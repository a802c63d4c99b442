"""Whether the process grid matters: tests over configurations that do the same work on as many ranks.

A configuration is a grid and a split. What is compared are the means of visits: a sweep visits each
configuration once a round, in a new order each time, so that rounds are blocks (Friedman's test). Without rounds
the repetitions of the runs are compared (Kruskal and Wallis).

How much grids differ is their standard deviation as a share of the mean, from the one-way model of random
effects, t = μ + g + ε, with the exact interval of the ratio of both variances (Searle, Casella and McCulloch,
Variance Components, 1992, §3.6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Annotated

import numpy as np
from pydantic import Field, computed_field
from scipy import stats

from hockney.records.app_record import AppRecord
from hockney.report.marks import percent
from hockney.report.run_tables import Column, interval
from hockney.statistics import NORMAL, TAILS, holm, t_reach
from hockney.units import format_time

LEVEL = 0.05
"""Of all tests of a page together (Holm, 1979)."""


@dataclass(frozen=True)
class RunStatistics:
    """Mean of the runs and its 95 % interval, mean ± c·S/√runs, in seconds, with S the standard deviation.

    `normal`: c = 1.96, which promises too much with few runs. `student`: c of Student's t with runs − 1 degrees
    of freedom, right for few runs too. None with a single run.
    """

    runs: int
    mean_s: float
    standard_deviation_s: float | None = None
    normal_low_s: float | None = None
    normal_high_s: float | None = None
    student_low_s: float | None = None
    student_high_s: float | None = None


def run_statistics(samples_s: Sequence[float]) -> RunStatistics:
    """Of the repetitions of a run."""
    runs, mean_s = len(samples_s), fmean(samples_s)
    if runs < 2:
        return RunStatistics(runs, mean_s)
    deviation_s = stdev(samples_s, mean_s)
    each_s = deviation_s / math.sqrt(runs)
    normal_s, student_s = NORMAL * each_s, t_reach(each_s, runs - 1)
    bounds = mean_s - normal_s, mean_s + normal_s, mean_s - student_s, mean_s + student_s
    return RunStatistics(runs, mean_s, deviation_s, *bounds)


@dataclass(frozen=True)
class Configuration:
    """Runs on one grid with one split: the mean of `values_s` with its 95 % interval (None of a single value).

    `values_s` are independent: the mean of each visit where there were several, else the repetitions. Empty where
    only the interval of the mean is known. `rounds` are the visits' launches and numbers, empty without. `size`:
    the work and where it is done, in words; `loads`: elements of the ranks.
    """

    grid: str
    split: str
    values_s: tuple[float, ...]
    rounds: tuple[tuple[str, int], ...]
    mean_s: float
    low_s: float | None
    high_s: float | None
    size: str = ""
    loads: Annotated[str, Field(exclude=True)] = ""

    @property
    def name(self) -> str:
        """In words: `6x4x1, cartesian`."""
        return ", ".join(filter(None, (self.grid, self.split)))


def configuration(grid: str, split: str, records: Sequence[AppRecord]) -> Configuration:
    """All runs of one configuration."""
    if len(records) == 1 and not records[0].samples_s:
        (record,) = records
        return Configuration(grid, split, (), (), record.time_s, record.low_s, record.high_s)
    values, rounds = list(records[0].samples_s), []
    if len(records) > 1:
        values = [float(np.mean(record.samples_s or record.time_s)) for record in records]
        rounds = [
            (record.launch, int(number))
            for record in records
            if (number := record.parameters.get("round")) is not None
        ]
    known = run_statistics(values)
    # No time is negative, however skewed a few values are.
    low_s = None if known.student_low_s is None else max(known.student_low_s, 0.0)
    kept = tuple(rounds) if len(rounds) == len(values) else ()
    return Configuration(grid, split, tuple(values), kept, known.mean_s, low_s, known.student_high_s)


@dataclass(frozen=True)
class GridTest:
    """Whether grids differ.

    `grids_differ_by`: their standard deviation as a share of the mean, with its 95 % interval. `slower`: the
    slowest mean over the fastest, minus one: of many alike, the noise alone makes some of it. `significant`: at
    `LEVEL`, for all tests of a page together.
    """

    what: str
    configurations: int
    values: int
    method: str
    statistic: float
    p_value: float
    grids_differ_by: float
    grids_differ_by_low: float
    grids_differ_by_high: float
    fastest: str
    slowest: str
    slower: float
    significant: bool = False

    @computed_field
    @property
    def words(self) -> str:
        """The answer in a sentence."""
        if self.significant:
            return (
                f"The grid matters for {self.what}: {self.slowest} takes {percent(self.slower)} longer than "
                f"{self.fastest} ({self.method}, p = {self.p_value:.2g})."
            )
        return (
            f"No evidence that the grid matters for {self.what}, by {percent(self.grids_differ_by_high)} at most "
            f"({self.method}, p = {self.p_value:.2g})."
        )


def grid_test(what: str, configurations: Sequence[Configuration]) -> GridTest | None:
    """The test over three configurations or more (two without rounds); None where nothing can be told."""
    if len(configurations) < 2:
        return None
    tested = _by_rounds(configurations) or _by_values(configurations)
    if tested is None:
        return None
    method, statistic, p_value, differ, values = tested
    first, *_, last = sorted(configurations, key=lambda configuration: configuration.mean_s)
    slower = last.mean_s / first.mean_s - 1
    return GridTest(
        what, len(configurations), values, method, statistic, p_value, *differ, first.name, last.name, slower
    )


def judged(tests: Sequence[GridTest]) -> list[GridTest]:
    """Several tests, with which of them are significant (Holm's procedure)."""
    p_values = holm(np.array([test.p_value for test in tests]))
    return [replace(test, significant=bool(p <= LEVEL)) for test, p in zip(tests, p_values, strict=True)]


Tested = tuple[str, float, float, tuple[float, float, float], int]


def _by_rounds(configurations: Sequence[Configuration]) -> Tested | None:
    common = set(configurations[0].rounds)
    for one in configurations[1:]:
        common &= set(one.rounds)
    if len(common) < 2 or len(configurations) < 3:
        return None
    rounds = sorted(common)
    values = np.array([[one.values_s[one.rounds.index(number)] for number in rounds] for one in configurations])
    # Where all grids took the same in every round there are no ranks.
    is_told = bool(np.ptp(values, axis=0).any())
    statistic, p_value = stats.friedmanchisquare(*values) if is_told else (0.0, 1.0)
    # Two-way analysis of variance without interaction: rounds are blocks.
    grids, blocks = values.shape
    centred = values - values.mean(axis=0)
    between = blocks * float(np.var(centred.mean(axis=1), ddof=1))
    freedom = (grids - 1) * (blocks - 1)
    left = centred - centred.mean(axis=1, keepdims=True)
    within = float(np.sum(left**2)) / freedom
    differ = _differ(between, within, grids - 1, freedom, blocks, float(values.mean()))
    return "Friedman's test with rounds as blocks", float(statistic), float(p_value), differ, values.size


def _by_values(configurations: Sequence[Configuration]) -> Tested | None:
    groups = [np.array(one.values_s) for one in configurations]
    counts = np.array([group.size for group in groups])
    if counts.min() < 2 or len({value for group in groups for value in group.tolist()}) < 2:
        return None
    statistic, p_value = stats.kruskal(*groups)
    total, grids = int(counts.sum()), len(groups)
    every = np.concatenate(groups)
    means = np.array([group.mean() for group in groups])
    between = float(np.sum(counts * (means - every.mean()) ** 2)) / (grids - 1)
    within = sum(float(np.sum((group - group.mean()) ** 2)) for group in groups) / (total - grids)
    each = (total - float(np.sum(counts**2)) / total) / (grids - 1)
    differ = _differ(between, within, grids - 1, total - grids, each, float(every.mean()))
    return "Kruskal and Wallis's test", float(statistic), float(p_value), differ, total


def _differ(
    between: float, within: float, freedom: int, error_freedom: int, each: float, mean: float
) -> tuple[float, float, float]:
    """√(variance between grids) / mean with its interval, from mean squares with `each` values a grid."""
    if mean <= 0:
        return 0.0, 0.0, 0.0
    if within <= 0:
        # Values that repeat exactly, as of a simulated host, leave no doubt of their means.
        return (math.sqrt(between / each) / mean,) * 3
    ratio = between / within

    def share(of_one: float) -> float:
        return math.sqrt(max(ratio / of_one - 1, 0.0) / each * within) / mean

    low, high = (float(stats.f.ppf(tail, freedom, error_freedom)) for tail in TAILS[::-1])
    return share(1.0), share(low), share(high)


_EXERCISE = {"balanced": "0", "cartesian": "1"}
"""What the exercises call a split."""
COLUMNS: list[Column[Configuration]] = [
    Column("size", lambda configuration: configuration.size, is_text=True),
    Column("topology", lambda configuration: f"({configuration.grid.replace('x', ', ')})", is_text=True),
    Column("a", lambda configuration: _EXERCISE.get(configuration.split, configuration.split)),
    Column("elements of the ranks", lambda configuration: configuration.loads, is_text=True),
    Column("values", lambda configuration: str(len(configuration.values_s) or "")),
    Column("mean", lambda configuration: format_time(configuration.mean_s)),
    Column(
        "95 % interval",
        lambda configuration: interval(configuration.low_s, configuration.high_s),
        is_text=True,
    ),
]
"""A row for each configuration."""
