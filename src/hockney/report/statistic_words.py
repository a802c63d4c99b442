"""What the statistics over ranks of a collective are, in words."""

from __future__ import annotations

STATISTIC_WORDS = {
    "completion": "Times are completion times: last exit minus first entry on a common clock, the median.",
    "max_over_ranks": "Times are those of the slowest rank.",
    "mean_over_ranks": "Times are means over the ranks, as OSU prints them: not completion times, since some "
    "ranks leave early.",
    "min_over_ranks": "Times are those of the fastest rank.",
}
TIME_WORDS = {
    "completion": "completion time",
    "max_over_ranks": "time of the slowest rank",
    "mean_over_ranks": "mean time over ranks",
    "min_over_ranks": "time of the fastest rank",
}
"""What the axes of the figures say."""
