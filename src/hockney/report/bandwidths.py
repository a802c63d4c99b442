"""Rates of a collective: a table of the fastest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from hockney.models.over_ranks.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.models.over_ranks.choice import AlgorithmChoice
from hockney.records.keys import COLLECTIVES
from hockney.report.tables import Column, Table, held, table
from hockney.units import format_bytes, format_rate


def fastest_rates(
    choices: Sequence[AlgorithmChoice], names: Sequence[str], operation: str, most: int
) -> list[Table]:
    """Rates of the fastest algorithm at the largest size of each configuration and rank count, `most` rows."""
    if not COLLECTIVES[operation].has_size:
        return []
    grown = (choice for choice in choices if choice.ranks >= 2 and choice.bytes > 0)
    rows = [[*alike][-1] for _, alike in groupby(grown, key=lambda choice: choice.configuration.held[:-1])]

    def rate(heading: str, of: Callable[[str, int, int, float], float]) -> Column[AlgorithmChoice]:
        return Column(heading, lambda row: format_rate(of(operation, row.ranks, row.bytes, row.best_s)))

    columns: list[Column[AlgorithmChoice]] = [
        *held(names, lambda row: row.configuration),
        Column("ranks", lambda row: str(row.ranks)),
        Column("size", lambda row: format_bytes(row.bytes)),
        Column("fastest", lambda row: row.best, is_text=True),
        rate("size / time", algorithm_bandwidth_B_per_s),
        rate("bus bandwidth", bus_bandwidth_B_per_s),
        rate("collective network bandwidth", network_bandwidth_B_per_s),
    ]
    cut = f" ({most} of {len(rows)})" if len(rows) > most else ""
    return [table(f"Collective bandwidth{cut}", rows[:most], columns)] if rows else []
