"""Answers: which of all sections a page begins with, how far it is to be trusted, and times beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import TIE, UNKNOWN
from hockney.records.contents import Contents, unmeasured
from hockney.records.journal import LaunchLine
from hockney.records.keys import COLLECTIVES
from hockney.records.levels import Level, in_words
from hockney.units import counted


@dataclass(frozen=True)
class Finding:
    """One answer: a sentence with its number and its interval, and where the page shows it.

    `anchor` is the id of a section, figure or table of the page; `weight`, 0 to 1, is how much it matters. `kind`
    is the same for what is said of each operation in turn: a page begins with few of them.
    """

    text: str
    anchor: str
    weight: float
    kind: str = ""


MOST = 10
"""Answers that a page begins with."""
MOST_OF_A_KIND = 3
"""Answers of one kind that come before the others of it: ten collectives have a default each."""
FIRST = 1.0
"""Weight of what all other answers are to be read with."""


def weightiest(findings: Iterable[Finding], about: Iterable[str] = ()) -> list[Finding]:
    """The answers that matter most, at most `MOST`, the weightiest first; of equal ones, in their order.

    Those `about` these operations and applications come before all others but those of weight `FIRST`; of one
    kind, `MOST_OF_A_KIND` do.
    """
    ids = tuple(f"{before}{name}" for name in about for before in ("", "app-", "figure-", "figure-app-"))
    ordered = sorted(findings, key=lambda finding: -finding.weight)
    before = Counter[str]()
    place = []
    for finding in ordered:
        before[finding.kind] += 1
        is_repeated = bool(finding.kind) and before[finding.kind] > MOST_OF_A_KIND
        place.append((finding.weight < FIRST and not finding.anchor.startswith(ids), is_repeated))
    chosen = [finding for _, finding in sorted(zip(place, ordered, strict=True), key=lambda pair: pair[0])]
    return chosen[:MOST]


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
    algorithms = {point[:2] for point in points if point[0] in COLLECTIVES}
    among = f" of {counted(len(algorithms), 'algorithm')} of collectives" if algorithms else ""
    at_points = f"at {counted(len(points), 'point')}{among}" if points else ""
    in_runs = f"in {counted(len(runs), 'run')} of applications" if runs else ""
    where = " and ".join(filter(None, [at_points, in_runs]))
    if not where:
        text = f"No result was checked: {without} came to no end."
        return [Finding(text, anchor, 0.99)] if without else []
    wrong = {f"{record.operation} {record.algorithm}".rstrip() for record in measured if not record.verified}
    wrong |= {f"{run.operation} on {counted(run.ranks, 'rank')}" for run in runs if not run.answer.verified}
    verdict = f"wrong are those of {', '.join(sorted(wrong))}" if wrong else "all are right"
    if without:
        verdict = f"of those that came to an end, {verdict}; {without} did not"
    return [Finding(f"Results were checked {where}: {verdict}.", anchor, 0.99)]


def of_trust(
    levels: Iterable[Sequence[Level]],
    missing: str,
    warnings: Sequence[str],
    launches: Sequence[LaunchLine] = (),
) -> list[Finding]:
    """How steady the machine was, what was not measured (`missing`, a sentence), and what is to be read first."""
    anchor = "warnings" if warnings else "provenance"
    known = [of_ranks for of_ranks in levels if of_ranks]
    found = [Finding(missing, anchor, 0.78)] if missing else []
    if crowded := sum(map(shares_cores, launches)):
        text = (
            f"Ranks shared cores in {crowded} of {counted(len(launches), 'launch', plural='launches')}: where "
            "more ranks than cores take part, only the checks of results are to be read; times contain waiting "
            "for a core."
        )
        found.append(Finding(text, anchor, FIRST))
    if known:
        changing = [of_ranks for of_ranks in known if len(of_ranks) > 1]
        shown = max(changing or known, key=len)
        steady = (
            "the machine changed its speed" if changing else "the machine kept one level of speed"
        ) + f" ({len(changing)} of {len(known)} sets of ranks saw several levels)" * bool(changing)
        found.append(Finding(f"Level: {steady}; {in_words(shown)}.", anchor, 0.76))
    if warnings:
        many = f"{len(warnings)} warnings stand" if len(warnings) > 1 else "A warning stands"
        found.append(Finding(f"{many} before the numbers; the first: {warnings[0]}", anchor, 0.74))
    return found


def ratios(first: pd.DataFrame, others: pd.DataFrame, same: Sequence[str]) -> pd.DataFrame:
    """The rows of `others` that agree with one of `first` in the columns `same`, with `ratio` and `is_told`.

    Both have `time_s`, `low_s` and `high_s`; those of `first` come back as `time_s_first` and so on. `ratio` is
    the time over that of the first; `is_told`: their intervals do not overlap, and the times differ by more than
    `TIE`. A time without an interval (NaN) is taken as ± `UNKNOWN`.
    """
    ends = (("low_s", 1 - UNKNOWN), ("high_s", 1 + UNKNOWN))
    known = [
        table.assign(**{bound: table[bound].fillna(table["time_s"] * share) for bound, share in ends})
        for table in (others, first[[*same, "time_s", "low_s", "high_s"]])
    ]
    both = known[0].merge(known[1], on=list(same), suffixes=("", "_first"))
    both["ratio"] = both["time_s"] / both["time_s_first"]
    apart = (both["low_s"] > both["high_s_first"]) | (both["high_s"] < both["low_s_first"])
    both["is_told"] = apart & (np.abs(np.log(both["ratio"])) > np.log1p(TIE))
    return both


def ratios_in_words(name: str, other: str, rows: pd.DataFrame) -> str:
    """How many times as long as `other` `name` takes, and where that can be told; no full stop."""
    apart = rows.loc[rows["is_told"], "ratio"]
    counts = {"slower": int((apart > 1).sum()), "faster": int((apart < 1).sum())}
    clauses = [
        f"{word} at {'all of them' if count == len(rows) else count}" for word, count in counts.items() if count
    ]
    where = "it is " + " and ".join(clauses) if clauses else "the two cannot be told apart at any of them"
    if clauses and len(apart) < len(rows):
        where += f", and at {len(rows) - len(apart)} the two cannot be told apart"
    return (
        f"{name} takes {rows['ratio'].median():.2f} times as long as {other} in the median of "
        f"{counted(len(rows), 'point')}; {where}"
    )
