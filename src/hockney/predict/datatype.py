"""What it costs to send scattered data, and whether to leave it to an MPI datatype or to pack by hand.

The costs are those of the effect `datatypes` (docs/reference/effects.md), rebuilt from the points of a machine
file: a term that the data cannot tell alone is no parameter there, and still belongs to the sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Host
from hockney.models.effects._layouts import (
    BLOCK_TERMS,
    BYTE_TERM,
    MEMORY,
    SETUP_TERM,
    STRIDED_TERM,
    Costs,
    Shape,
    counts,
    fit_costs,
    level_of,
    levels_of,
)
from hockney.models.effects._least_squares import relative_error
from hockney.models.effects.base import Cell, Effect
from hockney.models.effects.datatypes import LIBRARY, LOOP, UNTOLD, WAYS
from hockney.predict.layout import strided
from hockney.predict.message import STEP
from hockney.units import format_bytes

LEVEL = 0.95
ENOUGH = 19
"""Errors from which the 95 % quantile is one of them: of n it is the ⌈0.95 (n + 1)⌉th (split conformal
prediction, Lei et al. 2018), which 19 have and 18 do not."""
FEWEST = 5
"""Errors below which no interval is given."""

Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Way:
    """The costs of one way, and what they were fitted to."""

    name: str
    costs: Costs
    rows: Sequence[Row]
    shapes: Sequence[Shape]

    def carries(self, term: str) -> bool:
        """Whether any layout measured has this term more than zero times."""
        return any(counts(shape, self.costs.levels).get(term, 0.0) > 0 for shape in self.shapes)


@dataclass(frozen=True)
class Parts:
    """Seconds of the model: a contiguous message, what any other layout adds (set-up, bytes), blocks, lines."""

    contiguous_s: float
    fixed_s: float
    blocks_s: float
    lines_s: float

    @property
    def sum_s(self) -> float:
        """The model's time."""
        return self.contiguous_s + self.fixed_s + self.blocks_s + self.lines_s


@dataclass(frozen=True)
class Prediction:
    """Seconds of one way; `time_s` and its interval are measured where `measured`, else the model's.

    An end of the interval that is not known is None. `lower_bound` where the model lacks a term of the layout;
    `level` of the model's interval and how many errors of layouts left out it comes from.
    """

    way: str
    time_s: float
    low_s: float | None
    high_s: float | None
    parts: Parts
    measured: bool = False
    lower_bound: bool = False
    level: float | None = None
    errors: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Verdict:
    """`answer`: library, by hand, or cannot be told. `factor`: the time of `send` over that of `hand`."""

    answer: str
    why: str
    factor: float | None = None
    low: float | None = None
    high: float | None = None


def ways_of(effect: Effect, hosts: Sequence[Host]) -> dict[str, Way]:
    """The costs of each way that was measured.

    RequestError where no host's caches are those that the points were sorted by.
    """
    levels = _levels(effect.points, hosts)
    found = {}
    for name in WAYS:
        rows = [row for row in effect.points if row["way"] == name]
        if rows:
            shapes = [_shape_of(row) for row in rows]
            time_s = np.array([_number(row, "time_s") for row in rows])
            error = np.array([relative_error(_bound(row, "low_s"), _bound(row, "high_s")) for row in rows])
            found[name] = Way(name, fit_costs(shapes, time_s, error, levels), rows, shapes)
    return found


def predict_way(way: Way, shape: Shape, unidentified: Mapping[str, str]) -> Prediction:
    """The time of a layout sent one way. `unidentified`: of the effect, by `<way>_<term>`."""
    parts, missing, steps, notes = _modelled(way, shape)
    notes += [
        f"{name} is right only in its sum at the sizes measured: {unidentified[f'{way.name}_{name}']}"
        for name in _terms(shape, way.costs)
        if name not in missing and f"{way.name}_{name}" in unidentified
    ]
    if mine := _measured(way, shape):
        if shape.layout == "irregular" and not shape.is_contiguous:
            notes = ["measured with blocks at other random places of their strides"]
        else:
            notes = []
        low_s, high_s = _hull(mine)
        time_s = float(np.median([_number(row, "time_s") for row in mine]))
        return Prediction(way.name, time_s, low_s, high_s, parts, measured=True, notes=notes)
    reach, level, errors = _reach(_left_out(way, shape))
    if shape.is_contiguous:
        reach = level = None
        notes.append("no interval: how well a contiguous size follows from others was not measured")
    elif level is None:
        notes.append(f"no interval: {errors} layouts were predicted from the others, {FEWEST} are needed")
    elif level < LEVEL:
        notes.append(
            f"an interval of {100 * level:.0f} %, no more: {errors} layouts were predicted from the others"
        )
    wide = None if reach is None else math.exp(reach * (1 + steps))
    return Prediction(
        way=way.name,
        time_s=parts.sum_s,
        low_s=None if wide is None else parts.sum_s / wide,
        high_s=None if wide is None or missing else parts.sum_s * wide,
        parts=parts,
        lower_bound=bool(missing),
        level=level,
        errors=errors if level is not None else 0,
        notes=notes,
    )


