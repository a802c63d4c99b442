"""A `default` of which nothing but its times is known, and no algorithm by name beside it.

By costs of messages, calibrated under the decisions of each library that is known here, each schedule that any of
them has is simulated. A curve goes on from its last point as schedules grow, each as probable as it makes the
times around that point, up to a factor, and as it is fast where it is asked; where none explains them,
`combination` counts. Growing windows in training say how far off that is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.predict.decisions.base import ScheduleChoice, decisions_for
from hockney.predict.estimators._along import CLOSE, rate
from hockney.predict.estimators._default import Simulated, as_schedule
from hockney.predict.estimators._places import SURFACE, places
from hockney.predict.estimators.base import FALLBACK, Array, Correction, FittedEstimator, Prediction, Training
from hockney.predict.estimators.combination import fit, usual
from hockney.predict.identify.candidates import window
from hockney.predict.points import DEFAULT, is_grid, positions, rows
from hockney.statistics import NORMAL, mixed_quantiles
from hockney.units import format_bytes, percent

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
LIBRARIES = ("Open MPI 4.1", "MPICH 4.3")
"""Each stands for the libraries that descend from it, or were tuned beside it."""
MISSED, FREEDOM = 0.1, 4.0
"""In ln: what a schedule that ran misses beside its factor, by Student's t of so many degrees of freedom."""
OFF = 0.3
"""In ln: the deviation of that factor, for what a library's own code costs."""
UNEXPLAINED = 0.3
"""In ln: no schedule ran, as probably as one that misses so much around the point."""
SLOWER = 0.3
"""In ln: a library runs what takes so much longer than another schedule 1/e as probably."""
LEAST = 1e-3
"""Share of the most probable below which a way is not simulated."""
COUNT = 4.0
"""All times around a point count as so many: they miss alike."""
NEAR = np.log(2)
"""In nodes or ranks, bytes and ranks a node: a time so far away counts 1/e."""
BACK = NEAR * np.arange(0, 4, 0.5)
"""How far before the last the numbers of ranks lie that are simulated."""
MOST = 1000
"""Points of training that are simulated."""


def likely(missed: Array | float) -> Array:
    """ln of how probable it is that a schedule that ran misses so much, in ln."""
    return np.asarray(-COUNT * (FREEDOM + 1) / 2 * np.log1p((missed / MISSED) ** 2 / FREEDOM))


@dataclass(frozen=True, eq=False)
class ScheduledCurves:
    """Trained places (n, 3), ln seconds (n,), those by each calibration and schedule, (ways, n), NaN without."""

    at: Array
    ln_s: Array
    simulated_ln: Array
    calibrations: int

    def ends(self, at: Array) -> tuple[Array, Array, Array]:
        """Where curves to other places (m, 3) begin: ln of how probable each way is, −inf where it makes nothing
        of it, and last none, (ways + 1, m); ln measured over simulated, (ways, m); how far that is, (m,)."""
        off = self.ln_s - self.simulated_ln
        ends = np.clip(at, self.at.min(axis=0), self.at.max(axis=0))
        ends, which = np.unique(ends, axis=0, return_inverse=True)
        chance, begin = np.full((len(off) + 1, len(ends)), likely(UNEXPLAINED)), np.empty((len(off), len(ends)))
        nearest = np.empty(len(ends), dtype=np.intp)
        for i, end in enumerate(ends):
            apart = np.abs(self.at - end).sum(axis=1)
            nearest[i] = apart.argmin()
            begin[:, i] = off[:, nearest[i]]
            weight = np.where(np.isfinite(off), np.exp(-apart / NEAR), 0.0)
            weight /= np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            own = np.where(weight > 0, off, 0.0)
            factor = (weight * own).sum(axis=1, keepdims=True) / (1 + (MISSED / OFF) ** 2 / COUNT)
            chance[:-1, i] = (weight * likely(own - factor)).sum(axis=1) - (factor[:, 0] / OFF) ** 2 / 2
        chance[:-1][~np.isfinite(begin)] = -np.inf
        chance[chance < chance.max(axis=0) + np.log(LEAST)] = -np.inf
        which = which.ravel()
        return chance[:, which], begin[:, which], np.abs(at - self.at[nearest[which]]).sum(axis=1)

    def missed(self) -> tuple[Array, Array]:
        """Errors in ln of what lies beyond windows that end at each number of nodes; how far beyond, (n,)."""
        errors, distances = [np.empty(0)], [np.empty(0)]
        # From one node on messages go over a locality of which no window with one node knows.
        for end in np.unique(self.at[self.at[:, 0] > 0, 0])[:-1]:
            seen = self.at[:, 0] <= end
            part = replace(self, at=self.at[seen], ln_s=self.ln_s[seen], simulated_ln=self.simulated_ln[:, seen])
            chance, begin, far = part.ends(self.at[~seen])
            beyond_ln = self.simulated_ln[:, ~seen]
            ln_s, share = onward(chance[:-1] - self.slower(beyond_ln) / SLOWER, beyond_ln + begin)
            has = share.any(axis=0)
            errors.append(((share * ln_s).sum(axis=0) - self.ln_s[~seen])[has])
            distances.append(far[has])
        return np.concatenate(errors), np.concatenate(distances)

    def slower(self, simulated_ln: Array) -> Array:
        """How much longer each way (ways, m) takes than the fastest by its costs, in ln, 0 where nobody knows."""
        by_costs = simulated_ln.reshape(self.calibrations, -1, simulated_ln.shape[1])
        longer = by_costs - np.fmin.reduce(by_costs, axis=1, keepdims=True)
        return np.nan_to_num(longer).reshape(simulated_ln.shape)


