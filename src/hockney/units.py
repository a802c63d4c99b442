"""Sizes, rates, times, numbers and lists as people write them: `64KiB`, `100Gbit/s`, `2.5us`, `8,16`, `1-64`.

`kB MB GB` are powers of 1000, `KiB MiB GiB` of 1024; `B/s` bytes, `bit/s` bits. RequestError for what is none of
them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from hockney.errors import RequestError

T = TypeVar("T")
K = TypeVar("K")
LARGEST = 2**31 - 1
"""Ranks, roots and radices are C ints in MPI."""

# Of ASCII only: str.isdigit() takes ², which is no number to int().
_WHOLE = re.compile("[0-9]{1,18}")
_RANGE = re.compile("([0-9]{1,18})-([0-9]{1,18})")

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_PREFIX = _DECIMAL | _BINARY
_TIME_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_NUMBER = re.compile(r"((?>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?>[eE][-+]?[0-9]+)?)\s*+(\S*)")
"""Nothing is tried twice: a long text is refused as quickly as it is read."""


_MOST = 1e30
"""No prefix or unit makes an infinite value of a number up to it."""


def _split(text: str, what: str, examples: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise RequestError(f"{text!r} is not a {what}", f"write for example {examples}")
    number = float(match[1])
    if number > _MOST:
        raise RequestError(f"{text!r} is too large for a {what}", f"write for example {examples}")
    return number, match[2]


def parse_bytes(text: str) -> int:
    """`64KiB`, `64K` and `64k` → 65536, as OSU's benchmarks read them; `64kB` → 64000; a bare number is bytes.

    RequestError for anything else, or for a fraction of a byte.
    """
    examples = "8, 64KiB, 1MB"
    number, unit = _split(text, "size", examples)
    prefix = f"{unit.upper()}i" if unit in ("k", "K", "M", "G", "T") else unit.removesuffix("B")
    if prefix not in _PREFIX or prefix == "K":
        raise RequestError(f"{text!r} is not a size", f"write for example {examples} (kB is 1000, KiB 1024)")
    size = number * _PREFIX[prefix]
    if size != int(size):
        raise RequestError(f"{text!r} is not a whole number of bytes", f"write for example {examples}")
    return int(size)


LONGEST_S = 1e10
"""Three centuries."""


def parse_rate(text: str) -> float:
    """`12.5GB/s` or `100Gbit/s` → bytes per second: 0, or at least a byte in `LONGEST_S`; RequestError else."""
    examples = "12.5GB/s, 100Gbit/s"
    number, unit = _split(text, "rate", examples)
    for suffix, bits in (("bit/s", 8.0), ("b/s", 8.0), ("B/s", 1.0), ("Bps", 1.0)):
        prefix = unit.removesuffix(suffix)
        if prefix != unit and prefix in _PREFIX:
            rate_B_per_s = number * _PREFIX[prefix] / bits
            if number and rate_B_per_s * LONGEST_S < 1:
                raise RequestError(
                    f"{text!r} is too little for any byte to arrive", f"write for example {examples}"
                )
            return rate_B_per_s
    raise RequestError(f"{text!r} is not a rate", f"write for example {examples}")


def parse_positive_rate(text: str) -> float:
    """The same, not 0."""
    rate_B_per_s = parse_rate(text)
    if not rate_B_per_s > 0:
        raise RequestError(f"{text!r} moves nothing", "write for example 12.5GB/s, 100Gbit/s")
    return rate_B_per_s


def parse_time(text: str) -> float:
    """`2.5us` → 2.5e-6; a bare number is seconds."""
    examples = "2.5us, 30s, 2min"
    number, unit = _split(text, "time", examples)
    if unit not in _TIME_S and unit:
        raise RequestError(f"{text!r} is not a time", f"write for example {examples}")
    time_s = number * _TIME_S.get(unit, 1.0)
    if time_s > LONGEST_S:
        raise RequestError(f"{text!r} is longer than anybody waits", f"write for example {examples}")
    return time_s


def parse_per_byte(text: str) -> float:
    """Seconds for each byte, as a time (`6ns`, `6ns/B`) or as the rate at which bytes pass (`10GB/s`)."""
    examples = "6ns, 10GB/s"
    number, unit = _split(text, "time for each byte", examples)
    if unit.removesuffix("/B") in _TIME_S:
        return parse_time(text.removesuffix("/B"))
    if not unit.endswith(("/s", "ps")):
        raise RequestError(f"{text!r} is not a time for each byte", f"write for example {examples}")
    if number == 0:
        raise RequestError(f"{text!r} moves nothing", f"write for example {examples}, or 0ns for no time at all")
    return 1 / parse_rate(text)


class Extents(NamedTuple):
    """How many along x, y and z: cells, elements, unknowns or processes."""

    x: int
    y: int
    z: int

    def __str__(self) -> str:
        return f"{self.x}x{self.y}x{self.z}"

    @property
    def product(self) -> int:
        """How many in all."""
        return self.x * self.y * self.z


def parse_extents(
    text: str, what: str, each: str, *, dimensions: Container[int], at_most: int, example: str
) -> tuple[int, ...]:
    """`4x3x2` → (4, 3, 2), from 1 to `at_most` along each of so many `dimensions`; RequestError otherwise.

    The error says `what` the text is not ("a process grid"), or of what (`each`: "processes") there are too many.
    """
    hint = f"write for example {example}"
    words = text.strip().split("x")
    if len(words) not in dimensions or not all(re.fullmatch("[0-9]+", word) for word in words):
        raise RequestError(f"{text[:40]!r} is not {what}", hint)
    # Long rows of digits are refused before Python refuses to read them.
    digits = [word.lstrip("0") for word in words]
    if not all(digits):
        raise RequestError(f"{text.strip()[:40]!r} has a direction without {each}", hint)
    if any(len(word) > len(str(at_most)) or int(word) > at_most for word in digits):
        raise RequestError(f"there are at most {at_most} {each} along a direction, not {text.strip()[:40]}", hint)
    return tuple(map(int, digits))


def _scaled(value: float, steps: list[tuple[float, str]], digits: int = 3) -> str:
    for scale, unit in steps:
        if abs(value) >= scale * (1 - 0.5 * 10.0**-digits):
            small = abs(value) < (10.0 ** max(digits, 3) - 0.5) * scale
            return f"{value / scale:.{digits}g} {unit}" if small else f"{value / scale:.0f} {unit}"
    scale, unit = steps[-1]
    return f"{value / scale:.{digits}g} {unit}"


def counted(number: float, what: str, form: str = "", *, plural: str = "") -> str:
    """`1 node`, `2 nodes`."""
    digits = format(number, form)
    return f"{digits} {what if digits == '1' else plural or what + 's'}"


def in_pieces(algorithm: str, segment_B: int | None, radix: int | None) -> str:
    """`knomial, segments of 4 KiB, radix 4`; 0 and None are not named."""
    parts = [algorithm]
    parts += [f"segments of {format_bytes(segment_B)}"] if segment_B else []
    parts += [f"radix {radix}"] if radix else []
    return ", ".join(parts)


def in_range(least: int, most: int | None, show: Callable[[int], str] = str) -> str:
    """`4`, `4 to 8`, or `4 and more` where there is no end."""
    if most is None:
        return f"{show(least)} and more"
    return show(least) if least == most else f"{show(least)} to {show(most)}"


def first_of(texts: Sequence[str], most: int, others: str = "more", joint: str = ", ") -> str:
    """`a, b and 7 more`: the first texts, and how many there are beside them."""
    left = len(texts) - most
    return joint.join(texts[:most]) + (f" and {left} {others}" if left > 0 else "")


def format_number(value: float) -> str:
    """A pure number to three digits, never with an exponent above: 46.57 → `46.6`, 46598.2 → `46,598`."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def format_bytes(size: float) -> str:
    """65536 → `64 KiB`; sizes that are no round multiple keep all digits: 65537 → `65537 B`."""
    for scale, unit in ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")):
        if size >= scale and (size / scale * 4).is_integer():
            return f"{size / scale:.15g} {unit}"
    return f"{size:.15g} B"


