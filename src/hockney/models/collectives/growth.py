"""One model of an algorithm's time against ranks over all its allocations, chosen by Akaike's criterion.

Every form is fitted to ln T by least squares, so that each point counts by its relative error and all forms are
judged on the same residuals. An allocation may multiply the common shape by a factor of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import optimize

from hockney.models.collectives.closed_form import LAWS, P
from hockney.models.collectives.expression import Expression, FormulaCall
from hockney.statistics import Array, adjusted_r2, aicc, covariance, least_squares, t_reach

LEAST_POINTS = 3
"""Fewest points more than coefficients: with fewer, R² and the criterion say nothing."""
CONVINCING = 10.0
"""A difference of the criterion from which on the worse model has essentially no support (Burnham and
Anderson 2002, section 2.6)."""
_TINY_S = 1e-15


@dataclass(frozen=True)
class RankCurve:
    """Times of one algorithm under one allocation: `ranks`, `time_s` and columns of its own forms, shape (n,).

    `own`: form → seconds or counts that the schedule gives at these ranks, NaN where it gives none.
    """

    allocation: str
    ranks: Array
    time_s: Array
    own: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient in seconds (in ln s for `log_quadratic`) of `term`, with its 95 % interval."""

    term: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Model:
    """T(P) = factor of the allocation × Σ coefficient · term; `log_quadratic`: its exponential.

    x of the scaled terms is (P − `centre`)/`half`, from −1 to 1 over the ranks measured. `factors`: times the
    first allocation's, by allocation; empty where all share one curve. `adjusted_r2` is of T, as regressions are
    usually printed; `adjusted_r2_ln` of ln T, which was fitted. `deviation`: of ln T, the typical relative error.
    """

    form: str
    coefficients: tuple[Coefficient, ...]
    factors: Mapping[str, Coefficient]
    centre: float
    half: float
    adjusted_r2: float
    adjusted_r2_ln: float
    deviation: float
    aicc: float
    points: int
    first: int
    last: int
    runs_together: float
    """Correlation of neighbouring residuals: far above 0, the form misses something and intervals are widened."""

    def at_s(self, curve: RankCurve) -> Array:
        """Seconds at the ranks of `curve`, NaN where its own form has no value."""
        design = _design(self.form, curve, self.centre, self.half)
        assert design is not None  # a curve of the algorithm that was fitted
        linear = design[1] @ np.array([coefficient.value for coefficient in self.coefficients])
        time_s = np.exp(linear) if self.form == LOG_QUADRATIC else linear
        factor = self.factors.get(curve.allocation)
        return np.asarray(time_s * (1.0 if factor is None else factor.value))

    @property
    def formula(self) -> str:
        """The model in words, T in µs."""
        is_exponent = self.form == LOG_QUADRATIC
        summands = []
        for coefficient in self.coefficients:
            term = coefficient.term
            value = coefficient.value * (1.0 if is_exponent or term == SIMULATED else 1e6)
            if is_exponent and not term:
                value += math.log(1e6)
            summands.append(f"{'−' if value < 0 else '+'} {abs(value):.4g}{'·' if term else ''}{term}")
        body = " ".join(summands).removeprefix("+ ")
        scaled = f", x = (P − {self.centre:.4g})/{self.half:.4g}" if self.form in _SCALED else ""
        return (f"exp({body})" if is_exponent else body) + scaled


@dataclass(frozen=True)
class ModelChoice:
    """All models of one algorithm, the preferred first.

    `level_gain`: by how much the criterion falls if each allocation has a factor; `shape_gain`: by how much more
    if each has all coefficients of its own. Above 0 the allocations differ so; None with one allocation.
    """

    models: list[Model]
    level_gain: float | None
    shape_gain: float | None
    allocations: tuple[str, ...]

    @property
    def preferred(self) -> Model:
        """The one with the least criterion."""
        return self.models[0]

    def without_one_by_hand(self) -> Model:
        """The best of those that a reader can evaluate without simulating."""
        return next(model for model in self.models if model.form != SIMULATED)


