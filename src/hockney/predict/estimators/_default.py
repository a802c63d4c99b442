"""The algorithm behind `default` where no decision is known: identified by its times, and predicted with the
doubt.

The calibration sees the named algorithms; what each candidate would take at the points of `default` follows, and
from what it misses which one ran (`predict.identify`). Points of `default` whose algorithm is certain then
calibrate like any other. A prediction of `default` is the mixture of its candidates and, as far as none of them
is believed, of how `default` itself grew with the ranks. The doubt is in its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.predict.decisions.base import ScheduleChoice, decisions_for
from hockney.predict.estimators._own_growth import OwnGrowth, own_growth
from hockney.predict.estimators.base import Array, Correction, FittedEstimator, Prediction, Simulating, Training
from hockney.predict.estimators.base import unknown as unknown_prediction
from hockney.predict.identify.candidates import DefaultCandidate, of_name, window
from hockney.predict.identify.chains import Chain, Expected, carried, chains, roughly
from hockney.predict.identify.posterior import FREEDOM
from hockney.predict.identify.told import is_unknown
from hockney.predict.points import DEFAULT, PointRow, keys, rows
from hockney.predict.scenario import OWN
from hockney.schedule.catalogue import least_B
from hockney.statistics import NORMAL, mixed_quantiles, t_reach

REPEATED = 0.05
"""Least deviation in ln of one measured point beside another: launches differ by as much."""
FORCED = 0.1
"""Deviation in ln of an algorithm that was forced from the same one that the library chose itself; chosen on
`reduce` in `data/orfeo-epyc`."""
FORCED_ALONE = 0.03
"""The same where one statistic alone is held against it: what fits so loosely would explain anything. Set before
either operation was looked at, and kept on the planted table of the tests."""
MOST_STEPS = 20_000_000
"""Of all candidates at the default points that are identified by their times: a quarter of a minute, twice."""
PLACE = ("mapping", "nodes", "ppn", "ranks", "bytes", "root", "system", "mpi", "source", "variant", "cache")
"""Points that agree in these are of one place, whatever ran."""
_RANGE_OF_TWO = 1.128
"""The expected range of two normal values in standard deviations."""


class Simulated(Simulating, Protocol):
    """What simulates schedules at each point."""

    def plain_s(self, points: pd.DataFrame) -> Array: ...


@dataclass(frozen=True)
class Identification:
    """The algorithms behind `default`: its candidates, and the chains along the sizes; what was not asked."""

    candidates: Sequence[DefaultCandidate]
    chains: Sequence[Chain]
    limits: Sequence[str] = ()


def identify(training: Training, fitted: Sequence[Simulated], *, is_rough: bool = False) -> Identification:
    """The algorithms behind the default points of `training`, from times alone, by all statistics of the calls.

    `fitted`: a calibration; or, rough, costs of messages alone, under assumptions of which one is right.
    RequestError where there is no candidate.
    """
    is_default = training.points["algorithm"] == DEFAULT
    mpi = str(training.points.loc[is_default, "mpi"].iloc[0])
    named = [_choice_of(row) for row in rows(training.points[~is_default])]
    found = dict.fromkeys([*window(training.operation, mpi), *(one for one in named if one is not None)])
    if not found:
        raise RequestError(f"no candidate for the default of {training.operation}", "measure named algorithms")
    candidates = list(found)
    training, limits = _affordable(training, candidates, fitted)
    main = measured_by_name(training.points, candidates)
    forced = FORCED if training.beside else FORCED_ALONE
    simulated, *others = [_simulated(main.points, candidates, one, names=not is_rough) for one in fitted]
    frames = [main.points.assign(statistic=training.statistic)]
    if is_rough:
        every = [each for one in (simulated, *others) for each in roughly(one.ln_s, one.noise)]
        return Identification(candidates, chains(frames[0], every, training.statistic), limits)
    # Intervals hold 95 % of what is left out, points of measured schedules and whole schedules alike: so does
    # Student's t, by which candidates are judged.
    judged = replace(simulated, model=simulated.model * NORMAL / t_reach(1.0, FREEDOM))
    parts = [_with_measured(judged, main, forced)]
    for statistic, points in training.beside.items():
        other = measured_by_name(points, candidates)
        parts.append(_beside(main, parts[0], other))
        frames.append(other.points.assign(statistic=statistic))
    names = ("ln_s", "model", "noise", "plain_s")
    ln_s, model, noise, plain_s = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    whole = Expected(ln_s, model, noise, plain_s)
    told = chains(pd.concat(frames, ignore_index=True), [whole], training.statistic)
    return Identification(candidates, told, limits)


@dataclass(frozen=True)
class MeasuredByName:
    """The default `points` by one statistic, and what candidates took there by name, shape (points, candidates).

    `ln_s` in ln seconds, NaN where it was not measured; `noise` as of `Evidence`, also where it was not.
    """

    points: pd.DataFrame
    ln_s: Array
    noise: Array


def measured_by_name(points: pd.DataFrame, candidates: Sequence[DefaultCandidate]) -> MeasuredByName:
    """Of points by one statistic (columns of `predict.points.POINT`, `time_s`, `spread` and `repetitions`)."""
    is_default = points["algorithm"] == DEFAULT
    default, named = points[is_default].reset_index(drop=True), points[~is_default]
    columns = {candidate: column for column, candidate in enumerate(candidates)}
    row_of = {key: row for row, key in enumerate(keys(default, PLACE))}
    noise = np.repeat(_noise(default)[:, None], len(candidates), axis=1)
    ln_s = np.full(noise.shape, np.nan)
    of_named = _noise(named) if len(named) else np.empty(0)
    measured = zip(keys(named, PLACE), rows(named), named["time_s"], of_named, strict=True)
    for key, point, time_s, own in measured:
        candidate = _choice_of(point) if key in row_of else None
        if candidate is None:
            continue
        at = row_of[key], columns[candidate]
        ln_s[at] = np.log(time_s)
        noise[at] = np.hypot(noise[at], own)
    return MeasuredByName(default, ln_s, noise)


def _with_measured(otherwise: Expected, measured: MeasuredByName, forced: float = FORCED) -> Expected:
    """Where a candidate was measured at a default point, that is what it takes there."""
    is_measured = np.isfinite(measured.ln_s)
    return Expected(
        np.where(is_measured, measured.ln_s, otherwise.ln_s),
        np.where(is_measured, forced, otherwise.model),
        measured.noise,
        otherwise.plain_s,
    )


def _beside(main: MeasuredByName, expected: Expected, other: MeasuredByName) -> Expected:
    """What candidates take by another statistic of the same calls; nothing is known, NaN, of points where fewer
    than two were measured.

    Those that were not measured are `expected` to take what `default` took by the main one, and beyond it what is
    usual among those that were: so both are judged on one scale, and nothing is simulated twice.
    """
    row_of = {key: row for row, key in enumerate(keys(main.points, PLACE))}
    at = [row_of[key] for key in keys(other.points, PLACE)]
    beyond = pd.DataFrame(other.ln_s - main.ln_s[at])
    count = beyond.count(axis=1).to_numpy()
    own_ln = np.log(main.points["time_s"].to_numpy(np.float64))[at]
    usual = own_ln + beyond.mean(axis=1).to_numpy(np.float64)
    deviation = np.maximum(beyond.std(axis=1).to_numpy(np.float64), REPEATED) * np.sqrt(
        1 + 1 / np.maximum(count, 1)
    )
    shape = other.ln_s.shape
    ln_s, model = (np.repeat(each[:, None], shape[1], axis=1) for each in (usual, deviation))
    made = _with_measured(Expected(ln_s, model, other.noise, np.full(shape, np.nan)), other)
    is_known = np.isfinite(expected.ln_s[at]) & (count > 1)[:, None]
    return replace(made, ln_s=np.where(is_known, made.ln_s, np.nan))


def _simulated(
    points: pd.DataFrame, candidates: Sequence[DefaultCandidate], fitted: Simulated, *, names: bool = True
) -> Expected:
    """What schedules take by the calibration; the plain times only where `names` are told apart by them."""
    shape = (len(points), len(candidates))
    ln_s, model, plain_s = (np.full(shape, np.nan) for _ in range(3))
    for column, candidate in enumerate(candidates):
        if candidate.choice is None:
            continue
        asked = as_schedule(points, candidate.choice)
        made = fitted.predict(asked)
        ln_s[:, column] = np.log(made.time_s)
        model[:, column] = np.log(made.high_s / made.low_s) / (2 * NORMAL)
        if names:
            plain_s[:, column] = fitted.plain_s(asked)
        ln_s[_is_below(points, candidate.choice), column] = np.nan
    return Expected(ln_s, model, np.full(shape, REPEATED), plain_s)


def _steps(points: pd.DataFrame, candidates: Sequence[DefaultCandidate], fitted: Simulating) -> Array:
    """How many steps it takes to simulate all candidates at each point, shape (n,)."""
    chosen = [candidate.choice for candidate in candidates if candidate.choice is not None]
    return np.asarray(
        sum((fitted.steps(as_schedule(points, choice)) for choice in chosen), np.zeros(len(points)))
    )


def _affordable(
    training: Training, candidates: Sequence[DefaultCandidate], fitted: Sequence[Simulating]
) -> tuple[Training, list[str]]:
    """Without the default points of so many ranks that all candidates would take too many steps, and what is said
    of it: what fewer ranks run tells of more (`Mixed.share`)."""
    default = training.points[training.points["algorithm"] == DEFAULT].reset_index(drop=True)
    steps = sum((_steps(default, candidates, each) for each in fitted), np.zeros(len(default)))
    by_ranks = pd.Series(steps).groupby(default["ranks"]).sum().cumsum()
    if by_ranks.iloc[-1] <= MOST_STEPS:
        return training, []
    # At least the fewest ranks.
    most = by_ranks.index[max(int((by_ranks <= MOST_STEPS).sum()), 1) - 1]

    def kept(points: pd.DataFrame) -> pd.DataFrame:
        left: pd.DataFrame = points[(points["algorithm"] != DEFAULT) | (points["ranks"] <= most)]
        return left.reset_index(drop=True)

    beside = {statistic: kept(points) for statistic, points in training.beside.items()}
    said = f"{DEFAULT}: identified up to {most} ranks, of more the candidates take too long to simulate"
    return replace(training, points=kept(training.points), beside=beside), [said]


def _is_below(points: pd.DataFrame, choice: ScheduleChoice) -> NDArray[np.bool_]:
    """Where a library would run another algorithm: for want of elements, or by a component of its own."""
    return np.array(
        [
            point.bytes < least_B(point.operation, choice.algorithm, point.ranks)
            or bool(decisions_for(point.mpi).component(point.operation, point.ranks, point.nodes))
            for point in rows(points)
        ],
        dtype=np.bool_,
    )


def as_schedule(points: pd.DataFrame, choice: ScheduleChoice) -> pd.DataFrame:
    """The same points by a schedule."""
    asked = points.assign(algorithm=OWN + choice.algorithm, segment_bytes=choice.segment_B, radix=choice.radix)
    asked[["segment_bytes", "radix"]] = asked[["segment_bytes", "radix"]].astype("Int64")
    return asked


def _choice_of(point: PointRow) -> DefaultCandidate | None:
    """The candidate that a measured point of a library's named algorithm ran; None for what no default is, and
    for our own schedules."""
    if point.source == "hockney" and ":" not in point.algorithm:
        return None
    cut = {"segment_B": point.segment_B, "radix": point.radix}
    return of_name(point.operation, point.algorithm, point.mpi, ranks=point.ranks, size_B=point.bytes, **cut)


def _noise(points: pd.DataFrame) -> Array:
    """Deviation in ln of each measured point, shape (n,): from its repetitions, and those of the others."""
    deviation = np.log(points["spread"].to_numpy(np.float64)) / _RANGE_OF_TWO
    repeated = points["repetitions"].to_numpy() > 1
    usual = float(np.median(deviation[repeated])) if repeated.any() else 0.0
    return np.asarray(np.maximum(np.where(repeated, deviation, 0.0), max(usual, REPEATED)))


def with_default(
    training: Training, unknown: NDArray[np.bool_], calibrate: Callable[[Training], Simulated]
) -> FittedEstimator:
    """What `calibrate` makes of the points that are not `unknown`, and with it predictions of `default`.

    RequestError as of `calibrate`.
    """
    if not unknown.any():
        return calibrate(training)
    return Mixed(training, calibrate(replace(training, points=training.points[~unknown])), calibrate)


@dataclass(frozen=True)
class Mixed:
    """A calibration that also predicts `default`, as the mixture of what it may be: see the module."""

    training: Training
    fitted: Simulated
    calibrate: Callable[[Training], Simulated]

    @cached_property
    def found(self) -> Identification:
        """The algorithms behind the default points of training; only for whom they are, because it takes long."""
        return identify(self.training, [self.fitted])

    @cached_property
    def _again(self) -> Simulated:
        """Calibrated on the points of `default` too, where the algorithm is certain."""
        return self.calibrate(replace(self.training, points=certain(self.training, self.found)))

    @cached_property
    def _growth(self) -> OwnGrowth:
        points = self.training.points
        return own_growth(points[points["algorithm"] == DEFAULT])

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points`, in their order."""
        unknown = is_unknown(points, asks_library=self.training.asks_library, defaults=self.training.defaults)
        if not unknown.any():
            return self.fitted.predict(points)
        made = self.fitted.predict(points[~unknown].reset_index(drop=True))
        mixture = self._mixture(points[unknown].reset_index(drop=True))
        whole, weight = unknown_prediction(len(points)), np.zeros(len(points))
        readable_s = np.full(len(points), np.nan)
        for mask, part in ((~unknown, made), (unknown, mixture)):
            for name in ("time_s", "low_s", "high_s"):
                getattr(whole, name)[mask] = getattr(part, name)
            readable_s[mask] = part.correction.readable_s if part.correction else part.time_s
            weight[mask] = part.correction.weight if part.correction else 0.0
        told = sum(cell.names is not None for chain in self.found.chains for cell in chain.cells)
        cells = sum(len(chain.cells) for chain in self.found.chains)
        note = f"{DEFAULT}: its algorithm is identified from its times in {told} of {cells} training cells"
        notes = [*(made.note or []), note, *self.found.limits]
        return replace(whole, note=notes, correction=Correction(readable_s, weight))

    def steps(self, points: pd.DataFrame) -> Array:
        """Of `default` those of all candidates."""
        unknown = is_unknown(points, asks_library=self.training.asks_library, defaults=self.training.defaults)
        steps = np.where(unknown, 0.0, self.fitted.steps(points))
        if unknown.any():
            steps[unknown] = _steps(points[unknown], self.found.candidates, self._again)
        return steps

    def _mixture(self, points: pd.DataFrame) -> Prediction:
        candidates = self.found.candidates
        made = _simulated(points, candidates, self._again, names=False)
        grown_ln, wide = self._growth.at(points, REPEATED)
        ln_s, deviation = np.column_stack([made.ln_s, grown_ln]), np.column_stack([made.model, wide])
        can = np.isfinite(ln_s)
        share = np.where(can, self.share(points), 0.0)
        # What is left is of none of the candidates, or of one that cannot run here or that nothing simulates: so
        # `default` takes what it grew to, or where its own times do not tell that, what any candidate takes.
        left = np.where(can[:, -1:], np.arange(can.shape[1]) == len(candidates), can)
        share += left * (1 - share.sum(axis=1, keepdims=True)) / np.maximum(left.sum(axis=1, keepdims=True), 1)
        time_s, low_s, high_s = (np.full(len(points), np.nan) for _ in range(3))
        for i, weights in enumerate(share):
            has = weights > 0
            if has.any():
                ends = mixed_quantiles(weights[has], ln_s[i, has], deviation[i, has])
                low_s[i], time_s[i], high_s[i] = np.exp(ends)
        return Prediction(time_s, low_s, high_s)

    def share(self, points: pd.DataFrame) -> Array:
        """Probability of each candidate at these points, and of none, shape (n, candidates + 1)."""
        states = len(self.found.candidates) + 1
        made = np.full((len(points), states), 1 / states)
        for i, point in enumerate(rows(points)):
            near = min(
                self.found.chains,
                key=lambda chain: (abs(np.log(chain.ranks / point.ranks)), chain.nodes != point.nodes),
            )
            share = np.array([cell.share for cell in near.cells])
            sizes = [cell.size_B for cell in near.cells]
            made[i] = carried(share, sizes, near.ranks, [point.bytes], point.ranks)[0]
        return made


def certain(training: Training, found: Identification) -> pd.DataFrame:
    """The points of `training`, those of `default` whose algorithm is certain under its name; others are left
    out."""
    points = training.points
    cells = {
        (chain.ranks, chain.nodes, cell.size_B): cell
        for chain in found.chains
        for cell in chain.cells
        if cell.names is not None and len(cell.names) == 1
    }
    is_default = (points["algorithm"] == DEFAULT).to_numpy()
    parts = [points[~is_default]]
    default = points[is_default]
    of_choice: dict[ScheduleChoice, list[int]] = {}
    for i, point in enumerate(rows(default)):
        cell = cells.get((point.ranks, point.nodes, point.bytes))
        if cell is None or cell.names is None:
            continue
        choice = found.candidates[max(cell.names[0], key=lambda state: float(cell.share[state]))].choice
        if choice is not None:
            of_choice.setdefault(choice, []).append(i)
    parts += [as_schedule(default.iloc[index], choice) for choice, index in of_choice.items()]
    return pd.concat(parts, ignore_index=True)
