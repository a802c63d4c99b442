"""Datatypes: what blocks, lines and pages cost beyond a contiguous message, the worst case, and packing by hand.

Hoefler et al. 2010, section 3, figure 1(b): 16 KiB of MPI_CHAR by stride, "bound by the slowest memory".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._launches import over_launches
from hockney.models.effects._layout_views import add_views
from hockney.models.effects._layouts import (
    COPIED_TERM,
    ELEMENT_TERM,
    KERNEL_BLOCKS,
    KERNEL_TERM,
    LEAST_LAYOUTS,
    LIST_TERMS,
    NEAR,
    PAGE_TERM,
    SETUP_TERM,
    SHORT_TERM,
    STORED_B,
    STRIDED_TERM,
    LayoutFit,
    fit_way,
)
from hockney.models.effects._least_squares import is_disturbed, times_s
from hockney.models.effects._shapes import LIBRARY, LOOP, MEMORY, UNTOLD, Shape, level_of, levels_of
from hockney.models.effects._wording import time
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.models.views import Views
from hockney.records.effect_answers.datatypes import DatatypesAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.units import format_bytes

WAYS = ("send", "hand", "receive", "pack", "unpack")
LEAST_SCATTERED = 6
SEED = 0


@effect_models.register(
    "datatypes", "What it costs to send data that are not contiguous, and when packing by hand is faster."
)
@over_launches
def fit(records: Sequence[EffectRecord]) -> Effect:
    """Cost per block and line of every way, the bound, the errors of layouts left out, and where a loop wins."""
    levels = levels_of(records[0].about.get("caches", ()))
    ways = {way: [record for record in records if record.parameters["way"] == way] for way in WAYS}
    fits = {
        way: fit_way(of_way, levels, SEED)
        for way, of_way in ways.items()
        if sum(not Shape.of(record).is_contiguous for record in of_way) >= LEAST_SCATTERED
    }
    if not fits:
        raise RequestError(
            f"datatypes needs {LEAST_SCATTERED} layouts of one way",
            "measure it again; what was refused is in the notes",
        )
    parameters: dict[str, Parameter] = {}
    unknown: dict[str, str] = {}
    notes: list[str] = []
    rows: list[dict[str, Cell]] = []
    views = Views()
    for way, fitted in fits.items():
        of_way = ways[way]
        _costs(way, fitted, parameters, unknown)
        bound_s = _bound_s(of_way, fitted)
        parameters[f"{way}_access_bound_s"] = Parameter(value=bound_s, unit="s")
        _errors(way, of_way, fitted, parameters)
        rows += _rows(way, of_way, fitted)
        add_views(views, way, fitted, bound_s, [Shape.of(record) for record in of_way], times_s(of_way))
    notes += _touching(ways["send"])
    by_hand = [row for row in rows if row["way"] == "hand"]
    notes += _by_hand(ways["send"], ways["hand"], by_hand, parameters) if by_hand else []
    disturbed = sum(is_disturbed(record) for record in records)
    if disturbed:
        notes.append(f"{disturbed} of {len(records)} points were disturbed and count little")
    if not levels:
        notes.append("the system tells no cache sizes: all lines count as memory's")
    return Effect(
        effect="datatypes",
        parameters=parameters,
        views=views,
        points=rows,
        plots=[
            Plot(
                x="stride_B",
                y="time_s",
                by="way",
                where={"layout": "vector", "block_B": 1},
                model="model_s",
                title="16 KiB in blocks of 1 B, by stride (figure 1(b) of Hoefler et al. 2010)",
            ),
            Plot(
                x="block_B",
                y="time_s",
                by="way",
                where={"layout": "vector", "bytes": 16384, "strides_per_block": 2.0},
                model="model_s",
                title="16 KiB in blocks at twice their length",
            ),
        ],
        not_identified=unknown,
        notes=notes,
    )


def _costs(way: str, fitted: LayoutFit, parameters: dict[str, Parameter], unknown: dict[str, str]) -> None:
    costs = fitted.costs
    names = [SETUP_TERM, ELEMENT_TERM, STRIDED_TERM, *LIST_TERMS.values(), COPIED_TERM, PAGE_TERM]
    names += [f"line_{level}_s" for level in (*(name for name, _ in costs.levels), MEMORY)]
    if costs.switch_B is not None:
        names += [SHORT_TERM, KERNEL_TERM]
        size_B = float(costs.switch_B)
        parameters[f"{way}_switch_B"] = Parameter(value=size_B, low=fitted.below_switch_B, high=size_B, unit="B")
    for name in names:
        layouts = fitted.layouts_at.get(name, 0)
        if layouts < LEAST_LAYOUTS:
            unknown[f"{way}_{name}"] = (
                f"{layouts} layouts have it; measure {LEAST_LAYOUTS} or more {_settles(name)}"
            )
            continue
        if name in fitted.entangled:
            unknown[f"{way}_{name}"] = _untangles(name, fitted.entangled[name])
            continue
        low, high = fitted.intervals.get(name, (None, None))
        parameters[f"{way}_{name}"] = Parameter(value=costs.terms[name], low=low, high=high, unit="s")


def _untangles(name: str, others: Sequence[str]) -> str:
    """What cannot be told apart, and the measurement that would do it."""
    if not others:
        return "the layouts that have it tell nothing else; measure others with it, of more strides"
    why = f"it cannot be told from {', '.join(others)}"
    if {name, *others} <= {SETUP_TERM, ELEMENT_TERM}:
        return f"{why}: all scattered layouts have one size; measure another one too, with a greater --largest"
    return f"{why}: they grow together in all layouts; measure layouts of more sizes and strides"


def _settles(name: str) -> str:
    if name.startswith("line_"):
        level = name.removeprefix("line_").removesuffix("_s")
        place = "beyond the last cache" if level == MEMORY else f"within {level} and beyond the level before it"
        return f"whose lines lie {place}"
    return {
        STRIDED_TERM: "with a stride",
        LIST_TERMS["indexed"]: "with a list of blocks that have a stride",
        LIST_TERMS["irregular"]: "with irregular blocks",
        COPIED_TERM: f"in blocks longer than {STORED_B} B",
        SHORT_TERM: "below the size of the switch",
        PAGE_TERM: f"whose lines lie beyond {' and '.join(NEAR)}",
        KERNEL_TERM: f"in at most {KERNEL_BLOCKS} blocks, from the size of the switch on",
    }.get(name, "not contiguous")


def _bound_s(records: Sequence[EffectRecord], fitted: LayoutFit) -> float:
    """The dearest access to a line, of layouts measured without disturbance, beyond what all layouts cost."""
    costs = fitted.costs
    dearest = 0.0
    for record in records:
        shape = Shape.of(record)
        if not shape.is_contiguous and not is_disturbed(record):
            beyond_s = answered(record, DatatypesAnswer).time_s - costs.common_s(shape)
            dearest = max(dearest, beyond_s / shape.accesses)
    return float(dearest)


def _errors(
    way: str, records: Sequence[EffectRecord], fitted: LayoutFit, parameters: dict[str, Parameter]
) -> None:
    errors = fitted.relative_errors(times_s(records))
    if errors.size:
        parameters[f"{way}_left_out_median_error"] = Parameter(value=float(np.median(errors)), unit="1")
        parameters[f"{way}_left_out_p95_error"] = Parameter(value=float(np.percentile(errors, 95)), unit="1")


def _rows(way: str, records: Sequence[EffectRecord], fitted: LayoutFit) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for record, left_s in zip(records, fitted.left_out_s, strict=True):
        shape, answer = Shape.of(record), answered(record, DatatypesAnswer)
        rows.append(
            {
                "way": way,
                "layout": shape.layout,
                "bytes": shape.bytes,
                "blocks": shape.blocks,
                "block_B": shape.bytes // shape.blocks,
                "stride_B": _stride_B(record, shape),
                "strides_per_block": _stride_B(record, shape) / (shape.bytes // shape.blocks),
                "lines": shape.lines,
                "extent_B": shape.extent_B,
                "level": level_of(shape, fitted.costs.levels),
                "time_s": answer.time_s,
                "low_s": answer.low_s,
                "high_s": answer.high_s,
                "model_s": fitted.costs.time_s(shape),
                "left_out_s": left_s,
                "library_s": None,
                "faster": "",
            }
        )
    return rows


def _stride_B(record: EffectRecord, shape: Shape) -> int:
    stride = record.parameters.get("stride_B")
    if stride is not None:
        return int(stride)
    return (shape.extent_B - shape.bytes // shape.blocks) // max(1, shape.blocks - 1)


def _touching(sent: Sequence[EffectRecord]) -> list[str]:
    """What a vector costs whose blocks touch: a library may or may not see that it is contiguous."""
    plain = {Shape.of(record).bytes: record for record in sent if record.parameters["layout"] == "contiguous"}
    notes = []
    for record in sent:
        shape = Shape.of(record)
        if shape.is_contiguous and record.parameters["layout"] == "vector" and shape.bytes in plain:
            size = format_bytes(shape.bytes)
            touching, contiguous = (time(time_s) for time_s in times_s([record, plain[shape.bytes]]))
            notes.append(f"{size} in blocks of 1 B that touch: {touching}; contiguous: {contiguous}")
    return notes


def _by_hand(
    sent: Sequence[EffectRecord],
    hand: Sequence[EffectRecord],
    rows: Sequence[dict[str, Cell]],
    parameters: dict[str, Parameter],
) -> list[str]:
    """Fills `faster` and `library_s` of the rows by hand; notes: the gain by layout, the rule by block length."""
    library = {_key(record): record for record in sent}
    verdicts: dict[int, set[str]] = {}
    gains: dict[str, list[float]] = {}
    for record, row in zip(hand, rows, strict=True):
        other = library.get(_key(record))
        shape = Shape.of(record)
        if other is None or shape.is_contiguous:
            continue
        by_loop, by_library = answered(record, DatatypesAnswer), answered(other, DatatypesAnswer)
        row["faster"] = verdict = _faster(by_loop, by_library)
        row["library_s"] = by_library.time_s
        gains.setdefault(f"{shape.layout} ({verdict})", []).append(by_library.time_s / by_loop.time_s)
        if shape.layout == "vector" and record.parameters["stride_B"] == 2 * record.parameters["block_B"]:
            verdicts.setdefault(shape.bytes // shape.blocks, set()).add(verdict)
    notes = [
        f"packing by hand is {_span(ratios)} times as fast as the library: {kind}"
        for kind, ratios in sorted(gains.items())
    ]
    if verdicts:
        notes.append(_rule(verdicts, parameters))
    return notes


def _span(ratios: Sequence[float]) -> str:
    """`0.88`, or `0.65 to 1.2` where they differ."""
    return " to ".join(dict.fromkeys(f"{one:.2f}" for one in (min(ratios), max(ratios))))


def _rule(verdicts: Mapping[int, set[str]], parameters: dict[str, Parameter]) -> str:
    """Which block lengths, at twice that as stride, are faster packed by hand; a parameter where they part."""
    wins = sorted(block for block, faster in verdicts.items() if faster == {LOOP})
    loses = sorted(block for block, faster in verdicts.items() if faster == {LIBRARY})
    for side, below, above in (("below", wins, loses), ("above", loses, wins)):
        if below and above and below[-1] < above[0]:
            low, high = below[-1], above[0]
            value = math.sqrt(low * high)
            parameters[f"hand_wins_{side}_block_B"] = Parameter(value=value, low=low, high=high, unit="B")
            return f"packing by hand wins {side} blocks of {low} to {high} B (a vector, stride twice the block)"
    by_verdict = {LOOP: wins, LIBRARY: loses, UNTOLD: sorted(set(verdicts) - set(wins) - set(loses))}
    words = "; ".join(
        f"{verdict}: {', '.join(map(str, blocks))} B" for verdict, blocks in by_verdict.items() if blocks
    )
    return f"packing by hand, blocks of a vector of twice their length as stride: {words}"


def _key(record: EffectRecord) -> tuple[object, ...]:
    question = record.parameters
    return tuple(question.get(name) for name in ("layout", "blocks", "block_B", "stride_B", "side"))


def _faster(hand: DatatypesAnswer, library: DatatypesAnswer) -> str:
    if hand.high_s and library.low_s and hand.high_s < library.low_s:
        return LOOP
    if library.high_s and hand.low_s and library.high_s < hand.low_s:
        return LIBRARY
    return UNTOLD
