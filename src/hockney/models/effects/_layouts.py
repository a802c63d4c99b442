"""Cost of a layout of memory: T = T_contiguous(n) + s + O·n + b·blocks + c_level·lines, for each way of sending.

`blocks` are what a loop visits, `lines` the cache lines of 64 B that they touch, both beyond those of a
contiguous message (one block, n/64 lines), whose cost is in T_contiguous. What a line costs depends on the cache
level that the whole span fits in: blocks at a power-of-two stride leave most of a cache's sets unused, so that
the span, not the lines alone, decides where they stay; the message itself must fit beside it. Blocks with a
stride, blocks that are listed although they have one, and irregular ones have a cost of their own: some libraries
find the stride in a list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from hockney.campaign.effect_record import EffectRecord
from hockney.models.effects._least_squares import Array, relative_errors, solve, times_s

BLOCK_TERMS = {"indexed": "indexed_block_s", "irregular": "irregular_block_s"}
STRIDED_TERM = "strided_block_s"
SETUP_TERM = "setup_s"
BYTE_TERM = "byte_s_per_B"
MEMORY = "memory"
LINE_B = 64
RESAMPLES = 200
LEAST_LAYOUTS = 2
"""With a term from which it is told."""


@dataclass(frozen=True)
class Shape:
    """What the cost of a layout depends on."""

    layout: str
    bytes: int
    blocks: int
    lines: int
    accesses: int
    extent_B: int

    @classmethod
    def of(cls, record: EffectRecord) -> Shape:
        """As the runner has counted it."""
        answer = record.answer
        return cls(
            layout=str(record.parameters["layout"]),
            bytes=int(answer["bytes"]),
            blocks=int(answer["blocks"]),
            lines=int(answer["lines"]),
            accesses=int(answer["accesses"]),
            extent_B=int(answer["extent_B"]),
        )

    @property
    def is_contiguous(self) -> bool:
        """Blocks that touch are one."""
        return self.extent_B == self.bytes


@dataclass(frozen=True)
class Costs:
    """The fitted terms of one way: `terms` in seconds (or s/B) by name, `contiguous` as (bytes, seconds)."""

    terms: Mapping[str, float]
    contiguous: Sequence[tuple[int, float]]
    levels: Sequence[tuple[str, int]]

    def time_s(self, shape: Shape) -> float:
        """Predicted seconds of a layout, measured or not."""
        counted = counts(shape, self.levels)
        return self.contiguous_s(shape.bytes) + sum(
            count * self.terms.get(name, 0.0) for name, count in counted.items()
        )

    def common_s(self, shape: Shape) -> float:
        """What any layout of this size costs that is not contiguous, in seconds."""
        extra_s = self.terms.get(SETUP_TERM, 0.0) + shape.bytes * self.terms.get(BYTE_TERM, 0.0)
        return self.contiguous_s(shape.bytes) + extra_s

    def contiguous_s(self, size_B: int) -> float:
        """Seconds of a contiguous message: a line between measured sizes, a constant beyond them."""
        size, time_s = np.array(self.contiguous).T
        return float(np.interp(size_B, size, time_s))


def levels_of(caches: Sequence[Mapping[str, int]]) -> list[tuple[str, int]]:
    """(name, bytes) of each cache, innermost first."""
    return [(f"L{one['level']}", int(one["size_B"])) for one in caches]


def level_of(shape: Shape, levels: Sequence[tuple[str, int]]) -> str:
    """The innermost level that the span and the message fit in together."""
    return next((name for name, size_B in levels if shape.extent_B + shape.bytes <= size_B), MEMORY)


def counts(shape: Shape, levels: Sequence[tuple[str, int]]) -> dict[str, float]:
    """How often each term occurs in a layout, by the term's name; nothing where it is contiguous."""
    if shape.is_contiguous:
        return {}
    block = BLOCK_TERMS.get(shape.layout, STRIDED_TERM)
    line = f"line_{level_of(shape, levels)}_s"
    return {
        SETUP_TERM: 1.0,
        BYTE_TERM: float(shape.bytes),
        block: float(shape.blocks - 1),
        line: float(max(0, shape.lines - math.ceil(shape.bytes / LINE_B))),
    }


def fit_costs(
    shapes: Sequence[Shape], time_s: Array, relative_error: Array, levels: Sequence[tuple[str, int]]
) -> Costs:
    """Non-negative least squares. The contiguous times are terms too: none is trusted alone."""
    sizes = sorted({one.bytes for one in shapes})
    counted = [counts(one, levels) for one in shapes]
    names = sorted({name for one in counted for name in one})
    design = np.array(
        [[float(one.bytes == size) for size in sizes] + [each.get(name, 0.0) for name in names]
         for one, each in zip(shapes, counted, strict=True)]
    )  # fmt: skip
    solved, _ = solve(_not_negative, design, time_s, relative_error)
    return Costs(
        terms=dict(zip(names, map(float, solved[len(sizes) :]), strict=True)),
        contiguous=[(size, float(value)) for size, value in zip(sizes, solved, strict=False)],
        levels=levels,
    )


def _not_negative(a: Array, b: Array) -> Array:
    # Terms differ by ten decades; without a common scale the solver's tolerance would hide the small ones.
    norm = np.linalg.norm(a, axis=0)
    scale = np.where(norm > 0, norm, 1.0)
    return np.asarray(nnls(a / scale, b)[0] / scale, dtype=np.float64)


@dataclass(frozen=True)
class Fitted:
    """One way: its costs, the interval of every term, and each layout predicted from the others."""

    costs: Costs
    intervals: Mapping[str, tuple[float, float]]
    left_out_s: Sequence[float | None]
    layouts_at: Mapping[str, int]
    """How many layouts carry each term."""

    def relative_errors(self, time_s: Array) -> Array:
        """|predicted − measured| / measured of the layouts that could be left out."""
        pairs = [
            (left_s, each_s) for left_s, each_s in zip(self.left_out_s, time_s, strict=True) if left_s is not None
        ]
        return np.array([abs(left_s - each_s) / each_s for left_s, each_s in pairs])


def fit_way(records: Sequence[EffectRecord], levels: Sequence[tuple[str, int]], seed: int) -> Fitted:
    """Costs of one way with 95 % intervals: percentiles over layouts drawn with replacement (bootstrap).

    A contiguous message is always among those drawn, or a size would have no time of its own.
    """
    shapes = [Shape.of(one) for one in records]
    time_s, error = times_s(records), relative_errors(records)
    costs = fit_costs(shapes, time_s, error, levels)
    scattered = [index for index, one in enumerate(shapes) if not one.is_contiguous]
    fixed = [index for index, one in enumerate(shapes) if one.is_contiguous]
    random = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in costs.terms}
    for _ in range(RESAMPLES if scattered else 0):
        chosen = [*fixed, *random.choice(scattered, len(scattered))]
        again = fit_costs([shapes[index] for index in chosen], time_s[chosen], error[chosen], levels)
        for name, values in drawn.items():
            if name in again.terms:
                values.append(again.terms[name])
    layouts_at = {name: sum(name in counts(one, levels) for one in shapes) for name in costs.terms}
    return Fitted(
        costs=costs,
        intervals={name: _percentiles(values, costs.terms[name]) for name, values in drawn.items()},
        left_out_s=[_left_out(index, shapes, time_s, error, levels) for index in range(len(shapes))],
        layouts_at=layouts_at,
    )


def _percentiles(values: Sequence[float], value: float) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5]) if values else (value, value)
    return min(float(low), value), max(float(high), value)


def _left_out(
    index: int, shapes: Sequence[Shape], time_s: Array, error: Array, levels: Sequence[tuple[str, int]]
) -> float | None:
    """The layout predicted from all others; None where only it carries a size or a term."""
    rest = [other for other in range(len(shapes)) if other != index]
    others = [shapes[other] for other in rest]
    mine = shapes[index]
    if mine.is_contiguous or not any(one.bytes == mine.bytes for one in others):
        return None
    costs = fit_costs(others, time_s[rest], error[rest], levels)
    if set(counts(mine, levels)) - set(costs.terms):
        return None
    return costs.time_s(mine)
