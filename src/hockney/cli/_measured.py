"""What was measured of each kind of pair and of each collective, as several verbs print it."""

from __future__ import annotations

from collections.abc import Sequence

from hockney import api
from hockney.terminal import say
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_rate, format_time, percent

MOST_ROWS = 8
"""Rows that are printed."""
_WIDEST = 10.0
"""Half an interval, of its number, beyond which it says no more."""


def _around(parameter: api.Parameter) -> str:
    """` ±4 %`, half the interval; empty without one."""
    if parameter.low is None or parameter.high is None or parameter.value <= 0:
        return ""
    half = (parameter.high - parameter.low) / 2 / parameter.value
    return f" ±{percent(min(half, _WIDEST))}"


def _rate(rate: api.Throughput) -> str:
    return f"{format_rate(rate.rate.value)}{_around(rate.rate)}"


def _rate_at(rate: api.Throughput) -> str:
    return f"{_rate(rate)}, {format_bytes(rate.size_B)}"


LIMIT = Column("eager limit", "eager_limit_B", format_bytes)
LEFT_OUT = Column("held out", "left_out", lambda missed: f"off {percent(missed)}")


def show_pairs(pairs: Sequence[api.MeasuredPair], further: Column, shown: str) -> None:
    """A row for each of the first, with one `further` column; the rest is what the command `shown` prints."""
    smallest = {pair.smallest_B for pair in pairs if pair.latency_s} - {None}
    largest = {pair.largest.size_B for pair in pairs if pair.largest}
    at = f" ({format_bytes(smallest.pop() or 0)})" if len(smallest) == 1 else ""
    latency = Column(f"latency{at}", "latency_s", lambda one: f"{format_time(one.value)}{_around(one)}")
    # A size that all share stands once.
    last = Column("largest message", "largest", _rate_at)
    if len(largest) == 1:
        last = Column(f"at {format_bytes(largest.pop())}", "largest", _rate)
    columns = [Column("", "name"), latency, Column("measured peak", "peak", _rate_at), last, further]
    say.rows("", pairs[:MOST_ROWS], columns)
    if len(pairs) > MOST_ROWS:
        say.line(f"and {len(pairs) - MOST_ROWS} more: `hockney {shown}`")


def show_collectives(collectives: Sequence[api.MeasuredCollective], shown: str) -> None:
    """A line for each of the first collectives."""
    for each in collectives[:MOST_ROWS]:
        algorithms = f"; {counted(each.algorithms, 'algorithm')} measured" if each.algorithms > 1 else ""
        say.line(
            f"{each.operation} on {each.ranks} ranks, {each.algorithm}: {format_time(each.smallest_s)} at "
            f"{format_bytes(each.smallest_B)}, {format_time(each.largest_s)} at {format_bytes(each.largest_B)}"
            f"{algorithms}"
        )
    if len(collectives) > MOST_ROWS:
        say.line(f"and {len(collectives) - MOST_ROWS} more: `hockney {shown}`")
