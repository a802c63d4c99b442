"""Cost of a layout of memory: T_contiguous(n) and what set-up, elements, blocks, lines and pages cost beyond it.

Each way of sending has costs of its own. `blocks` are what a loop visits, `lines` the cache lines of 64 B that
they touch, `pages` the pages of 4 KiB, all beyond those of a contiguous message, whose cost is in T_contiguous.
What a line costs depends on the cache level that has room for all of them (`Shape.claimed_B`) and for the
message. Beyond a core's caches the first line of a page costs more: prefetching ends with a page, and the next
has an address to be found.

Blocks with a stride, blocks that are listed although they have one, and irregular ones have a cost of their own:
some libraries find the stride in a list. From a size on, a library may hand the list of blocks to the kernel or
pack in another way: that size is found by the fit (`switch_B`), and blocks on its sides have costs of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.effects._least_squares import LEAST_SHARE, relative_errors, solve, times_s
from hockney.models.effects._shapes import LINE_B, PAGE_B, Shape, level_of
from hockney.records.effect_record import EffectRecord
from hockney.statistics import Array, nonnegative_least_squares

STRIDED_TERM = "strided_block_s"
LIST_TERMS = {"indexed": "indexed_block_s", "irregular": "irregular_block_s"}
KERNEL_TERM = "kernel_block_s"
SHORT_TERM = "short_message_block_s"
COPIED_TERM = "copied_block_s"
SETUP_TERM = "setup_s"
ELEMENT_TERM = "element_s"
PAGE_TERM = "page_s"
STORED_B = 8
"""The longest block that is one load and one store; longer ones are copied by a call."""
KERNEL_BLOCKS = 1024
"""IOV_MAX of Linux: as many blocks process_vm_readv and its like take."""
NEAR = ("L1", "L2")
"""Caches of one core, so near that it does not matter whether a line was prefetched from there."""
RESAMPLES = 200
LEAST_LAYOUTS = 2
"""Layouts that must have a term for it to be determined."""
LEAST_REST = 0.03
"""The other columns must leave this share of a term's column: its error is then 1/LEAST_REST (33) times what it
would be alone, and 5 % of scatter become more than the whole time."""
SWITCH_SHARE = 0.5
"""A switch counts where it leaves less than this share of the squared residuals. In 21 campaigns with two
libraries the best size left 0.62 or more in all 85 fits of a library without a switch, 0.41 or less in 19 of 20
with one."""


@dataclass(frozen=True)
class LayoutCosts:
    """The fitted terms of one way: `terms` in seconds by name, `contiguous` as (bytes, seconds).

    `switch_B`: the smallest size measured from which on messages are sent by another protocol, where that shows.
    """

    terms: Mapping[str, float]
    contiguous: Sequence[tuple[int, float]]
    levels: Sequence[tuple[str, int]]
    switch_B: int | None = None

    def time_s(self, shape: Shape) -> float:
        """Predicted seconds of a layout, measured or not."""
        return self.contiguous_s(shape.bytes) + sum(
            count * self.terms.get(name, 0.0) for name, count in self.counts(shape).items()
        )

    def counts(self, shape: Shape) -> dict[str, float]:
        """How often each term occurs in a layout, by the term's name."""
        return counts(shape, self.levels, self.switch_B)

    def common_s(self, shape: Shape) -> float:
        """What any layout of this size costs that is not contiguous, in seconds."""
        elements_s = shape.bytes / shape.element_B * self.terms.get(ELEMENT_TERM, 0.0)
        return self.contiguous_s(shape.bytes) + self.terms.get(SETUP_TERM, 0.0) + elements_s

    def contiguous_s(self, size_B: int) -> float:
        """Seconds of a contiguous message: a line between measured sizes, a constant beyond them."""
        size, time_s = np.array(self.contiguous).T
        return float(np.interp(size_B, size, time_s))


def block_term(shape: Shape, switch_B: int | None) -> str:
    """The term of this layout's blocks."""
    if switch_B is not None:
        if shape.bytes < switch_B:
            return SHORT_TERM
        if shape.blocks <= KERNEL_BLOCKS and shape.layout != "irregular":
            return KERNEL_TERM
    return LIST_TERMS.get(shape.layout, STRIDED_TERM)