LINEAR, QUADRATIC, LOGARITHMIC, LOG_QUADRATIC = "linear", "quadratic", "logarithmic", "log_quadratic"
SCHEDULE, SIMULATED = "schedule", "simulated"
FORMS = (SCHEDULE, LINEAR, LOGARITHMIC, QUADRATIC, LOG_QUADRATIC, SIMULATED)
"""In the order of preference between equals: a form that has a reason stands before one that fits alike."""
_SCALED = (QUADRATIC, LOG_QUADRATIC)

_LAWS: Mapping[str, Expression] = {LINEAR: P, LOGARITHMIC: LAWS["log2(P)"]}


def _design(form: str, curve: RankCurve, centre: float, half: float) -> tuple[tuple[str, ...], Array] | None:
    """Names and columns of a form at the ranks of a curve; None where the curve has no such form."""
    if form in _SCALED:
        return ("", "x", "x²"), np.vander((curve.ranks - centre) / half, 3, increasing=True)
    if form in _LAWS:
        law = _LAWS[form]
        column = np.asarray(law.value(FormulaCall(curve.ranks, 0.0)))
        return ("", law.short), np.column_stack([np.ones_like(curve.ranks), column])
    if form not in curve.own:
        return None
    name = SIMULATED if form == SIMULATED else "rounds"
    return ("", name), np.column_stack([np.ones_like(curve.ranks), curve.own[form]])


def choose(curves: Sequence[RankCurve]) -> ModelChoice | None:
    """The models of one algorithm over its allocations; None where there are too few points.

    Each form is fitted with one curve for all and with a factor for each allocation; the least criterion (AICc)
    is preferred. A form that only some allocations or some ranks have does not compete.
    """
    ranks = np.concatenate([curve.ranks for curve in curves])
    if np.unique(ranks).size < 2:
        return None
    centre, half = float(ranks.max() + ranks.min()) / 2, float(ranks.max() - ranks.min()) / 2
    models = []
    for form in FORMS:
        for own_level in (False, True) if len(curves) > 1 else (False,):
            model = _fit(form, curves, centre, half, own_level=own_level)
            models += [] if model is None else [model]
    if not models:
        return None
    # Stable: of equals, the first form and one curve for all.
    models.sort(key=lambda model: round(model.aicc, 6))
    best = models[0]
    level_gain = shape_gain = None
    if len(curves) > 1:
        alike = {bool(model.factors): model for model in reversed(models) if model.form == best.form}
        level_gain = alike[False].aicc - alike[True].aicc if len(alike) == 2 else None
        apart = [_fit(best.form, [curve], centre, half, own_level=False) for curve in curves]
        known = [model for model in apart if model is not None]
        if len(known) == len(curves):
            square = sum(model.deviation**2 * (model.points - len(model.coefficients)) for model in known)
            coefficients = sum(len(model.coefficients) for model in known)
            shape_gain = min(model.aicc for model in alike.values()) - aicc(square, ranks.size, coefficients)
    return ModelChoice(models, level_gain, shape_gain, tuple(curve.allocation for curve in curves))


