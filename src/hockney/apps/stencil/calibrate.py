"""What measured runs of an application say that no ping-pong does: shared links, further hops, slower messages.

A few factors of the machine's costs are fitted to the times of runs, on a logarithmic scale, with priors that
keep them near what was measured between two ranks (as `hockney.predict.calibrate` does for collectives).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from hockney.apps.stencil.steps import StencilStep, iteration
from hockney.apps.stencil.surroundings import FARTHEST, Surroundings, Tuned
from hockney.errors import RequestError
from hockney.progress import Progress, silent
from hockney.statistics import t_reach
from hockney.units import counted

LEAST_RUNS = 3
MOST_TUNED_RANKS = 256
"""Larger runs only cost time: each is simulated some fifty times."""
_NOISE = 0.01
"""Relative deviation of a measured time that is expected beside the model."""
_FACTOR = 0.3
_LINK = 1.0
"""Prior deviations, in ln: of factors of what was measured; of links and hops, which were not."""
_START_LINK, _START_HOP = 0.5, 0.3
"""Of the time of a byte, and of an empty message, between nodes."""
_LEAST_ERROR = 0.01
_MOST_STEPS = 30
"""Of the fit, each with a simulation of every run for each factor."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StencilRun:
    """A measured run: `time_s` of one iteration in the mean over `iterations`."""

    step: StencilStep
    iterations: int
    time_s: float


def calibrate(
    runs: Sequence[StencilRun], surroundings: Surroundings, progress: Progress = silent
) -> Surroundings:
    """Fit to `runs`. RequestError with fewer than LEAST_RUNS that communicate."""
    used = [run for run in runs if 1 < run.step.stencil.ranks <= MOST_TUNED_RANKS]
    if len(used) < LEAST_RUNS:
        raise RequestError(
            f"{counted(len(used), 'run')} on 2 to {MOST_TUNED_RANKS} ranks are too few to calibrate with",
            f"measure at least {LEAST_RUNS}, on several grids",
        )
    farthest = surroundings.costs.messages[surroundings.costs.nearest(FARTHEST)]
    byte_s = float(farthest.one_way_s[-1] - farthest.one_way_s[-2]) / 2.0**29
    empty_s = float(farthest.one_way_s[0])
    shared = any((place := surroundings.place(run.step.stencil.ranks)) and place.shares_links for run in used)

    def tuned(theta: Array) -> Surroundings:
        factors = np.exp(theta)
        scaled = Tuned(latency=float(factors[0]), per_byte=float(factors[1]), compute=float(factors[2]))
        if shared:
            scaled = replace(
                scaled,
                network_s_per_B=_START_LINK * byte_s * float(factors[3]),
                hop_s=_START_HOP * empty_s * float(factors[4]),
            )
        return replace(surroundings, tuned=scaled)

    deviations = np.array([_FACTOR, _FACTOR, _NOISE, _LINK, _LINK][: 5 if shared else 3])

    tried = 0

    def misses(theta: Array) -> Array:
        nonlocal tried
        tried += 1
        progress(min(1.0, tried / (_MOST_STEPS * (1 + deviations.size))), "calibrating on runs")
        at = tuned(theta)
        return np.array([np.log(iteration(run.step, at).mean_s(run.iterations) / run.time_s) for run in used])

    def weighted(theta: Array) -> Array:
        return np.concatenate([misses(theta) / _NOISE, theta / deviations])

    fitted = optimize.least_squares(weighted, np.zeros(deviations.size), diff_step=[0.02], max_nfev=_MOST_STEPS)
    left = misses(fitted.x)
    degrees = max(1, len(used) - deviations.size)
    error = t_reach(float(np.sqrt(np.sum(left**2) / degrees)), degrees)
    return replace(tuned(fitted.x), relative_error=max(error, _LEAST_ERROR), runs=len(used))
