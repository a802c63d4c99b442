"""The search for regimes against all cuts of small curves, with lines by another solver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from hockney.models.piecewise import SizeCurve, Stretch
from hockney.statistics import Array

# As docs/reference/models.md has them.
SIGMA, REGIME, ASIDE = 0.02, 4.0, 8.0


@dataclass(frozen=True)
class Line:
    """α, β ≥ 0 through some points, and the sum of squared relative residuals, weighted."""

    alpha_s: float
    beta_s_per_B: float
    cost: float


@dataclass
class Exhaustive:
    """Every cut of a curve, and what each costs."""

    size_B: Array
    time_s: Array
    noise: Array

    def line_of(self, points: list[int], low: int) -> Line:
        size_B, time_s = self.size_B[points], self.time_s[points]
        weight = SIGMA / np.maximum(self.noise[points], SIGMA)
        design = np.column_stack([weight / time_s, weight * size_B / time_s])
        scale = np.maximum(np.linalg.norm(design, axis=0), 1.0)
        solution, missed = nnls(design / scale, weight)
        (alpha_s, beta), residual = (float(value) for value in solution / scale), float(missed)
        if alpha_s == 0 and self.size_B[low] == 0:
            # An empty message takes time, set aside or not: the mean of all stands for the line.
            alpha_s, beta = float(np.sum(weight**2 / time_s) / np.sum(weight**2 / time_s**2)), 0.0
            residual = float(np.linalg.norm(weight * (alpha_s / time_s - 1)))
        return Line(alpha_s, beta, residual**2)

    @cached_property
    def lines(self) -> dict[tuple[int, int], Line]:
        """The line of each stretch; of four sizes or more, without one of them where that is worth it."""
        last = self.size_B.size - 1
        lines = {}
        for low in range(last + 1):
            for high in range(low + 1, last + 1):
                whole = list(range(low, high + 1))
                found = self.line_of(whole, low)
                for point in whole if len(whole) >= 4 else []:
                    without = self.line_of([other for other in whole if other != point], low)
                    cost = without.cost + ASIDE * SIGMA**2
                    if cost < found.cost:
                        found = Line(without.alpha_s, without.beta_s_per_B, cost)
                lines[low, high] = found
        return lines

    def price(self, stretch: Stretch) -> float:
        line = self.lines[stretch]
        beyond = stretch[1] == self.size_B.size - 1 and line.beta_s_per_B == 0
        return line.cost / SIGMA**2 + REGIME + (1e9 if beyond else 0)

    def cuts(self) -> dict[tuple[Stretch, ...], float]:
        """The price of every cut into one to five regimes of three sizes or more."""
        count = self.size_B.size
        prices = {}
        for more in range(5):
            for breaks in combinations(range(1, count), more):
                cut = tuple((first, after - 1) for first, after in pairwise([0, *breaks, count]))
                if all(last - first >= 2 for first, last in cut):
                    prices[cut] = sum(map(self.price, cut))
        return prices


def curve_of(dice: np.random.Generator, kind: str) -> Exhaustive:
    """Twelve sizes of two lines, a jump, or a disturbed size, with noise of the kind."""
    size_B = np.array([0.0, *np.cumsum(dice.choice([1, 2, 30, 500, 4000], 11))])
    if dice.random() < 0.5:
        size_B = size_B[1:]
    place = dice.integers(1, size_B.size)
    time_s = (1e-6 + size_B * 1e-9) * np.where(np.arange(size_B.size) < place, 1.0, dice.choice([1.0, 1.5, 4.0]))
    time_s = time_s * np.exp(dice.choice([0.001, 0.05, 0.5]) * dice.standard_normal(size_B.size))
    time_s[dice.integers(size_B.size)] *= dice.choice([1.0, 1.3, 0.5])
    noise = {
        "unknown": np.zeros(size_B.size),
        "quiet": np.full(size_B.size, 0.005),
        "mixed": dice.choice([0.005, 0.05, 0.3], size_B.size),
    }[kind]
    return Exhaustive(size_B, time_s, noise)


@pytest.mark.parametrize("kind", ["unknown", "quiet", "mixed"])
def test_no_cut_is_cheaper_than_the_best(kind: str) -> None:
    dice = np.random.default_rng(5)
    several = 0
    for _ in range(30):
        every = curve_of(dice, kind)
        prices = every.cuts()
        curve = SizeCurve(every.size_B, every.time_s, every.noise, None)
        # Of cuts that cost the same up to rounding, either may be chosen; two solvers agree to 1e-9 of (T/σ)².
        assert prices[tuple(curve.best)] == pytest.approx(min(prices.values()), abs=1e-5)
        several += len(curve.best) > 1
    assert several >= 10


def test_there_are_never_more_than_five_regimes_nor_fewer_than_three_sizes_in_one() -> None:
    size_B = np.exp2(np.arange(40.0))
    staircase = 1e-6 * np.exp(np.arange(40) // 4) * (1 + size_B / 2**40)
    best = SizeCurve(size_B, staircase, np.zeros(40), None).best
    assert len(best) == 5
    assert min(last - first for first, last in best) >= 2
