"""Lines of a benchmark's text, the prefixes that launchers put before them, and numbers in them."""

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
class TextLine:
    """`number` counts from 1; `ended` is False for a last line without line end."""

    number: int
    text: str
    ended: bool


def split_lines(text: str) -> list[TextLine]:
    """All lines that are not blank; line feeds alone separate lines."""
    parts = text.split("\n")
    last = len(parts)
    return [TextLine(n, part.rstrip(), n < last) for n, part in enumerate(parts, 1) if part.strip()]


class Prefix:
    """What a launcher puts before each line of the rank that prints (`0: `, `[1,0]<stdout>:`, a time).

    The title line shows the prefix. Lines without it come from elsewhere and are no rows.
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
