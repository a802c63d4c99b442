"""Lists, numbers and segments as words of the command line: RequestError for what is none of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hockney.cli import err
from hockney.errors import RequestError
from hockney.units import parse_bytes

LARGEST = 2**31 - 1
"""Ranks, roots and radices are C ints in MPI."""

# Of ASCII only: str.isdigit() takes ², which is no number to int().
_WHOLE = re.compile("[0-9]{1,18}")
_RANGE = re.compile("([0-9]{1,18})-([0-9]{1,18})")


def words(text: str) -> list[str]:
    """What stands between the commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def whole(text: str, option: str) -> int:
    """A whole number from 0 to `LARGEST`."""
    word = text.strip()
    if not _WHOLE.fullmatch(word) or int(word) > LARGEST:
        raise RequestError(f"{option} {text!r} is not a whole number from 0 to {LARGEST}", "for example 4")
    return int(word)


def wholes(text: str, option: str, allowed: range) -> list[int]:
    """`8`, `8,16` or `1-64`, as numbers in `allowed`."""
    numbers: list[int] = []
    for word in words(text):
        found = _RANGE.fullmatch(word)
        ends = [*map(int, found.groups())] if found else [int(word)] * 2 if _WHOLE.fullmatch(word) else []
        if not ends or ends[0] > ends[1]:
            raise RequestError(f"{option} {text!r} is not understood", "write 8, or 8,16, or 1-64")
        # Before a range of them is made.
        if outside := [end for end in ends if end not in allowed]:
            raise RequestError(
                f"{option}: {outside[0]} is none of {allowed[0]} to {allowed[-1]}", "write 8, or 8,16, or 1-64"
            )
        numbers += range(ends[0], ends[1] + 1)
    if not numbers:
        raise RequestError(f"{option} {text!r} names no number", "write 8, or 8,16, or 1-64")
    return numbers


def segment(text: str) -> int:
    """A size in bytes; 0 for `none`."""
    if text == "none":
        return 0
    size_B = parse_bytes(text)
    if size_B == 0:
        raise RequestError("a segment of 0 B holds nothing", "write `none` for a message in one piece")
    return size_B


def names(text: str, option: str, example: Sequence[str]) -> list[str]:
    """One or more names, each once."""
    found = list(dict.fromkeys(words(text)))
    if not found:
        raise RequestError(f"{option} {text!r} names nothing", f"for example {', '.join(example)}")
    return found


def current(word: str, option: str, renamed: Mapping[str, str]) -> str:
    """The present name of a word; an old one is accepted for one release more, with a warning on stderr."""
    if word not in renamed:
        return word
    err.print(
        f"warning: {option} {word} is called {renamed[word]} now; the next release refuses the old word",
        markup=False,
        soft_wrap=True,
    )
    return renamed[word]
