"""A curve of time against ranks with breaks: a smooth curve of ln T, and steps and bends on top of it.

The smooth curve is a physical one, a + b log P + cP + dP log P + eP² with no negative term, times what a
polynomial in ln P has to correct, of as few terms as Akaike's criterion takes. A step multiplies the time beyond.

A benchmark's repeats have heavy tails: residuals are taken to follow Student's t (Lange, Little and Taylor, J.
Am. Stat. Assoc. 84, 1989), so that a disturbed run counts for little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from hockney.statistics import Array, nonnegative_least_squares

TAILS = np.array((1.5, 2.0, 3.0, 5.0, 30.0))
"""Degrees of freedom that residuals may have; the last is a normal law, to the eye."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
ROUNDS = 60
SETTLED = 2e-3
"""The share by which scales no longer change in the last round; a likelihood then errs by its square."""


@dataclass(frozen=True)
class StudentFit:
    """Of m fits of n points by p columns: coefficients (m, p), scales (m,), weights and residuals (m, n).

    `likelihood`: ln, (m,).
    """

    coefficients: Array
    scale: Array
    weight: Array
    residual: Array
    likelihood: Array


def fitted(designs: Array, target: Array, tails: Array, weight: Array) -> StudentFit:
    """The most likely curves of m designs, (m, n, p) or one for all, each with its tail, (m,).

    `weight`: (n,), of the points, where the rounds begin. A column of zeros has the coefficient 0.
    """
    tail = tails[:, None]
    columns = np.broadcast_to(designs, (tails.size, *designs.shape[-2:]))
    rows = columns.transpose(0, 2, 1)
    weight = np.broadcast_to(weight, (tails.size, target.size))
    unused = np.eye(columns.shape[2]) * (1e-9 + (np.abs(columns).max(axis=1) == 0))[:, None, :]
    scale = np.full(tails.size, np.inf)
    for _ in range(ROUNDS):
        weighed = rows * weight[:, None]
        solution = np.linalg.solve(weighed @ columns + unused, weighed @ target[:, None])
        residual = target - (columns @ solution)[..., 0]
        # Over the weights, not over the points: the same where it settles, and it settles sooner (Kent, Tyler and
        # Vardi, Commun. Stat. Simul. Comput. 23, 1994).
        mean_square = (weight * residual**2).sum(axis=1) / weight.sum(axis=1)
        before, scale = scale, np.maximum(np.sqrt(mean_square), LEAST_SCALE)
        weight = (tail + 1) / (tail + (residual / scale[:, None]) ** 2)
        if np.all(np.abs(scale - before) < SETTLED * scale):
            break
    spread = np.log1p((residual / scale[:, None]) ** 2 / tail).sum(axis=1)
    constant = special.gammaln((tails + 1) / 2) - special.gammaln(tails / 2) - np.log(np.pi * tails) / 2
    likelihood = target.size * (constant - np.log(scale)) - (tails + 1) / 2 * spread
    return StudentFit(solution[..., 0], scale, weight, residual, likelihood)


PENALTY = 2.0
"""What a coefficient costs of twice the ln likelihood (Akaike, IEEE Trans. Autom. Control 19, 1974)."""
LEAST_SIDE = 2
"""Points of a curve on each side of a place without which it says nothing about it."""
MOST_DEGREE, POINTS_PER_TERM = 6, 3
ALTERNATIONS = 3
"""Rounds of the physical curve, the steps taken off, and of the polynomial with the steps."""
MOST_PIVOTS = 1000
FLOOR = LEAST_SCALE**2
LEAST_LEFT = 1e-2
"""Squared length of a column that the others leave, below which points cannot tell it from them."""


@dataclass(frozen=True, order=True)
class Break:
    """A place between two neighbouring numbers of ranks: the time steps there, or its growth bends."""

    before: int
    after: int
    is_bend: bool = False


@dataclass(frozen=True)
class BrokenFit:
    """A curve with its breaks. `shape`: ln of the physical curve; `base`: columns of the polynomial.

    `heights` in ln T of each break and `information` (one over the squared error); 0 where it has too few points.
    `criterion`: −2 ln likelihood and what the coefficients cost. `curve`: ln T of the whole.
    """

    shape: Array
    base: Array
    weight: Array
    heights: Array
    information: Array
    tail: float
    scaled: Array
    coefficients: int
    criterion: float
    curve: Array


