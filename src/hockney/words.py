"""Lists, numbers and segments as words of the command line: RequestError for what is none of them.

And the numbers of a version in the name of a library, and members by their keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from hockney.errors import RequestError
from hockney.units import format_bytes, parse_bytes

T = TypeVar("T")
K = TypeVar("K")
LARGEST = 2**31 - 1
"""Ranks, roots and radices are C ints in MPI."""

# Of ASCII only: str.isdigit() takes ², which is no number to int().
_WHOLE = re.compile("[0-9]{1,18}")
_RANGE = re.compile("([0-9]{1,18})-([0-9]{1,18})")


def words(text: str) -> list[str]:
    """What stands between the commas, at least one word."""
    written_words = [word.strip() for word in text.split(",") if word.strip()]
    if not written_words:
        # An empty text would mean the default, which nobody who writes the option asks for.
        raise RequestError(f"{text!r} names nothing", "leave it out for its default")
    return written_words


def names(text: str) -> list[str]:
    """The same, each word once."""
    return list(dict.fromkeys(words(text)))


def whole(text: str) -> int:
    """A whole number from 0 to `LARGEST`."""
    word = text.strip()
    if not _WHOLE.fullmatch(word) or int(word) > LARGEST:
        raise RequestError(f"{text!r} is not a whole number from 0 to {LARGEST}", "for example 4")
    return int(word)


def wholes(text: str, allowed: range) -> list[int]:
    """`8`, `8,16` or `1-64`, as numbers in `allowed`."""
    numbers: list[int] = []
    for word in words(text):
        span = _RANGE.fullmatch(word)
        ends = [*map(int, span.groups())] if span else [int(word)] * 2 if _WHOLE.fullmatch(word) else []
        if not ends or ends[0] > ends[1]:
            raise RequestError(f"{text!r} is not understood", "write 8, or 8,16, or 1-64")
        # Before a range of them is made.
        if outside := [end for end in ends if end not in allowed]:
            raise RequestError(
                f"{outside[0]} is none of {allowed[0]} to {allowed[-1]}", "write 8, or 8,16, or 1-64"
            )
        numbers += range(ends[0], ends[1] + 1)
    return numbers


def listed(values: Iterable[str]) -> str:
    """`core, socket or node`: what an option may be, for its help."""
    *first, final = values
    return f"{', '.join(first)} or {final}" if first else final


def segment(text: str) -> int:
    """A size in bytes; 0 for `none`."""
    if text == "none":
        return 0
    size_B = parse_bytes(text)
    if size_B == 0:
        raise RequestError("a segment of 0 B holds nothing", "write `none` for a message in one piece")
    return size_B


def written(size_B: int) -> str:
    """A size as the command line has it: 65536 → `64KiB`, 0 → `none`."""
    return format_bytes(size_B).replace(" ", "") if size_B else "none"


def version_in(name: str) -> tuple[int, ...]:
    """(5, 0, 11) of "Open MPI 5.0.11"; empty where it has no number."""
    number = re.search(r"\d+(?:\.\d+)*", name)
    return tuple(int(part) for part in number[0].split(".")) if number else ()


_GROUP = re.compile(r"([^,\[\]]*)\[([^\]]*)\]([^,\[\]]*)|([^,\[\]]+)")


def host_list(text: str) -> Iterator[str]:
    """The names of a list as Slurm and Flux (RFC 29) write it, with one bracket a name: `n[01-03,07],login`.

    RequestError where numbers in brackets are none.
    """
    for before, ranges, after, single in _GROUP.findall(text.strip()):
        if single:
            yield single
        for numbers in ranges.split(",") if ranges else ():
            first, _, last = numbers.strip().partition("-")
            if not (_WHOLE.fullmatch(first) and _WHOLE.fullmatch(last or first)):
                raise RequestError(f"{text[:80]!r}: {numbers!r} are no hosts", "write for example n[01-03,07]")
            for number in range(int(first), int(last or first) + 1):
                yield f"{before}{number:0{len(first)}d}{after}"


def grouped(members: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The members by their keys, in the order in which keys first come."""
    groups: dict[K, list[T]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups
