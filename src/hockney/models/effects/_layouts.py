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
from hockney.models.effects._least_squares import LEAST_SHARE, Array, relative_errors, solve, times_s

BLOCK_TERMS = {"indexed": "indexed_block_s", "irregular": "irregular_block_s"}
STRIDED_TERM = "strided_block_s"
SETUP_TERM = "setup_s"
BYTE_TERM = "byte_s_per_B"
MEMORY = "memory"
LINE_B = 64
RESAMPLES = 200
LEAST_LAYOUTS = 2
"""With a term from which it is told."""
LEAST_REST = 0.03
"""Of a term's column, what the other columns must leave: its error is 1/LEAST_REST (33) times that which it would
have alone, so that 5 % of scatter become more than the whole time."""


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


def _design(shapes: Sequence[Shape], levels: Sequence[tuple[str, int]]) -> tuple[Array, list[int], list[str]]:
    """(layouts × columns, sizes, terms): a column for each size's contiguous time, then one for each term."""
    sizes = sorted({one.bytes for one in shapes})
    counted = [counts(one, levels) for one in shapes]
    names = sorted({name for one in counted for name in one})
    rows = [
        [float(one.bytes == size) for size in sizes] + [each.get(name, 0.0) for name in names]
        for one, each in zip(shapes, counted, strict=True)
    ]
    return np.array(rows), sizes, names


def fit_costs(
    shapes: Sequence[Shape], time_s: Array, relative_error: Array, levels: Sequence[tuple[str, int]]
) -> Costs:
    """Non-negative least squares. The contiguous times are terms too: none is trusted alone."""
    design, sizes, names = _design(shapes, levels)
    solved, _ = solve(_not_negative, design, time_s, relative_error)
    return Costs(
        terms=dict(zip(names, map(float, solved[len(sizes) :]), strict=True)),
        contiguous=[(size, float(value)) for size, value in zip(sizes, solved, strict=False)],
        levels=levels,
    )


def entangled(
    shapes: Sequence[Shape], time_s: Array, relative_error: Array, levels: Sequence[tuple[str, int]]
) -> dict[str, list[str]]:
    """Terms that these layouts cannot tell from others, each with the terms that make up for it.

    Of each column of the weighted design, made of length 1, what its projection on the others leaves is the
    reciprocal root of the variance inflation factor; under LEAST_REST (0: the design's rank is less than its
    columns) the term has no value of its own. A column of zeros is one of them.
    """
    design, sizes, names = _design(shapes, levels)
    weighted = design / (relative_error * time_s)[:, None]
    norm = np.linalg.norm(weighted, axis=0)
    unit = weighted / np.where(norm > 0, norm, 1.0)
    found = {}
    for place, name in enumerate(names, start=len(sizes)):
        others = np.delete(unit, place, axis=1)
        share = np.linalg.lstsq(others, unit[:, place], rcond=None)[0]
        if np.linalg.norm(unit[:, place] - others @ share) < LEAST_REST:
            rest = [other for other in names if other != name]
            terms = zip(rest, share[len(sizes) :], strict=True)
            found[name] = [other for other, value in terms if abs(value) > LEAST_REST]
    return found


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
    """Empty where there are no more layouts than terms: nothing is left that would tell the scatter."""
    entangled: Mapping[str, list[str]]
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
    """Costs of one way with 95 % intervals (parametric bootstrap), what cannot be told, and left-out errors."""
    shapes = [Shape.of(one) for one in records]
    time_s, error = times_s(records), relative_errors(records)
    costs = fit_costs(shapes, time_s, error, levels)
    return Fitted(
        costs=costs,
        intervals=_intervals(costs, shapes, time_s, error, seed),
        entangled=entangled(shapes, time_s, error, levels),
        left_out_s=[_left_out(index, shapes, time_s, error, levels) for index in range(len(shapes))],
        layouts_at={name: sum(name in counts(one, levels) for one in set(shapes)) for name in costs.terms},
    )


def _intervals(
    costs: Costs, shapes: Sequence[Shape], time_s: Array, error: Array, seed: int
) -> dict[str, tuple[float, float]]:
    """Percentiles of fits to times drawn around the model's, log-normal, with the scatter of all residuals.

    Layouts themselves are not drawn: a term that two of them carry would vary by far too little. The scatter s is
    itself drawn, s² = s²·f/χ²(f) with f layouts beyond the rank of the design, which makes of it a Student's t.
    """
    design, _, names = _design(shapes, costs.levels)
    model_s = np.maximum([costs.time_s(one) for one in shapes], LEAST_SHARE * time_s)
    freedom = len(shapes) - int(
        np.linalg.matrix_rank(design / np.maximum(np.linalg.norm(design, axis=0), 1e-300))
    )
    if freedom < 1:
        return {}
    scatter = float(np.sum((np.log(time_s / model_s) / error) ** 2)) / freedom
    random = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(RESAMPLES):
        width = math.sqrt(scatter * freedom / random.chisquare(freedom))
        again_s = model_s * np.exp(width * error * random.standard_normal(len(shapes)))
        again = fit_costs(shapes, again_s, error, costs.levels)
        for name, values in drawn.items():
            values.append(again.terms[name])
    return {name: _percentiles(values, costs.terms[name]) for name, values in drawn.items()}


def _percentiles(values: Sequence[float], value: float) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)


def _left_out(
    index: int, shapes: Sequence[Shape], time_s: Array, error: Array, levels: Sequence[tuple[str, int]]
) -> float | None:
    """The layout predicted from all others; None where only it carries a size or a term.

    The same layout of another launch is left out too: it would tell its own time.
    """
    rest = [other for other in range(len(shapes)) if shapes[other] != shapes[index]]
    others = [shapes[other] for other in rest]
    mine = shapes[index]
    if mine.is_contiguous or not any(one.bytes == mine.bytes for one in others):
        return None
    costs = fit_costs(others, time_s[rest], error[rest], levels)
    if set(counts(mine, levels)) - set(costs.terms):
        return None
    return costs.time_s(mine)