def _fit(form: str, curves: Sequence[RankCurve], centre: float, half: float, *, own_level: bool) -> Model | None:
    designs = [_design(form, curve, centre, half) for curve in curves]
    known = [design for design in designs if design is not None]
    if len(known) < len(curves):
        return None
    terms, table = known[0][0], np.concatenate([columns for _, columns in known])
    time_s = np.concatenate([curve.time_s for curve in curves])
    further = len(curves) - 1 if own_level else 0
    count = table.shape[1] + further
    if not np.isfinite(table).all() or time_s.size < count + LEAST_POINTS or np.ptp(table[:, -1]) == 0:
        return None
    where = np.repeat(np.arange(len(curves)), [curve.ranks.size for curve in curves])
    level = (where[:, None] == np.arange(1, len(curves))[None, :]).astype(np.float64)[:, :further]
    value, jacobian = _solve(form, table, level, time_s)
    shape = table @ value[: table.shape[1]]
    fitted_ln = (shape if form == LOG_QUADRATIC else np.log(np.maximum(shape, _TINY_S))) + level @ value[
        table.shape[1] :
    ]
    missed = np.log(time_s) - fitted_ln
    square = float(missed @ missed)
    if square <= 0 or (form != LOG_QUADRATIC and shape.min() <= 0):
        return None
    freedom = time_s.size - count
    together = _together(missed, curves)
    # Neighbours that err alike count for fewer points: Bartlett's factor for a first-order process.
    widened = math.sqrt((1 + max(together, 0.0)) / (1 - max(together, 0.0)))
    error = widened * math.sqrt(square / freedom) * np.sqrt(np.diag(covariance(jacobian)))
    reach = t_reach(error, freedom)
    coefficients = tuple(
        Coefficient(term, float(at), float(at - wide), float(at + wide))
        for term, at, wide in zip(terms, value, reach, strict=False)
    )
    factors = {
        curve.allocation: Coefficient(curve.allocation, *(math.exp(at + sign * wide) for sign in (0, -1, 1)))
        for curve, at, wide in zip(curves[1:], value[len(terms) :], reach[len(terms) :], strict=False)
    }
    return Model(
        form,
        coefficients,
        factors,
        centre,
        half,
        adjusted_r2(time_s - np.exp(fitted_ln), time_s, count) or 0.0,
        adjusted_r2(missed, np.log(time_s), count) or 0.0,
        math.sqrt(square / freedom),
        aicc(square, time_s.size, count),
        int(time_s.size),
        int(min(curve.ranks.min() for curve in curves)),
        int(max(curve.ranks.max() for curve in curves)),
        together,
    )


def _solve(form: str, table: Array, level: Array, time_s: Array) -> tuple[Array, Array]:
    """Coefficients and factors (in ln) that miss ln `time_s` least, and the Jacobian of ln T there."""
    target = np.log(time_s)
    if form == LOG_QUADRATIC:
        whole = np.column_stack([table, level])
        return least_squares(whole, target).value, whole
    width = table.shape[1]
    # Columns of one order, so that the steps of the search are too.
    scale = np.abs(table).max(axis=0) / np.exp(target.mean())
    scaled = table / scale

    def residual(at: Array) -> Array:
        return np.asarray(np.log(np.maximum(scaled @ at[:width], _TINY_S)) + level @ at[width:] - target)

    def jacobian(at: Array) -> Array:
        return np.column_stack([scaled / np.maximum(scaled @ at[:width], _TINY_S)[:, None], level])

    # A start that is positive everywhere: relative least squares without negative coefficients.
    positive, _ = optimize.nnls(scaled / time_s[:, None], np.ones_like(time_s))
    start = positive if (scaled @ positive).min() > 0 else np.array([np.exp(target.mean()), *[0.0] * (width - 1)])
    fit = optimize.least_squares(
        residual, np.concatenate([start, np.zeros(level.shape[1])]), jac=jacobian, x_scale="jac"
    )
    value = fit.x.copy()
    at_fit = jacobian(fit.x)
    value[:width] /= scale
    at_fit[:, :width] *= scale
    return value, at_fit


def _together(missed: Array, curves: Sequence[RankCurve]) -> float:
    """The correlation of residuals at neighbouring ranks, along each curve."""
    products, squares, first = 0.0, 0.0, 0
    for curve in curves:
        own = missed[first : first + curve.ranks.size][np.argsort(curve.ranks)]
        first += curve.ranks.size
        products += float(own[1:] @ own[:-1])
        squares += float(own @ own)
    return min(products / squares, 0.95)
