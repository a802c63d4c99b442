"""What `hockney predict datatype` answers: a layout, and what each way of sending it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hockney.errors import RequestError
from hockney.fields import flag, flags_written, options
from hockney.machine.file import Machine
from hockney.machine.select import parse_where, select_effect
from hockney.models.effects._shapes import Shape, level_of
from hockney.models.effects.base import Effect
from hockney.predict.datatype import DatatypePrediction, DatatypeVerdict, decide, predict_way
from hockney.predict.datatype_costs import ways_of
from hockney.predict.datatype_options import BlockFace, BlockLayout, EffectOptions
from hockney.predict.layout import face as face_layout
from hockney.predict.layout import strided
from hockney.predict.network_figures import machine_of


@dataclass(frozen=True)
class DatatypeTimes:
    """Times of a layout by each way of sending it. `level` of the memory that it lies in, with its name."""

    machine: Machine
    effect: Effect
    shape: Shape
    level: str
    predictions: dict[str, DatatypePrediction]
    verdict: DatatypeVerdict


def datatypes(blocks: BlockLayout, face: BlockFace, of: EffectOptions) -> DatatypeTimes:
    """Predict each way; RequestError unless one layout is given, and where the machine has no such effect."""
    shape = _shape(blocks, face)
    machine = machine_of(of)
    effect = select_effect(machine, "datatypes", {"locality": of.locality} | parse_where(of.where))
    ways = ways_of(effect, machine.system.hosts)
    predictions = {name: predict_way(way, shape, effect.not_identified) for name, way in ways.items()}
    level = level_of(shape, next(iter(ways.values())).costs.levels)
    return DatatypeTimes(machine, effect, shape, level, predictions, decide(predictions, shape))


def way_data(prediction: DatatypePrediction) -> dict[str, Any]:
    """A way as a table has it: seconds, with the parts of the model."""
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
    needed = [flag(name, option) for name, _, option in options(BlockLayout)]
    _expect(by_blocks, needed, "--layout vector --blocks 2048 --block 8B --stride 64B")
    return strided(blocks.layout or "", blocks.blocks or 0, blocks.block_B or 0, blocks.stride_B or 0)


def _expect(given: list[str], needed: list[str], example: str) -> None:
    if missing := [name for name in needed if name not in given]:
        raise RequestError(f"{given[0]} needs {', '.join(missing)}", f"for example {example}")
