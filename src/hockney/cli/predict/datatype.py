"""`hockney predict datatype`: what sending scattered data costs, and whether to pack it by hand."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.options import Option, flag, options
from hockney.predict.verb import MachineFile, predict
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
"""Along one direction: more than any memory has bytes."""


class Blocks(BaseModel):
    """A layout by its blocks."""

    layout: Annotated[str | None, Option("vector, indexed (the same as a list) or irregular.")] = None
    blocks: Annotated[int | None, Option("With --layout: how many blocks.")] = None
    block_B: Annotated[
        int | None,
        Option("With --layout: length of a block, such as 8B.", flags=("--block",), read=parse_bytes),
    ] = None
    stride_B: Annotated[
        int | None,
        Option(
            "With --layout: from block to block, such as 64B; of irregular the mean.",
            flags=("--stride",),
            read=parse_bytes,
        ),
    ] = None


class Face(BaseModel):
    """A layout by the face of a block of elements."""

    face: Annotated[str | None, Option("x, y or z: the face of a block in C order, x fastest.")] = None
    shape: Annotated[
        tuple[int, ...] | None,
        Option("With --face: elements along x, y and z, such as 64x64x64.", read=lambda text: _extents(text)),
    ] = None
    element_B: Annotated[
        int,
        Option(
            "With --face: size of an element. [default: 8B]", flags=("--element",), read=parse_bytes, show=None
        ),
    ] = 8


class EffectOf(MachineFile):
    """Which effect of a machine file says what layouts cost."""

    locality: Annotated[
        str | None, Option("core, cache, numa, package, node or network. [default: the nearest measured]")
    ] = None
    where: Annotated[
        list[str], Option("NAME=WORD, where a file holds more: mpi, variant, mapping, system, placement.")
    ] = Field(default_factory=list)


@verb(
    "datatype",
    examples="""
hockney predict datatype --machine ci_2core --layout vector --blocks 2048 --block 8B --stride 64B
hockney predict datatype --machine ci_2core --layout irregular --blocks 500 --block 24B --stride 1KiB --json
hockney predict datatype --machine ci_2core --face x --shape 128x64x32 --element 4B
hockney predict datatype --face y --shape 64x64x64 --locality cache --where mapping=core
""",
    of=predict,
)
def datatype(blocks: Blocks, face: Face, machine: EffectOf, as_json: JsonOption = False) -> None:
    """What a message from scattered memory takes, by an MPI datatype and packed by hand, and which is faster.

    From the effect `datatypes` of a machine file: measured where this very layout was, else its model.
    """
    asked = _shape(blocks, face)
    whole = load(machine.machine)
    effect = select_effect(whole, "datatypes", {"locality": machine.locality} | parse_where(machine.where))
    ways = ways_of(effect, whole.system.hosts)
    found = {name: predict_way(way, asked, effect.not_identified) for name, way in ways.items()}
    verdict = decide(found, asked)
    level = level_of(asked, next(iter(ways.values())).costs.levels)
    if as_json:
        say.json(
            {
                "machine": str(machine.machine),
                **words(effect),
                "layout": {**vars(asked), "contiguous": asked.is_contiguous, "level": level},
                "ways": {name: _data(one) for name, one in found.items()},
                "verdict": vars(verdict),
                "notes": _notes(found, asked),
            }
        )
        return
    alike = [one for one in whole.effects if one.effect == effect.effect]
    say.line(title(effect, alike))
    say.line(_described(asked, level))
    _show(found)
    say.line(_decided(verdict))
    for note in _notes(found, asked):
        say.line(note)


def _extents(text: str) -> tuple[int, ...]:
    return parse_extents(text, "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example="64x64x64")


def _shape(blocks: Blocks, face: Face) -> Shape:
    """The layout asked for, by blocks or by a face; RequestError unless it is exactly one of them, whole."""
    by_blocks, by_face = _flags(blocks, blocks.model_fields_set), _flags(face, face.model_fields_set)
    if by_blocks and by_face:
        raise RequestError(
            f"{by_face[0]} means nothing with {by_blocks[0]}", "ask for a --layout or for a --face, not both"
        )
    if by_face:
        _whole(by_face, ["--face", "--shape"], "--face x --shape 64x64x64")
        return face_layout(face.face or "", face.shape or (), face.element_B)
    if not by_blocks:
        raise RequestError(
            "datatype needs a layout",
            "for example --layout vector --blocks 2048 --block 8B --stride 64B, or --face x --shape 64x64x64",
        )
    _whole(by_blocks, _flags(blocks), "--layout vector --blocks 2048 --block 8B --stride 64B")
    return strided(blocks.layout or "", blocks.blocks or 0, blocks.block_B or 0, blocks.stride_B or 0)


def _flags(model: BaseModel, names: Container[str] | None = None) -> list[str]:
    """How the options of these names are called, of all without."""
    return [flag(name, option) for name, _, option in options(type(model)) if names is None or name in names]


def _whole(given: list[str], needed: list[str], example: str) -> None:
    if missing := [name for name in needed if name not in given]:
        raise RequestError(f"{given[0]} needs {', '.join(missing)}", f"for example {example}")


def _data(one: DatatypePrediction) -> dict[str, Any]:
    return {
        "time_s": one.time_s,
        "low_s": one.low_s,
        "high_s": one.high_s,
        "measured": one.measured,
        "lower_bound": one.lower_bound,
        "model_s": one.parts.sum_s,
        **vars(one.parts),
        "level": one.level,
        "errors": one.errors,
    }


def _notes(found: dict[str, DatatypePrediction], shape: Shape) -> list[str]:
    """Those of all ways, each said once, with the ways that it holds for."""
    holds: dict[str, list[str]] = {}
    for name, one in found.items():
        for note in one.notes:
            holds.setdefault(note, []).append(name)
    notes = [f"{', '.join(names)}: {note}" for note, names in holds.items()]
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


def _show(found: dict[str, DatatypePrediction]) -> None:
    names = ("way", "time", "95 % interval", "from", "contiguous", "fixed", "blocks", "lines")
    shown = Table(*names, box=None, pad_edge=False)
    for column in shown.columns:
        column.no_wrap = True
    for name, one in found.items():
        low, high = ("?" if end is None else format_time(end) for end in (one.low_s, one.high_s))
        unit = f" {high.rpartition(' ')[2]}"
        parts, whole_s = one.parts, one.parts.sum_s
        shown.add_row(
            name,
            ("≥ " if one.lower_bound else "") + format_time(one.time_s),
            "–" if low == high == "?" else f"{low.removesuffix(unit)} to {high}",
            "measured" if one.measured else "model",
            format_time(parts.contiguous_s),
            *(f"{100 * each_s / whole_s:.0f} %" for each_s in (parts.fixed_s, parts.blocks_s, parts.lines_s)),
        )
    say.table(shown)


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
