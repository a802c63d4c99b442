"""Laws of scaling fitted to measured times: parameters with intervals, and which law the times support."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy import optimize, stats

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.scaling.laws import Law, laws
from hockney.models.scaling.times import Times
from hockney.statistics import Array, aicc, covariance, t_reach

STARTS = (1e-6, 1e-4, 1e-2, 0.5)
"""Start values of each parameter: they span what programs have, and the residuals are smooth between them."""
RESOLUTION = 1e-9
"""Relative scatter below which times are exact: they were calculated, not measured."""
TELLING = 2.0
"""Difference of AICc from which the better law is preferred (Burnham and Anderson 2002, section 2.6)."""
MISFIT = 0.05
"""Level of the test for lack of fit."""
LEAST_AFTER = 2
"""Numbers of processes beyond a break, and before it, that are evidence of one."""
CHANCE = 0.01
"""Level of the test for a break, over the number of places where there may be one."""
NOTABLE = 1.05
"""Ratio of times, either way, that a reader would call a break."""


class Break(BaseModel):
    """Between `before` and `after` processes the time steps by `ratio`, beyond what any law makes of it."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    before: int
    after: int
    ratio: Parameter
    p_value: float = Field(description="of the F-test that the step is needed, times the places tried")


class LawFit(BaseModel):
    """One law's parameters; T(p) = serial_time_s/S(p), times p with weak scaling.

    With a `step`, times from `step_at` processes on are longer by that factor; `limits` are those without it.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    law: str = Field(exclude=True)
    serial_time_s: Parameter
    parameters: dict[str, Parameter]
    limits: dict[str, float | None] = Field(description="what follows from the estimates, see the law")
    relative_scatter: float | None = Field(description="of the times about the law; None without freedom")
    degrees_of_freedom: int
    lack_of_fit_p: float | None = Field(
        description="probability of this misfit by chance; None without repetitions"
    )
    aicc: float | None = Field(description="None where there are too few times for it")
    notes: list[str]
    step_at: int | None = None
    step: Parameter | None = None

    @property
    def theta(self) -> list[float]:
        """The parameters' values in the law's order."""
        return [parameter.value for parameter in self.parameters.values()]

    def speedup(self, processes: Array) -> Array:
        """The law's speed-up, same shape."""
        speedup = np.asarray(laws.get(self.law).speedup(processes, self.theta), dtype=np.float64)
        if self.step_at is None or self.step is None:
            return speedup
        return np.where(processes >= self.step_at, speedup / self.step.value, speedup)


def fit_law(name: str, times: Times, step_at: int | None = None) -> LawFit:
    """Least squares of ln T with physical parameters; the time of one process is a parameter like the others.

    Intervals are from the Jacobian's covariance with Student's t, cut at the physical bounds: a scaling study
    has five to ten numbers of processes, of which a bootstrap would draw sets that cannot be fitted, and its
    quantiles are too narrow. Where repetitions show that the law itself is off, the misfit between numbers of
    processes is the noise, with as many degrees of freedom as they allow. `step_at`: from so many processes on a
    factor is fitted, too. RequestError with fewer numbers of processes than parameters.
    """
    law = laws.get(name)
    upper = np.array(list(law.upper.values()))
    unknowns = 1 + upper.size + (step_at is not None)
    counts = times.counts
    if counts.size < unknowns:
        raise RequestError(
            f"{law.title} has {unknowns} parameters with the time of one process, and the times are of "
            f"{counts.size} number{'s' if counts.size > 1 else ''} of processes: they cannot be identified",
            f"measure at least {unknowns} different numbers of processes",
        )
    estimate, jacobian, residual = _least_squares(law, upper, times, step_at)
    points = residual.size
    squares = max(float(residual @ residual), points * RESOLUTION**2)
    misfit_p, noise, freedom = _noise(times, residual, squares, unknowns)
    width = np.full(unknowns, np.nan)
    if freedom > 0:
        width = t_reach(noise * np.sqrt(np.diag(covariance(jacobian))), freedom)
    own = slice(1, 1 + upper.size)
    theta = estimate[own]
    limits = law.limits([float(value) for value in theta])
    return LawFit(
        law=name,
        serial_time_s=_of_logarithm(estimate[0], width[0], "s"),
        parameters={
            key: Parameter(
                value=float(value),
                low=_finite(float(np.maximum(value - half, 0.0))),
                high=_finite(float(np.minimum(value + half, top))),
                unit="1",
            )
            for key, value, half, top in zip(law.upper, theta, width[own], upper, strict=True)
        },
        limits=limits,
        relative_scatter=math.sqrt(squares / (points - unknowns)) if points > unknowns else None,
        degrees_of_freedom=freedom,
        lack_of_fit_p=misfit_p,
        aicc=_finite(aicc(squares, points, unknowns)),
        notes=_notes(law, theta, width[own], upper, misfit_p, freedom, limits, float(counts[-1])),
        step_at=step_at,
        step=None if step_at is None else _of_logarithm(estimate[-1], width[-1], "1"),
    )


def _of_logarithm(value: float, width: float, unit: str) -> Parameter:
    return Parameter(
        value=math.exp(value),
        low=_finite(math.exp(value - width)),
        high=_finite(math.exp(min(value + width, 700.0))),
        unit=unit,
    )