def counts(shape: Shape, levels: Sequence[tuple[str, int]], switch_B: int | None = None) -> dict[str, float]:
    """How often each term occurs in a layout, by the term's name; nothing where it is contiguous."""
    if shape.is_contiguous:
        return {}
    level, block = level_of(shape, levels), block_term(shape, switch_B)
    often = {
        SETUP_TERM: 1.0,
        ELEMENT_TERM: shape.bytes / shape.element_B,
        block: float(shape.blocks - 1),
        f"line_{level}_s": float(max(0, shape.lines - math.ceil(shape.bytes / LINE_B))),
    }
    if shape.block_B > STORED_B and block != KERNEL_TERM:
        often[COPIED_TERM] = float(shape.blocks - 1)
    if level not in NEAR:
        often[PAGE_TERM] = float(max(0, shape.pages - math.ceil(shape.bytes / PAGE_B)))
    return often


def _design(
    shapes: Sequence[Shape], levels: Sequence[tuple[str, int]], switch_B: int | None
) -> tuple[Array, list[int], list[str]]:
    """(layouts × columns, sizes, terms): a column for each size's contiguous time, then one for each term."""
    sizes = sorted({shape.bytes for shape in shapes})
    counted = [counts(shape, levels, switch_B) for shape in shapes]
    names = sorted({name for often in counted for name in often})
    rows = [
        [float(shape.bytes == size) for size in sizes] + [often.get(name, 0.0) for name in names]
        for shape, often in zip(shapes, counted, strict=True)
    ]
    return np.array(rows), sizes, names


def fit_costs(
    shapes: Sequence[Shape], time_s: Array, relative_error: Array, levels: Sequence[tuple[str, int]]
) -> LayoutCosts:
    """Non-negative least squares, with a switch of protocol if that leaves less than SWITCH_SHARE of the squares.

    The contiguous times are terms too: none is trusted alone.
    """
    plain, left = _fit_at(None, shapes, time_s, relative_error, levels)
    if left <= len(shapes):
        # Residuals are no larger than their errors: there is nothing to explain.
        return plain
    switched = [_fit_at(size_B, shapes, time_s, relative_error, levels) for size_B in _sizes_of_switch(shapes)]
    best, least = min(switched, key=lambda switch_fit: switch_fit[1], default=(plain, left))
    return best if least < SWITCH_SHARE * left else plain


def _sizes_of_switch(shapes: Sequence[Shape]) -> list[int]:
    """Sizes with LEAST_LAYOUTS scattered layouts below them, and as many of this size or more."""
    scattered = [shape.bytes for shape in set(shapes) if not shape.is_contiguous]
    return [
        size_B
        for size_B in sorted(set(scattered))
        if LEAST_LAYOUTS <= sum(other_B < size_B for other_B in scattered) <= len(scattered) - LEAST_LAYOUTS
    ]


def _fit_at(
    switch_B: int | None,
    shapes: Sequence[Shape],
    time_s: Array,
    relative_error: Array,
    levels: Sequence[tuple[str, int]],
) -> tuple[LayoutCosts, float]:
    """The costs with this switch, and the squared residuals (logarithms over their errors) that they leave."""
    design, sizes, names = _design(shapes, levels, switch_B)
    solved, _ = solve(nonnegative_least_squares, design, time_s, relative_error)
    model_s = np.maximum(design @ solved, LEAST_SHARE * time_s)
    costs = LayoutCosts(
        terms=dict(zip(names, map(float, solved[len(sizes) :]), strict=True)),
        contiguous=[(size, float(value)) for size, value in zip(sizes, solved, strict=False)],
        levels=levels,
        switch_B=switch_B,
    )
    return costs, float(np.sum((np.log(model_s / time_s) / relative_error) ** 2))


def entangled(
    shapes: Sequence[Shape], time_s: Array, relative_error: Array, costs: LayoutCosts
) -> dict[str, list[str]]:
    """Terms that these layouts cannot tell from others, each with the terms that make up for it.

    Of each column of the weighted design, made of length 1, what its projection on the others leaves is the
    reciprocal root of the variance inflation factor; under LEAST_REST (0: the design's rank is less than its
    columns) the term has no value of its own. A column of zeros is one of them.
    """
    design, sizes, names = _design(shapes, costs.levels, costs.switch_B)
    weighted = design / (relative_error * time_s)[:, None]
    norm = np.linalg.norm(weighted, axis=0)
    unit = weighted / np.where(norm > 0, norm, 1.0)
    substitutes = {}
    for place, name in enumerate(names, start=len(sizes)):
        others = np.delete(unit, place, axis=1)
        share = np.linalg.lstsq(others, unit[:, place], rcond=None)[0]
        if np.linalg.norm(unit[:, place] - others @ share) < LEAST_REST:
            rest = [other for other in names if other != name]
            terms = zip(rest, share[len(sizes) :], strict=True)
            substitutes[name] = [other for other, value in terms if abs(value) > LEAST_REST]
    return substitutes


