"""Datatypes: what blocks, lines and pages cost beyond a contiguous message, the worst case, and packing by hand.

Hoefler et al. 2010, section 3, figure 1(b): 16 KiB of MPI_CHAR by stride, "bound by the slowest memory".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hockney.errors import RequestError
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
from hockney.models.effects._scaffold import above, below, time, times
from hockney.models.effects._shapes import LIBRARY, LOOP, MEMORY, UNTOLD, WAYS, Shape, level_of, levels_of
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.records.effect_answers import DatatypesAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.units import format_bytes, grouped

SOURCE = "Hoefler et al. 2010, section 3"
LEAST_SCATTERED = 6
SEED = 0


@effect_models.register(
    "datatypes",
    "What it costs to send data that are not contiguous, and when packing by hand is faster.",
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
    widens=True,
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """Cost per block and line of every way, the bound, the errors of layouts left out, and where a loop wins."""
    levels = levels_of(records[0].about.get("caches", ()))
    by_way = grouped(records, lambda record: str(record.parameters["way"]))
    ways = {way: by_way.get(way, []) for way in WAYS}
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
    for way, fitted in fits.items():
        of_way, bound_s = ways[way], _bound_s(ways[way], fitted)
        _enter_costs(effect, way, fitted)
        effect.know(f"{way}_access_bound_s", bound_s, "s")
        errors = fitted.relative_errors(times_s(of_way))
        if errors.size:
            effect.know(f"{way}_left_out_median_error", float(np.median(errors)), "1")
            effect.know(f"{way}_left_out_p95_error", float(np.percentile(errors, 95)), "1")
        effect.points += _rows(way, of_way, fitted)
        _state(effect, way, fitted, bound_s, of_way)
    effect.notes += _touching(ways["send"])
    by_hand = [row for row in effect.points if row["way"] == "hand"]
    if by_hand:
        _compare_by_hand(effect, ways["send"], ways["hand"], by_hand)
    disturbed = sum(is_disturbed(record) for record in records)
    if disturbed:
        effect.notes.append(f"{disturbed} of {len(records)} points were disturbed and count little")
    if not levels:
        effect.notes.append("the system's cache sizes are unknown: all lines count as memory's")


def _enter_costs(effect: Effect, way: str, fitted: LayoutFit) -> None:
    costs = fitted.costs
    names = [SETUP_TERM, ELEMENT_TERM, STRIDED_TERM, *LIST_TERMS.values(), COPIED_TERM, PAGE_TERM]
    names += [f"line_{level}_s" for level in (*(name for name, _ in costs.levels), MEMORY)]
    if costs.switch_B is not None:
        names += [SHORT_TERM, KERNEL_TERM]
        size_B = float(costs.switch_B)
        effect.know(f"{way}_switch_B", size_B, "B", fitted.below_switch_B, size_B)
    for name in names:
        layouts = fitted.layouts_at.get(name, 0)
        if layouts < LEAST_LAYOUTS:
            more = f"{layouts} layouts have it; measure {LEAST_LAYOUTS} or more {_settles(name)}"
            effect.cannot_tell(more, f"{way}_{name}")
        elif name in fitted.entangled:
            effect.cannot_tell(_untangles(name, fitted.entangled[name]), f"{way}_{name}")
        else:
            ends = fitted.intervals.get(name, (None, None))
            effect.know(f"{way}_{name}", costs.terms[name], "s", *ends)


def _untangles(name: str, others: Sequence[str]) -> str:
    """What the layouts move only together, and the measurement that would do it."""
    if not others:
        return "the layouts that have it say nothing else; measure others with it, of more strides"
    why = f"the layouts move it only together with {', '.join(others)}"
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


def _state(effect: Effect, way: str, fitted: LayoutFit, bound_s: float, records: Sequence[EffectRecord]) -> None:
    """The views of one way; `bound_s`: the dearest access to a line. The bounds hold what was measured."""
    effect.state("asymptotic", "T(n, B, l, p) = Θ(n + B + l + p)", way)
    lines = _lines(fitted)
    if lines:
        label, line_s, page_s = lines[-1]
        where = f"{way}, blocks far apart, each in a page of its own, lines in {label}"
        effect.state("dominant", f"T ≈ T_contiguous(n) + {time(line_s + page_s)} · l", where)
    costs, limit = fitted.costs, _limit(fitted)
    setup_s, element_s = (costs.terms.get(name, 0.0) for name in (SETUP_TERM, ELEMENT_TERM))
    common = f"T_contiguous(n) + {time(setup_s)} + {time(element_s)} · e"
    measured = list(zip(map(Shape.of, records), times_s(records).tolist(), strict=True))
    low = below(each_s / costs.contiguous_s(shape.bytes) for shape, each_s in measured)
    high = above(each_s / (costs.common_s(shape) + bound_s * shape.accesses) for shape, each_s in measured)
    effect.state(
        "bounded",
        f"{times(low, 'T_contiguous(n)')} ≤ T ≤ {times(high, f'{common} + {time(bound_s)} · a')}",
        f"{way}, every layout measured; e elements; a: accesses, a block and a line of 64 B that it "
        f"touches{limit}",
        SOURCE,
    )
    for which, blocks in _blocks(fitted):
        for label, line_s, page_s in lines:
            counted = [*blocks, (line_s, "l")] + ([] if label in NEAR else [(page_s, "p")])
            effect.state(
                "exact",
                " + ".join([f"T = {common}", *(f"{time(each_s)} · {name}" for each_s, name in counted)]),
                f"{way}, {which}; e elements. Beyond a contiguous message: B blocks, C of them longer than "
                f"{STORED_B} B, l lines, p pages{limit}; lines in {label}",
            )


def _blocks(fitted: LayoutFit) -> list[tuple[str, list[tuple[float, str]]]]:
    """Which blocks, and (seconds, symbol) of what they cost, by each protocol."""
    terms, switch_B = fitted.costs.terms, fitted.costs.switch_B
    strided, short, kernel = ((terms.get(name, 0.0), "B") for name in (STRIDED_TERM, SHORT_TERM, KERNEL_TERM))
    copied = (terms.get(COPIED_TERM, 0.0), "C")
    if switch_B is None:
        return [("blocks at a stride", [strided, copied])]
    size = format_bytes(switch_B)
    return [
        (f"less than {size}", [short, copied]),
        (f"{size} or more in up to {KERNEL_BLOCKS} blocks at a stride", [kernel]),
        (f"{size} or more in more blocks at a stride", [strided, copied]),
    ]


def _limit(fitted: LayoutFit) -> str:
    names = (SETUP_TERM, ELEMENT_TERM, STRIDED_TERM, COPIED_TERM, PAGE_TERM, SHORT_TERM, KERNEL_TERM)
    untold = [name for name in names if name in fitted.entangled]
    # Their sum is right at the sizes measured, whatever share each of them has.
    return f"; only at the sizes measured, {', '.join(untold)} are known only as a sum" if untold else ""


def _lines(fitted: LayoutFit) -> list[tuple[str, float, float]]:
    """(level, seconds a line, a page) of the levels that the data tell, innermost first."""
    terms = fitted.costs.terms
    levels = [*(name for name, _ in fitted.costs.levels), MEMORY]
    return [
        (level, terms[f"line_{level}_s"], 0.0 if level in NEAR else terms.get(PAGE_TERM, 0.0))
        for level in levels
        if fitted.layouts_at.get(f"line_{level}_s", 0) >= LEAST_LAYOUTS
        and f"line_{level}_s" not in fitted.entangled
    ]


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
                "block_B": shape.block_B,
                "stride_B": _stride_B(record, shape),
                "strides_per_block": _stride_B(record, shape) / (shape.block_B),
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
    return (shape.extent_B - shape.block_B) // max(1, shape.blocks - 1)


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


def _compare_by_hand(
    effect: Effect, sent: Sequence[EffectRecord], hand: Sequence[EffectRecord], rows: Sequence[dict[str, Cell]]
) -> None:
    """Fill `faster` and `library_s` of the rows by hand; note the gain by layout and the rule by block length."""
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
            verdicts.setdefault(shape.block_B, set()).add(verdict)
    effect.notes += [
        f"packing by hand is {_span(ratios)} times as fast as the library: {kind}"
        for kind, ratios in sorted(gains.items())
    ]
    if verdicts:
        _enter_rule(effect, verdicts)


def _span(ratios: Sequence[float]) -> str:
    """`0.88`, or `0.65 to 1.2` where they differ."""
    return " to ".join(dict.fromkeys(f"{ratio:.2f}" for ratio in (min(ratios), max(ratios))))


def _enter_rule(effect: Effect, verdicts: Mapping[int, set[str]]) -> None:
    """Which block lengths, at twice that as stride, are faster packed by hand; a parameter where they part."""
    wins = sorted(block for block, faster in verdicts.items() if faster == {LOOP})
    loses = sorted(block for block, faster in verdicts.items() if faster == {LIBRARY})
    for side, under, over in (("below", wins, loses), ("above", loses, wins)):
        if under and over and under[-1] < over[0]:
            low, high = under[-1], over[0]
            effect.know(f"hand_wins_{side}_block_B", math.sqrt(low * high), "B", low, high)
            effect.notes.append(
                f"packing by hand wins {side} blocks of {low} to {high} B (a vector, stride twice the block)"
            )
            return
    by_verdict = {LOOP: wins, LIBRARY: loses, UNTOLD: sorted(set(verdicts) - set(wins) - set(loses))}
    listed = "; ".join(
        f"{verdict}: {', '.join(map(str, blocks))} B" for verdict, blocks in by_verdict.items() if blocks
    )
    effect.notes.append(f"packing by hand, blocks of a vector of twice their length as stride: {listed}")


def _key(record: EffectRecord) -> tuple[object, ...]:
    question = record.parameters
    return tuple(question.get(name) for name in ("layout", "blocks", "block_B", "stride_B", "side"))


def _faster(hand: DatatypesAnswer, library: DatatypesAnswer) -> str:
    if hand.high_s and library.low_s and hand.high_s < library.low_s:
        return LOOP
    if library.high_s and hand.low_s and library.high_s < hand.low_s:
        return LIBRARY
    return UNTOLD