def find_break(names: Sequence[str], times: Times) -> Break | None:
    """The step of the times that none of these laws makes, at the place where one of them then fits best.

    A law through a drop, as where ranks begin to share cores, describes neither side. Tested are the medians of
    the numbers of processes, not their repetitions, which say nothing of the law: an F-test of the best law with
    a factor beyond the break against the best without, at `CHANCE` over the number of places. None without a
    break, and where too few numbers of processes are left to tell.
    """
    counts = times.counts
    medians = Times(counts, times.medians_s())
    tested = [name for name in names if counts.size - len(laws.get(name).upper) - 2 > 0]
    places = [int(count) for count in counts[LEAST_AFTER : counts.size - LEAST_AFTER + 1]]
    if not tested or not places:
        return None
    alone = min(_squares(name, medians, None) for name in tested)
    stepped, after, name = min(
        (_squares(name, medians, place), place, name) for name in tested for place in places
    )
    freedom = counts.size - len(laws.get(name).upper) - 2
    ratio = fit_law(name, medians, after).step
    p_value = len(places) * float(stats.f.sf(max(alone - stepped, 0.0) / (stepped / freedom), 1, freedom))
    if p_value > CHANCE or ratio is None or abs(math.log(ratio.value)) < math.log(NOTABLE):
        return None
    return Break(
        before=int(counts[np.searchsorted(counts, after) - 1]), after=after, ratio=ratio, p_value=p_value
    )


def _squares(name: str, times: Times, step_at: int | None) -> float:
    """Of the residuals of ln T about a law."""
    law = laws.get(name)
    *_, residual = _least_squares(law, np.array(list(law.upper.values())), times, step_at)
    return max(float(residual @ residual), residual.size * RESOLUTION**2)


def _least_squares(law: Law, upper: Array, times: Times, step_at: int | None) -> tuple[Array, Array, Array]:
    """(ln T(1), the parameters, ln of the step if there is one), the Jacobian (N, K), and the residuals (N,).

    Residuals are ln model − ln measured.
    """
    work = times.processes if law.is_weak else np.ones_like(times.processes)
    measured = np.log(times.time_s / work)
    beyond = None if step_at is None else (times.processes >= step_at).astype(np.float64)

    def residuals(x: Array) -> Array:
        model_ln = x[0] - np.log(law.speedup(times.processes, list(x[1 : 1 + upper.size])))
        return np.asarray(model_ln - measured if beyond is None else model_ln + x[-1] * beyond - measured)

    steps = np.full(0 if beyond is None else 1, np.inf)
    bounds = (np.array([-np.inf, *np.zeros(upper.size), *-steps]), np.array([np.inf, *upper, *steps]))
    best = None
    for start in itertools.product(STARTS, repeat=upper.size):
        first = float(np.mean(measured + np.log(law.speedup(times.processes, start))))
        solution = optimize.least_squares(
            residuals, [first, *start, *np.zeros(steps.size)], bounds=bounds, method="dogbox", jac="3-point",
            x_scale="jac", ftol=1e-14, xtol=1e-12, gtol=1e-14,
        )  # fmt: skip
        if best is None or solution.cost < best.cost:
            best = solution
    assert best is not None
    return np.asarray(best.x), np.asarray(best.jac), np.asarray(best.fun)


def _noise(times: Times, residual: Array, squares: float, unknowns: int) -> tuple[float | None, float, int]:
    """(p of the test for lack of fit, deviation of ln T, its degrees of freedom); Draper and Smith 1998, 2.1."""
    points, groups = residual.size, times.counts.size
    within = sum(
        float(np.sum((residuals - residuals.mean()) ** 2))
        for residuals in (residual[times.processes == count] for count in times.counts)
    )
    between, repeated = groups - unknowns, points - groups
    misfit_p = None
    if between > 0 and repeated > 0:
        misfit = max(squares - within, 0.0) / between
        pure = max(within, points * RESOLUTION**2) / repeated
        misfit_p = float(stats.f.sf(misfit / pure, between, repeated))
        if misfit_p < MISFIT:
            return misfit_p, math.sqrt(misfit), between
    freedom = points - unknowns
    return misfit_p, math.sqrt(squares / freedom) if freedom > 0 else math.nan, freedom


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _notes(
    law: Law,
    theta: Array,
    width: Array,
    upper: Array,
    misfit_p: float | None,
    freedom: int,
    limits: dict[str, float | None],
    most: float,
) -> list[str]:
    notes = []
    if freedom == 0:
        notes.append("as many parameters as times: the law passes through them, and nothing supports an interval")
    if misfit_p is not None and misfit_p < MISFIT:
        notes.append(
            "the law is off by more than repetitions scatter: intervals are from the misfit between numbers of "
            "processes"
        )
    for key, value, half, top in zip(law.upper, theta, width, upper, strict=True):
        if value == 0:
            notes.append(f"{key} is at its bound 0")
        elif value == top:
            notes.append(f"{key} is at its bound {top:g}")
        elif value - half <= 0:
            notes.append(f"{key} may be 0")
        if value - half <= 0 and value + half >= top:
            notes.append(f"the times do not identify {key}: every value from 0 to {top:g} is in its interval")
    peak = limits.get("peak_processes")
    if peak is not None and peak > most:
        notes.append(f"the peak at {peak:.0f} processes is beyond the times, which end at {most:.0f}")
    return notes
