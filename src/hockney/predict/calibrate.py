"""Calibration: parameters that explain measured times, found by Gauss–Newton on the simulation's own derivative.

How often each cost lies on a critical path is its derivative (the simulator traces it; shares of links are taken
as they are), so a step needs one simulation for each point. Residuals are relative (ln predicted/measured) and
weighted as those of a t distribution (ν = 4), so that outliers do not rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from io import BytesIO
from itertools import chain
from typing import TypeVar

import numpy as np
from scipy import sparse

from hockney._core import CostCurves, Network, RecordedTrace
from hockney.predict.costs import TERMS
from hockney.predict.parameters import ROW, Array, ParameterLayout
from hockney.predict.scenario import STATISTICS, Scenario

_FREEDOM = 4.0
_FLOOR = 0.02
"""Repetitions differ by a few per cent at best: no residual counts as smaller."""
_DAMPING = 0.02
_LONGEST = 0.7
"""The most that a parameter moves in one step, in ln."""
_REORDER = (3, 7)
"""Steps before which the order of messages on shared links is simulated anew."""
_IMPORTANCE = 0.7
"""A point of P ranks weighs (P / most ranks) to that power: predictions extrapolate from the larger runs."""
_TOGETHER = 32
"""Traces that one thread records or replays in turn: handing over each takes as long as a small one."""
Curves = Callable[[Scenario], CostCurves]
Given = TypeVar("Given")
Done = TypeVar("Done")


class Replay:
    """A scenario that can be simulated again and again: its trace and how its costs depend on the parameters."""

    def __init__(self, scenario: Scenario, statistic: str, layout: ParameterLayout, curves: CostCurves) -> None:
        self.scenario = scenario
        self._weigh = STATISTICS[statistic]
        self._weights: Array | None = None
        """Those of the last step: most statistics keep them, and one simulation gives time and derivative."""
        self.order(curves)
        sizes = self._trace.size_B
        self._shares = layout.shares(sizes)
        self._map = layout.at_knots(scenario)
        self._empty = layout.empty(scenario, sizes)
        # Eager messages have no handshake, which is not one that takes no time.
        self._fill = np.zeros((len(sizes), ROW))
        self._fill[:, TERMS.index("handshake") : ROW - 2 : len(TERMS)] = layout.without_handshake(sizes)[
            :, np.newaxis
        ]

    def order(self, curves: CostCurves) -> None:
        """Records anew what happens, with shared links passed as these costs would have it."""
        place = self.scenario.place
        network = Network(
            node_of_rank=place.node,
            torus=place.torus,
            below=place.below,
            uplinks=place.uplinks,
            memory_of_rank=place.memory,
        )
        self._trace = RecordedTrace(self.scenario.run.phases, curves, levels=place.levels, network=network)

    def _costs(self, theta: Array) -> Array:
        at_knots = (self._map.forward @ theta).reshape(-1, ROW)
        return np.where(self._empty, self._fill, np.exp(self._shares @ at_knots))

    def time_s(self, theta: Array) -> float:
        """The point's statistic under these parameters."""
        exits_s = self._trace.finish_s(self._costs(theta))
        return float((self._weigh(exits_s, self.scenario.run) * exits_s).sum())

    def slope(self, theta: Array) -> tuple[float, Array]:
        """ln of the time, and its derivative by the parameters, shape (count,)."""
        costs = self._costs(theta)
        if self._weights is None:
            self._weights = self._weigh(self._trace.finish_s(costs), self.scenario.run)
        exits_s, counts = self._trace.gradient(costs, self._weights.ravel())
        weights = self._weigh(exits_s, self.scenario.run)
        if not np.array_equal(weights, self._weights):
            # The last rank, say, is another one now.
            self._weights = weights
            _, counts = self._trace.gradient(costs, weights.ravel())
        time_s = max(float((weights * exits_s).sum()), 1e-12)
        of_size = np.where(self._empty, 0.0, counts * costs) / time_s
        return float(np.log(time_s)), self._map.backward @ (self._shares.T @ of_size).ravel()


@dataclass(frozen=True)
class Calibration:
    """`theta` explains the training points; `residual` = ln measured − ln predicted; `loss` without constants.

    `jacobian`, its `weight` for each point and `normal` are those of the last step that helped.
    """

    layout: ParameterLayout
    theta: Array
    residual: Array
    loss: float
    jacobian: sparse.csr_array
    weight: Array
    normal: sparse.csr_array

    def data(self) -> bytes:
        """Its arrays as a file of NumPy's; `loaded` reads them."""
        matrices = {"jacobian": self.jacobian, "normal": sparse.csr_array(self.normal)}
        parts = {
            f"{name}_{part}": getattr(matrix, part)
            for name, matrix in matrices.items()
            for part in ("data", "indices", "indptr", "shape")
        }
        file = BytesIO()
        np.savez(
            file, theta=self.theta, residual=self.residual, loss=np.array(self.loss), weight=self.weight, **parts
        )
        return file.getvalue()

    @classmethod
    def loaded(cls, data: bytes, layout: ParameterLayout) -> Calibration:
        """What `data` gave. ValueError and the like for other bytes."""
        arrays = dict(np.load(BytesIO(data), allow_pickle=False))
        jacobian, normal = (
            sparse.csr_array(
                tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr")),
                tuple(arrays[f"{name}_shape"]),
            )
            for name in ("jacobian", "normal")
        )
        loss = float(arrays["loss"])
        return cls(layout, arrays["theta"], arrays["residual"], loss, jacobian, arrays["weight"], normal)

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

    def deviation(self, slopes: Sequence[Array]) -> Array:
        """Standard deviation, in ln, of predictions with these derivatives: shape (len(slopes),)."""
        rows = sparse.csr_array(np.array(slopes))
        return np.sqrt(np.maximum(_quadratic(rows, self.covariance), 0.0))


