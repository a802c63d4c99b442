"""What it costs to send scattered data, and whether to leave it to an MPI datatype or to pack by hand.

The costs are those of the effect `datatypes` (docs/reference/effects/datatypes.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, computed_field

from hockney.errors import RequestError
from hockney.machine.select import parse_where, select_effect, title, words
from hockney.models.effects._layouts import (
    COPIED_TERM,
    ELEMENT_TERM,
    KERNEL_TERM,
    PAGE_TERM,
    SETUP_TERM,
    SHORT_TERM,
    LayoutCosts,
    block_term,
)
from hockney.models.effects._shapes import LIBRARY, LOOP, MEMORY, UNTOLD, Shape, level_of
from hockney.predict.datatype_costs import PointRow, Way, bound, number, rows_of, ways_of
from hockney.predict.layout import face as face_layout
from hockney.predict.layout import strided
from hockney.predict.message import STEP
from hockney.predict.network_figures import machine_of
from hockney.predict.options import EffectOptions, Face, ScatteredData
from hockney.statistics import CONFIDENCE
from hockney.units import format_bytes, percent

ENOUGH = 19
"""Errors from which the 95 % quantile is one of them: of n it is the ⌈0.95 (n + 1)⌉th (split conformal
prediction, Lei et al. 2018), which 19 have and 18 do not."""
FEWEST = 5
"""Errors below which no interval is given."""


@dataclass(frozen=True)
class ModelledLayout:
    """Seconds of the model: a contiguous message, what any other layout adds (set-up, elements), blocks, and
    lines with their pages."""

    contiguous_s: float
    fixed_s: float
    blocks_s: float
    lines_s: float

    @computed_field
    @property
    def model_s(self) -> float:
        """The sum of its parts."""
        return self.contiguous_s + self.fixed_s + self.blocks_s + self.lines_s


@dataclass(frozen=True, kw_only=True)
class DatatypePrediction(ModelledLayout):
    """Seconds of one way; `time_s` and its interval are measured where `measured`, else the model's.

    An end of the interval that is not known is None. `lower_bound` where the model lacks a term of the layout;
    `level` of the model's interval and how many errors of layouts left out it comes from.
    """

    way: Annotated[str, Field(exclude=True)]
    time_s: float
    low_s: float | None
    high_s: float | None
    measured: bool = False
    lower_bound: bool = False
    level: float | None = None
    errors: int = 0
    notes: Annotated[Sequence[str], Field(exclude=True)] = ()


@dataclass(frozen=True)
class DatatypeVerdict:
    """`answer`: library, by hand, or undecided. `factor`: the time of `send` over that of `hand`."""

    answer: str
    why: str
    factor: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Layout(Shape):
    """Where the data lie, with the name of the memory that holds all of them."""

    level: str = ""

    @computed_field
    @property
    def contiguous(self) -> bool:
        """Whether all blocks touch."""
        return self.is_contiguous


@dataclass(frozen=True)
class DatatypeAnswer:
    """Times of a layout by each way of sending it, and which is faster."""

    machine: str
    operation: str
    locality: str
    variant: str
    mapping: str
    mpi: str
    system: str
    placement: str
    layout: Layout
    ways: Mapping[str, DatatypePrediction]
    verdict: DatatypeVerdict
    notes: Sequence[str]
    title: Annotated[str, Field(exclude=True)]
    """What answers, as a title among the effects of the machine."""


def predict_datatype(asked: ScatteredData, options: EffectOptions) -> DatatypeAnswer:
    """Predict each way; RequestError unless one layout is given, and where the machine has no such effect."""
    shape = _shape(asked)
    machine = machine_of(options)
    effect = select_effect(machine, "datatypes", {"locality": options.locality} | parse_where(options.where))
    ways = ways_of(effect, machine.system.hosts)
    predictions = {name: predict_way(way, shape, effect.not_identified) for name, way in ways.items()}
    return DatatypeAnswer(
        str(options.machine),
        **words(effect),
        layout=Layout(**vars(shape), level=level_of(shape, next(iter(ways.values())).costs.levels)),
        ways=predictions,
        verdict=decide(predictions, shape),
        notes=_notes(predictions, shape),
        title=title(effect, [other for other in machine.effects if other.effect == effect.effect]),
    )


def _notes(predictions: Mapping[str, DatatypePrediction], shape: Shape) -> list[str]:
    """Every note once, with the ways that it holds for."""
    ways_with: dict[str, list[str]] = {}
    for way, prediction in predictions.items():
        for note in prediction.notes:
            ways_with.setdefault(note, []).append(way)
    notes = [f"{', '.join(ways)}: {note}" for note, ways in ways_with.items()]
    if shape.layout == "irregular" and not shape.is_contiguous:
        notes.append("lines and span are those expected of blocks at random places of their strides")
    return notes


def _shape(asked: ScatteredData) -> Shape:
    """The layout, by blocks or by a face; RequestError where none is there, or not its number of blocks."""
    if asked.layout is None:
        raise RequestError(
            "datatype needs a --layout",
            "for example --layout vector:2048x8B/64B, or of a face --layout x:64x64x64",
        )
    if isinstance(asked.layout, Face):
        return face_layout(*asked.layout)
    layout, block_B, stride_B, blocks = asked.layout
    if blocks is None:
        raise RequestError("--layout says no number of blocks", "for example --layout vector:2048x8B/64B")
    return strided(layout, blocks, block_B, stride_B)


def predict_way(way: Way, shape: Shape, unidentified: Mapping[str, str]) -> DatatypePrediction:
    """The time of a layout sent one way. `unidentified`: of the effect, by `<way>_<term>`."""
    plain = _contiguous(way.costs, shape.bytes)
    counted = {name: count for name, count in way.costs.counts(shape).items() if count > 0}
    missing = [name for name in counted if not way.carries(name)]
    parts = _parts(
        plain, {name: counted[name] * way.costs.terms[name] for name in counted if name not in missing}
    )
    if rows := rows_of(way, shape):
        drawn = shape.layout == "irregular" and not shape.is_contiguous
        low_s, high_s = _hull(rows)
        return DatatypePrediction(
            **vars(parts),
            way=way.name,
            time_s=float(np.median([number(row, "time_s") for row in rows])),
            low_s=low_s,
            high_s=high_s,
            measured=True,
            notes=["measured with blocks at other random places of their strides"] if drawn else [],
        )
    notes = [*plain.notes]
    notes += [f"{_named(name)} was not measured and is left out of the sum" for name in missing]
    notes += [
        f"{name} is not identified: {unidentified[f'{way.name}_{name}']}"
        for name in counted
        if name not in missing and f"{way.name}_{name}" in unidentified
    ]
    notes += _near_switch(way, shape)
    reach, level, errors = _reach([] if shape.is_contiguous else _left_out(way, shape))
    if shape.is_contiguous:
        notes.append("no interval: no contiguous size was predicted from the others")
    elif level is None:
        notes.append(f"no interval: {errors} layouts were predicted from the others, {FEWEST} are needed")
    elif level < CONFIDENCE:
        notes.append(f"an interval of {percent(level)}: only {errors} layouts were predicted from the others")
    wide = None if reach is None else math.exp(reach * (1 + plain.steps))
    return DatatypePrediction(
        **vars(parts),
        way=way.name,
        time_s=parts.model_s,
        low_s=None if wide is None or plain.is_below else parts.model_s / wide,
        high_s=None if wide is None or missing else parts.model_s * wide,
        lower_bound=bool(missing) and not plain.is_below,
        level=level,
        errors=errors if level is not None else 0,
        notes=notes,
    )


def decide(predictions: Mapping[str, DatatypePrediction], shape: Shape) -> DatatypeVerdict:
    """An MPI datatype or a loop, where the interval of the ratio of their times excludes one.

    Measured both ways, their intervals must not overlap, as where the effect is fitted. Else the logarithm of the
    ratio must exceed the root of the sum of their squared half-widths, as where collectives are compared
    (docs/reference/predict.md): errors of two models, which on layouts unlike those measured are not the same.
    """
    if shape.is_contiguous:
        return DatatypeVerdict(LIBRARY, "the blocks touch: it is a contiguous message, there is nothing to pack")
    if lacking := [name for name in ("send", "hand") if name not in predictions]:
        return DatatypeVerdict(UNTOLD, f"{' and '.join(lacking)} was not measured")
    send, hand = predictions["send"], predictions["hand"]
    factor = send.time_s / hand.time_s
    if bounds := [prediction.way for prediction in (send, hand) if prediction.lower_bound]:
        return DatatypeVerdict(UNTOLD, f"of {' and '.join(bounds)} only a lower bound is known")
    if not (send.low_s and send.high_s and hand.low_s and hand.high_s):
        return DatatypeVerdict(UNTOLD, "an end of an interval is not known", factor)
    if send.measured and hand.measured:
        low, high, why = send.low_s / hand.high_s, send.high_s / hand.low_s, "measured both ways"
    else:
        down = math.hypot(math.log(send.time_s / send.low_s), math.log(hand.high_s / hand.time_s))
        up = math.hypot(math.log(send.high_s / send.time_s), math.log(hand.time_s / hand.low_s))
        low, high = factor * math.exp(-down), factor * math.exp(up)
        modelled = [prediction.way for prediction in (send, hand) if not prediction.measured]
        why = f"by the model of {' and '.join(modelled)}"
    answer = LOOP if low > 1 else LIBRARY if high < 1 else UNTOLD
    return DatatypeVerdict(answer, why, factor, low, high)


def _near_switch(way: Way, shape: Shape) -> list[str]:
    switch_B = way.costs.switch_B
    if switch_B is None or shape.is_contiguous:
        return []
    below_B = max(shape.bytes for shape in way.shapes if not shape.is_contiguous and shape.bytes < switch_B)
    if not below_B < shape.bytes < switch_B:
        return []
    return [
        f"blocks are taken to cost what they do below {format_bytes(switch_B)}; from there on they cost "
        f"otherwise, which may begin at any size above {format_bytes(below_B)}"
    ]


def _parts(plain: _Contiguous, cost_s: Mapping[str, float]) -> ModelledLayout:
    return ModelledLayout(
        contiguous_s=plain.time_s,
        fixed_s=cost_s.get(SETUP_TERM, 0.0) + cost_s.get(ELEMENT_TERM, 0.0),
        blocks_s=sum(each for name, each in cost_s.items() if name.endswith("_block_s")),
        lines_s=sum(each for name, each in cost_s.items() if name.startswith("line_") or name == PAGE_TERM),
    )


@dataclass(frozen=True)
class _Contiguous:
    """Seconds of a contiguous message, and how far its size is from those measured.

    `steps` beyond the largest; `is_below`: under the smallest, so that the time may be too long.
    """

    time_s: float
    steps: float = 0.0
    is_below: bool = False
    notes: Sequence[str] = ()


def _contiguous(costs: LayoutCosts, size_B: int) -> _Contiguous:
    """The time of a contiguous message: constant below the smallest size, a rising line above the largest."""
    smallest, (largest, last_s) = costs.contiguous[0][0], costs.contiguous[-1]
    if size_B in dict(costs.contiguous):
        return _Contiguous(costs.contiguous_s(size_B))
    if smallest < size_B < largest:
        note = (
            f"between sizes measured, of which {format_bytes(size_B)} is none, a change of protocol is not seen"
        )
        return _Contiguous(costs.contiguous_s(size_B), notes=[note])
    said = f"extrapolated: {format_bytes(size_B)} is"
    if size_B < smallest:
        note = f"{said} less than the {format_bytes(smallest)} measured, whose time is taken: it may be too long"
        return _Contiguous(costs.contiguous_s(size_B), is_below=True, notes=[note])
    steps = math.log(size_B / largest) / math.log(STEP)
    note = f"{said} more than the {format_bytes(largest)} measured"
    if len(costs.contiguous) == 1:
        return _Contiguous(
            last_s, steps, notes=[f"{note}, the only size, whose time is taken: it may be too short"]
        )
    before, before_s = costs.contiguous[-2]
    slope_s_per_B = max(0.0, (last_s - before_s) / (largest - before))
    return _Contiguous(last_s + slope_s_per_B * (size_B - largest), steps, notes=[note])


def _hull(rows: Sequence[PointRow]) -> tuple[float | None, float | None]:
    """The interval that covers those of all launches; None where one has none."""
    lows, highs = [bound(row, "low_s") for row in rows], [bound(row, "high_s") for row in rows]
    if None in lows or None in highs:
        return None, None
    return min(low for low in lows if low is not None), max(high for high in highs if high is not None)


def _left_out(way: Way, shape: Shape) -> list[float]:
    """|ln(predicted/measured)| of layouts left out: those with such blocks where there are ENOUGH, else all."""
    errors, switch_B = _logs(way), way.costs.switch_B
    term = block_term(shape, switch_B)
    alike = [abs(error) for each, error in errors.items() if block_term(each, switch_B) == term]
    return alike if len(alike) >= ENOUGH else [abs(error) for error in errors.values()]


def _logs(way: Way) -> dict[Shape, float]:
    """ln(predicted/measured) of each layout left out; of several launches the one farthest from 0."""
    errors: dict[Shape, float] = {}
    for row, shape in zip(way.rows, way.shapes, strict=True):
        left_s = bound(row, "left_out_s")
        if left_s:
            error = math.log(left_s / number(row, "time_s"))
            errors[shape] = max(errors.get(shape, 0.0), error, key=abs)
    return errors


def _reach(errors: Sequence[float]) -> tuple[float | None, float | None, int]:
    """(half-width in ln, its level, how many errors): 95 %, or what the largest of fewer than ENOUGH covers."""
    number = len(errors)
    if number < FEWEST:
        return None, None, number
    rank = min(number, math.ceil(CONFIDENCE * (number + 1)))
    return sorted(errors)[rank - 1], min(CONFIDENCE, number / (number + 1)), number


def _named(term: str) -> str:
    if term.startswith("line_"):
        level = term.removeprefix("line_").removesuffix("_s")
        return "the cost of a line in memory" if level == MEMORY else f"the cost of a line in {level}"
    named = {
        PAGE_TERM: "a page",
        COPIED_TERM: "a block that is copied by a call",
        SHORT_TERM: "a block of a short message",
        KERNEL_TERM: "a block that the kernel copies",
    }
    kind = term.removesuffix("_block_s")
    return f"the cost of {named.get(term, term if kind == term else f'a block of {kind} layouts')}"
