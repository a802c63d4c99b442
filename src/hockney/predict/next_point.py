"""Which points to measure next, and when to stop: what a measurement is expected to save, per core-second.

An *instance* is everything but what a library may choose (operation, placement, ranks, bytes, …); its
*contenders* are the points to choose from there. With ln T of each contender normal about the prediction, as the
95 % interval says, the choice of the smallest median is expected to lose E[max(0, T(chosen)/T(other) − 1)]
against another one; measuring either of the two would tell. (Expected improvement: Jones, Schonlau and Welch
1998; the regret is that of `hockney evaluate`.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from hockney.predict.accuracy import INSTANCE
from hockney.predict.estimators._places import SURFACE, places
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import positions
from hockney.statistics import NORMAL_6

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

REACH_RANKS, REACH_BYTES = 0.35, 1.5
"""Reach of a point in ln ranks and ln bytes: it informs about others of its algorithm and placement this near."""
MEASURED = 0.01
"""Deviation in ln of a measured time that came without an interval."""
WIDEST = 2.0
"""Deviation in ln where the estimator knows no interval, or no time: a factor of 50 either way."""


@dataclass(frozen=True)
class Candidates:
    """Points that may be measured: n rows with the columns `predict.points.POINT`.

    `contenders`: positions of the points to choose from, a row for each instance that has several, −1 where it
    has fewer than the widest one. `surfaces`: positions of each algorithm and placement, whatever the ranks and
    bytes; `tells`: for each surface, the share of another point's uncertainty that a point takes away, (m, m).
    """

    points: pd.DataFrame
    contenders: Index
    surfaces: list[Index]
    tells: list[NDArray[np.float32]]

    @classmethod
    def of(cls, points: pd.DataFrame) -> Candidates:
        """Group the points; an instance with a single contender has nothing to decide."""
        instances = [index for index in positions(points, INSTANCE).values() if index.size > 1]
        widest = max((index.size for index in instances), default=0)
        contenders = np.full((len(instances), widest), -1, dtype=np.intp)
        for row, index in zip(contenders, instances, strict=True):
            row[: index.size] = index
        surfaces = list(positions(points, SURFACE).values())
        at = places(points) / (REACH_RANKS, REACH_BYTES, REACH_RANKS)
        return cls(points, contenders, surfaces, [_tells(at[index]) for index in surfaces])


@dataclass(frozen=True)
class Belief:
    """What is known of n candidates: median of ln T (T in seconds) and its deviation, shape (n,)."""

    mean: Array
    deviation: Array

    @classmethod
    def of(cls, prediction: Prediction, measured_s: Array) -> Belief:
        """A prediction, and the measured times where there are some (NaN elsewhere), shape (n,).

        What cannot be predicted is taken for as fast as what can, within `WIDEST`: it has to be looked at.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.log(prediction.time_s)
            deviation = np.log(prediction.high_s / prediction.low_s) / (2 * NORMAL_6)
        mean[np.isneginf(mean)] = np.nan
        known = ~np.isnan(mean)
        mean[~known] = float(np.median(mean[known])) if known.any() else 0.0
        deviation[~known | ~np.isfinite(deviation)] = WIDEST
        is_measured = np.isfinite(measured_s)
        mean[is_measured] = np.log(measured_s[is_measured])
        deviation[is_measured] = np.minimum(deviation[is_measured], MEASURED)
        return cls(mean, deviation)


@dataclass(frozen=True)
class Stakes:
    """What hangs on the decisions as they stand.

    `choice`: position of the best contender of each instance, shape (instances,); `regret`: what choosing it is
    expected to lose against the most dangerous other one, T/T − 1; `saving`: for each candidate, shape (n,), what
    knowing its time would save at its own instance.
    """

    choice: Index
    regret: Array
    saving: Array


def stakes(candidates: Candidates, belief: Belief) -> Stakes:
    """Choose the smallest median everywhere, and see how sure that is."""
    index = candidates.contenders
    saving = np.zeros(len(candidates.points))
    if not len(index):
        return Stakes(np.empty(0, dtype=np.intp), np.empty(0), saving)
    absent = index < 0
    mean = np.where(absent, np.inf, belief.mean[index])
    deviation = np.where(absent, 0.0, belief.deviation[index])
    rows = np.arange(len(index))
    best = np.argmin(mean, axis=1)
    others = ~absent
    others[rows, best] = False
    apart = np.where(others, mean[rows, best][:, None] - np.where(absent, 0.0, mean), -np.inf)
    both = _expected_loss(apart, np.hypot(deviation[rows, best][:, None], deviation))
    # Knowing one of the two only: the other's own uncertainty stays.
    saving[index[others]] = _expected_loss(apart, deviation)[others]
    saving[index[rows, best]] = _expected_loss(apart, deviation[rows, best][:, None]).max(axis=1)
    return Stakes(index[rows, best], both.max(axis=1), saving)


def _expected_loss(apart: Array, deviation: Array) -> Array:
    """E[max(0, exp d − 1)] for d normal with mean `apart` and that deviation (as of Black and Scholes 1973)."""
    wide = np.maximum(deviation, 1e-9)
    expected = np.exp(apart + wide**2 / 2) * special.ndtr(apart / wide + wide) - special.ndtr(apart / wide)
    loss: Array = np.maximum(expected, 0.0)
    return loss


def next_points(
    candidates: Candidates, belief: Belief, cost: Array, open_: Mask, count: int, allowance: float = np.inf
) -> list[int]:
    """Positions of up to `count` candidates to measure, of those that are `open_`, the best first.

    `cost`: core-seconds of each, shape (n,); together they cost no more than `allowance`. The saving of a point
    is that at all instances within its reach; what one point of the batch will tell is not counted for the next.
    """
    saving = stakes(candidates, belief).saving
    surface_of = np.empty(len(candidates.points), dtype=np.intp)
    left = np.zeros(len(candidates.points))
    for number, index in enumerate(candidates.surfaces):
        surface_of[index] = number
        left[index] = candidates.tells[number] @ saving[index]
    chosen: list[int] = []
    possible = open_.copy()
    while len(chosen) < count:
        possible &= (cost <= allowance) & (left > 0)
        if not possible.any():
            break
        best = int(np.argmax(np.where(possible, left / cost, -1.0)))
        chosen.append(best)
        possible[best] = False
        allowance -= float(cost[best])
        number = surface_of[best]
        index = candidates.surfaces[number]
        tells = candidates.tells[number]
        saving[index] *= 1 - tells[np.flatnonzero(index == best)[0]]
        left[index] = tells @ saving[index]
    return chosen


def _tells(at: Array) -> NDArray[np.float32]:
    distance = np.abs(at[:, None, :] - at[None, :, :]).sum(axis=2)
    shares: NDArray[np.float32] = np.exp(-2 * distance).astype(np.float32)
    return shares


def settled(candidates: Candidates, beliefs: Iterable[Belief], tolerance: float) -> bool:
    """Whether the decisions no longer change: `beliefs` after each of the last batches, the newest first.

    True when the expected regret, averaged over the instances, is at most `tolerance`, and so is what the choices
    of each earlier belief lose against the present ones as far as is known now. The earlier beliefs are not asked
    for where the newest is not sure.
    """
    now: Stakes | None = None
    mean = np.empty(0)
    for belief in beliefs:
        at_stake = stakes(candidates, belief)
        if now is None:
            now, mean = at_stake, belief.mean
            if now.regret.size and float(now.regret.mean()) > tolerance:
                return False
        elif now.choice.size and float(np.expm1(mean[at_stake.choice] - mean[now.choice]).mean()) > tolerance:
            return False
    return True