def _quadratic(rows: sparse.csr_array, matrix: Array) -> Array:
    """r·M·r of each row r."""
    return np.asarray(rows.multiply(rows @ matrix) @ np.ones(matrix.shape[0]))


def replay_all(
    scenarios: Sequence[Scenario],
    statistics: Sequence[str],
    layout: ParameterLayout,
    theta: Array,
    replayed: Callable[[], None] = lambda: None,
) -> list[Replay]:
    """Recorded traces of all scenarios; `replayed` is called after each."""
    curves = _curves(layout, theta)

    def recorded(pair: tuple[Scenario, str]) -> Replay:
        scenario, statistic = pair
        recording = Replay(scenario, statistic, layout, curves(scenario))
        replayed()
        return recording

    return _by_threads(recorded, list(zip(scenarios, statistics, strict=True)))


def _by_threads(work: Callable[[Given], Done], items: Sequence[Given]) -> list[Done]:
    """`work` of each item, in their order, on all processors: what the simulator does needs no lock."""
    parts = range(0, len(items), _TOGETHER)
    with ThreadPoolExecutor() as pool:
        done = pool.map(lambda first: [work(item) for item in items[first : first + _TOGETHER]], parts)
        return list(chain.from_iterable(done))


def _curves(layout: ParameterLayout, theta: Array) -> Curves:
    """Costs for ordering, one set for each schedule."""
    of_label = cache(partial(layout.curves, theta))
    return lambda scenario: of_label(scenario.label, scenario.place.shares_links)


def _scale(residual: Array) -> float:
    """Standard deviation as the median says it."""
    return max(1.4826 * float(np.median(np.abs(residual))), _FLOOR)


def _misfit(importance: Array, residual: Array, scale: float) -> float:
    """Twice the loss of a t distribution, without constants."""
    return float((importance * (_FREEDOM + 1) * np.log1p((residual / scale) ** 2 / _FREEDOM)).sum())


def calibrate(
    replays: Sequence[Replay],
    measured_s: Array,
    layout: ParameterLayout,
    begin: Array,
    *,
    steps: int = 10,
    replayed: Callable[[], None] = lambda: None,
) -> Calibration:
    """Parameters from `begin` on that explain `measured_s`, shape (len(replays),).

    `replayed` is called for each replay of each step.
    """
    theta = begin.copy()
    penalty, target = layout.prior(begin)
    observed = np.log(measured_s)
    ranks = np.array([replay.scenario.ranks for replay in replays], dtype=np.float64)
    importance = (ranks / ranks.max()) ** _IMPORTANCE
    importance /= importance.mean()
    damping = _DAMPING
    best, best_residual = theta, np.full(observed.shape, np.inf)
    for step in range(steps + 1):
        curves = _curves(layout, theta) if step in _REORDER else None

        def slope(replay: Replay, theta: Array = theta, curves: Curves | None = curves) -> tuple[float, Array]:
            if curves is not None:
                replay.order(curves(replay.scenario))
            replayed()
            return replay.slope(theta)

        slopes = _by_threads(slope, replays)
        residual = observed - np.array([value for value, _ in slopes])
        scale = _scale(residual)

        def objective(at: Array, missed: Array, scale: float = scale) -> float:
            return _misfit(importance, missed, scale) + float(((penalty @ at - target) ** 2).sum())

        if step in _REORDER or objective(theta, residual) <= objective(best, best_residual):
            best, best_residual = theta, residual
            damping = max(damping / 3, _DAMPING / 9)
            jacobian = sparse.csr_array(np.array([row for _, row in slopes]))
            weight = importance * (_FREEDOM + 1) / (_FREEDOM + (residual / scale) ** 2) / scale**2
            normal = jacobian.T @ jacobian.multiply(weight[:, np.newaxis]) + penalty.T @ penalty
            downhill = jacobian.T @ (weight * residual) + penalty.T @ (target - penalty @ theta)
        else:
            damping *= 5
        if step == steps:
            break
        # A point depends on few parameters: sparse, this takes a fraction of the time that it takes dense.
        damped = sparse.csc_array(normal + damping * sparse.diags_array(normal.diagonal()))
        move = sparse.linalg.splu(damped, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve(downhill)
        theta = best + np.clip(move, -_LONGEST, _LONGEST)
    theta, residual = best, best_residual
    scale = _scale(residual)
    loss = _misfit(importance, residual, scale) / 2 + observed.size * float(np.log(scale))
    return Calibration(layout, theta, residual, loss, jacobian, weight, normal)
