"""`hockney predict datatype`: what sending scattered data costs, and whether to pack it by hand."""

from __future__ import annotations

from hockney import api
from hockney.cli.predict import predict
from hockney.options.predict import EffectOptions, ScatteredData
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import format_bytes, format_time, percent

LIBRARY, LOOP = "library", "by hand"
"""Answers of a verdict."""


@verb(
    "datatype",
    examples="""
hockney predict datatype --machine ci_2core --layout vector:2048x8B/64B
hockney predict datatype --machine ci_2core --layout x:128x64x32/4B --json
""",
    of=predict,
)
def datatype(asked: ScatteredData, options: EffectOptions, as_json: JsonOption = False) -> None:
    """The time of a message from scattered memory, by an MPI datatype and packed by hand, and which is faster.

    The times come from the effect `datatypes` of a machine file: the measured one where this very layout was
    measured, else its model's.
    """
    answer = api.predict_datatype(asked, options)
    if as_json:
        say.json(answer)
        return
    say.line(answer.title)
    say.line(_described(answer.layout))
    say.rows("", answer.ways.values(), COLUMNS)
    say.line(_decided(answer.verdict))
    for note in answer.notes:
        say.line(note)


def _described(shape: api.Layout) -> str:
    if shape.is_contiguous:
        return f"{shape.layout}: {format_bytes(shape.bytes)}, contiguous"
    block = format_bytes(shape.bytes // shape.blocks)
    return (
        f"{shape.layout}: {format_bytes(shape.bytes)} in {shape.blocks} blocks of {block}, {shape.lines} cache "
        f"lines in {shape.level}, spanning {format_bytes(shape.extent_B)}"
    )


def _interval(way: api.DatatypePrediction) -> str | None:
    if way.low_s is None and way.high_s is None:
        return None
    low, high = ("?" if end is None else format_time(end) for end in (way.low_s, way.high_s))
    return f"{low.removesuffix(' ' + high.rpartition(' ')[2])} to {high}"


COLUMNS = (
    Column("way", "way"),
    Column("time", lambda way: ("≥ " if way.lower_bound else "") + format_time(way.time_s)),
    Column("95 % interval", _interval),
    Column("from", lambda way: "measured" if way.measured else "model"),
    Column("contiguous", "contiguous_s", format_time),
    Column("fixed", lambda way: percent(way.fixed_s / way.model_s)),
    Column("blocks", lambda way: percent(way.blocks_s / way.model_s)),
    Column("lines", lambda way: percent(way.lines_s / way.model_s)),
)


def _decided(verdict: api.DatatypeVerdict) -> str:
    if verdict.factor is None:
        return f"{verdict.answer}: {verdict.why}"
    factor, ends = verdict.factor, [end for end in (verdict.low, verdict.high) if end is not None]
    if verdict.answer == LIBRARY:
        # So many times as fast, not so small a part of the time.
        factor, ends = 1 / factor, [1 / end for end in reversed(ends)]
    within = f" ({ends[0]:.3g} to {ends[1]:.3g})" if ends else ""
    said = {
        LIBRARY: f"an MPI datatype is {factor:.3g} times as fast as packing by hand{within}",
        LOOP: f"packing by hand is {factor:.3g} times as fast as an MPI datatype{within}",
    }.get(verdict.answer, f"an MPI datatype takes {factor:.3g} times as long as packing by hand{within}")
    return f"{verdict.answer}: {said}; {verdict.why}"
