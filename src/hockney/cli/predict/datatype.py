"""`hockney predict datatype`: what sending scattered data costs, and whether to pack it by hand."""

from __future__ import annotations

from rich.table import Table

from hockney.predict.datatype_options import BlockFace, BlockLayout, EffectOptions
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.api.datatypes import datatypes, way_data
    from hockney.machine.select import title, words
    from hockney.models.effects._shapes import Shape
    from hockney.models.effects.datatypes import LIBRARY, LOOP
    from hockney.predict.datatype import DatatypePrediction, DatatypeVerdict


@verb(
    "datatype",
    examples="""
hockney predict datatype --machine ci_2core --layout vector --blocks 2048 --block 8B --stride 64B
hockney predict datatype --machine ci_2core --layout irregular --blocks 500 --block 24B --stride 1KiB --json
hockney predict datatype --machine ci_2core --face x --size 128x64x32 --element 4B
hockney predict datatype --face y --size 64x64x64 --locality cache --where mapping=core
""",
    of=predict,
)
def datatype(blocks: BlockLayout, face: BlockFace, options: EffectOptions, as_json: JsonOption = False) -> None:
    """The time of a message from scattered memory, by an MPI datatype and packed by hand, and which is faster.

    The times come from the effect `datatypes` of a machine file: the measured one where this very layout was
    measured, else its model's.
    """
    times = datatypes(blocks, face, options)
    shape, effect, predictions, verdict = times.shape, times.effect, times.predictions, times.verdict
    notes = _notes(predictions, shape)
    if as_json:
        say.json(
            {
                "machine": str(options.machine),
                **words(effect),
                "layout": {**vars(shape), "contiguous": shape.is_contiguous, "level": times.level},
                "ways": {name: way_data(prediction) for name, prediction in predictions.items()},
                "verdict": vars(verdict),
                "notes": notes,
            }
        )
        return
    alike = [other for other in times.machine.effects if other.effect == effect.effect]
    say.line(title(effect, alike))
    say.line(_described(shape, times.level))
    _show(predictions)
    say.line(_decided(verdict))
    for note in notes:
        say.line(note)


def _notes(predictions: dict[str, DatatypePrediction], shape: Shape) -> list[str]:
    """Every note once, with the ways that it holds for."""
    ways_with: dict[str, list[str]] = {}
    for way, prediction in predictions.items():
        for note in prediction.notes:
            ways_with.setdefault(note, []).append(way)
    notes = [f"{', '.join(ways)}: {note}" for note, ways in ways_with.items()]
    if shape.layout == "irregular" and not shape.is_contiguous:
        notes.append("lines and span are those expected of blocks at random places of their strides")
    return notes


def _described(shape: Shape, level: str) -> str:
    if shape.is_contiguous:
        return f"{shape.layout}: {format_bytes(shape.bytes)}, contiguous"
    block = format_bytes(shape.bytes // shape.blocks)
    return (
        f"{shape.layout}: {format_bytes(shape.bytes)} in {shape.blocks} blocks of {block}, {shape.lines} cache "
        f"lines in {level}, spanning {format_bytes(shape.extent_B)}"
    )


def _show(predictions: dict[str, DatatypePrediction]) -> None:
    headings = ("way", "time", "95 % interval", "from", "contiguous", "fixed", "blocks", "lines")
    table = Table(*headings, box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap = True
    for way, prediction in predictions.items():
        low, high = ("?" if end is None else format_time(end) for end in (prediction.low_s, prediction.high_s))
        unit = f" {high.rpartition(' ')[2]}"
        parts, whole_s = prediction.parts, prediction.parts.sum_s
        table.add_row(
            way,
            ("≥ " if prediction.lower_bound else "") + format_time(prediction.time_s),
            "–" if low == high == "?" else f"{low.removesuffix(unit)} to {high}",
            "measured" if prediction.measured else "model",
            format_time(parts.contiguous_s),
            *(f"{100 * each_s / whole_s:.0f} %" for each_s in (parts.fixed_s, parts.blocks_s, parts.lines_s)),
        )
    say.table(table)


def _decided(verdict: DatatypeVerdict) -> str:
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
