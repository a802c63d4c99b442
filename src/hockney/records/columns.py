"""The columns of a tidy table, declared once: their kinds, and what each one identifies.

The keys of series and points, the header of a file and the types in memory all follow from `ALL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "whole", "real", "truth"]
"""`count` may be unknown, `whole` may not."""
Role = Literal["", "ranks", "series", "point", "repetition", "condition", "visit"]
"""What a column identifies.

    ranks       where, with what and by whom was measured: operations that agree in these were on the same ranks
    series      what else is fixed while the message size varies
    point       what tells the points of one series apart
    repetition  which launch, or independent repeat
    condition   tells two records of a point apart, but both belong to one series
    visit       what may differ between visits of one point
    (empty)     nothing: a value
"""
Presence = Literal["required", "optional", "record"]
"""Of a file: in each one, where a row knows it, or in none (then it is a field of records alone)."""


@dataclass(frozen=True)
class Column:
    """`name` is that in memory and, where a record has the field, there. Times are seconds in memory."""

    name: str
    kind: Kind
    identifies: Role = ""
    presence: Presence = "optional"
    in_file: str = ""
    """Its name in a file, where that is another; a file holds microseconds then."""

    @property
    def header(self) -> str:
        """Its name in a file."""
        return self.in_file or self.name


ALL = (
    Column("source", "text", "ranks"),
    Column("system", "text", "ranks", "required"),
    Column("mpi", "text", "ranks", "required"),
    Column("operation", "text", "series", "required"),
    Column("algorithm", "text", "series", "required"),
    Column("mapping", "text", "ranks", "required"),
    Column("nodes", "count", "ranks", "required"),
    Column("ppn", "count", "ranks", "required"),
    Column("ranks", "count", "ranks", "required"),
    Column("bytes", "whole", "point", "required"),
    Column("statistic", "text", "point", "required"),
    Column("time_s", "real", presence="required", in_file="time_us"),
    Column("repetition", "whole", "repetition", "required"),
    Column("variant", "text", "ranks"),
    Column("segment_bytes", "count", "series"),
    Column("radix", "count", "series"),
    Column("root", "count", "series"),
    Column("pairs", "count", "series"),
    Column("window", "count", "series"),
    Column("cache", "text", "ranks"),
    Column("start", "text", "condition", "record"),
    Column("oversubscribed", "truth", "visit"),
    Column("samples", "count"),
    Column("low_s", "real", in_file="low_us"),
    Column("high_s", "real", in_file="high_us"),
    Column("locality", "text", "ranks"),
    Column("pair", "text", "ranks"),
    Column("eager_limit_B", "real"),
    Column("bandwidth_B_per_s", "real"),
    Column("message_rate_per_s", "real"),
)
"""In the order of a file, required ones before the others."""


def _names(*roles: Role) -> tuple[str, ...]:
    return tuple(column.name for role in roles for column in ALL if column.identifies == role)


REQUIRED = tuple(column.name for column in ALL if column.presence == "required")
OPTIONAL = tuple(column.name for column in ALL if column.presence == "optional")
SAME_RANKS = _names("ranks")
"""What measurements of different operations share when they were made on the same ranks."""
SERIES = _names("ranks", "series", "repetition")
"""What one series holds fixed."""
POINT = _names("ranks", "series", "point")
"""What two records share that measure the same thing."""
VISITED = _names("ranks", "series", "point", "condition", "repetition")
"""What the visits of one point share: that one of them shared a core makes it no other point."""
RECORD = _names("ranks", "series", "point", "condition", "visit")
"""What two imported records share that are repetitions of one point."""
