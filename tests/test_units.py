"""Sizes, rates and times: what people write is read, and what is printed has the right unit and digits."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.units import (
    format_bytes,
    format_rate,
    format_size,
    format_time,
    parse_bytes,
    parse_extents,
    parse_per_byte,
    parse_rate,
    parse_time,
)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "0 µs"),
        (1.05e-9, "1.05 ns"),
        (9.996e-9, "0.01 µs"),
        (2.1e-7, "0.21 µs"),
        (9.996e-6, "10 µs"),
        (9.994e-4, "999 µs"),
        (9.996e-4, "1 ms"),  # to three digits a whole millisecond
        (1e-3, "1 ms"),
        (0.0123456, "12.3 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (12.345, "12.3 s"),
        (1234.5, "1234 s"),  # no exponent, though four digits
        (-2e-6, "-2 µs"),
    ],
)
def test_times_in_the_field_s_units(seconds: float, expected: str) -> None:
    assert format_time(seconds) == expected


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (1.09e10, "10.9 GB/s"),
        (9.996e8, "1 GB/s"),
        (3.2e12, "3200 GB/s"),
        (999.0, "999 B/s"),
        (1500.0, "1.5 kB/s"),
    ],
)
def test_rates(rate: float, expected: str) -> None:
    assert format_rate(rate) == expected


@pytest.mark.parametrize(
    ("size", "exact", "rounded"),
    [
        (0, "0 B", "0 B"),
        (1000, "1000 B", "1000 B"),
        (1536, "1.5 KiB", "1.5 KiB"),
        (65537, "65537 B", "64 KiB"),
        (1_000_000, "1000000 B", "977 KiB"),
        (2**30, "1 GiB", "1 GiB"),
    ],
)
def test_sizes_exact_and_rounded(size: int, exact: str, rounded: str) -> None:
    assert format_bytes(size) == exact
    assert format_size(size) == rounded


@given(st.integers(0, 2**49))  # fifteen digits are kept
def test_an_exact_size_is_read_back(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8", 8),
        ("64KiB", 65536),
        ("64 KiB", 65536),
        ("1kB", 1000),
        ("64K", 65536),
        ("64k", 65536),
        ("1M", 1048576),
        ("1.5MiB", 1572864),
        ("0B", 0),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["1e308TiB", "", "-8", "KiB", "8 furlongs", "0.3", "64KB", "1e3.5", "nan"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        parse_bytes(text)


def test_rates_are_read_in_bytes_and_bits() -> None:
    assert parse_rate("12.5GB/s") == 12.5e9
    assert parse_rate("100Gbit/s") == 12.5e9
    with pytest.raises(RequestError):
        parse_rate("100")


def test_times_are_read() -> None:
    assert parse_time("2.5us") == pytest.approx(2.5e-6)
    assert parse_time("2min") == 120
    with pytest.raises(RequestError):
        parse_time("2 parsecs")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6ns", 6e-9), ("6ns/B", 6e-9), ("0s", 0.0), ("10GB/s", 1e-10), ("8Gbit/s", 1e-9)],
)
def test_per_byte(text: str, seconds: float) -> None:
    assert parse_per_byte(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["6", "fast", "-1ns", "0GB/s", "1e-320B/s", "1e-300B/s", "6e20s", "6ns/s", "nan", ""]
)
def test_no_time_for_each_byte(text: str) -> None:
    with pytest.raises(RequestError):
        parse_per_byte(text)


def test_numbers_beyond_all_bounds() -> None:
    with pytest.raises(RequestError, match="too large"):
        parse_time("1e999s")


@pytest.mark.parametrize(
    ("text", "dimensions", "extents"),
    [("4x3x2", (3,), (4, 3, 2)), (" 004x3 ", (2, 3), (4, 3)), ("7", (1, 3), (7,)), ("100", (1,), (100,))],
)
def test_extents_are_read_as_they_are_written(
    text: str, dimensions: tuple[int, ...], extents: tuple[int, ...]
) -> None:
    read = parse_extents(text, "a box", "cells", dimensions=dimensions, at_most=100, example="4x3x2")
    assert read == extents


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4x3", "is not a box"),
        ("4x3x2x1", "is not a box"),
        ("4x3x", "is not a box"),
        ("-4x3x2", "is not a box"),
        ("٤x3x2", "is not a box"),
        ("", "is not a box"),
        ("4x00x2", "has a direction without cells"),
        ("4x101x2", "at most 100 cells along a direction, not 4x101x2"),
        ("1x" + "9" * 10_000 + "x1", "at most 100 cells"),
    ],
)
def test_what_are_no_extents_is_refused(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        parse_extents(text, "a box", "cells", dimensions=(3,), at_most=100, example="4x3x2")


@pytest.mark.parametrize("text", ["1" * 800 + " " * 800 + "!", "1" * 200_000, " " * 200_000, "." * 100_000])
@pytest.mark.parametrize("parse", [parse_bytes, parse_rate, parse_time, parse_per_byte])
def test_a_long_text_is_refused_at_once(parse: Callable[[str], float], text: str) -> None:
    began_s = time.process_time()
    with pytest.raises(RequestError):
        parse(text)
    # It took 27 s while digits and blanks could be divided in many ways.
    assert time.process_time() - began_s < 5


def test_no_rate_is_infinite() -> None:
    with pytest.raises(RequestError, match="too large"):
        parse_rate("1e308GB/s")
    with pytest.raises(RequestError, match="too large"):
        parse_time("1e308h")