def onward(chance: Array, ln_s: Array) -> tuple[Array, Array]:
    """ln seconds of ways (ways, m), 0 where one has none, and the share of each, 0 there."""
    can = np.isfinite(ln_s)
    share = np.where(can, np.exp(chance - np.maximum(chance.max(axis=0), -1e9)), 0.0)
    return np.where(can, ln_s, 0.0), share / np.maximum(share.sum(axis=0), np.finfo(float).tiny)


@dataclass(frozen=True)
class Supposed:
    """Calibrations under the decisions of libraries, schedules, trained curves with what they miss by unit of
    distance, and `others`, which know no schedule."""

    members: Sequence[Simulated]
    schedules: Mapping[str, ScheduleChoice]
    curves: Mapping[Hashable, tuple[ScheduledCurves, float]]
    others: FittedEstimator
    is_grid: bool

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points`, in their order."""
        placed = usual(points, is_grid=self.is_grid)
        along = self.others.predict(placed)
        answer, readable_s = np.array([along.low_s, along.time_s, along.high_s]), np.full(len(points), np.nan)
        other_ln, half = np.log(along.time_s), np.log(along.high_s / along.low_s) / 2
        whole = np.zeros((len(self.schedules) + 1, len(points)))
        whole[-1] = 1.0
        for key, index in positions(placed, SURFACE).items():
            if key not in self.curves:
                continue
            curves, missed = self.curves[key]
            at = places(placed.iloc[index])
            chance, begin, far = curves.ends(at)
            asked = points.iloc[index]
            simulated_ln = _simulated_ln(self.members, self.schedules, asked, np.isfinite(chance[:-1]))
            chance[:-1] -= curves.slower(simulated_ln) / SLOWER
            ways_ln, shares = onward(chance, np.concatenate([simulated_ln + begin, other_ln[None, index]]))
            halves = np.concatenate(
                [np.repeat(missed * (CLOSE + far)[None], len(begin), axis=0), half[None, index]]
            )
            # Among trained places the surface counts, too, both by the inverse squares of their intervals.
            least, most = curves.at.min(axis=0), curves.at.max(axis=0)
            is_among = (np.clip(at, least, most) == at).all(axis=1)
            for column, i in enumerate(index):
                share, centre, wide = (values[:, column] for values in (shares, ways_ln, halves))
                # Curves go on, not back.
                if not share[:-1].any() or at[column, 0] < least[0]:
                    continue
                if is_among[column] and np.isfinite(half[i]):
                    surface = wide[0] ** 2 / (wide[0] ** 2 + half[i] ** 2)
                    share = np.append(share[:-1] / share[:-1].sum() * (1 - surface), surface)
                has = share > 0
                answer[:, i] = np.exp(mixed_quantiles(share[has], centre[has], wide[has] / NORMAL))
                whole[:, i] = [*share[:-1].reshape(-1, len(self.schedules)).sum(axis=0), share[-1]]
                named = has[:-1]
                readable_s[i] = np.exp(np.average(simulated_ln[named, column], weights=share[:-1][named]))
        low_s, time_s, high_s = answer
        notes = [self._said(points["bytes"].to_numpy(), whole), *(along.note or [])]
        return Prediction(time_s, low_s, high_s, notes, Correction(readable_s, whole[-1]))

    def _said(self, size_B: Array, share: Array) -> str:
        """Which schedule counts most at which sizes, and how much, in the mean over points."""
        names = [*self.schedules, FALLBACK]
        sizes = np.unique(size_B)
        mean = np.array([share[:, size_B == size].mean(axis=1) for size in sizes])
        parts = []
        for best, run in groupby(range(len(sizes)), key=lambda i: int(mean[i].argmax())):
            at = list(run)
            ends = " to ".join(dict.fromkeys(format_bytes(sizes[i]) for i in (at[0], at[-1])))
            parts.append(f"{names[best]} {percent(float(mean[at, best].mean()))} ({ends})")
        return f"{DEFAULT}: its schedules are unknown; by how they fit, most counts {', '.join(parts)}"

    def steps(self, points: pd.DataFrame) -> Array:
        """Those of all schedules under all calibrations."""
        asked = [as_schedule(points, choice) for choice in self.schedules.values()]
        return np.asarray(np.sum([member.steps(each) for member in self.members for each in asked], axis=0))


def scheduled(points: pd.DataFrame, library: str) -> pd.DataFrame:
    """The points where it is known what a library chooses, by these schedules, in their order.

    Nodes share nothing but the network: how a library goes node by node is not supposed.
    """
    decisions, parts = decisions_for(library), dict[ScheduleChoice | None, list[int]]()
    for i, point in enumerate(rows(points)):
        parts.setdefault(decisions.default(point.operation, point.ranks, point.bytes, nodes=None), []).append(i)
    known = [as_schedule(points.iloc[index], choice) for choice, index in parts.items() if choice]
    return pd.concat(known or [points[:0]]).sort_index().reset_index(drop=True)


def _simulated_ln(
    members: Sequence[Simulated], schedules: Mapping[str, ScheduleChoice], points: pd.DataFrame, asked: Mask
) -> Array:
    """ln seconds of schedules by the costs of each calibration, (members · schedules, n), NaN if not asked."""
    ln_s = np.full(asked.shape, np.nan)
    for way, (member, choice) in enumerate(product(members, schedules.values())):
        index = np.flatnonzero(asked[way])
        ln_s[way, index] = np.log(member.plain_s(as_schedule(points.iloc[index].reset_index(drop=True), choice)))
    return ln_s


def supposing(training: Training, calibrate: Callable[[Training], Simulated]) -> Supposed:
    """What `calibrate` makes of the points of `default` under each library's decisions.

    RequestError as of `calibrate` where no library's can be simulated.
    """
    members: list[Simulated] = []
    errors: list[RequestError] = []
    for library in LIBRARIES:
        try:
            members.append(calibrate(replace(training, points=scheduled(training.points, library))))
        except RequestError as error:
            errors.append(error)
    if not members:
        raise errors[0]
    schedules = {each.name: each.choice for each in window(training.operation, "") if each.choice}
    placed = usual(training.points, is_grid=True)
    curves: dict[Hashable, tuple[ScheduledCurves, float]] = {}
    for key, index in positions(placed, SURFACE).items():
        at = places(placed.iloc[index])
        kept = _latest(at)
        points = training.points.iloc[index[kept]].reset_index(drop=True)
        ln_s = np.log(points["time_s"].to_numpy(np.float64))
        every = np.ones((len(members) * len(schedules), len(points)), dtype=np.bool_)
        simulated_ln = _simulated_ln(members, schedules, points, every)
        along = ScheduledCurves(at[kept], ln_s, simulated_ln, len(members))
        curves[key] = along, rate([(*along.missed(), 1.0)])
    others = fit(replace(training, points=placed))
    return Supposed(members, schedules, curves, others, bool(is_grid(training.points).all()))


def _latest(at: Array) -> Index:
    """Of places (n, 3) those on numbers of nodes, or ranks, some way before the last, at most `MOST`."""
    along = np.unique(at[:, 0])
    near = along[np.abs(along - (along[-1] - BACK)[:, None]).argmin(axis=1)]
    kept = np.flatnonzero(np.isin(at[:, 0], near))
    return np.sort(np.random.default_rng(1).choice(kept, min(MOST, kept.size), replace=False))
