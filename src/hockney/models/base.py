"""What a model is: fitted to a series, it gives regimes of T(n) = α + βn that a person can read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field

from hockney.records.series import Caches, Series, size_place
from hockney.registry import Registry
from hockney.statistics import MOST_REACH, NORMAL


class Parameter(BaseModel):
    """A number with its unit and its 95 % interval; `low` and `high` are None where nothing supports one."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    value: float
    low: float | None = None
    high: float | None = None
    unit: str

    def bounds(self, form: str = ".3g", about: str = "95 %: ", none: str = "") -> str:
        """Its interval in parentheses after a blank; `none` without one."""
        if self.low is None or self.high is None:
            return none
        return f" ({about}{self.low:{form}} to {self.high:{form}})"

    @property
    def inverse(self) -> Parameter:
        """One over it; without an interval where that would have no end."""
        has_ends = self.low is None or self.low > 0
        low, high = (1 / end if end and has_ends else None for end in (self.high, self.low))
        return Parameter(value=1 / self.value, low=low, high=high, unit=f"1/{self.unit}")

    def scaled(self, factor: float, unit: str) -> Parameter:
        """It times a number that is exact."""
        low, high = (None if end is None else factor * end for end in (self.low, self.high))
        return Parameter(value=factor * self.value, low=low, high=high, unit=unit)

    def times(self, other: Parameter, unit: str = "1") -> Parameter:
        """The product; both intervals are taken as independent, on logarithmic scales. None without both."""
        value, both = self.value * other.value, (self, other)
        if any(each.low is None or each.high is None or min(each.low, each.value) <= 0 for each in both):
            return Parameter(value=value, unit=unit)
        below = math.hypot(*(math.log(each.value / (each.low or 1.0)) for each in both))
        above = math.hypot(*(math.log((each.high or 1.0) / each.value) for each in both))
        return Parameter(value=value, low=value * math.exp(-below), high=value * math.exp(above), unit=unit)


class Regime(BaseModel):
    """T(n) = alpha_s + beta_s_per_B · n for min_B ≤ n ≤ max_B (max_B None: no upper end).

    Regimes tile [0, ∞): each begins where the one before ends, and that size belongs to the one before.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    min_B: float
    max_B: float | None
    alpha_s: Parameter
    beta_s_per_B: Parameter
    label: str = Field(default="", description="eager, rendezvous")


class Quality(BaseModel):
    """How well a fit describes its points; errors are |predicted − measured| / measured."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    points: int
    median_relative_error: float
    p95_relative_error: float
    max_relative_error: float
    adjusted_r2: float | None = Field(description="None with too few points for the number of parameters")
    leave_one_out_median: float | None = Field(description="median error on points left out one at a time")
    leave_one_out_p95: float | None
    prediction_factor: float | None = Field(
        default=None, description="95 % of the points left out lie between prediction ÷ and × this"
    )
    correction_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="of interpolation beside the model, inside a regime; None: the model answers alone",
    )

    @property
    def line_factor(self) -> float | None:
        """95 % of the points left out lie between the line ÷ and × this; the correction left aside."""
        if self.correction_weight is None or self.leave_one_out_p95 is None or self.prediction_factor is None:
            return self.prediction_factor
        # |line/T − 1| ≤ p is T ≤ line/(1 − p). Lines as far off as that are no bound below a tenth of the time.
        return max(self.prediction_factor, 1 / (1 - min(self.leave_one_out_p95, 0.9)))