def decide(predictions: Mapping[str, Prediction], ways: Mapping[str, Way], shape: Shape) -> Verdict:
    """An MPI datatype or a loop, where the interval of the ratio of their times excludes one.

    Between two predictions the interval is that of the ratio itself: what the model errs by on a layout it mostly
    errs by on both sides, so that the errors of left-out layouts are taken pair by pair.
    """
    if shape.is_contiguous:
        return Verdict(LIBRARY, "the blocks touch: it is a contiguous message, there is nothing to pack")
    if lacking := [name for name in ("send", "hand") if name not in predictions]:
        return Verdict(UNTOLD, f"{' and '.join(lacking)} was not measured")
    send, hand = predictions["send"], predictions["hand"]
    bounds = [one.way for one in (send, hand) if one.lower_bound and not one.measured]
    if bounds:
        return Verdict(UNTOLD, f"of {' and '.join(bounds)} only a lower bound is known")
    factor = send.time_s / hand.time_s
    if send.measured or hand.measured:
        if None in (send.low_s, send.high_s, hand.low_s, hand.high_s):
            return Verdict(UNTOLD, "an interval is not known", factor)
        low, high = (
            float(send.low_s or 0) / float(hand.high_s or 0),
            float(send.high_s or 0) / float(hand.low_s or 0),
        )
        why = "both were measured" if send.measured and hand.measured else "one was measured"
    else:
        reach, _, pairs = _reach(_left_out_ratios(ways["send"], ways["hand"], shape))
        if reach is None:
            return Verdict(UNTOLD, f"{pairs} layouts were predicted both ways, {FEWEST} are needed", factor)
        steps = max(_contiguous(one.costs, shape.bytes)[1] for one in (ways["send"], ways["hand"]))
        wide = math.exp(reach * (1 + steps))
        low, high = factor / wide, factor * wide
        why = f"by {pairs} layouts predicted both ways from the others"
    answer = LOOP if low > 1 else LIBRARY if high < 1 else UNTOLD
    return Verdict(answer, why, factor, low, high)


def _modelled(way: Way, shape: Shape) -> tuple[Parts, list[str], float, list[str]]:
    """(parts, terms that were never measured, steps beyond the sizes measured, notes)."""
    contiguous_s, steps, notes = _contiguous(way.costs, shape.bytes)
    counted = _terms(shape, way.costs)
    missing = [name for name in counted if not way.carries(name)]
    notes += [f"{_named(name)} was not measured: the time is a lower bound" for name in missing]
    cost_s = {name: count * way.costs.terms[name] for name, count in counted.items() if name not in missing}
    parts = Parts(
        contiguous_s=contiguous_s,
        fixed_s=cost_s.get(SETUP_TERM, 0.0) + cost_s.get(BYTE_TERM, 0.0),
        blocks_s=cost_s.get(_block_term(shape), 0.0),
        lines_s=sum(each for name, each in cost_s.items() if name.startswith("line_")),
    )
    return parts, missing, steps, notes


def _terms(shape: Shape, costs: Costs) -> dict[str, float]:
    """The terms that a layout has, and how often."""
    return {name: count for name, count in counts(shape, costs.levels).items() if count > 0}


def _contiguous(costs: Costs, size_B: int) -> tuple[float, float, list[str]]:
    """(seconds of a contiguous message, steps beyond the largest measured one, notes).

    Above the largest size the line of the last two goes on, not falling; below the smallest it stays constant.
    """
    smallest, (largest, last_s) = costs.contiguous[0][0], costs.contiguous[-1]
    if smallest <= size_B <= largest:
        return costs.contiguous_s(size_B), 0.0, []
    beyond = (
        f"extrapolated: {format_bytes(size_B)} is {'above' if size_B > largest else 'below'} what was measured"
    )
    if size_B < smallest:
        return costs.contiguous_s(size_B), 0.0, [f"{beyond} ({format_bytes(smallest)}), whose time is taken"]
    steps = math.log(size_B / largest) / math.log(STEP)
    if len(costs.contiguous) == 1:
        return last_s, steps, [f"{beyond} ({format_bytes(largest)}, the only size), whose time is taken"]
    before, before_s = costs.contiguous[-2]
    slope_s_per_B = max(0.0, (last_s - before_s) / (largest - before))
    return last_s + slope_s_per_B * (size_B - largest), steps, [f"{beyond} ({format_bytes(largest)})"]


