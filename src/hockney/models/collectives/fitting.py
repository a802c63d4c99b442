"""The model of a collective from its measured points: which terms in P and n, in which ranges of both.

Residuals are relative to the mean of time and model, (m − t)/√(m t): a factor counts the same up and down.
Ranks and sizes are cut into ranges with terms of their own. Terms and cuts are those with the least Bayesian
information criterion (Schwarz, Ann. Statist. 6, 1978), which adds up over the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hockney.models.base import Parameter
from hockney.models.collectives.around import Around
from hockney.models.collectives.base import (
    CollectiveModel,
    CollectiveQuality,
    CollectiveRegime,
    Term,
    counted,
    expression,
)
from hockney.models.collectives.candidates import COLUMNS, GENERIC, NAMES, candidates
from hockney.models.collectives.closed_form import LAWS, closed_form
from hockney.models.collectives.expression import FormulaCall, Order, order_of
from hockney.models.collectives.tiling import cheapest, explained, ranges
from hockney.statistics import CONFIDENCE, Array, least_squares, nonnegative_least_squares, t_reach
from hockney.units import percent

LEAST_SIZES, LEAST_RANKS = 2, 3
"""Sizes and numbers of ranks of a range."""
MOST_ENDS, MOST_SIZE_ENDS = 12, 24
"""Numbers of ranks, and sizes, at which a range may end; of more, the best is looked for around the best of
these."""
POINTS_A_TERM = 3
"""Points that a range needs for each of its terms."""
FURTHER_POINTS = 2
"""Points beyond its parameters that a formula needs."""
PRIOR_POINTS = 4
"""What the noise of all ranges counts in each."""
TOLD_APART = 6.0
"""A difference of the criterion from which on it is strong evidence (Kass and Raftery, J. Am. Stat. Assoc. 90,
1995)."""
MOST_MISSED = 0.5
"""The median error, on the points or on those left out, from which on a formula helps nobody."""
LEAST_NOISE = 0.002
"""Relative residuals below this say nothing more about the form of a model."""
ROUNDS = 4
"""At most, of weights by the model of the round before and ends four times as close."""
MOST_PARTS = 20
"""Parts of the numbers of ranks, and of the sizes, that are left out in turn."""
LEAST_SHARE = 1e-3
"""The least share of a time that a model is taken to predict while its weights are sought."""
_TIE = 1e-6
"""Criteria that are closer are equal: terms that are the same at these points. The first candidate stands."""


@dataclass(frozen=True, eq=False)
class CollectivePoints:
    """Measured times of one operation, algorithm and placement, arrays (n,); NaN where there is no interval.

    `size_B` as in the tidy table: the whole vector or one rank's block.
    """

    operation: str
    algorithm: str
    ranks: Array
    size_B: Array
    time_s: Array
    low_s: Array
    high_s: Array
    segment_B: int = 0
    radix: int = 0

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> CollectivePoints:
        """The chosen points."""
        return replace(
            self,
            ranks=self.ranks[chosen],
            size_B=self.size_B[chosen],
            time_s=self.time_s[chosen],
            low_s=self.low_s[chosen],
            high_s=self.high_s[chosen],
        )


class _Piece(NamedTuple):
    """A range of the ranks and one of the sizes: places of the first, and of that after the last."""

    ranks: tuple[int, int]
    sizes: tuple[int, int]
    columns: tuple[int, ...]


class _Problem:
    """The points with all columns, and their ranks and sizes in order."""

    def __init__(self, points: CollectivePoints) -> None:
        self.points = points
        self.ranks, self.rank_place = np.unique(points.ranks, return_inverse=True)
        self.sizes, self.size_place = np.unique(points.size_B, return_inverse=True)
        self.form = closed_form(points.operation, points.algorithm)
        self.candidates = candidates(self.form is not None, self.ranks.size > 1, self.sizes.size > 1)
        case = FormulaCall(points.ranks, points.size_B, float(points.segment_B), float(points.radix))
        terms = COLUMNS if self.form is not None else GENERIC
        self.design = np.column_stack([counted(self.form, term, case) for term in terms])

    def steps(self, number: int) -> tuple[int, int]:
        """How far ends of ranges are apart in a round, in places of the ranks and of the sizes."""
        sizes = (self.ranks.size, MOST_ENDS), (self.sizes.size, MOST_SIZE_ENDS)
        return tuple(max(-(-count // most) // 4**number, 1) for count, most in sizes)

    def best(self, weight: Array, noise: float, steps: tuple[int, int], near: Sequence[_Piece]) -> list[_Piece]:
        """The pieces with the least criterion for residuals weighted by `weight` (n,), of about `noise`.

        Either the ranks are cut first and then the sizes of each range, or the other way round. A range may end
        at every place that is a multiple of `steps` away from the first, or from an end of `near`.
        """
        rank_ends, size_ends = np.arange(0, self.ranks.size, steps[0]), np.arange(0, self.sizes.size, steps[1])
        if near and self.ranks.size > MOST_ENDS:
            rank_ends = np.unique([end + steps[0] * np.arange(-3, 4) for piece in near for end in piece.ranks])
        if near and self.sizes.size > MOST_SIZE_ENDS:
            size_ends = np.unique([end + steps[1] * np.arange(-3, 4) for piece in near for end in piece.sizes])
        of_ranks = ranges(self.ranks.size, LEAST_RANKS, rank_ends)
        of_sizes = ranges(self.sizes.size, LEAST_SIZES, size_ends)
        table = self.criteria(
            weight, noise, np.repeat(of_ranks, len(of_sizes), axis=0), np.tile(of_sizes, (len(of_ranks), 1))
        )
        least = table.min(axis=1)
        chosen = np.argmax(table <= (least + _TIE * np.maximum(np.abs(least), 1.0))[:, None], axis=1)
        cost = least.reshape(len(of_ranks), len(of_sizes))
        axes = (of_ranks, self.ranks.size), (of_sizes, self.sizes.size)
        tilings = []
        for outer, inner, of_outer in ((axes[0], axes[1], cost.T), (axes[1], axes[0], cost)):
            sums, within = cheapest(*inner, of_outer)
            total, over = cheapest(*outer, sums[:, None])
            tilings.append((float(total[0]), [(first, second) for first in over(0) for second in within(first)]))
        turned = tilings[1][0] < tilings[0][0]
        return [
            _Piece(
                tuple(of_ranks[first].tolist()),
                tuple(of_sizes[second].tolist()),
                self.candidates[chosen[first * len(of_sizes) + second]],
            )
            for first, second in (pair[::-1] if turned else pair for pair in tilings[turned][1])
        ]

    def criteria(self, weight: Array, noise: float, ranks: NDArray[np.intp], sizes: NDArray[np.intp]) -> Array:
        """The criterion of every candidate in every range, (ranges, candidates); inf where it does not fit.

        A few points may lie on a curve by luck: `noise` counts as `PRIOR_POINTS` more. `ranks` and `sizes`:
        places of the first, and of that after the last, (ranges, 2).
        """
        weighted = np.column_stack([self.design, self.points.time_s]) * weight[:, None]
        shape = self.ranks.size + 1, self.sizes.size + 1
        products, numbers = np.zeros((*shape, weighted.shape[1], weighted.shape[1])), np.zeros(shape)
        after = self.rank_place + 1, self.size_place + 1
        np.add.at(products, after, weighted[:, :, None] * weighted[:, None, :])
        np.add.at(numbers, after, 1)
        (low, high), (left, right) = ranks.T, sizes.T
        products, numbers = (
            each[high, right] - each[low, right] - each[high, left] + each[low, left]
            for each in (sums.cumsum(axis=0).cumsum(axis=1) for sums in (products, numbers))
        )
        squares = products[:, -1, -1]
        scale = np.sqrt(np.maximum(np.diagonal(products, axis1=1, axis2=2), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        # Ranges come last, so that those of one candidate lie side by side.
        normal = np.ascontiguousarray((products / (scale[:, :, None] * scale[:, None, :])).transpose(1, 2, 0))
        total = self.points.ranks.size
        # By Cauchy and Schwarz: a range where bytes are a constant has one size, and no cost of a byte.
        one_size = normal[0, len(NAMES)] > 1 - _TIE
        table = np.full((numbers.size, len(self.candidates)), np.inf)
        for place, columns in enumerate(self.candidates):
            count, chosen = len(columns), [*columns, -1]
            share, fits = explained(normal[np.ix_(chosen, chosen)])
            square = (1 - share) * squares + PRIOR_POINTS * noise**2
            # The variance counts, and so does where the range ends.
            criterion = numbers * np.log(square / (numbers + PRIOR_POINTS)) + (count + 2) * math.log(total)
            enough = (numbers >= POINTS_A_TERM * count) | (numbers == total) & (numbers >= count + FURTHER_POINTS)
            is_per_byte = any(column < len(GENERIC) and COLUMNS[column].per_byte for column in columns)
            table[:, place] = np.where(fits & enough & ~(one_size & is_per_byte), criterion, np.inf)
        return table

    def fitted(self, pieces: Sequence[_Piece], weight: Array, rows: NDArray[np.bool_]) -> list[Array]:
        """The coefficients of each piece, fitted to the points of `rows`, none negative."""
        values = []
        for piece in pieces:
            chosen = self.rows(piece) & rows
            design = self.design[chosen][:, piece.columns] * weight[chosen, None]
            target = (self.points.time_s * weight)[chosen]
            values.append(nonnegative_least_squares(design, target) if target.size else np.zeros(design.shape[1]))
        return values

    def rows(self, piece: _Piece) -> NDArray[np.bool_]:
        """The points of a piece."""
        (low, high), (left, right) = piece.ranks, piece.sizes
        ranks = (self.rank_place >= low) & (self.rank_place < high)
        return np.asarray(ranks & (self.size_place >= left) & (self.size_place < right))

    def model_s(self, pieces: Sequence[_Piece], values: Sequence[Array]) -> Array:
        """Seconds at all points, shape (n,); 1 s without a piece."""
        time_s = np.ones_like(self.points.time_s)
        for piece, value in zip(pieces, values, strict=True):
            rows = self.rows(piece)
            time_s[rows] = self.design[rows][:, piece.columns] @ value
        return time_s


def fit_collective(points: CollectivePoints) -> CollectiveModel:
    """The model of these points, without views; without a formula where they are too few.

    95 % intervals of coefficients are asymptotic, for the chosen terms: the wider of what residuals say that are
    independent, and of what those say that are alike on one number of ranks (Liang and Zeger, Biometrika 73,
    1986).
    """
    problem, everything = _Problem(points), np.ones(points.time_s.size, dtype=np.bool_)
    needed = 1 + (problem.ranks.size > 1) + (problem.sizes.size > 1) + FURTHER_POINTS
    weight, pieces = 1 / points.time_s, list[_Piece]()
    bare = CollectiveModel(
        operation=points.operation,
        algorithm=points.algorithm,
        segment_B=points.segment_B,
        radix=points.radix,
        points=_rows_of(points),
    )
    if points.time_s.size < needed:
        note = f"too few for a formula: {points.time_s.size} of the {needed} points that it takes"
        quality = _quality(problem, [], weight, np.ones_like(weight))
        return bare.model_copy(update={"quality": quality, "notes": [note]})
    noise = LEAST_NOISE
    for number in range(ROUNDS):
        steps = problem.steps(number)
        before, pieces = pieces, problem.best(weight, noise, steps, pieces)
        model_s = problem.model_s(pieces, problem.fitted(pieces, weight, everything))
        freedom = max(points.time_s.size - sum(len(piece.columns) for piece in pieces), 1)
        noise = max(float(np.linalg.norm(weight * (points.time_s - model_s))) / math.sqrt(freedom), LEAST_NOISE)
        weight = 1 / np.sqrt(points.time_s * np.maximum(model_s, LEAST_SHARE * points.time_s))
        if pieces == before and steps == (1, 1):
            break
    values = problem.fitted(pieces, weight, everything)
    parameters: dict[str, Parameter] = {}
    regimes: list[CollectiveRegime] = []
    for number, (piece, value) in enumerate(zip(pieces, values, strict=True), 1):
        rows, terms = problem.rows(piece), []
        reach = _reach(problem.design[rows][:, piece.columns], points.take(rows), weight[rows])
        for column, coefficient, wide in zip(piece.columns, value, reach, strict=True):
            kind = COLUMNS[column]
            name = kind.parameter if len(pieces) == 1 else f"{kind.parameter}_{number}"
            parameters[name] = Parameter(
                value=float(coefficient),
                low=float(max(coefficient - wide, 0.0)) if math.isfinite(wide) else None,
                high=float(coefficient + wide) if math.isfinite(wide) else None,
                unit="s/B" if kind.parameter.endswith("_per_B") else "s",
            )
            terms.append(kind.model_copy(update={"parameter": name}))
        (low, high), (left, right) = piece.ranks, piece.sizes
        regimes.append(
            CollectiveRegime(
                terms=terms,
                min_ranks=int(problem.ranks[low - 1]) + 1 if low else int(points.ranks[rows].min()),
                max_ranks=int(problem.ranks[high - 1]),
                min_B=float(problem.sizes[max(left - 1, 0)]),
                max_B=float(problem.sizes[right - 1]),
                rivals=_rivals(problem, piece, weight, noise),
            )
        )
    quality = _quality(problem, pieces, weight, problem.model_s(pieces, values))
    missed = max(quality.median_relative_error, quality.left_out_median or 0.0)
    if missed > MOST_MISSED:
        note = f"no formula, it would miss by {percent(missed)} in the median: points in between are joined"
        joined = _quality(problem, [], weight, np.ones_like(weight))
        return bare.model_copy(update={"quality": joined, "notes": [note]})
    return bare.model_copy(update={"parameters": parameters, "regimes": regimes, "quality": quality})


def _rivals(problem: _Problem, piece: _Piece, weight: Array, noise: float) -> list[list[Term]]:
    """Terms that grow otherwise than those of a piece and that its points do not tell from these, the best first.

    What was not varied may grow by any law.
    """
    criteria = problem.criteria(weight, noise, np.array([piece.ranks]), np.array([piece.sizes]))[0]
    own = criteria[problem.candidates.index(piece.columns)]
    everywhere = problem.rows(piece)
    rivals: dict[Order, list[Term]] = {}
    for place in [problem.candidates.index(piece.columns), *np.argsort(criteria)]:
        columns = problem.candidates[place]
        order = order_of([expression(problem.form, COLUMNS[column]) for column in columns])
        if criteria[place] > own + TOLD_APART or order in rivals:
            continue
        (value,) = problem.fitted([piece._replace(columns=columns)], weight, everywhere)
        # What shows at no point is no other growth: of exact times a fit leaves such terms beside the right ones.
        shown = (problem.design[:, columns] * value / problem.points.time_s[:, None])[everywhere].max(axis=0)
        kept = [(COLUMNS[columns[at]], float(value[at])) for at in np.flatnonzero(shown > LEAST_NOISE)]
        terms = [term.model_copy(update={"parameter": "", "factor": each}) for term, each in kept]
        rivals.setdefault(order_of([expression(problem.form, term) for term in terms]), terms)
    (chosen, *others) = rivals.values()
    if problem.sizes.size == 1:
        others += [_regrown(chosen, per_byte=True, by=float(problem.sizes[0]))]
    if problem.ranks.size == 1:
        at = FormulaCall(problem.ranks[0], 0.0)
        others += [_regrown(chosen, growth=law, by=float(LAWS[law].value(at))) for law in list(NAMES)[1:]]
    return others


def _regrown(terms: Sequence[Term], by: float, **update: object) -> list[Term]:
    """The same time at the ranks or bytes that were measured alone, growing otherwise."""
    return [
        term.model_copy(update={**update, "factor": term.factor / by})
        for term in terms
        if by > 0 and not term.counts
    ]


def _reach(design: Array, points: CollectivePoints, weight: Array) -> Array:
    """Half the widths of the coefficients' intervals; inf where no point is left over."""
    fit = least_squares(design, points.time_s, weight)
    if fit.freedom < 1:
        return np.full(design.shape[1], np.inf)
    independent = t_reach(fit.noise * fit.errors, fit.freedom)
    groups = np.unique(points.ranks)
    if groups.size <= design.shape[1]:
        return independent
    scores = design * (weight**2 * (points.time_s - design @ fit.value))[:, None]
    sums = np.array([scores[points.ranks == count].sum(axis=0) for count in groups])
    shared = fit.covariance @ (sums.T @ sums) @ fit.covariance * groups.size / (groups.size - 1)
    return np.maximum(independent, t_reach(np.sqrt(np.diag(shared)), groups.size - 1))


