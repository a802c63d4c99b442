"""Answers: which of all sections a page begins with, how far it is to be trusted, and times beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from hockney.models.base import TIE, are_faster
from hockney.models.over_ranks.choice import UNKNOWN
from hockney.records.contents import Contents, unmeasured
from hockney.records.journal import LaunchLine
from hockney.units import counted

Verdict = Literal["fact", "good", "look", "bad"]
"""A fact is neither good nor bad: who is faster of two, what a step costs."""
UNCERTAIN, UNUSABLE = 0.1, 0.5
"""Half the width of an interval, of its value, from which a number is to be looked at, and not to be used."""


@dataclass(frozen=True)
class Finding:
    """One answer: a short sentence with one number and its interval, and where the page shows it.

    `anchor` is the id of a section, figure or table of the page; `weight`, 0 to 1, is how much it matters. `kind`
    is the same for what is said of each operation in turn: a page begins with few of them.
    """

    text: str
    anchor: str
    weight: float
    kind: str = ""
    verdict: Verdict = "fact"


def certainty(value: float, low: float | None, high: float | None) -> Verdict:
    """How well a number is known, by its interval; one without an interval is to be looked at."""
    if low is None or high is None or not value:
        return "look"
    half = (high - low) / 2 / abs(value)
    return "good" if half <= UNCERTAIN else "look" if half <= UNUSABLE else "bad"


MOST = 5
"""Answers that a page begins with."""
MOST_OF_A_KIND = 2
"""Answers of one kind that come before the others of it: ten collectives have a default each."""
FIRST = 1.0
"""Weight of what all other answers are to be read with."""


def weightiest(
    findings: Iterable[Finding], about: Iterable[str] = (), parts: Iterable[Iterable[str]] = ()
) -> list[Finding]:
    """The answers that matter most, at most `MOST`, the weightiest first; of equal ones, in their order.

    Those `about` these operations and applications come before all others but those of weight `FIRST`; of one
    kind, `MOST_OF_A_KIND` do. Before these comes the weightiest about each of the `parts`, however many.
    """
    ids = _ids(about)
    ordered = sorted(findings, key=lambda finding: -finding.weight)
    before = Counter[str]()
    place = []
    for finding in ordered:
        before[finding.kind] += 1
        is_repeated = bool(finding.kind) and before[finding.kind] > MOST_OF_A_KIND
        place.append((finding.weight < FIRST and not finding.anchor.startswith(ids), is_repeated))
    chosen = [finding for _, finding in sorted(zip(place, ordered, strict=True), key=lambda pair: pair[0])]
    ahead = [finding for finding in chosen if finding.weight >= FIRST]
    for part in map(_ids, parts):
        ahead += [finding for finding in chosen if finding.anchor.startswith(part) and finding not in ahead][:1]
    return list(dict.fromkeys([*ahead, *chosen]))[: max(MOST, len(ahead))]


def _ids(operations: Iterable[str]) -> tuple[str, ...]:
    """What the ids of their sections and figures begin with."""
    return tuple(f"{before}{name}" for name in operations for before in ("", "app-", "figure-", "figure-app-"))


def shares_cores(launch: LaunchLine) -> bool:
    """Whether ranks of a launch shared cores, and waited for these: a network may be slower than that."""
    return bool(launch.oversubscribed) and len(launch.hosts) < 2


def of_results(contents: Contents, anchor: str) -> list[Finding]:
    """Whether each checked result was right, and what gave none: all that crowded launches can answer."""
    measured = [record for record in contents.records if record.verified is not None]
    runs = [run for run in contents.apps if run.answer.verified is not None]
    failed = [line for line in contents.failures if line.reason]
    of_points = [line for line in failed if line.series]
    # Limitations are no failures, and a point that came in another launch is none either.
    without = len(unmeasured(contents.records, of_points)) + len(failed) - len(of_points)
    points = {(record.operation, record.algorithm, record.ranks, record.bytes) for record in measured}
    wrong = {f"{record.operation} {record.algorithm}".rstrip() for record in measured if not record.verified}
    wrong |= {f"{run.operation} on {counted(run.ranks, 'rank')}" for run in runs if not run.answer.verified}
    checked = [counted(len(points), "point")] * bool(points) + [counted(len(runs), "run")] * bool(runs)
    found = []
    if wrong:
        found.append(Finding(f"Results are wrong: {', '.join(sorted(wrong))}.", anchor, 0.99, verdict="bad"))
    elif checked:
        found.append(
            Finding(f"All checked results are right ({' and '.join(checked)}).", anchor, 0.99, verdict="good")
        )
    if without:
        text = f"{counted(without, 'measurement')} did not end, without a result."
        found.append(Finding(text, anchor, 0.985, verdict="bad"))
    return found


def of_crowding(launches: Sequence[LaunchLine], anchor: str) -> list[Finding]:
    """That ranks shared cores, which is to be read before all else; nothing where they did not."""
    crowded = sum(map(shares_cores, launches))
    if not crowded:
        return []
    text = (
        f"Ranks shared cores in {crowded} of {counted(len(launches), 'launch', plural='launches')}: their times "
        "include waiting for a core, only correctness counts."
    )
    return [Finding(text, anchor, FIRST, verdict="bad")]


def ratios(first: pd.DataFrame, others: pd.DataFrame, same: Sequence[str]) -> pd.DataFrame:
    """The rows of `others` that agree with one of `first` in the columns `same`, with `ratio` and `is_told`.

    Both have `time_s`, `low_s` and `high_s`; those of `first` come back as `time_s_first` and so on. `ratio` is
    the time over that of the first; `is_told`: one is faster than the other by `are_faster`. A time without an
    interval (NaN) is taken as ± `UNKNOWN`.
    """
    ends = (("low_s", 1 - UNKNOWN), ("high_s", 1 + UNKNOWN))
    known = [
        table.assign(**{bound: table[bound].fillna(table["time_s"] * share) for bound, share in ends})
        for table in (others, first[[*same, "time_s", "low_s", "high_s"]])
    ]
    both = known[0].merge(known[1], on=list(same), suffixes=("", "_first"))
    both["ratio"] = both["time_s"] / both["time_s_first"]
    own, first_ones = (
        [both[f"{name}{side}"] for name in ("low_s", "time_s", "high_s")] for side in ("", "_first")
    )
    both["is_told"] = are_faster(*own[1:], *first_ones[:2]) | are_faster(*first_ones[1:], *own[:2])
    return both


def faster_in_words(name: str, other: str, rows: pd.DataFrame) -> str:
    """Which is how many times faster in the median of rows of `ratios`, and within what; no full stop."""
    ratio, points = rows["ratio"], counted(len(rows), "point")
    if not rows["is_told"].any() and ratio.between(1 / (1 + TIE), 1 + TIE).all():
        return f"{name} is as fast as {other} ({points})"
    if 1 / (1 + TIE) < ratio.median() < 1 + TIE:
        ends = f"{ratio.min():.2f} to {ratio.max():.2f} × its time, {points}"
        return f"{name} is as fast as {other} in the median ({ends})"
    fast, slow = (other, name) if ratio.median() > 1 else (name, other)
    gains = ratio if ratio.median() > 1 else 1 / ratio
    ends = f"{gains.min():.2f} to {gains.max():.2f} ×, {points}"
    is_sure = bool(rows["is_told"].any()) and gains.min() > 1 / (1 + TIE)
    return gain_in_words(fast, slow, gains.median(), ends, is_sure=is_sure)


def gain_in_words(fast: str, slow: str, gain: float, ends: str, *, is_sure: bool) -> str:
    """Which is how many times faster, with the `ends` of that; no factor where they are not `is_sure`: hold 1."""
    within = f" ({ends})" if ends else ""
    if not is_sure:
        return f"{fast} has the shorter time; as fast may be {slow}{within}"
    return f"{fast} is {gain:.2f} × faster than {slow}{within}"
