"""Calibration: parameters that explain measured times, by Gauss–Newton along the simulation's critical paths.

A time is the sum of the costs on its critical path, as often as the simulator counts them there (shares of links
are taken as they are), until another path becomes critical. Gauss–Newton settles on these sums, in milliseconds;
few simulations of each point see which path is critical then. Residuals are relative (ln predicted/measured) and
weighted as those of a t distribution (ν = 4), so that outliers do not rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from threading import RLock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hockney._core import CostCurves, RecordedTrace
from hockney.predict.costs import TERMS
from hockney.predict.parameters import ROW, Array, ParameterLayout
from hockney.predict.scenario import STATISTICS, Scenario

_FREEDOM = 4.0
_FLOOR = 0.02
"""Repetitions differ by a few per cent at best: no residual counts as smaller."""
_DAMPING = 0.002
_LONGEST = 0.7
"""The most that a parameter moves in one step, in ln."""
_NEW = 500
"""More points of one machine miss alike: they say no more than so many that know nothing of each other."""
_FARTHEST = 1.0
"""The most that it moves, in ln, before the paths are simulated anew."""
_MOST_STEPS = 15
"""Of Gauss–Newton on the same paths."""
_SETTLED = 0.0005
"""Gain of the log-likelihood for each point below which nothing is tried any more."""
_SHORTEST_S = 1e-12
_IMPORTANCE = 0.7
"""A point of P ranks weighs (P / most ranks) to that power: predictions extrapolate from the larger runs."""
_TOGETHER = 32
"""Traces that one thread records or replays in turn: handing over each takes as long as a small one."""
_LARGE = 1_500_000
"""Steps of points that are simulated one after another: up to half a GB each."""
_ONLY_LARGE = RLock()
Given = TypeVar("Given")
Done = TypeVar("Done")


class PointPath(NamedTuple):
    """A point's critical path: how many `times` each cost is on it, of a `size`, by its number, and `column`."""

    scenario: Scenario
    size_B: Sequence[int]
    size: NDArray[np.intp]
    column: NDArray[np.intp]
    times: Array


class Replay:
    """A scenario that can be simulated again and again: its trace and how its costs depend on the parameters."""

    def __init__(self, scenario: Scenario, statistic: str, layout: ParameterLayout, curves: CostCurves) -> None:
        """The order of what happens is that of these `curves`."""
        self.scenario = scenario
        self._weigh = STATISTICS[statistic]
        self._latest: tuple[Array, tuple[float, PointPath]] | None = None
        """The last costs and what they came to: other parameters may be those of other messages."""
        place = scenario.place
        with _alone(scenario):
            self._trace = RecordedTrace(scenario.run.phases, curves, levels=place.levels, network=place.network())
        self.size_B = self._trace.size_B
        self._shares = layout.shares(self.size_B)
        self._empty = layout.empty(scenario, self.size_B)
        # Eager messages have no handshake, which is not one that takes no time.
        self._fill = np.zeros((len(self.size_B), ROW))
        handshakes = slice(TERMS.index("handshake"), ROW - 2, len(TERMS))
        self._fill[:, handshakes] = layout.without_handshake(self.size_B)[:, np.newaxis]

    def _costs(self, layout: ParameterLayout, theta: Array) -> Array:
        at_knots = layout.at_knots(self.scenario, theta).reshape(-1, ROW)
        return np.where(self._empty, self._fill, np.exp(self._shares @ at_knots))

    def time_s(self, layout: ParameterLayout, theta: Array) -> float:
        """The point's statistic under these parameters of a layout with the same protocols."""
        exits_s = self._trace.finish_s(self._costs(layout, theta))
        return float((self._weigh(exits_s, self.scenario.run) * exits_s).sum())

    def path(self, layout: ParameterLayout, theta: Array) -> tuple[float, PointPath]:
        """The same, and the critical path."""
        costs = self._costs(layout, theta)
        if self._latest is not None and np.array_equal(costs, self._latest[0]):
            return self._latest[1]
        time_s = 0.0

        def weigh(exits_s: Array) -> Array:
            nonlocal time_s
            weights = self._weigh(exits_s, self.scenario.run)
            time_s = float((weights * exits_s).sum())
            return weights.ravel()

        with _alone(self.scenario):
            counts = self._trace.gradient(costs, weigh)
        size, column = np.nonzero(np.where(self._empty, 0.0, counts))
        path = PointPath(self.scenario, self.size_B, size, column, counts[size, column])
        self._latest = costs, (max(time_s, _SHORTEST_S), path)
        return self._latest[1]