def _measured(way: Way, shape: Shape) -> list[Row]:
    """The rows of this very layout, one for each launch; where blocks touch, else those of a contiguous message."""
    same = [row for row, each in zip(way.rows, way.shapes, strict=True) if _is_same(each, row, shape)]
    if same or not shape.is_contiguous:
        return same
    plain = zip(way.rows, way.shapes, strict=True)
    return [row for row, each in plain if each.layout == "contiguous" and each.bytes == shape.bytes]


def _is_same(each: Shape, row: Row, shape: Shape) -> bool:
    if (each.layout, each.bytes, each.blocks) != (shape.layout, shape.bytes, shape.blocks):
        return False
    if shape.layout == "irregular":
        # Where the span ends is drawn; what is expected of the same stride is not.
        each = strided("irregular", each.blocks, each.bytes // each.blocks, int(_number(row, "stride_B")))
    return each.extent_B == shape.extent_B


def _hull(rows: Sequence[Row]) -> tuple[float | None, float | None]:
    """The interval that covers those of all launches; None where one has none."""
    lows, highs = [_bound(row, "low_s") for row in rows], [_bound(row, "high_s") for row in rows]
    if None in lows or None in highs:
        return None, None
    return min(low for low in lows if low is not None), max(high for high in highs if high is not None)


def _left_out(way: Way, shape: Shape) -> list[float]:
    """|ln(predicted/measured)| of layouts left out: those with such blocks where there are ENOUGH, else all."""
    return _alike(_logs(way), shape)


def _left_out_ratios(send: Way, hand: Way, shape: Shape) -> list[float]:
    """As `_left_out`, of the time of `send` over that of `hand`, of layouts that were left out of both."""
    other = _logs(hand)
    return _alike({each: error - other[each] for each, error in _logs(send).items() if each in other}, shape)


def _logs(way: Way) -> dict[Shape, float]:
    """ln(predicted/measured) of each layout left out; of several launches the one farthest from 0."""
    found: dict[Shape, float] = {}
    for row, shape in zip(way.rows, way.shapes, strict=True):
        left_s = _bound(row, "left_out_s")
        if left_s:
            error = math.log(left_s / _number(row, "time_s"))
            found[shape] = max(found.get(shape, 0.0), error, key=abs)
    return found


def _alike(errors: Mapping[Shape, float], shape: Shape) -> list[float]:
    alike = [abs(error) for each, error in errors.items() if _block_term(each) == _block_term(shape)]
    return alike if len(alike) >= ENOUGH else [abs(error) for error in errors.values()]


def _reach(errors: Sequence[float]) -> tuple[float | None, float | None, int]:
    """(half-width in ln, its level, how many errors): 95 %, or what the largest of fewer than ENOUGH covers."""
    number = len(errors)
    if number < FEWEST:
        return None, None, number
    rank = min(number, math.ceil(LEVEL * (number + 1)))
    return sorted(errors)[rank - 1], min(LEVEL, number / (number + 1)), number


def _levels(rows: Sequence[Row], hosts: Sequence[Host]) -> list[tuple[str, int]]:
    for host in hosts:
        sizes = {cache.level: cache.size_B for cache in host.caches if cache.type != "Instruction"}
        levels = levels_of([{"level": level, "size_B": size_B} for level, size_B in sorted(sizes.items())])
        if all(level_of(_shape_of(row), levels) == row["level"] for row in rows):
            return levels
    if all(row["level"] == MEMORY for row in rows):
        return []
    raise RequestError(
        "the caches in the machine file are not those of the host that measured datatypes",
        "fit the campaign again: `hockney fit FOLDER`",
    )


def _shape_of(row: Row) -> Shape:
    lines = int(_number(row, "lines"))
    return Shape(
        layout=str(row["layout"]),
        bytes=int(_number(row, "bytes")),
        blocks=int(_number(row, "blocks")),
        lines=lines,
        # Not kept in a machine file; no cost depends on them.
        accesses=lines,
        extent_B=int(_number(row, "extent_B")),
    )


def _block_term(shape: Shape) -> str:
    return BLOCK_TERMS.get(shape.layout, STRIDED_TERM)


def _named(term: str) -> str:
    if term.startswith("line_"):
        level = term.removeprefix("line_").removesuffix("_s")
        return "a line in memory" if level == MEMORY else f"a line of a span within {level}"
    return f"a {term.removesuffix('_block_s')} block" if term.endswith("_block_s") else term


def _number(row: Row, name: str) -> float:
    return float(row[name] or 0)


def _bound(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None else float(value)