@dataclass(frozen=True)
class LayoutFit:
    """One way: its costs, the interval of every term, and each layout predicted from the others."""

    costs: LayoutCosts
    intervals: Mapping[str, tuple[float, float]]
    """Empty where there are no more layouts than terms: nothing is left that would tell the scatter."""
    entangled: Mapping[str, list[str]]
    left_out_s: Sequence[float | None]
    layouts_at: Mapping[str, int]
    """How many layouts carry each term."""
    below_switch_B: int | None
    """The largest scattered layout below the switch, where there is one."""

    def relative_errors(self, time_s: Array) -> Array:
        """|predicted − measured| / measured of the layouts that could be left out."""
        pairs = [
            (left_s, each_s) for left_s, each_s in zip(self.left_out_s, time_s, strict=True) if left_s is not None
        ]
        return np.array([abs(left_s - each_s) / each_s for left_s, each_s in pairs])


def fit_way(records: Sequence[EffectRecord], levels: Sequence[tuple[str, int]], seed: int) -> LayoutFit:
    """Costs of one way with 95 % intervals (parametric bootstrap), what cannot be told, and left-out errors."""
    shapes = [Shape.of(record) for record in records]
    time_s, error = times_s(records), relative_errors(records)
    costs = fit_costs(shapes, time_s, error, levels)
    return LayoutFit(
        costs=costs,
        intervals=_intervals(costs, shapes, time_s, error, seed),
        entangled=entangled(shapes, time_s, error, costs),
        left_out_s=[_left_out(index, shapes, time_s, error, levels) for index in range(len(shapes))],
        layouts_at={name: sum(name in costs.counts(shape) for shape in set(shapes)) for name in costs.terms},
        below_switch_B=max((shape.bytes for shape in shapes if _is_below(shape, costs.switch_B)), default=None),
    )


def _is_below(shape: Shape, switch_B: int | None) -> bool:
    return switch_B is not None and shape.bytes < switch_B and not shape.is_contiguous


def _intervals(
    costs: LayoutCosts, shapes: Sequence[Shape], time_s: Array, error: Array, seed: int
) -> dict[str, tuple[float, float]]:
    """Percentiles of fits to times drawn around the model's, log-normal, with the scatter of all residuals.

    Layouts themselves are not drawn: a term that two of them carry would vary by far too little. The scatter s is
    itself drawn, s² = s²·f/χ²(f) with f layouts beyond the rank of the design, which makes of it a Student's t.
    """
    design, sizes, names = _design(shapes, costs.levels, costs.switch_B)
    model_s = np.maximum([costs.time_s(shape) for shape in shapes], LEAST_SHARE * time_s)
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
        again, _ = solve(nonnegative_least_squares, design, again_s, error)
        for name, value in zip(names, again[len(sizes) :], strict=True):
            drawn[name].append(float(value))
    return {name: _percentiles(values, costs.terms[name]) for name, values in drawn.items()}


def _percentiles(values: Sequence[float], value: float) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)


def _left_out(
    index: int, shapes: Sequence[Shape], time_s: Array, error: Array, levels: Sequence[tuple[str, int]]
) -> float | None:
    """The layout predicted from all others; None where only it carries a size or a term.

    The same layout of another launch is left out too: it would resolve its own time.
    """
    rest = [other for other in range(len(shapes)) if shapes[other] != shapes[index]]
    others = [shapes[other] for other in rest]
    shape = shapes[index]
    if shape.is_contiguous or not any(other.bytes == shape.bytes for other in others):
        return None
    costs = fit_costs(others, time_s[rest], error[rest], levels)
    if set(costs.counts(shape)) - set(costs.terms):
        return None
    return costs.time_s(shape)
