"""Lines of a benchmark's text: launcher prefixes, and a last line that may have been cut short."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOCK = re.compile(
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}"
    r"|(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
)
# As many digits as a 64-bit integer has; what is longer is no measurement, and no finite float either.
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,19})?(?:[eE][+-]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Line:
    """`number` counts from 1; `ended` is False for a last line without line end."""

    number: int
    text: str
    ended: bool


def split_lines(text: str) -> list[Line]:
    """All lines that are not blank; only line feeds separate, whatever precedes them."""
    parts = text.split("\n")
    last = len(parts)
    return [Line(n, part.rstrip(), n < last) for n, part in enumerate(parts, 1) if part.strip()]


class Prefix:
    """What a launcher puts before each line of the rank that prints (`0: `, `[1,0]<stdout>:`, a time).

    It is learnt from a title line. Lines that do not begin with it come from somewhere else: never rows.
    """

    def __init__(self, before_title: str) -> None:
        pieces = _CLOCK.split(before_title.strip())
        self._pattern = re.compile(rf"\s*{f'(?:{_CLOCK.pattern})'.join(map(re.escape, pieces))}")

    def strip(self, text: str) -> str | None:
        """The text behind the prefix without surrounding blanks; None where the line lacks the prefix."""
        match = self._pattern.match(text)
        return text[match.end() :].strip() if match else None


def is_size(token: str) -> bool:
    """A whole number of bytes (or of repetitions)."""
    return _WHOLE.fullmatch(token) is not None


def is_number(token: str) -> bool:
    """A plain non-negative number: neither a word nor nan, inf or a sign."""
    return _NUMBER.fullmatch(token) is not None


def may_be_cut(line: Line, last_token: str, decimals: int) -> bool:
    """Whether the last value of an unended last line may lack digits.

    Both programs print a fixed number of decimals, so a value with all `decimals` is whole; a last column
    without decimals cannot be told.
    """
    if line.ended or last_token in ("Pass", "Fail"):
        return False
    return decimals == 0 or len(last_token.partition(".")[2]) < decimals


def decimals_of(token: str) -> int:
    """Digits behind the point: `12.30` → 2, `7` → 0."""
    return len(token.partition(".")[2])


def block_of(vector_B: int, ranks: int) -> int | None:
    """One rank's block of a vector that is divided as evenly as its elements allow, to the nearest byte.

    None where not every rank has a byte: such sizes have no block in common.
    """
    return None if 0 < vector_B < ranks else round(vector_B / ranks)


def below_resolution(values: list[str]) -> str:
    """One warning for all printed zeros of a table: a record's value is positive."""
    shown = ", ".join(values[:3]) + (f" and {len(values) - 3} more" if len(values) > 3 else "")
    return f"printed as zero, so below the resolution, left out: {shown}"
