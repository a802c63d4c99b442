"""Which times and rates a row may hold: a statistic is one row of `ALL`, and what is said of it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

Made = Literal["of a pair", "span", "mean", "rate"] | float
"""How it is made from what the ranks measured, each its own time from entry to exit.

    of a pair  the time of the second of two ranks
    span       last exit minus first entry
    mean       of the ranks' own times
    (number)   the own time of the rank at that share of their order: 0 is the fastest rank, 1 the slowest
    rate       no time; its rows have a column of its name
"""


@dataclass(frozen=True)
class Statistic:
    """A time or a rate. In words: `axis` of a figure, `phrase` behind a model, `sentence` above a section."""

    name: str
    made: Made
    axis: str = "time"
    phrase: str = ""
    sentence: str = ""


ALL = (
    Statistic("one_way", "of a pair"),
    Statistic(
        "completion", "span", "completion time", "last exit minus first entry",
        "Times are completion times: last exit minus first entry on a common clock, the median.",
    ),
    Statistic(
        "max_over_ranks", 1.0, "time of the slowest rank", "of the slowest rank",
        "Times are those of the slowest rank.",
    ),
    Statistic(
        "mean_over_ranks", "mean", "mean time over ranks", "mean over the ranks",
        "Times are means over the ranks, as OSU prints them: not completion times, since some ranks leave early.",
    ),
    Statistic(
        "min_over_ranks", 0.0, "time of the fastest rank", "of the fastest rank",
        "Times are those of the fastest rank.",
    ),
    Statistic("bandwidth_B_per_s", "rate"),
    Statistic("message_rate_per_s", "rate"),
)  # fmt: skip
"""What says most comes first."""
BY_NAME = {statistic.name: statistic for statistic in ALL}
STATISTICS = tuple(BY_NAME)
RATES = tuple(statistic.name for statistic in ALL if statistic.made == "rate")
"""Statistics that are not times: their rows leave the time empty and fill the column of that name."""
OF_COLLECTIVES = tuple(statistic.name for statistic in ALL if statistic.made not in ("of a pair", "rate"))
OVER_RANKS = tuple(name for name in OF_COLLECTIVES if BY_NAME[name].made != "span")
"""Statistics in which each rank's own time counts; the runner says them as `<name>_s`."""

if TYPE_CHECKING:
    StatisticName = str
    CollectiveStatistic = str
else:
    StatisticName = Literal[STATISTICS]
    CollectiveStatistic = Literal[("", *OF_COLLECTIVES)]
    """Empty: the one that says most."""