class Curve:
    """Times of one allocation and size, in the order of ranks."""

    def __init__(self, ranks: Array, time_s: Array) -> None:
        order = np.argsort(ranks)
        self.ranks = ranks[order]
        self.ln_time = np.log(time_s[order])
        ln_ranks = np.log(self.ranks)
        self._ln_ranks = ln_ranks
        degree = max(0, min(MOST_DEGREE, (self.size - 2) // POINTS_PER_TERM))
        middle, reach = (ln_ranks.max() + ln_ranks.min()) / 2, max(float(np.ptp(ln_ranks)), 1e-9) / 2
        self._powers = np.polynomial.legendre.legvander((ln_ranks - middle) / reach, degree)
        terms = [np.ones(self.size), ln_ranks, self.ranks, self.ranks * ln_ranks, self.ranks**2]
        self._column = cache(self._column_of)
        self._physical = np.column_stack([term / max(term.max(), 1e-9) for term in terms])

    @property
    def size(self) -> int:
        """Numbers of ranks."""
        return int(self.ranks.size)

    def columns(self, breaks: Sequence[Break]) -> Array:
        """A column for each break, (n, m): zeros where a side has too few points."""
        return np.array([self._column(place) for place in breaks]).reshape(len(breaks), self.size).T

    def _column_of(self, one: Break) -> Array:
        beyond = self.ranks > one.before
        if min(beyond.sum(), (~beyond).sum()) < LEAST_SIDE:
            return np.zeros(self.size)
        if not one.is_bend:
            return beyond.astype(np.float64)
        bent = np.maximum(0.0, self._ln_ranks - math.log(one.before * one.after) / 2)
        return np.asarray(bent / bent.max())

    def fit(self, breaks: Sequence[Break], weight: Array | None = None) -> BrokenFit:
        """The most likely curve with these breaks; `weight`: (n,), of a fit like it."""
        columns = self.columns(breaks)
        steps = np.array([not place.is_bend for place in breaks], dtype=np.float64)
        weight = np.ones(self.size) if weight is None else weight
        heights, tails = np.zeros(len(breaks)), TAILS[2:3]
        turns = ALTERNATIONS if steps.any() else 2
        for turn in range(turns):
            flat = np.exp(self.ln_time - columns @ (heights * steps))
            root = np.sqrt(weight)
            relative = self._physical / flat[:, None]
            amounts = nonnegative_least_squares(relative * root[:, None], root, MOST_PIVOTS)
            shape = np.log(np.maximum(self._physical @ amounts, 0.2 * flat))
            target = self.ln_time - shape
            base = self._powers[:, : self._terms(columns, target, weight)]
            design = np.hstack([base, columns])
            tails = TAILS if turn == turns - 1 else tails
            fit = fitted(design, target, tails, weight)
            best = int(fit.likelihood.argmax())
            weight, heights = fit.weight[best], fit.coefficients[best, base.shape[1] :]
        is_live = np.abs(columns).max(axis=0, initial=0) > 0
        count = base.shape[1] + int(is_live.sum())
        # The physical curve was fitted, too: where its terms may go counts for what is known of a step.
        every = np.hstack([base, self._physical / np.exp(shape)[:, None], columns])
        variance = np.diag(np.linalg.pinv(every.T @ every))[every.shape[1] - len(breaks) :]
        tail, scale = float(TAILS[best]), float(fit.scale[best])
        known = (tail + 1) / (tail + 3) / scale**2 * max(self.size - count, 1) / self.size
        information = np.where(is_live, known / np.maximum(variance, 1e-12), 0.0)
        return BrokenFit(
            shape, base, weight, heights, information, tail, fit.residual[best] / scale, count,
            float(PENALTY * count - 2 * fit.likelihood[best]), self.ln_time - fit.residual[best],
        )  # fmt: skip

    def _terms(self, columns: Array, target: Array, weight: Array) -> int:
        """How many terms of the polynomial the criterion takes."""
        root = np.sqrt(weight)
        basis = np.linalg.qr(np.hstack([columns := _live(columns), self._powers]) * root[:, None])[0]
        weighed = root * target
        left = weighed @ weighed - np.cumsum((basis.T @ weighed) ** 2)[columns.shape[1] :]
        return int(np.argmin(self._criterion(left, np.arange(float(left.size))))) + 1

    def _criterion(self, left: Array, degree: Array | int) -> Array:
        return np.asarray(self.size * np.log(np.maximum(left, 0) / self.size + FLOOR / 4) + PENALTY * degree)

    def gains(
        self, fit: BrokenFit, breaks: Sequence[Break], further: Sequence[Break], *, in_pairs: bool = False
    ) -> tuple[Array, Array]:
        """What 2 ln likelihood each of m further breaks adds to a curve with `breaks`, (m,), at a fit's weights.

        And what every two steps among them add together, (s, s); empty where not asked for.
        """
        root = np.sqrt(fit.weight)
        left = root * (self.ln_time - fit.shape)
        free = self.columns(further) * root[:, None]
        columns = _live(self.columns(breaks))
        basis = np.linalg.qr(np.hstack([columns, self._powers]) * root[:, None])[0]
        steps = [n for n, one in enumerate(further) if in_pairs and not one.is_bend]
        none, alone, pairs = np.inf, np.full(len(further), np.inf), np.full((len(steps), len(steps)), np.inf)
        for number, direction in enumerate(basis.T):
            left = left - direction * (direction @ left)
            free = free - np.outer(direction, direction @ free)
            if (degree := number - columns.shape[1]) < 0:
                continue
            square = (free**2).sum(axis=0)
            scaled = free / np.sqrt(np.where(square > LEAST_LEFT, square, np.inf))
            pull, rest = scaled.T @ left, float(left @ left)
            none = min(none, float(self._criterion(np.array(rest), degree)))
            alone = np.minimum(alone, self._criterion(rest - pull**2, degree))
            if in_pairs:
                # Beside the one, the other pulls by what is left of both.
                cross, own = scaled[:, steps].T @ scaled[:, steps], pull[steps]
                share = np.maximum(1 - cross**2, LEAST_LEFT)
                both = own[:, None] ** 2 + (own[None] - cross * own[:, None]) ** 2 / share
                pairs = np.minimum(pairs, self._criterion(rest - both, degree))
        return np.maximum(none - alone, 0), np.maximum(none - pairs, 0)

    def likelihoods(self, fit: BrokenFit, beside: Sequence[Break], places: Sequence[Break]) -> Array:
        """ln likelihood with each of m places of one break, (m,), beside others."""
        base = np.hstack([fit.base, self.columns(beside)])
        designs = np.stack([np.column_stack([base, column]) for column in self.columns(places).T])
        tails = np.full(len(places), fit.tail)
        return fitted(designs, self.ln_time - fit.shape, tails, fit.weight).likelihood


def _live(columns: Array) -> Array:
    """Those of the columns that are not zero everywhere."""
    return columns[:, np.abs(columns).max(axis=0, initial=0) > 0]