class Paths:
    """Times of points as the sums of costs on their critical paths."""

    def __init__(self, points: Sequence[PointPath], layout: ParameterLayout) -> None:
        self.points = points
        cases: dict[tuple[str, int, bool, int], int] = {}
        costs = []
        for path in points:
            case = layout.case(path.scenario)
            number = np.array([cases.setdefault((*case, size_B), len(cases)) for size_B in path.size_B])
            costs.append(number[path.size] * ROW + path.column)
        used, at = np.unique(np.concatenate(costs), return_inverse=True)
        self._ln_costs = layout.ln_costs([*cases], used // ROW, used % ROW)
        point = np.repeat(np.arange(len(points)), [path.times.size for path in points])
        times = np.concatenate([path.times for path in points])
        self._counts = sparse.csr_array((times, (point, at)), shape=(len(points), used.size))

    @classmethod
    def critical(
        cls,
        replays: Sequence[Replay],
        layout: ParameterLayout,
        theta: Array,
        replayed: Callable[[], None] = lambda: None,
    ) -> tuple[Paths, Array]:
        """Those under these parameters, and ln of the simulated times; `replayed` is called for each point."""

        def path(replay: Replay) -> tuple[float, PointPath]:
            replayed()
            return replay.path(layout, theta)

        return cls._of(_by_threads(path, replays), layout)

    @classmethod
    def simulated(
        cls,
        scenarios: Sequence[Scenario],
        statistic: str,
        layout: ParameterLayout,
        theta: Array,
        replayed: Callable[[Scenario], None] = lambda _: None,
    ) -> tuple[Paths, Array]:
        """The same of scenarios whose traces nobody needs again."""
        record = _recorder(statistic, layout, theta)

        def path(scenario: Scenario) -> tuple[float, PointPath]:
            replayed(scenario)
            with _alone(scenario):
                return record(scenario).path(layout, theta)

        return cls._of(_by_threads(path, scenarios), layout)

    @classmethod
    def _of(cls, traced: Sequence[tuple[float, PointPath]], layout: ParameterLayout) -> tuple[Paths, Array]:
        return cls([path for _, path in traced], layout), np.log([time_s for time_s, _ in traced])

    def ln_s(self, theta: Array) -> Array:
        """ln of the times, shape (n,)."""
        return np.asarray(np.log(np.maximum(self._counts @ np.exp(self._ln_costs @ theta), _SHORTEST_S)))

    def slopes(self, theta: Array) -> sparse.csr_array:
        """Their derivatives, shape (n, count)."""
        costs_s = np.exp(self._ln_costs @ theta)
        share = sparse.diags_array(1 / np.maximum(self._counts @ costs_s, _SHORTEST_S)) @ self._counts
        return sparse.csr_array(share @ sparse.diags_array(costs_s) @ self._ln_costs)


@dataclass(frozen=True)
class Calibration:
    """`theta` explains the training points; `residual` = ln measured − ln predicted; `loss`: with the prior's,
    without constants.

    `jacobian`, its `weight` for each point and `normal` are those of the last step that helped.
    """

    layout: ParameterLayout
    theta: Array
    residual: Array
    loss: float
    jacobian: sparse.csr_array
    weight: Array
    normal: sparse.csr_array

    @cached_property
    def covariance(self) -> Array:
        """Of `theta`, shape (count, count): what measurements and pulls leave open."""
        solver = sparse.linalg.splu(sparse.csc_array(self.normal), permc_spec="MMD_AT_PLUS_A")
        return np.asarray(solver.solve(np.eye(self.layout.count)))

    @cached_property
    def leverage(self) -> Array:
        """By how much a training point decides about its own prediction, 0 to 1, shape (n,) as `residual`.

        Left out, its residual would be residual / (1 − leverage) (Cook and Weisberg 1982).
        """
        return self.weight * _quadratic(self.jacobian, self.covariance)

    def deviation(self, slopes: sparse.csr_array) -> Array:
        """Standard deviation, in ln, of predictions with these derivatives (n, count): shape (n,)."""
        return np.sqrt(np.maximum(_quadratic(slopes, self.covariance), 0.0))


def _quadratic(rows: sparse.csr_array, matrix: Array) -> Array:
    """r·M·r of each row r."""
    return np.asarray(rows.multiply(rows @ matrix) @ np.ones(matrix.shape[0]))


def replay_all(
    scenarios: Sequence[Scenario],
    statistic: str,
    layout: ParameterLayout,
    theta: Array,
    replayed: Callable[[], None] = lambda: None,
) -> list[Replay]:
    """Recorded traces of all scenarios; `replayed` is called after each."""
    record = _recorder(statistic, layout, theta)

    def recorded(scenario: Scenario) -> Replay:
        recording = record(scenario)
        replayed()
        return recording

    return _by_threads(recorded, scenarios)


def times_s(scenarios: Sequence[Scenario], statistic: str, layout: ParameterLayout, theta: Array) -> list[float]:
    """Simulated times of scenarios whose traces nobody needs again."""
    record = _recorder(statistic, layout, theta)
    return _by_threads(lambda scenario: record(scenario).time_s(layout, theta), scenarios)


def _by_threads(work: Callable[[Given], Done], items: Sequence[Given]) -> list[Done]:
    """`work` of each item, in their order, on all processors: what the simulator does needs no lock."""
    parts = range(0, len(items), _TOGETHER)
    with ThreadPoolExecutor() as pool:
        done = pool.map(lambda first: [work(item) for item in items[first : first + _TOGETHER]], parts)
        return list(chain.from_iterable(done))


def _alone(scenario: Scenario) -> AbstractContextManager[object]:
    """What is held while a large point is simulated."""
    return _ONLY_LARGE if scenario.steps > _LARGE else nullcontext()


def _recorder(statistic: str, layout: ParameterLayout, theta: Array) -> Callable[[Scenario], Replay]:
    """Costs for ordering are one set for each schedule."""
    of_label = cache(partial(layout.curves, theta))
    return lambda each: Replay(each, statistic, layout, of_label(each.label, each.place.shares_links))


def _scale(residual: Array) -> float:
    """Standard deviation as the median says it."""
    return max(1.4826 * float(np.median(np.abs(residual))), _FLOOR)


@dataclass(frozen=True)
class CalibrationGoal:
    """What is explained, and how well: points with their weights, and the pull of the prior."""

    observed_ln: Array
    importance: Array
    penalty: sparse.csr_array
    target: Array

    @classmethod
    def of(
        cls, scenarios: Sequence[Scenario], measured_s: Array, layout: ParameterLayout, begin: Array
    ) -> CalibrationGoal:
        """Of measured points, with parameters pulled towards `begin`."""
        ranks = np.array([scenario.ranks for scenario in scenarios], dtype=np.float64)
        importance = (ranks / ranks.max()) ** _IMPORTANCE
        share = min(_NEW / len(scenarios), 1.0)
        return cls(np.log(measured_s), share * importance / importance.mean(), *layout.prior(begin))

    def misfit(self, residual: Array, scale: float) -> float:
        """Twice the loss of a t distribution, without constants."""
        return float(self.importance @ ((_FREEDOM + 1) * np.log1p((residual / scale) ** 2 / _FREEDOM)))

    def pull(self, theta: Array) -> float:
        """Twice the loss of the prior."""
        return float(((self.penalty @ theta - self.target) ** 2).sum())

    def loss(self, theta: Array, residual: Array, scale: float) -> float:
        """Twice that of both."""
        return self.misfit(residual, scale) + self.pull(theta)

    def unlikely(self, theta: Array, residual: Array) -> float:
        """The negative log-posterior of parameters that miss this, without constants, on its own scale."""
        scale = _scale(residual)
        return self.loss(theta, residual, scale) / 2 + residual.size * float(np.log(scale))

    def weight(self, residual: Array, scale: float) -> Array:
        """Of each point in a step, shape (n,)."""
        return self.importance * (_FREEDOM + 1) / (_FREEDOM + (residual / scale) ** 2) / scale**2

    def normal(self, jacobian: sparse.csr_array, weight: Array) -> sparse.csr_array:
        """The matrix of a step."""
        # A point depends on few parameters: sparse, this takes a fraction of the time that it takes dense.
        weighed = jacobian.T @ jacobian.multiply(weight[:, np.newaxis])
        return sparse.csr_array(weighed + self.penalty.T @ self.penalty)

    def settled(self, paths: Paths, begin: Array, farthest: float = _FARTHEST) -> Array:
        """Parameters at most so far from `begin` on, as good as these paths allow."""
        theta, damping = begin, _DAMPING
        residual = self.observed_ln - paths.ln_s(theta)
        for _ in range(_MOST_STEPS):
            scale = _scale(residual)
            jacobian, weight = paths.slopes(theta), self.weight(residual, scale)
            normal = self.normal(jacobian, weight)
            downhill = jacobian.T @ (weight * residual) + self.penalty.T @ (self.target - self.penalty @ theta)
            damped = sparse.csc_array(normal + damping * sparse.diags_array(normal.diagonal()))
            move = sparse.linalg.splu(damped, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve(downhill)
            reached = np.clip(theta + np.clip(move, -_LONGEST, _LONGEST), begin - farthest, begin + farthest)
            missed = self.observed_ln - paths.ln_s(reached)
            gain = self.loss(theta, residual, scale) - self.loss(reached, missed, scale)
            if gain > 0:
                theta, residual = reached, missed
            else:
                damping *= 10
            if 0 < gain < 2 * _SETTLED * residual.size:
                break
        return theta


def calibrate(
    replays: Sequence[Replay],
    measured_s: Array,
    layout: ParameterLayout,
    begin: Array,
    *,
    near: Array | None = None,
    steps: int = 10,
    replayed: Callable[[], None] = lambda: None,
) -> Calibration:
    """Parameters that explain `measured_s`, shape (len(replays),), pulled towards `begin`, tried from `near` on.

    `replayed` is called for each replay of each step.
    """
    fit = CalibrationGoal.of([replay.scenario for replay in replays], measured_s, layout, begin)
    theta = best = begin if near is None else near
    residual, farthest = np.full(measured_s.shape, np.inf), _FARTHEST
    for step in range(steps + 1):
        there, simulated_ln = Paths.critical(replays, layout, theta, replayed)
        missed = fit.observed_ln - simulated_ln
        scale = _scale(missed)
        gain = fit.loss(best, residual, scale) - fit.loss(theta, missed, scale)
        if gain >= 0:
            best, residual, paths = theta, missed, there
        else:
            farthest /= 4
        if step == steps or 0 <= gain < 2 * _SETTLED * residual.size:
            break
        theta = fit.settled(paths, best, farthest)
    scale = _scale(residual)
    jacobian, weight = paths.slopes(best), fit.weight(residual, scale)
    return Calibration(
        layout, best, residual, fit.unlikely(best, residual), jacobian, weight, fit.normal(jacobian, weight)
    )
