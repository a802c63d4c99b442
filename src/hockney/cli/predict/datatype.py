"""`hockney predict datatype`: what sending scattered data costs, and whether to pack it by hand."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.options import Option, flag, flags_written
from hockney.options import options as options_of
from hockney.predict.verb import MachineFile, Strided, predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_bytes, parse_extents

with later():
    from hockney.machine.file import load
    from hockney.machine.select import parse_where, select_effect, title, words
    from hockney.models.effects._shapes import Shape, level_of
    from hockney.models.effects.datatypes import LIBRARY, LOOP
    from hockney.predict.datatype import DatatypePrediction, DatatypeVerdict, decide, predict_way
    from hockney.predict.datatype_costs import ways_of
    from hockney.predict.layout import face as face_layout
    from hockney.predict.layout import strided


MOST_ELEMENTS = 10**15
"""Elements along one direction; more than any memory has bytes."""


class BlockLayout(Strided):
    """A layout by its blocks."""

    blocks: Annotated[int | None, Option("With --layout: how many blocks.")] = None


class BlockFace(BaseModel):
    """A layout by the face of a block of elements."""

    face: Annotated[str | None, Option("x, y or z: the face of a block in C order, x fastest.")] = None
    shape: Annotated[
        tuple[int, ...] | None,
        Option("Elements of the block of --face.", flags=("--size",), read=lambda text: _extents(text)),
    ] = None
    element_B: Annotated[
        int,
        Option(
            "With --face: size of an element. [default: 8B]", flags=("--element",), read=parse_bytes, show=None
        ),
    ] = 8


class EffectOptions(MachineFile):
    """Which effect of a machine file says what layouts cost."""

    locality: Annotated[str | None, Option("[default: the nearest measured]")] = None
    where: Annotated[list[str], Option("mpi, variant, mapping, system, placement.")] = Field(default_factory=list)


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
    shape = _shape(blocks, face)
    machine = load(options.machine)
    effect = select_effect(machine, "datatypes", {"locality": options.locality} | parse_where(options.where))
    ways = ways_of(effect, machine.system.hosts)
    predictions = {name: predict_way(way, shape, effect.not_identified) for name, way in ways.items()}
    verdict = decide(predictions, shape)
    level = level_of(shape, next(iter(ways.values())).costs.levels)
    notes = _notes(predictions, shape)
    if as_json:
        say.json(
            {
                "machine": str(options.machine),
                **words(effect),
                "layout": {**vars(shape), "contiguous": shape.is_contiguous, "level": level},
                "ways": {name: _data(prediction) for name, prediction in predictions.items()},
                "verdict": vars(verdict),
                "notes": notes,
            }
        )
        return
    alike = [other for other in machine.effects if other.effect == effect.effect]
    say.line(title(effect, alike))
    say.line(_described(shape, level))
    _show(predictions)
    say.line(_decided(verdict))
    for note in notes:
        say.line(note)


def _extents(text: str) -> tuple[int, ...]:
    return parse_extents(text, "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example="64x64x64")


def _shape(blocks: BlockLayout, face: BlockFace) -> Shape:
    """The layout, given by blocks or by a face; RequestError unless exactly one of them is given, completely."""
    by_blocks, by_face = list(flags_written(blocks).values()), list(flags_written(face).values())
    if by_blocks and by_face:
        raise RequestError(
            f"{by_face[0]} means nothing with {by_blocks[0]}", "ask for a --layout or for a --face, not both"
        )
    if by_face:
        _expect(by_face, ["--face", "--size"], "--face x --size 64x64x64")
        return face_layout(face.face or "", face.shape or (), face.element_B)
    if not by_blocks:
        raise RequestError(
            "datatype needs a layout",
            "for example --layout vector --blocks 2048 --block 8B --stride 64B, or --face x --size 64x64x64",
        )
    needed = [flag(name, option) for name, _, option in options_of(BlockLayout)]
    _expect(by_blocks, needed, "--layout vector --blocks 2048 --block 8B --stride 64B")
    return strided(blocks.layout or "", blocks.blocks or 0, blocks.block_B or 0, blocks.stride_B or 0)


def _expect(given: list[str], needed: list[str], example: str) -> None:
    if missing := [name for name in needed if name not in given]:
        raise RequestError(f"{given[0]} needs {', '.join(missing)}", f"for example {example}")


def _data(prediction: DatatypePrediction) -> dict[str, Any]:
    return {
        "time_s": prediction.time_s,
        "low_s": prediction.low_s,
        "high_s": prediction.high_s,
        "measured": prediction.measured,
        "lower_bound": prediction.lower_bound,
        "model_s": prediction.parts.sum_s,
        **vars(prediction.parts),
        "level": prediction.level,
        "errors": prediction.errors,
    }


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