def format_size(size_B: float) -> str:
    """A computed size to three digits: 2417.3 → `2.36 KiB`, 1048575 → `1 MiB`, −5 → `−5 B`."""
    units = [(2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")]
    return _scaled(size_B, units).replace("-", "−")


def format_time(seconds: float, digits: int = 3) -> str:
    """2.1e-7 → `0.21 µs`: microseconds up to a millisecond, as the field's tables have it, ns below 10 ns."""
    if 0 < abs(seconds) < 9.995e-9:
        return f"{seconds * 1e9:.{digits}g} ns"
    return _scaled(seconds, [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")], digits)


def format_interval(low_s: float | None, high_s: float | None) -> str:
    """`1.2 µs to 1.3 µs`; `–` where an end is not known."""
    return "–" if low_s is None or high_s is None else f"{format_time(low_s)} to {format_time(high_s)}"


def format_duration(seconds: float) -> str:
    """A time that somebody waits for, to the second: 13 min 40 s, 2 h 10 min."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def percent(share: float, *, sign: bool = False) -> str:
    """0.873 → `87 %`, 0.0042 → `0.42 %`, 1e-9 → `< 0.01 %`; with `sign` `+87 %` and `−87 %`.

    Two digits, not three as measured numbers have: the third of an error, an interval or a part is noise.
    """
    value = 100 * share
    if 0 < abs(value) < 0.01:
        return "< 0.01 %"
    digits = f"{abs(value):.0f}" if abs(value) >= 9.95 else f"{abs(value):.2g}"
    return f"{'−' if value < 0 else '+' * sign}{digits} %"


def format_rate(rate_B_per_s: float, digits: int = 3) -> str:
    """1.09e10 → `10.9 GB/s`."""
    return _scaled(rate_B_per_s, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")], digits)


def in_ranges(numbers: Iterable[int]) -> str:
    """CPUs or ranks as Linux writes them: [0, 1, 2, 8] → `0-2,8`."""
    numbered = enumerate(sorted(numbers))
    runs = [[number for _, number in run] for _, run in groupby(numbered, lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


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


def host_list(text: str, most: float = math.inf) -> Iterator[str]:
    """The names of a list as Slurm and Flux (RFC 29) write it, with one bracket a name: `n[01-03,07],login`.

    RequestError where numbers in brackets are none, or before they are written out where these are too many.
    """
    count = 0
    for before, ranges, after, single in _GROUP.findall(text.strip()):
        if single:
            yield single
        for numbers in ranges.split(",") if ranges else ():
            first, _, last = numbers.strip().partition("-")
            if not (_WHOLE.fullmatch(first) and _WHOLE.fullmatch(last or first)):
                raise RequestError(f"{text[:80]!r}: {numbers!r} are no hosts", "write for example n[01-03,07]")
            span = range(int(first), int(last or first) + 1)
            count += len(span)
            if count > most:
                what = f"{text[:80]!r} are {count} names, more than {most}"
                raise RequestError(what, "leave out hosts that are not asked about")
            for number in span:
                yield f"{before}{number:0{len(first)}d}{after}"


def grouped(members: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The members by their keys, in the order in which keys first come."""
    groups: dict[K, list[T]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups
