"""The columns of a tidy table, declared once: their kinds, and what each one identifies.

The keys of series and points, the header of a file and the types in memory all follow from `ALL`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "whole", "real", "truth"]
"""`count` may be unknown, `whole` may not."""
Role = Literal["", "setting", "scale", "pair", "choice", "call", "point", "repetition", "condition", "visit"]
"""What a column identifies.

    setting     by whom and with what was measured, and how ranks were mapped
    scale       how many ranks on how many nodes: what grows together when the same run is made larger
    pair        which two ranks: in operations between two ranks alone
    choice      what a library may choose: the algorithm and its parameters
    call        what else a program asks for: the operation, its root, how many messages at once
    point       what tells the points of one series apart
    repetition  which launch, or independent repeat
    condition   tells two records of a point apart, but both belong to one series
    visit       what may differ between visits of one point
    (empty)     nothing: a value
"""
Presence = Literal["required", "optional", "record"]
"""Files hold a column always, where a row knows it, or never (then it is a field of records alone)."""


@dataclass(frozen=True)
class Column:
    """One column; records that have it call it by the same `name`. Times are seconds in memory."""

    name: str
    kind: Kind
    identifies: Role = ""
    presence: Presence = "optional"
    in_file: str = ""
    """Its name in a file where that differs; a file then holds microseconds."""

    @property
    def header(self) -> str:
        """Its name in a file."""
        return self.in_file or self.name


ALL = (
    Column("source", "text", "setting"),
    Column("system", "text", "setting", "required"),
    Column("mpi", "text", "setting", "required"),
    Column("operation", "text", "call", "required"),
    Column("algorithm", "text", "choice", "required"),
    Column("mapping", "text", "setting", "required"),
    Column("nodes", "count", "scale", "required"),
    Column("ppn", "count", "scale", "required"),
    Column("ranks", "count", "scale", "required"),
    Column("bytes", "whole", "point", "required"),
    Column("statistic", "text", "point", "required"),
    Column("time_s", "real", presence="required", in_file="time_us"),
    Column("repetition", "whole", "repetition", "required"),
    Column("variant", "text", "setting"),
    Column("segment_bytes", "count", "choice"),
    Column("radix", "count", "choice"),
    Column("root", "count", "call"),
    Column("pairs", "count", "call"),
    Column("window", "count", "call"),
    Column("cache", "text", "setting"),
    Column("start", "text", "condition", "record"),
    Column("oversubscribed", "truth", "visit"),
    Column("samples", "count"),
    Column("low_s", "real", in_file="low_us"),
    Column("high_s", "real", in_file="high_us"),
    Column("locality", "text", "pair"),
    Column("pair", "text", "pair"),
    Column("eager_limit_B", "real"),
    Column("breaks_B", "text"),
    Column("bandwidth_B_per_s", "real"),
    Column("message_rate_per_s", "real"),
)
"""All columns in the order of a file, required ones first."""


def names(*roles: Role) -> tuple[str, ...]:
    """The columns of these roles, in the order of a file."""
    return tuple(column.name for column in ALL if column.identifies in roles)


LONG, LONGER = 5, 8
"""Letters from which on one mistyped letter, and two, leave a name recognisable: `cahce`, `locallity`."""


def mistyped(name: str, headers: Collection[str]) -> str:
    """The column of a file that `name` seems to mean, of those that `headers` lack; empty where it means none.

    Near are other cases and separators, and in long names mistyped letters: left out, doubled, changed or
    exchanged with their neighbour. A plural or a participle (`cached`) is a word of its own.
    """
    bare = _letters(name)
    for column in ALL:
        known = _letters(column.header)
        if column.presence == "record" or column.header in headers:
            continue
        stems = [re.sub(r"[sd]$", "", text.lower()) for text in (name, column.header)]
        is_own = bare != known and stems[0] == stems[1]
        most = (len(known) >= LONG) + (len(known) >= LONGER)
        if not is_own and _edits(bare, known) <= most:
            return column.header
    return ""


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _edits(first: str, second: str) -> int:
    """Letters to leave out, put in, change or exchange with their neighbour until both are the same."""
    before, row = [0] * (len(second) + 1), list(range(len(second) + 1))
    for i, letter in enumerate(first):
        last, before, row = before, row, [i + 1]
        for j, other in enumerate(second):
            row.append(min(row[j] + 1, before[j + 1] + 1, before[j] + (letter != other)))
            if i and j and (letter, first[i - 1]) == (second[j - 1], other):
                row[-1] = min(row[-1], last[j - 1] + 1)
    return row[-1]


REQUIRED = tuple(column.name for column in ALL if column.presence == "required")
OPTIONAL = tuple(column.name for column in ALL if column.presence == "optional")
SCALE = names("scale")
CHOICE = names("choice")
SAME_RANKS = names("setting", "scale", "pair")
"""Measurements of different operations that agree in these were made on the same ranks."""
SERIES = (*SAME_RANKS, *names("choice", "call"), *names("repetition"))
"""What one series holds fixed."""
POINT = (*SAME_RANKS, *names("choice", "call"), *names("point"))
"""Two records that agree in these measure the same thing."""
VISITED = (*POINT, *names("condition", "repetition"))
"""All visits of one point agree in these: a visit that shared a core is still a visit of that point."""
RECORD = (*POINT, *names("condition", "visit"))
"""Imported records that agree in these are repetitions of one point."""
CONTRADICTION = 3.0
"""Repetitions of one point that differ by more than this ratio are reported."""
