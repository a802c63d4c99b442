"""The model of a collective from its measured points: which terms in P and S, in which ranges of S.

Candidates are sums of at most four of 1, log₂P, ⌈log₂P⌉ and P − 1, each alone and times the bytes S, and what
the closed form of the algorithm counts, with and without a constant. No coefficient is negative. Residuals are
relative to the mean of time and model, (m − t)/√(m t): a factor counts the same up and down. The sizes are cut
into at most `MOST_PIECES` ranges, each with terms of its own. Terms and cuts are those with the least Bayesian
information criterion (Schwarz, Ann. Statist. 6, 1978), which adds up over the ranges: the best cuts are found
exactly, from the last size back (Bellman and Roth, J. Am. Stat. Assoc. 64, 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.collectives.around import Around
from hockney.models.collectives.base import (
    GROWTHS,
    CollectiveModel,
    CollectiveQuality,
    CollectiveRegime,
    Term,
    counted,
)
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.statistics import CONFIDENCE, Array, least_squares, t_reach

MOST_TERMS = 4
MOST_PIECES = 3
"""Ranges of S with terms of their own."""
LEAST_SIZES = 3
"""Sizes of a range: fewer follow any two terms."""
POINTS_A_TERM = 3
"""Points that a range needs for each of its terms."""
FEWEST_POINTS = 3
"""Points without which there is no model."""
LEAST_NOISE = 0.002
"""Relative residuals below this say nothing more about the form of a model."""
ROUNDS = 3
"""Of weights by the model of the round before."""
MOST_PARTS = 20
"""Parts of the numbers of ranks, and of the sizes, that are left out in turn."""
LEAST_SHARE = 1e-3
"""The least share of a time that a model is taken to predict while its weights are sought."""
_SINGULAR = 1e-9
"""The least eigenvalue of a correlation matrix of terms that the points tell apart."""
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


_GENERIC = (
    Term(parameter="alpha_s"),
    Term(parameter="alpha_log2P_s", growth="log2(P)"),
    Term(parameter="alpha_ceil_log2P_s", growth="ceil(log2(P))"),
    Term(parameter="alpha_P_s", growth="P-1"),
    Term(parameter="beta_s_per_B", per_byte=True),
    Term(parameter="beta_log2P_s_per_B", growth="log2(P)", per_byte=True),
    Term(parameter="beta_ceil_log2P_s_per_B", growth="ceil(log2(P))", per_byte=True),
    Term(parameter="beta_P_s_per_B", growth="P-1", per_byte=True),
)
_OWN = (
    Term(parameter="schedule_alpha_s", counts="alpha"),
    Term(parameter="schedule_beta_s_per_B", counts="bytes"),
    Term(parameter="schedule_gamma_s_per_B", counts="reduced"),
)
COLUMNS = (*_GENERIC, *_OWN)
"""The candidates, each under the name of its parameter."""
_CONSTANT, _OWN_FIRST = 0, len(_GENERIC)


def _candidates(has_form: bool) -> list[tuple[int, ...]]:
    """The sets of columns, those of the algorithm's own schedule first, then by their number."""
    own = [
        (*constant, *chosen)
        for constant in ((), (_CONSTANT,))
        for count in range(1, len(_OWN) + 1)
        for chosen in combinations(range(_OWN_FIRST, len(COLUMNS)), count)
    ]
    generic = [
        chosen
        for count in range(1, MOST_TERMS + 1)
        for chosen in combinations(range(_OWN_FIRST), count)
        # Two roundings of one logarithm are one term.
        if not ({1, 2} <= set(chosen) or {5, 6} <= set(chosen) or {1, 6} <= set(chosen) or {2, 5} <= set(chosen))
    ]
    return [*(own if has_form else ()), *generic]


@dataclass(frozen=True)
class _Piece:
    """A range of the sizes, by their places from `first` to before `end`, with its columns and criterion."""

    first: int
    end: int
    columns: tuple[int, ...]
    criterion: float


