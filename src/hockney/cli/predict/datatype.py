"""`hockney predict datatype`: what sending scattered data costs, and whether to pack it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import JsonOption, say, verb
from hockney.cli.predict import MACHINE, MachineFile, predict
from hockney.errors import RequestError
from hockney.units import parse_extents

if TYPE_CHECKING:
    from hockney.models.effects._shapes import Shape
    from hockney.predict.datatype import Prediction, Verdict

MOST_ELEMENTS = 10**15
"""Along one direction: more than any memory has bytes."""


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
def datatype(
    layout: Annotated[str, typer.Option(help="vector, indexed (the same as a list) or irregular.")] = "",
    blocks: Annotated[int | None, typer.Option(help="With --layout: how many blocks.")] = None,
    block: Annotated[str, typer.Option(help="With --layout: length of a block, such as 8B.")] = "",
    stride: Annotated[
        str, typer.Option(help="With --layout: from block to block, such as 64B; of irregular the mean.")
    ] = "",
    face: Annotated[str, typer.Option(help="x, y or z: the face of a block in C order, x fastest.")] = "",
    shape: Annotated[str, typer.Option(help="With --face: elements along x, y and z, such as 64x64x64.")] = "",
    element: Annotated[str, typer.Option(help="With --face: size of an element. [default: 8B]")] = "",
    machine: MachineFile = MACHINE,
    locality: Annotated[
        str | None,
        typer.Option(help="core, cache, numa, package, node or network. [default: the nearest measured]"),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="NAME=WORD, where a file holds more: mpi, variant, mapping, system, placement."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What a message from scattered memory takes, by an MPI datatype and packed by hand, and which is faster.

    From the effect `datatypes` of a machine file: measured where this very layout was, else its model.
    """
    asked = _shape(
        {"--layout": layout, "--blocks": blocks, "--block": block, "--stride": stride},
        {"--face": face, "--shape": shape, "--element": element},
    )
    from hockney.machine.file import load
    from hockney.machine.select import one_effect, parse_where, title, words
    from hockney.models.effects._shapes import level_of
    from hockney.predict.datatype import decide, predict_way
    from hockney.predict.datatype_costs import ways_of

    whole = load(machine)
    effect = one_effect(whole, "datatypes", {"locality": locality} | parse_where(where or []))
    ways = ways_of(effect, whole.system.hosts)
    found = {name: predict_way(way, asked, effect.not_identified) for name, way in ways.items()}
    verdict = decide(found, asked)
    level = level_of(asked, next(iter(ways.values())).costs.levels)
    if as_json:
        say.json(
            {
                "machine": str(machine),
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


def _shape(strides: dict[str, Any], faces: dict[str, Any]) -> Shape:
    """The layout asked for, by blocks or by a face; RequestError unless it is exactly one of them, whole."""
    from hockney.predict.layout import face, strided
    from hockney.units import parse_bytes

    given = [[name for name, word in one.items() if word not in ("", None)] for one in (strides, faces)]
    if given[0] and given[1]:
        raise RequestError(
            f"{given[1][0]} means nothing with {given[0][0]}", "ask for a --layout or for a --face, not both"
        )
    if not given[0] and not given[1]:
        raise RequestError(
            "datatype needs a layout",
            "for example --layout vector --blocks 2048 --block 8B --stride 64B, or --face x --shape 64x64x64",
        )
    if given[1]:
        _whole(faces, given[1], ("--face", "--shape"), "--face x --shape 64x64x64")
        shape = parse_extents(
            faces["--shape"], "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example="64x64x64"
        )
        return face(faces["--face"], shape, parse_bytes(faces["--element"] or "8B"))
    _whole(strides, given[0], tuple(strides), "--layout vector --blocks 2048 --block 8B --stride 64B")
    return strided(
        strides["--layout"],
        strides["--blocks"],
        parse_bytes(strides["--block"]),
        parse_bytes(strides["--stride"]),
    )


def _whole(all_of: dict[str, Any], given: list[str], needed: tuple[str, ...], example: str) -> None:
    missing = [name for name in needed if all_of[name] in ("", None)]
    if missing:
        raise RequestError(f"{given[0]} needs {', '.join(missing)}", f"for example {example}")


def _data(one: Prediction) -> dict[str, Any]:
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


def _notes(found: dict[str, Prediction], shape: Shape) -> list[str]:
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
    from hockney.units import format_bytes

    if shape.is_contiguous:
        return f"{shape.layout}: {format_bytes(shape.bytes)}, contiguous"
    block = format_bytes(shape.bytes // shape.blocks)
    return (
        f"{shape.layout}: {format_bytes(shape.bytes)} in {shape.blocks} blocks of {block}, {shape.lines} cache "
        f"lines in {level}, spanning {format_bytes(shape.extent_B)}"
    )


def _show(found: dict[str, Prediction]) -> None:
    from rich.table import Table

    from hockney.units import format_time

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


def _decided(verdict: Verdict) -> str:
    from hockney.models.effects.datatypes import LIBRARY, LOOP

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