def _quality(problem: _Problem, pieces: Sequence[_Piece], weight: Array, model_s: Array) -> CollectiveQuality:
    points = problem.points
    error = np.abs(model_s - points.time_s) / points.time_s if pieces else np.zeros_like(model_s)
    plain, corrected = [], []
    for column in (points.ranks, points.size_B):
        different = np.unique(column)
        parts = min(different.size, MOST_PARTS)
        # With two left, what is left out lies beyond the other.
        for first in range(parts if different.size > 2 else 0):
            # Neighbours are never left out together: it is told how well what lies between points is known.
            out = np.isin(column, different[first::parts])
            for piece in pieces:
                # Terms that the rest cannot tell apart say nothing of what was left out.
                rows = problem.rows(piece)
                design = problem.design[rows & ~out][:, piece.columns] * weight[rows & ~out, None]
                scale = np.maximum(np.linalg.norm(design, axis=0), np.finfo(np.float64).tiny)
                out &= ~rows | (np.linalg.matrix_rank(design / scale) == len(piece.columns))
            kept = problem.fitted(pieces, weight, ~out)
            made_s = problem.model_s(pieces, kept)
            if not out.any() or not (made_s > 0).all():
                continue
            rest = points.take(~out)
            nothing = np.full(rest.time_s.size, np.nan)
            around = Around(rest.ranks, rest.size_B, rest.time_s / made_s[~out], nothing, nothing)
            with_points = around.corrected(points.ranks[out], points.size_B[out], made_s[out], None)
            plain += [made_s[out] / points.time_s[out]] if pieces else []
            corrected.append(with_points.time_s / points.time_s[out])
    left_out = np.concatenate(plain) if plain else np.array([])
    missed = np.abs(left_out - 1)
    return CollectiveQuality(
        points=int(error.size),
        median_relative_error=float(np.median(error)),
        p95_relative_error=float(np.quantile(error, CONFIDENCE)),
        left_out_median=float(np.median(missed)) if missed.size else None,
        left_out_p95=float(np.quantile(missed, CONFIDENCE)) if missed.size else None,
        model_factor=factor_of(left_out),
        prediction_factor=factor_of(np.concatenate(corrected) if corrected else np.array([])),
    )


def factor_of(ratios: Array) -> float | None:
    """The factor within which a further ratio lies with 95 %; None where these are too few to say."""
    place = math.ceil(CONFIDENCE * (ratios.size + 1)) - 1
    if place >= ratios.size:
        return float(np.exp(np.abs(np.log(ratios)).max())) if ratios.size else None
    return float(np.exp(np.sort(np.abs(np.log(ratios)))[place]))


def _rows_of(points: CollectivePoints) -> list[dict[str, float | int | str | bool | None]]:
    """The points as rows of the machine file; with ends of intervals where any point has one."""
    known = {
        name: [None if math.isnan(value) else max(value, 0.0) for value in column.tolist()]
        for name, column in (("low_s", points.low_s), ("high_s", points.high_s))
        if not np.isnan(column).all()
    }
    columns = {
        "ranks": points.ranks.astype(int).tolist(),
        "bytes": points.size_B.astype(int).tolist(),
        "time_s": points.time_s.tolist(),
        **known,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