class Fit(BaseModel):
    """A fitted model. `parameters` are the named quantities of the model (latency_s, o_s, …)."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    model: str
    regimes: list[Regime]
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    nonphysical: bool = Field(default=False, description="a parameter is negative")
    gap_is_larger: bool = Field(
        default=False, description="loggp: from message to message max(g, (n − 1)G), not g + (n − 1)G"
    )
    n_half_B: Parameter | None = Field(default=None, description="size that reaches half the bandwidth: α/β")
    quality: Quality | None = None
    notes: list[str] = Field(default_factory=list, description="limits of this fit, in words")


FitFunction = Callable[[Series], Fit]
"""A model is one function from a series to a fit; RequestError where the series cannot support it."""

models: Registry[FitFunction] = Registry("model", "hockney.models", "reference/models.md")

NEEDS: dict[str, Sequence[str]] = {}
"""Operations of the same ranks without which a model says nothing: models that need some enter them."""


def lack_of(model: str, series: Series) -> str:
    """What a model needs beside the series and has not, in words; empty where it lacks nothing."""
    missing = [name for name in NEEDS.get(model, ()) if name not in series.related]
    return f"{model} needs {', '.join(missing)} of the same ranks" if missing else ""


PREFERRED = ("piecewise", "hockney")
"""Models whose numbers stand for a series, the best first, where a reader needs a single model."""


def preferred_model(names: Iterable[str]) -> str | None:
    """The one of several models whose numbers stand for a series; None where there is no model."""
    known = list(names)
    return next((name for name in (*PREFERRED, *known) if name in known), None)


BETWEEN_REGIMES = 0.9
"""The weight of interpolation from one regime to the next, where no line was fitted (`_lines.INSIDE`)."""


@dataclass(frozen=True)
class PiecewiseLine:
    """Line k holds up to and including `upper_B[k]`; the last upper end is infinite."""

    upper_B: NDArray[np.float64]
    alpha_s: NDArray[np.float64]
    beta_s_per_B: NDArray[np.float64]

    @classmethod
    def single(cls, alpha_s: float, beta_s_per_B: float) -> PiecewiseLine:
        return cls(np.array([np.inf]), np.array([alpha_s]), np.array([beta_s_per_B]))

    @classmethod
    def of(cls, fit: Fit) -> PiecewiseLine:
        """The lines of a fit's regimes."""
        return cls(
            np.array([np.inf if regime.max_B is None else regime.max_B for regime in fit.regimes]),
            np.array([regime.alpha_s.value for regime in fit.regimes]),
            np.array([regime.beta_s_per_B.value for regime in fit.regimes]),
        )

    def place(self, size_B: ArrayLike) -> NDArray[np.intp]:
        """Which line holds, shape of `size_B`."""
        return np.asarray(np.searchsorted(self.upper_B, np.asarray(size_B, dtype=np.float64)))

    def at(self, size_B: ArrayLike) -> NDArray[np.float64]:
        """Times in seconds, shape of `size_B`."""
        place = self.place(size_B)
        return np.asarray(self.alpha_s[place] + self.beta_s_per_B[place] * np.asarray(size_B, dtype=np.float64))

    def corrected(self, size_B: ArrayLike, measured: Series, weight: float) -> NDArray[np.float64]:
        """As the function `corrected`, with that weight inside a regime."""
        time_s, share = self.at(size_B), self.correction_share(size_B, measured, weight)
        corrects = (share > 0) & (time_s > 0)
        between_s = np.interp(np.asarray(size_B, dtype=np.float64), *self._nodes(measured))
        ratio = np.divide(between_s, time_s, out=np.ones_like(time_s), where=corrects)
        return np.asarray(time_s * ratio**share)

    def correction_share(self, size_B: ArrayLike, measured: Series, weight: float) -> NDArray[np.float64]:
        """As the function `correction_share`, with that weight inside a regime."""
        size, nodes_B, model_s = np.asarray(size_B, dtype=np.float64), measured.size_B, self.at(measured.size_B)
        missed = (measured.low_s < measured.high_s) & ((model_s < measured.low_s) | (measured.high_s < model_s))
        share = np.interp(size_place(size), size_place(nodes_B), np.where(missed, 1.0, weight))
        right = np.minimum(np.searchsorted(nodes_B, size), nodes_B.size - 1)
        left = np.where(nodes_B[right] > size, np.maximum(right - 1, 0), right)
        is_between = self.place(nodes_B[left]) < self.place(nodes_B[right])
        share = np.where(is_between, np.maximum(share, BETWEEN_REGIMES), share)
        return np.where((nodes_B[0] <= size) & (size <= nodes_B[-1]), share, 0.0)

    def _nodes(self, measured: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sizes and times between which a correction interpolates: the measured ones, and both sides of each
        break that the library states, where the lines are led on to it from the times beside it."""
        size_B, limit_B = measured.size_B, measured.eager_limit_B
        stated_B = {*measured.breaks_B, *(() if limit_B is None else (limit_B, limit_B - 1))}
        nodes = dict(zip(size_B.tolist(), measured.time_s.tolist(), strict=True))
        for break_B in stated_B & set(self.upper_B.tolist()):
            if not size_B[0] <= break_B < size_B[-1]:
                continue
            right = int(np.searchsorted(size_B, break_B, side="right"))
            for beside, end_B in ((right - 1, break_B), (right, break_B + 1)):
                led_on = self.at([end_B, size_B[beside]])
                if (led_on > 0).all():
                    nodes[end_B] = float(measured.time_s[beside] * led_on[0] / led_on[1])
        sizes_B = sorted(nodes)
        return np.array(sizes_B), np.array([nodes[each_B] for each_B in sizes_B])


def predict(fit: Fit, size_B: ArrayLike) -> NDArray[np.float64]:
    """Times in seconds by the lines alone, shape of `size_B`; least squares may give negative ones."""
    return PiecewiseLine.of(fit).at(size_B)


DRIFT = 0.025
"""Standard deviation of ln(time) between campaigns of one machine at one level, beyond what launches tell.

Launches of a campaign lie seconds apart, campaigns minutes and more, and the machine moves meanwhile. From
`bench/repeatability`: five campaigns on one virtual machine, on which it was chosen.
"""
DRIFT_AT_REFERENCE = 0.015
"""The same where times of both campaigns are brought to one reference of the machine: what that does not explain.

Chosen on five campaigns of one virtual machine whose references lay up to 6 % apart.
"""
SHARED_DRIFT = 0.25
"""The same where an exchange fills the last-level cache, of which others leave now more and now less.

From the same machine, on 15 campaigns of three runs: 4 to 6 % at 1 MiB, 9 to 27 % at 4 MiB, with 32 MiB of cache.
"""
LAST_CACHE_DRIFT = 0.03
"""The same of an exchange that the caches before the last level do not hold, though it fills little of that one.

From ten campaigns of another virtual machine, in two runs half an hour apart: 720 KiB to 2.5 MiB differed by 8 to
11 % between them while up to 512 KiB agreed within 3 %, beside caches of 2 and 260 MiB.
"""
BUFFERS = 4
"""Of an exchange, each of a message: two ranks send and receive."""


def drift(size_B: ArrayLike, caches: Caches | None, *, is_at_reference: bool = False) -> NDArray[np.float64]:
    """Standard deviation of ln(time) of a message from campaign to campaign, beyond what launches tell.

    `caches` None: not known, and nothing is said of what others leave. `is_at_reference`: both campaigns' times
    are those at one reference of the machine.
    """
    return np.hypot(DRIFT_AT_REFERENCE if is_at_reference else DRIFT, _shared_drift(size_B, caches))


def _shared_drift(size_B: ArrayLike, caches: Caches | None) -> NDArray[np.float64]:
    exchanged_B = BUFFERS * np.asarray(size_B, dtype=np.float64)
    if caches is None:
        return np.zeros_like(exchanged_B)
    held_B = np.inf if caches.before_last_B is None else caches.before_last_B
    share = np.minimum(exchanged_B / caches.last_B, 1.0)
    return np.asarray(np.hypot(SHARED_DRIFT * share, LAST_CACHE_DRIFT * (exchanged_B > held_B)))


def interval(
    fit: Fit, size_B: ArrayLike, measured: Series | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """95 % prediction interval (low, high) in seconds: what another campaign on this machine would measure.

    It lies around the `corrected` time. Beyond the sizes of `measured`, which the fit was made from, or without
    it, the interval is calibrated on points that the fit did not see: each is left out once and predicted from
    the others, and the 95 % quantile of |ln(predicted/measured)| is one factor for all sizes. At sizes that
    several launches measured it holds the answer and the measured time with its interval and the `drift` of both
    campaigns. From there to the middle between two sizes the factor comes in as the deviation of a Brownian
    bridge over ln(size) does. None where nothing was measured (a published model).
    """
    if fit.quality is None or fit.quality.prediction_factor is None:
        return None
    size = np.asarray(size_B, dtype=np.float64)
    time_s, shared = (
        corrected(fit, size, measured),
        _shared_drift(size, None if measured is None else measured.caches),
    )
    unseen = np.hypot(np.log(fit.quality.prediction_factor), NORMAL * np.sqrt(2) * shared)
    by_factor = time_s / np.exp(unseen), time_s * np.exp(unseen)
    if measured is None or measured.freedom is None:
        return by_factor
    answer_s = corrected(fit, measured.size_B, measured)
    known = ~np.isnan(measured.freedom) & (answer_s > 0)
    if not np.any(known):
        return by_factor
    at, seen = size_place(size), measured.take(known)
    nodes = size_place(seen.size_B)
    off = np.log(seen.time_s / answer_s[known])
    moves = NORMAL * drift(seen.size_B, measured.caches, is_at_reference=measured.is_at_reference)
    with np.errstate(divide="ignore"):
        below = np.hypot(np.minimum(np.log(seen.time_s / seen.low_s), MOST_REACH), moves) * np.sqrt(2)
    above = np.hypot(np.log(seen.high_s / seen.time_s), moves) * np.sqrt(2)
    gap = np.searchsorted(nodes, at)
    inside = (gap > 0) & (gap < nodes.size)
    left, right = nodes[np.maximum(gap - 1, 0)], nodes[np.minimum(gap, nodes.size - 1)]
    share = np.divide(at - left, right - left, out=np.zeros_like(at), where=inside)
    bridge = unseen * 2 * np.sqrt(share * (1 - share))
    inside |= np.isin(at, nodes)
    low = np.where(inside, np.hypot(np.interp(at, nodes, np.maximum(0.0, below - off)), bridge), unseen)
    high = np.where(inside, np.hypot(np.interp(at, nodes, np.maximum(0.0, above + off)), bridge), unseen)
    return time_s * np.exp(-low), time_s * np.exp(high)


def corrected(fit: Fit, size_B: ArrayLike, measured: Series | None) -> NDArray[np.float64]:
    """Times in seconds of messages of `size_B` bytes, same shape: the model, corrected among the measured sizes.

    T = model^(1 − w) · between^w, with w by `correction_share`, where `between` lies on the line between the
    neighbouring sizes of `measured`. At a break that the library states it has the jump of the model. Beyond the
    measured sizes, without a weight, and where the model's time is not positive, that stands.
    """
    weight = fit.quality.correction_weight if fit.quality is not None else None
    if measured is None or weight is None:
        return predict(fit, size_B)
    return PiecewiseLine.of(fit).corrected(size_B, measured, weight)


def correction_share(fit: Fit, size_B: ArrayLike, measured: Series | None) -> NDArray[np.float64]:
    """The weight w of interpolation beside the model, shape of `size_B`; 0 outside the measured sizes.

    Inside a regime it is the fit's `correction_weight`, and 1 at sizes whose interval does not hold the model's
    time; between two sizes w lies between theirs. From one regime to the next it is `BETWEEN_REGIMES` at least.
    """
    weight = fit.quality.correction_weight if fit.quality is not None else None
    if measured is None or weight is None:
        return np.zeros_like(np.asarray(size_B, dtype=np.float64))
    return PiecewiseLine.of(fit).correction_share(size_B, measured, weight)


DEFAULT = "default"
"""The algorithm of a collective that is the library's own choice."""
TIE = 0.02
"""Times closer than this share count as equal, however narrow their intervals."""


def are_faster(time_s: Any, high_s: Any, other_low_s: Any, other_s: Any) -> Any:
    """Whether the first times are shorter than the others by their intervals (s); numbers or arrays alike."""
    return (high_s < other_low_s) & (time_s * (1 + TIE) < other_s)
