"""The search for regimes against all cuts of small curves, with lines by another solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.optimize import nnls

from hockney.models._regimes import SizeCurve, Stretch
from hockney.statistics import Array

# As docs/reference/models.md has them.
SIGMA, REGIME, JOIN, ASIDE, LAST = 0.02, 4.0, 3.0, 8.0, 6.0
BELIEVED = 4


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
    stated_B: list[float]

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
        alone = self.noise[0] <= max(SIGMA, float(np.median(self.noise)))
        lines = {}
        for low in range(last + 1):
            for high in range(low + 1, last + 1):
                whole = list(range(low, high + 1))
                found = self.line_of(whole, low)
                for point in whole if len(whole) >= 4 else []:
                    agrees = 0 < self.noise[point] <= SIGMA
                    agrees |= point == 0 and self.size_B[0] == 0 and self.noise[0] > 0 and alone
                    if agrees and point < last:
                        continue
                    without = self.line_of([other for other in whole if other != point], low)
                    cost = without.cost + ASIDE * SIGMA**2
                    if cost < found.cost:
                        found = Line(without.alpha_s, without.beta_s_per_B, cost)
                lines[low, high] = found
        return lines

    def states(self, gap: int) -> bool:
        """Whether the library states a break between the point `gap` and the next."""
        return bool(self.between(gap))

    def between(self, gap: int) -> list[float]:
        """The breaks that the library states there; the eager limit comes first in `stated_B`, in any order."""
        if not 0 <= gap < self.size_B.size - 1:
            return []
        low_B, high_B = self.size_B[gap], self.size_B[gap + 1]
        return [stated_B for stated_B in self.stated_B if low_B <= stated_B <= high_B]

    def may_be_regime(self, low: int, high: int) -> bool:
        return high - low >= 2 or self.states(low - 1) or self.states(high)

    def may_part(self, low: int, gap: int, high: int) -> bool:
        """Whether regimes low … gap and gap + 1 … high may stand side by side."""
        low_B, high_B = self.size_B[gap], self.size_B[gap + 1]
        left, right = self.lines[low, gap], self.lines[gap + 1, high]
        if high_B <= 1.1 * low_B or high_B - low_B <= 1:
            return True
        if stated_B := self.between(gap):
            break_B = self.stated_B[0] if self.stated_B[0] in stated_B else max(stated_B)
            led_on = (gap - low + 1 < BELIEVED and low_B < break_B) or (
                high - gap < BELIEVED and break_B < high_B
            )
            before_s, after_s = (one.alpha_s + one.beta_s_per_B * break_B for one in (left, right))
            falls = before_s > 1.02 * after_s and self.time_s[gap] <= 1.02 * self.time_s[gap + 1]
            if not (led_on and falls):
                return True
        rise = left.beta_s_per_B - right.beta_s_per_B
        return rise != 0 and bool(low_B <= (right.alpha_s - left.alpha_s) / rise <= high_B)

    def price(self, stretch: Stretch) -> float:
        line = self.lines[stretch.first, stretch.last]
        misfit, last = line.cost / SIGMA**2, self.size_B.size - 1
        price = misfit + REGIME
        if stretch.last == stretch.first + 1:
            price = JOIN + min(misfit, JOIN) + (LAST if stretch.last == last else 0)
        return price + (1e9 if stretch.last == last and line.beta_s_per_B == 0 else 0)

    def cuts(self) -> Iterator[tuple[float, list[Stretch]]]:
        last = self.size_B.size - 1
        for high in range(1, last + 1):
            if self.may_be_regime(0, high):
                first = Stretch(0, high)
                yield from self.onward([first], self.price(first))
        is_known = 0 < self.noise[0] <= max(SIGMA, float(np.median(self.noise)))
        if self.size_B[0] == 0 and is_known:
            for high in range(2, last + 1):
                if self.may_be_regime(1, high):
                    second = Stretch(1, high)
                    yield from self.onward([Stretch(0, 0), second], JOIN + self.price(second))

    def onward(self, cut: list[Stretch], price: float) -> Iterator[tuple[float, list[Stretch]]]:
        """What may follow. A pair that shares an end joins; none does at the start, from a single size."""
        here, last = cut[-1], self.size_B.size - 1
        if here.last == last:
            yield price, cut
            return
        for high in range(here.last + 1, last + 1) if here.last > 1 else []:
            after = Stretch(here.last, high)
            yield from self.onward([*cut, after], price + self.price(after))
        for high in range(here.last + 2, last + 1):
            both = self.may_be_regime(here.first, here.last) and self.may_be_regime(here.last + 1, high)
            if both and self.may_part(here.first, here.last, high):
                after = Stretch(here.last + 1, high)
                yield from self.onward([*cut, after], price + self.price(after))


def curve_of(dice: np.random.Generator, kind: str) -> Exhaustive:
    """Seven sizes of two lines, a jump, or a disturbed size, with noise of the kind."""
    size_B = np.array([0.0, *np.cumsum(dice.choice([1, 2, 30, 500, 4000], 6))])
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
    stated_B = sorted(dice.choice(size_B, dice.choice(3, p=[0.6, 0.2, 0.2]), replace=False).tolist())
    return Exhaustive(size_B, time_s, noise, stated_B)


@pytest.mark.parametrize("kind", ["unknown", "quiet", "mixed"])
def test_no_cut_is_cheaper_than_the_best(kind: str) -> None:
    dice = np.random.default_rng(5)
    several = 0
    for _ in range(60):
        every = curve_of(dice, kind)
        cuts = list(every.cuts())
        least = min(price for price, _ in cuts)
        limit_B = every.stated_B[0] if every.stated_B else None
        curve = SizeCurve(every.size_B, every.time_s, every.noise, limit_B, every.stated_B[1:])
        assert curve.sigma == SIGMA
        places = [(stretch.first, stretch.last) for stretch in curve.best]
        prices = [price for price, cut in cuts if [(one.first, one.last) for one in cut] == places]
        assert prices, "the best cut is one that may be"
        # Of cuts that cost the same up to rounding, either may be chosen; two solvers agree to 1e-9 of (T/σ)².
        assert min(prices) == pytest.approx(least, abs=1e-5)
        several += len(places) > 1
    assert several >= 15
