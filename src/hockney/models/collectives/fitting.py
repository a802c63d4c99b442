"""The model of a collective from its measured points: which terms in P and n, in which ranges of both.

Residuals are relative to the mean of time and model, (m − t)/√(m t): a factor counts the same up and down.
Ranks and sizes are cut into ranges with terms of their own. Terms and cuts are those with the least Bayesian
information criterion (Schwarz, Ann. Statist. 6, 1978), which adds up over the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hockney.models.base import Parameter
from hockney.models.collectives.around import Around
from hockney.models.collectives.base import (
    CollectiveModel,
    CollectiveQuality,
    CollectiveRegime,
    Term,
    expression,
)
from hockney.models.collectives.candidates import COLUMNS, NAMES
from hockney.models.collectives.closed_form import LAWS
from hockney.models.collectives.expression import FormulaCall, Order, order_of
from hockney.models.collectives.pieces import FURTHER_POINTS, LEAST_RANKS, CollectivePoints, Piece, Problem
from hockney.statistics import CONFIDENCE, Array, least_squares, t_reach
from hockney.units import percent

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


def fit_collective(points: CollectivePoints) -> CollectiveModel:
    """The model of these points, without views; without a formula where they are too few.

    95 % intervals of coefficients are asymptotic, for the chosen terms: the wider of what residuals say that are
    independent, and of what those say that are alike on one number of ranks (Liang and Zeger, Biometrika 73,
    1986).
    """
    problem, everything = Problem(points), np.ones(points.time_s.size, dtype=np.bool_)
    needed = 1 + (problem.ranks.size > 1) + (problem.sizes.size > 1) + FURTHER_POINTS
    weight, pieces = 1 / points.time_s, list[Piece]()
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
    near = math.log(quality.prediction_factor or 1.0)
    needed = max(needed, *(len(piece.columns) + FURTHER_POINTS for piece in pieces))
    quality.ranks_factor, quality.sizes_factor = (
        _missed_beyond(problem, place, weight, noise, near, needed)
        for place in (problem.rank_place, problem.size_place)
    )
    return bare.model_copy(update={"parameters": parameters, "regimes": regimes, "quality": quality})


def _missed_beyond(
    problem: Problem, place: NDArray[np.intp], weight: Array, noise: float, near: float, needed: int
) -> float:
    """The factor, for each doubling, within which fits to the lower ranks, or sizes, hold 95 % of those above.

    `place` (n,): of each point's number of ranks or size. `near`: ln of the factor between points, which counts
    by itself. It is no closer than what a fit resolves: less of another law would not have been noticed. Parts
    with fewer than the `needed` points, or too few ranks to tell laws apart, say nothing; without any part
    rivals alone widen what lies beyond.
    """
    points, count, factors = problem.points, int(place.max()) + 1, []
    for least in {count // 2, count * 3 // 4} - {0, 1}:
        inside = place < least
        below, above = points.take(inside), points.take(~inside)
        part = Problem(below)
        if below.time_s.size < needed or part.ranks.size < min(LEAST_RANKS, problem.ranks.size):
            continue
        pieces = part.best(weight[inside], noise, part.steps(0), [])
        values = part.fitted(pieces, weight[inside], np.ones(below.time_s.size, dtype=np.bool_))
        model_s = problem.model_s([problem.stretched(piece, part) for piece in pieces], values)
        if not (model_s > 0).all():
            continue
        nothing = np.full(below.time_s.size, np.nan)
        around = Around(below.ranks, below.size_B, below.time_s / model_s[inside], nothing, nothing)
        predicted = around.corrected(above.ranks, above.size_B, model_s[~inside], None)
        excess = np.log(predicted.time_s / above.time_s) ** 2 - near**2 * (1 + predicted.beyond)
        factors.append(np.exp(np.sqrt(np.maximum(excess, 0.0)) / np.maximum(predicted.beyond, 1.0)))
    return max(factor_of(np.concatenate(factors)) or 1.0 if factors else 1.0, 1 + LEAST_NOISE)


def _rivals(problem: Problem, piece: Piece, weight: Array, noise: float) -> list[list[Term]]:
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


def _quality(problem: Problem, pieces: Sequence[Piece], weight: Array, model_s: Array) -> CollectiveQuality:
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
