"""Which points to measure next, and when to stop: what a measurement is expected to save, per core-second.

An *instance* is everything but what a library may choose (operation, placement, ranks, bytes, …); its *contenders*
are the points to choose from there. With ln T of each contender normal about the prediction, as the 95 % interval
says, the choice of the smallest median is expected to lose E[max(0, T(chosen)/T(other) − 1)] against another one;
measuring either of the two would tell. (Expected improvement: Jones, Schonlau and Welch 1998; the regret is that of
`hockney evaluate`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from hockney.predict.accuracy import INSTANCE
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import GROWING, POINT, positions

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

REACH_RANKS, REACH_BYTES = 0.35, 1.5
"""A point tells about others of its algorithm and placement within about so much in ln ranks and ln bytes."""
MEASURED = 0.01
"""Deviation in ln of a measured time that came without an interval."""
WIDEST = 2.0
"""Deviation in ln where the estimator knows no interval, or no time: a factor of 50 either way."""
_NORMAL_95 = 1.959964
_SURFACE = tuple(name for name in POINT if name not in (*GROWING, "bytes"))


@dataclass(frozen=True)
class Candidates:
    """Points that may be measured: columns `predict.points.POINT`, one row each.

    `instances` holds the positions of the contenders of each instance that has several; `surfaces` those of each
    algorithm and placement, whatever the ranks and bytes.
    """

    points: pd.DataFrame
    instances: list[Index]
    surfaces: list[Index]

    @classmethod
    def of(cls, points: pd.DataFrame) -> Candidates:
        """Group the points; an instance with a single contender has nothing to decide."""
        instances = [index for index in positions(points, INSTANCE).values() if index.size > 1]
        return cls(points, instances, list(positions(points, _SURFACE).values()))


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
            deviation = np.log(prediction.high_s / prediction.low_s) / (2 * _NORMAL_95)
        mean[np.isneginf(mean)] = np.nan
        known = ~np.isnan(mean)
        mean[~known] = float(np.median(mean[known])) if known.any() else 0.0
        deviation[~known | ~np.isfinite(deviation)] = WIDEST
        there = np.isfinite(measured_s)
        mean[there] = np.log(measured_s[there])
        deviation[there] = np.minimum(deviation[there], MEASURED)
        return cls(mean, deviation)


@dataclass(frozen=True)
class Stakes:
    """`choice`: the best contender of each instance, shape (instances,); `regret`: what choosing it is expected to
    lose against the most dangerous other contender, as T/T − 1; `saving`: for each candidate, shape (n,), what
    knowing its time would save at its own instance."""

    choice: Index
    regret: Array
    saving: Array


def stakes(candidates: Candidates, belief: Belief) -> Stakes:
    """Decisions as they stand and what hangs on each."""
    choice = np.empty(len(candidates.instances), dtype=np.intp)
    regret = np.zeros(len(candidates.instances))
    saving = np.zeros(len(candidates.points))
    for number, index in enumerate(candidates.instances):
        mean, deviation = belief.mean[index], belief.deviation[index]
        best = int(np.argmin(mean))
        others = np.arange(index.size) != best
        apart = mean[best] - mean[others]
        loss = _expected_loss(apart, np.hypot(deviation[best], deviation[others]))
        choice[number] = index[best]
        regret[number] = loss.max()
        # Knowing one time only: the other's own uncertainty stays.
        saving[index[others]] = _expected_loss(apart, deviation[others])
        saving[index[best]] = _expected_loss(apart, np.full(apart.size, deviation[best])).max()
    return Stakes(choice, regret, saving)


def _expected_loss(apart: Array, deviation: Array) -> Array:
    """E[max(0, exp d − 1)] for d normal with mean `apart` and that deviation (as of Black and Scholes 1973)."""
    wide = np.maximum(deviation, 1e-9)
    with np.errstate(over="ignore"):
        made = np.exp(apart + wide**2 / 2) * ndtr(apart / wide + wide) - ndtr(apart / wide)
    return np.asarray(np.maximum(made, 0.0))


def next_points(
    candidates: Candidates, belief: Belief, cost: Array, open_: Mask, count: int, allowance: float = np.inf
) -> list[int]:
    """Positions of up to `count` candidates to measure, of those that are `open_`, the best first.

    `cost`: core-seconds of each, shape (n,); together they cost no more than `allowance`. The saving of a point is
    that at all instances within its reach; what one point of the batch will tell is not counted again for the next.
    """
    saving = stakes(candidates, belief).saving
    at = _places(candidates.points)
    surface_of = np.empty(len(candidates.points), dtype=np.intp)
    tells: list[Array] = []
    left = np.zeros(len(candidates.points))
    for number, index in enumerate(candidates.surfaces):
        surface_of[index] = number
        tells.append(_tells(at[index]))
        left[index] = tells[number] @ saving[index]
    chosen: list[int] = []
    possible = open_ & (left > 0)
    while len(chosen) < count:
        possible &= cost <= allowance
        if not possible.any():
            break
        best = int(np.argmax(np.where(possible, left / cost, -1.0)))
        chosen.append(best)
        possible[best] = False
        allowance -= float(cost[best])
        number = surface_of[best]
        index = candidates.surfaces[number]
        own = int(np.flatnonzero(index == best)[0])
        saving[index] *= 1 - tells[number][own]
        left[index] = tells[number] @ saving[index]
    return chosen


def _places(points: pd.DataFrame) -> Array:
    ranks, size = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
    return np.log(np.column_stack([ranks, np.maximum(size, 0.5)])) / (REACH_RANKS, REACH_BYTES)


def _tells(at: Array) -> Array:
    """The share of its own uncertainty that a point takes from another, shape (n, n)."""
    distance = np.abs(at[:, None, :] - at[None, :, :]).sum(axis=2)
    return np.asarray(np.exp(-2 * distance))


def settled(candidates: Candidates, beliefs: Sequence[Belief], tolerance: float) -> bool:
    """Whether the decisions no longer change: `beliefs` after each of the last batches, the newest last.

    True when the expected regret, averaged over the instances, is below `tolerance` and no earlier belief would
    choose a contender that the newest holds to be slower than its own choice by more than that, at more than that
    share of the instances.
    """
    if not candidates.instances:
        return True
    now = stakes(candidates, beliefs[-1])
    if float(now.regret.mean()) > tolerance:
        return False
    mean = beliefs[-1].mean
    for before in beliefs[:-1]:
        choice = stakes(candidates, before).choice
        if float((mean[choice] - mean[now.choice] > tolerance).mean()) > tolerance:
            return False
    return True