class _Problem:
    """The points with all columns, and their sizes in order."""

    def __init__(self, points: CollectivePoints) -> None:
        self.points = points
        self.sizes, self.place = np.unique(points.size_B, return_inverse=True)
        form = closed_form(points.operation, points.algorithm)
        self.candidates = _candidates(form is not None)
        case = FormulaCall(points.ranks, points.size_B, float(points.segment_B), float(points.radix))
        columns = []
        for column in COLUMNS if form is not None else _GENERIC:
            if column.counts is not None and form is not None:
                columns.append(np.broadcast_to(counted(form, column.counts, case), points.ranks.shape))
            else:
                columns.append(GROWTHS[column.growth](points.ranks) * (points.size_B if column.per_byte else 1.0))
        self.design = np.column_stack(columns)

    @cached_property
    def intervals(self) -> NDArray[np.intp]:
        """Every range of sizes that may be a piece, (ranges, 2): its first size, and that after its last."""
        count = self.sizes.size
        least = min(LEAST_SIZES, count)
        return np.array(
            [
                (first, end)
                for first in range(count)
                for end in range(first + least, count + 1)
                # What is left on either side must be a piece as well.
                if (first == 0 or first >= least) and (end == count or count - end >= least)
            ],
            dtype=np.intp,
        )

    def best(self, weight: Array) -> list[_Piece]:
        """The pieces with the least criterion for residuals weighted by `weight` (n,)."""
        weighted = np.column_stack([self.design, self.points.time_s]) * weight[:, None]
        products = np.zeros((self.sizes.size + 1, weighted.shape[1], weighted.shape[1]))
        np.add.at(products, self.place + 1, weighted[:, :, None] * weighted[:, None, :])
        products, numbers = products.cumsum(axis=0), np.bincount(self.place + 1).cumsum()
        first, end = self.intervals.T
        criteria, chosen = self._criteria(products[end] - products[first], numbers[end] - numbers[first])
        pieces = [
            _Piece(int(a), int(b), self.candidates[index], float(criterion))
            for a, b, index, criterion in zip(first, end, chosen, criteria, strict=True)
        ]
        return _cheapest(pieces, self.sizes.size)

    def _criteria(self, products: Array, numbers: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
        """The least criterion of each range, and the place of the candidate that has it, shapes (ranges,)."""
        squares = products[:, -1, -1]
        scale = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
        scale = np.where(scale > 0, scale, 1.0)
        normal = products / (scale[:, :, None] * scale[:, None, :])
        total = self.points.ranks.size
        table = np.full((numbers.size, len(self.candidates)), np.inf)
        for count in sorted({len(columns) for columns in self.candidates}):
            places = [place for place, columns in enumerate(self.candidates) if len(columns) == count]
            chosen = np.array([self.candidates[place] for place in places])
            matrix = normal[:, chosen[:, :, None], chosen[:, None, :]]
            target = normal[:, chosen, -1]
            is_regular = np.linalg.eigvalsh(matrix)[..., 0] > _SINGULAR
            value = np.linalg.solve(
                np.where(is_regular[..., None, None], matrix, np.eye(count)), target[..., None]
            )[..., 0]
            left = np.maximum(1 - (value * target).sum(axis=-1), 0.0) * squares[:, None]
            noise = np.maximum(left / numbers[:, None], LEAST_NOISE**2)
            # The variance counts, and so does where the range ends.
            criterion = numbers[:, None] * np.log(noise) + (count + 2) * math.log(total)
            fits = is_regular & (value > 0).all(axis=-1)
            fits &= (numbers >= POINTS_A_TERM * count)[:, None] | (count == 1)
            table[:, places] = np.where(fits, criterion, np.inf)
        least = table.min(axis=1)
        first = np.argmax(table <= (least + _TIE * np.maximum(np.abs(least), 1.0))[:, None], axis=1)
        return least, first

    def fitted(self, pieces: Sequence[_Piece], weight: Array, rows: NDArray[np.bool_]) -> list[Array]:
        """The coefficients of each piece, fitted to the points of `rows`, none negative."""
        # It takes a fifth of a second to import, and a machine file is read without.
        from scipy.optimize import nnls

        values = []
        for piece in pieces:
            there = self.rows(piece) & rows
            design = self.design[there][:, piece.columns] * weight[there, None]
            scale = np.linalg.norm(design, axis=0)
            scale = np.where(scale > 0, scale, 1.0)
            target = (self.points.time_s * weight)[there]
            values.append(nnls(design / scale, target)[0] / scale if target.size else np.zeros(scale.size))
        return values

    def rows(self, piece: _Piece) -> NDArray[np.bool_]:
        """The points whose size is in a piece."""
        return np.asarray((self.place >= piece.first) & (self.place < piece.end))

    def model_s(self, pieces: Sequence[_Piece], values: Sequence[Array]) -> Array:
        """Seconds at all points, shape (n,)."""
        time_s = np.zeros_like(self.points.time_s)
        for piece, value in zip(pieces, values, strict=True):
            there = self.rows(piece)
            time_s[there] = self.design[there][:, piece.columns] @ value
        return time_s


def _cheapest(pieces: Sequence[_Piece], count: int) -> list[_Piece]:
    """At most `MOST_PIECES` that tile the sizes, with the least sum of criteria."""
    best: dict[tuple[int, int], tuple[float, list[_Piece]]] = {(0, 0): (0.0, [])}
    for piece in sorted(pieces, key=lambda piece: piece.end):
        for used in range(MOST_PIECES):
            before = best.get((piece.first, used))
            if before is None or not math.isfinite(piece.criterion):
                continue
            cost = before[0] + piece.criterion
            if cost < best.get((piece.end, used + 1), (math.inf, []))[0]:
                best[piece.end, used + 1] = (cost, [*before[1], piece])
    whole = [best[count, used] for used in range(1, MOST_PIECES + 1) if (count, used) in best]
    return min(whole, key=lambda each: each[0])[1] if whole else []


def fit_collective(points: CollectivePoints) -> CollectiveModel:
    """The model of these points, without views; RequestError where they are too few.

    95 % intervals of coefficients are asymptotic, for the chosen terms: the wider of what residuals say that are
    independent, and of what those say that are alike on one number of ranks (Liang and Zeger, Biometrika 73,
    1986).
    """
    if points.time_s.size < FEWEST_POINTS:
        raise RequestError(
            f"{points.time_s.size} times are too few for a model",
            f"measure {FEWEST_POINTS} sizes or ranks at least",
        )
    problem, everything = _Problem(points), np.ones(points.time_s.size, dtype=np.bool_)
    model_s, pieces, weight = points.time_s, [], 1 / points.time_s
    for _ in range(ROUNDS):
        pieces = problem.best(weight)
        model_s = problem.model_s(pieces, problem.fitted(pieces, weight, everything))
        weight = 1 / np.sqrt(points.time_s * np.maximum(model_s, LEAST_SHARE * points.time_s))
    values = problem.fitted(pieces, weight, everything)
    parameters: dict[str, Parameter] = {}
    regimes: list[CollectiveRegime] = []
    for number, (piece, value) in enumerate(zip(pieces, values, strict=True), 1):
        there, terms = problem.rows(piece), []
        reach = _reach(problem.design[there][:, piece.columns], points.take(there), weight[there])
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
        before = regimes[-1].max_B if regimes else None
        regimes.append(
            CollectiveRegime(
                terms=terms,
                min_ranks=int(points.ranks[there].min()),
                max_ranks=int(points.ranks[there].max()),
                min_B=float(problem.sizes[piece.first]) if before is None else before,
                max_B=float(problem.sizes[piece.end - 1]),
            )
        )
    return CollectiveModel(
        operation=points.operation,
        algorithm=points.algorithm,
        segment_B=points.segment_B,
        radix=points.radix,
        parameters=parameters,
        regimes=regimes,
        points=_rows_of(points),
        quality=_quality(problem, pieces, weight, problem.model_s(pieces, values)),
    )


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
    error = np.abs(model_s - points.time_s) / points.time_s
    plain, corrected = [], []
    for column in (points.ranks, points.size_B):
        different = np.unique(column)
        parts = min(different.size, MOST_PARTS)
        # With two left, what is left out lies beyond the other.
        for first in range(parts if different.size > 2 else 0):
            # Neighbours are never left out together: it is told how well what lies between points is known.
            out = np.isin(column, different[first::parts])
            kept = problem.fitted(pieces, weight, ~out)
            made_s = problem.model_s(pieces, kept)
            if not (made_s > 0).all():
                continue
            rest = points.take(~out)
            nothing = np.full(rest.time_s.size, np.nan)
            around = Around(rest.ranks, rest.size_B, rest.time_s / made_s[~out], nothing, nothing)
            with_points = around.corrected(points.ranks[out], points.size_B[out], made_s[out], None)
            plain.append(made_s[out] / points.time_s[out])
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
        name: [None if math.isnan(value) else value for value in column.tolist()]
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
