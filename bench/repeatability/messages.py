"""Whether two campaigns of ping-pongs give one model: the model of each against the points of the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from bench.repeatability.bars import Bar

from hockney.machine.file import Entry
from hockney.machine.levels import at_reference, goes_with_reference
from hockney.models.base import corrected, interval
from hockney.records.levels import in_common, large_drifted
from hockney.report.views.difference import REFERENCES

MODEL = "piecewise"
CHANGE = 1.15
"""Factor that is multiplied into all times of one side, and that `diff` is to find."""

MOST_MEDIAN, MOST_P95 = 0.05, 0.15
LEAST_COMPARED = 0.80
LEAST_HELD, MOST_HALF_WIDTH = 0.90, 0.10
LEAST_FOUND = 0.90

JUDGED = ("differs", "undecided", "equal")
"""The verdicts of `diff` that judge; any other says that a quantity was not judged."""


@dataclass(frozen=True)
class CampaignAtLevel:
    """A campaign at one of its levels; without references it has one, `reference_s` None, all of the time.

    `entry` holds the models and points at that level. `met_B` are the sizes that every launch met at it, of
    `sizes` sizes that the campaign measured.
    """

    reference_s: float | None
    share: float
    entry: Entry
    met_B: frozenset[int]
    sizes: int


@dataclass(frozen=True)
class Agreement:
    """The model of campaign A against the points of campaign B at their common level; shares and relative errors.

    `reference_s`: of B's level, None where it is not known; the model is taken at it. `median_as_measured` and
    `p95_as_measured` are the errors of the model at A's own reference. `compared`: share of the sizes of B.
    `held`: share of the compared points that lie in A's 95 % intervals, `half_width` the median of half their
    widths. Without a comparison errors and widths are infinite.
    """

    a: str
    b: str
    has_common_level: bool
    reference_s: float | None = None
    points: int = 0
    compared: float = 0.0
    median: float = math.inf
    p95: float = math.inf
    held: float = 0.0
    half_width: float = math.inf
    median_as_measured: float = math.inf
    p95_as_measured: float = math.inf

    @property
    def agrees(self) -> bool:
        """Whether the pair keeps all five bars of a pair."""
        return (
            self.has_common_level
            and self.median <= MOST_MEDIAN
            and self.p95 <= MOST_P95
            and self.compared >= LEAST_COMPARED
            and self.held >= LEAST_HELD
            and self.half_width <= MOST_HALF_WIDTH
        )


@dataclass(frozen=True)
class Differences:
    """What `diff` says of campaigns A and B, and of A and B with all times of B multiplied by `CHANGE`.

    Counts of quantities; `promised` is the largest number of differences that `diff` expects by chance. `found`:
    of `changes` quantities, those reported as different, in the right direction. `references`: those that differ,
    which are none of these counts: the machine drifted.
    """

    a: str
    b: str
    compared: int
    differ: int
    promised: float
    not_judged: int
    changes: int
    found: int
    references: int


class AtLevel(Protocol):
    """A campaign at one of its levels."""

    @property
    def reference_s(self) -> float | None: ...
    @property
    def share(self) -> float: ...


OneLevel = TypeVar("OneLevel", bound=AtLevel)


def common_level(a: Sequence[OneLevel], b: Sequence[OneLevel]) -> tuple[OneLevel, OneLevel] | None:
    """The level that both campaigns have, as either met it; None where they have none.

    As `diff` chooses it (`hockney.records.levels.in_common`). A level without a reference cannot be told from
    others.
    """
    pairs = [(of_a, of_b) for of_a in a for of_b in b]
    unknown = [pair for pair in pairs if None in (pair[0].reference_s, pair[1].reference_s)]
    if unknown:
        return max(unknown, key=lambda pair: min(pair[0].share, pair[1].share))
    return in_common(pairs, lambda at: (at.reference_s or 0.0, at.share))


def agreement(names: tuple[str, str], a: Sequence[CampaignAtLevel], b: Sequence[CampaignAtLevel]) -> Agreement:
    """The model of A against the points of B; both campaigns by their levels."""
    pair = common_level(a, b)
    if pair is None:
        return Agreement(*names, has_common_level=False)
    model_of, measured = pair
    entry = model_of.entry
    if measured.reference_s is not None and goes_with_reference(entry):
        large_s = [level.large_reference_s for level in (entry.level, measured.entry.level) if level]
        entry = at_reference(entry, measured.reference_s, large_s[1] if large_drifted(*large_s) else None)
    fit = entry.fits.get(MODEL)
    points = [point for point in measured.entry.measurements.points if point.size_B in measured.met_B]
    if fit is None or not points:
        return Agreement(*names, has_common_level=True, reference_s=measured.reference_s)
    size_B = np.array([point.size_B for point in points])
    time_s = np.array([point.time_s for point in points])
    error, error_as_measured = (
        np.abs(corrected(each.fits[MODEL], size_B, each.measured) / time_s - 1)
        for each in (entry, model_of.entry)
    )
    held, half_width = 0.0, math.inf
    if (bounds := interval(fit, size_B, entry.measured)) is not None:
        low_s, high_s = bounds
        held = float(np.mean((low_s <= time_s) & (time_s <= high_s)))
        half_width = float(np.median((high_s - low_s) / 2 / time_s))
    return Agreement(
        *names,
        has_common_level=True,
        reference_s=measured.reference_s,
        points=len(points),
        compared=len(points) / measured.sizes,
        median=float(np.median(error)),
        p95=float(np.quantile(error, 0.95)),
        held=held,
        half_width=half_width,
        median_as_measured=float(np.median(error_as_measured)),
        p95_as_measured=float(np.quantile(error_as_measured, 0.95)),
    )


def differences(names: tuple[str, str], same: Mapping[str, Any], changed: Mapping[str, Any]) -> Differences:
    """The counts of two answers of `hockney diff --json`: A and B as measured, and with B slower by `CHANGE`."""
    # A reference that differs is what the machine did; a change leaves references as they are.
    own, changes = (
        [each for each in answer["comparisons"] if each["quantity"] not in REFERENCES]
        for answer in (same, changed)
    )
    verdicts = [comparison["verdict"] for comparison in own]
    return Differences(
        *names,
        compared=len(verdicts),
        differ=verdicts.count("differs"),
        promised=same["expected_by_chance_at_most"],
        not_judged=sum(verdict not in JUDGED for verdict in verdicts),
        changes=len(changes),
        found=sum(map(_is_slower, changes)),
        references=sum(
            each["verdict"] == "differs" for each in same["comparisons"] if each["quantity"] in REFERENCES
        ),
    )


def _is_slower(comparison: Mapping[str, Any]) -> bool:
    """Whether B is told to be slower than A: its time longer, its rate lower."""
    ratio, is_time = comparison["ratio"], comparison["a"]["unit"] == "s"
    return comparison["verdict"] == "differs" and ratio is not None and (ratio > 1) == is_time


def slower(record: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """A line of records.jsonl with all its times multiplied, and all its rates divided, by `factor`.

    References stay: the machine is at the level at which it was, and what it runs is slower.
    """
    factor = 1 / factor if str(record["statistic"]).endswith("_per_s") else factor
    changed = dict(record)
    for name in ("value", "low", "high"):
        if record.get(name) is not None:
            changed[name] = record[name] * factor
    if "samples" in record:
        changed["samples"] = [sample * factor for sample in record["samples"]]
    if "quantiles" in record:
        changed["quantiles"] = {name: value * factor for name, value in record["quantiles"].items()}
    return changed


def verdict(agreements: Sequence[Agreement], diffs: Iterable[Differences]) -> list[Bar]:
    """The bars: those of each pair in the worst pair, those of `diff` over all pairs together.

    `diffs` of the pairs that have a common level: what `diff` says of two levels is no error of its.
    """
    diffs = list(diffs)
    changes = sum(diff.changes for diff in diffs)
    found = sum(diff.found for diff in diffs) / changes if changes else 0.0
    common = np.mean([pair.has_common_level for pair in agreements]) if agreements else 0.0
    return [
        Bar.least("pairs with a common level", float(common), 1.0),
        Bar.most("median error, worst pair", _worst(agreements, "median"), MOST_MEDIAN),
        Bar.most("P95 of errors, worst pair", _worst(agreements, "p95"), MOST_P95),
        Bar.least("points compared, worst pair", _least(agreements, "compared"), LEAST_COMPARED),
        Bar.least("points held by 95 % intervals, worst pair", _least(agreements, "held"), LEAST_HELD),
        Bar.most("median half-width, worst pair", _worst(agreements, "half_width"), MOST_HALF_WIDTH),
        Bar.most(
            "diff: reported as different",
            float(sum(diff.differ for diff in diffs)),
            sum(diff.promised for diff in diffs),
            is_count=True,
        ),
        Bar.most("diff: not judged", float(sum(diff.not_judged for diff in diffs)), 0.0, is_count=True),
        Bar.least(f"diff: found of changes of {CHANGE - 1:.0%}", found, LEAST_FOUND),
    ]


def _worst(agreements: Iterable[Agreement], name: str) -> float:
    return max((float(getattr(pair, name)) for pair in agreements), default=math.inf)


def _least(agreements: Iterable[Agreement], name: str) -> float:
    return min((float(getattr(pair, name)) for pair in agreements), default=0.0)
