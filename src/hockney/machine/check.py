"""What the types of a machine file leave open and its readers rely on: regimes, signs, intervals, points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from hockney.models.base import Fit, Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Cell

_COUNTS = {"bytes": 0, "blocks": 1, "block_B": 0, "stride_B": 0, "lines": 0, "extent_B": 0}
"""Columns of an effect's points that are whole numbers, and the least of each."""
MOST_COUNT = 2**63 - 1
SHORTEST_S, LONGEST_S = 1e-15, 1e10
"""No median is shorter than light needs for a third of a micrometre, nor longer than three centuries."""
MOST_FACTOR = 1e9

Fault = tuple[str, str]
"""The path of a field and what is wrong with it."""


def fit_faults(fit: Fit, where: str) -> Iterator[Fault]:
    """Faults of a fit's regimes, parameters and quality; `where` is the fit's path in the file."""
    if not fit.regimes:
        yield f"{where}.regimes", "empty; a fit has at least one regime"
    end: float | None = 0.0
    for index, regime in enumerate(fit.regimes):
        here = f"{where}.regimes.{index}"
        if regime.min_B != end:
            yield f"{here}.min_B", f"{regime.min_B:g} is not {_where_before_ends(end)}"
        end = regime.max_B
        if end is not None and end <= regime.min_B:
            yield f"{here}.max_B", f"{end:g} is not above min_B, {regime.min_B:g}"
        for name in ("alpha_s", "beta_s_per_B"):
            parameter: Parameter = getattr(regime, name)
            if parameter.value < 0 and not fit.nonphysical:
                yield f"{here}.{name}.value", f"{parameter.value:g} is negative in a fit that is not nonphysical"
            elif abs(parameter.value) > LONGEST_S:
                yield f"{here}.{name}.value", f"{parameter.value:g} is beyond {LONGEST_S:g} {parameter.unit}"
            yield from _interval(parameter, f"{here}.{name}", holds_value=True)
        if regime.alpha_s.value < 0 and regime.beta_s_per_B.value <= 0:
            yield here, "a message of any size takes a negative time"
    if fit.regimes and end is not None:
        yield f"{where}.regimes.{len(fit.regimes) - 1}.max_B", f"{end:g}; the last regime has no end (null)"
    yield from interval_faults(fit.parameters, f"{where}.parameters")
    if fit.n_half_B is not None:
        yield from _interval(fit.n_half_B, f"{where}.n_half_B")
    factor = None if fit.quality is None else fit.quality.prediction_factor
    if factor is not None and not 1 <= factor <= MOST_FACTOR:
        yield f"{where}.quality.prediction_factor", f"{factor:g} is not between 1 and {MOST_FACTOR:g}"


def _where_before_ends(end: float | None) -> str:
    return "after a regime that has an end" if end is None else f"{end:g}, where the regime before ends"


def interval_faults(parameters: Mapping[str, Parameter], where: str) -> Iterator[Fault]:
    """Parameters whose interval is upside down."""
    for name, parameter in parameters.items():
        yield from _interval(parameter, f"{where}.{name}")


def _interval(parameter: Parameter, where: str, *, holds_value: bool = False) -> Iterator[Fault]:
    """An interval need not hold its value: one drawn from resamples may miss it."""
    low, value, high = parameter.low, parameter.value, parameter.high
    if low is not None and high is not None and low > high:
        yield where, f"low {low:g} is above high {high:g}"
    elif holds_value and ((low is not None and low > value) or (high is not None and value > high)):
        yield where, f"the value {value:g} is not between low and high"


def collective_faults(model: CollectiveModel, where: str) -> Iterator[Fault]:
    """Faults of a fitted model of a collective: what its prediction relies on."""
    if not model.is_fitted:
        return
    for index, regime in enumerate(model.regimes):
        if regime.max_B is None or regime.max_ranks is None:
            yield f"{where}.regimes.{index}", "a fitted range has ends, max_B and max_ranks"
        elif regime.max_B < regime.min_B or regime.max_ranks < regime.min_ranks:
            yield f"{where}.regimes.{index}", "its ranks or bytes end before they begin"
    for name, parameter in model.parameters.items():
        if parameter.value < 0:
            yield f"{where}.parameters.{name}.value", f"{parameter.value:g} is negative"
    for place, row in enumerate(model.points):
        if not {"ranks", "bytes", "time_s"} <= row.keys() or not _is_between(row["ranks"], 1, MOST_COUNT):
            yield f"{where}.points.{place}", "a point has ranks, bytes and time_s"
            return
        yield from row_faults(row, f"{where}.points.{place}")


def row_faults(row: Mapping[str, Cell], where: str) -> Iterator[Fault]:
    """Faults of one point of an effect: its times and counts."""
    if "time_s" in row and not _is_between(row["time_s"], SHORTEST_S, LONGEST_S):
        yield f"{where}.time_s", f"{row['time_s']!r} is no time of {SHORTEST_S:g} to {LONGEST_S:g} s"
    for name in ("low_s", "high_s"):
        if row.get(name) is not None and not _is_between(row[name], 0, LONGEST_S):
            yield f"{where}.{name}", f"{row[name]!r} is no time of 0 to {LONGEST_S:g} s"
    for name, least in _COUNTS.items():
        cell = row.get(name, least)
        if not _is_between(cell, least, MOST_COUNT) or cell != int(cell):
            yield f"{where}.{name}", f"{cell!r} is no whole number of {least} to 2^63 - 1"


def _is_between(cell: Cell, least: float, most: float) -> TypeGuard[float]:
    # true is a number to Python.
    return isinstance(cell, int | float) and not isinstance(cell, bool) and least <= cell <= most
