"""What a page says of a collective against ranks and size: models, steps with their causes, crossover sizes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.models.over_ranks.crossovers import Crossover, crossovers
from hockney.models.over_ranks.growth import SCHEDULE, SIMULATED, Model, ModelChoice, RankCurve, choose
from hockney.models.over_ranks.points import CONFIGURATION, Configuration, curves, groups
from hockney.models.over_ranks.steps import (
    FoundStep,
    LevelStep,
    Searched,
    StepPlace,
    Why,
    block_changes,
    candidates,
    counts_at,
    search,
    simulated_step,
)
from hockney.predict.points import APART, NUMBERS, TEXT, as_text
from hockney.predict.reproduced import (
    PARTS,
    Explanation,
    Part,
    Reproduction,
    explained,
    is_reproduced,
    reproductions,
)
from hockney.predict.scenario import Scenario
from hockney.records.keys import COLLECTIVES
from hockney.report.collective_jumps import Key
from hockney.report.places import Places
from hockney.schedule.catalogue import algorithms, collectives
from hockney.statistics import Array

_ALLOCATION = ("mapping", "nodes", "ppn")
"""What an allocation is; nodes and ranks per node where one number of ranks ran on several."""
ALL = "all together"
ALIKE, SHORT_B = 2.0, 64
"""Messages of at most so many bytes whose sizes differ by at most that factor step alike."""


@dataclass(frozen=True)
class AlgorithmCurves:
    """The curves of one algorithm at one size: one for each allocation, everything else alike.

    `points`: allocation → the rows of its curve in the order of ranks, with the columns of `predict.points.POINT`
    and `time_s`. `simulated`: allocation → simulated seconds at these, empty where nothing simulates it.
    """

    operation: str
    name: str
    label: str
    size_B: int
    held: Configuration
    points: Mapping[str, pd.DataFrame]
    simulated: Mapping[str, Array]

    def ranks(self, allocation: str) -> Array:
        """The numbers of ranks of a curve, shape (n,)."""
        return self.points[allocation]["ranks"].to_numpy(np.float64)

    def time_s(self, allocation: str) -> Array:
        """The times of a curve, shape (n,)."""
        return self.points[allocation]["time_s"].to_numpy(np.float64)


@dataclass(frozen=True)
class ExplainedStep:
    """A step of one allocation, or of `ALL`, with what the simulation makes of it."""

    algorithm: AlgorithmCurves
    allocation: str
    candidate: StepPlace
    step: LevelStep
    explanation: Explanation


@dataclass(frozen=True)
class AlgorithmGrowth:
    """One algorithm at one size: its curves by allocation, the model over all of them, and its steps."""

    algorithm: AlgorithmCurves
    curves: Mapping[str, RankCurve]
    choice: ModelChoice | None
    searched: Searched
    steps: list[ExplainedStep]


@dataclass(frozen=True)
class Analysis:
    """All that was found of one collective and statistic. `notes`: what stood against a simulation."""

    operation: str
    statistic: str
    growths: list[AlgorithmGrowth] = field(default_factory=list)
    crossovers: list[Crossover] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_unseen: bool = True
    """Whether the simulation was calibrated on points of other sizes than those it explains."""

    def as_rows(self) -> dict[str, list[dict[str, Any]]]:
        """`models`, `steps` and `crossovers` as rows of plain values, for JSON and CSV."""
        return {
            "models": [
                _model_row(growth.algorithm, choice, model)
                for growth in self.growths
                if (choice := growth.choice) is not None
                for model in choice.models
            ],
            "steps": [_step_row(one) for growth in self.growths for one in growth.steps],
            "crossovers": [
                {
                    **dict(one.configuration.held),
                    **{
                        name: getattr(one, name)
                        for name in ("smaller", "larger", "at_B", "low_B", "high_B", "last_B")
                    },
                }
                for one in self.crossovers
            ],
        }


def _of(algorithm: AlgorithmCurves) -> dict[str, Any]:
    return {**dict(algorithm.held.held), "algorithm": algorithm.label, "bytes": algorithm.size_B}


def _model_row(algorithm: AlgorithmCurves, choice: ModelChoice, model: Model) -> dict[str, Any]:
    return {
        **_of(algorithm),
        "form": model.form,
        "preferred": model is choice.preferred,
        "formula_us": model.formula,
        "terms": [one.term or "1" for one in model.coefficients],
        "coefficients": [one.value for one in model.coefficients],
        "coefficients_low": [one.low for one in model.coefficients],
        "coefficients_high": [one.high for one in model.coefficients],
        "allocations": list(choice.allocations),
        "factors": {name: [one.value, one.low, one.high] for name, one in model.factors.items()},
        "adjusted_r2": model.adjusted_r2,
        "adjusted_r2_ln": model.adjusted_r2_ln,
        "relative_deviation": model.deviation,
        "aicc": model.aicc,
        "delta_aicc": model.aicc - choice.preferred.aicc,
        "neighbours_correlation": model.runs_together,
        "first_ranks": model.first,
        "last_ranks": model.last,
        "points": model.points,
        "level_gain": choice.level_gain,
        "shape_gain": choice.shape_gain,
    }


def _step_row(one: ExplainedStep) -> dict[str, Any]:
    return {
        **_of(one.algorithm),
        "allocation": one.allocation,
        "before": one.candidate.before,
        "after": one.candidate.after,
        "there": list(one.candidate.why),
        "ratio": one.step.ratio,
        "low": one.step.low,
        "high": one.step.high,
        "p_value": one.step.p_value,
        "simulated": one.explanation.simulated,
        "without": dict(one.explanation.without),
        "causes": list(one.explanation.causes) or ["not explained"],
    }


def analyse(
    frame: pd.DataFrame,
    measured: pd.DataFrame,
    operation: str,
    statistic: str,
    lines: Mapping[int, Mapping[Key, pd.DataFrame]],
    places: Places,
) -> Analysis:
    """Models and steps at the sizes of `lines`, and crossover sizes, of one collective of a tidy table.

    `measured` is what `hockney.models.over_ranks.points.points` makes of `frame` for this statistic, `lines` what
    `curves` makes of that at each size.
    """
    sizes_B = [*lines]
    grown = measured[measured["ranks"].notna()]
    systems = {
        name: system
        for name in {str(one) for one in frame["system"].unique()}
        if (system := places.system(name)) is not None
    }
    simulations, notes = reproductions(frame, operation, statistic, sizes_B, systems)
    result = Analysis(
        operation,
        statistic,
        crossovers=crossovers(_on_most_ranks(measured)),
        notes=notes,
        is_unseen=all(one.is_unseen for one in simulations.values()),
    )
    for size in sizes_B:
        near = [curves(grown, other) for other in _alike(grown, size)]
        for label, held, rows in _algorithms(grown, lines[size]):
            by_allocation = {name: _as_points(curve, operation) for name, (_, curve) in rows.items()}
            simulation = _simulation_of(simulations, next(iter(by_allocation.values())))
            scenarios: dict[str, list[Scenario | None]] = {}
            simulated = {}
            if simulation is not None:
                scenarios = {n: simulation.scenarios.of_points(curve) for n, curve in by_allocation.items()}
                made = {name: simulation.time_s(curve) for name, curve in scenarios.items()}
                simulated = {name: time_s for name, time_s in made.items() if np.isfinite(time_s).all()}
            algorithm = AlgorithmCurves(
                operation, _name(by_allocation), label, size, held, by_allocation, simulated
            )
            changes = _changes(algorithm, simulation)
            own = {
                name: candidates(algorithm.ranks(name), places.boundaries(configuration, curve), changes)
                for name, (configuration, curve) in rows.items()
            }
            alike = {name: _same(near, configuration, label) for name, (configuration, _) in rows.items()}
            searched = search({n: (algorithm.ranks(n), algorithm.time_s(n)) for n in own}, own, alike)
            steps = [
                one
                for found in searched.found
                for one in _explained(algorithm, found, searched.found, own, simulation, scenarios)
            ]
            fitted = _curves(algorithm)
            choice = choose(list(fitted.values()))
            result.growths.append(AlgorithmGrowth(algorithm, fitted, choice, searched, steps))
    return result


def _changes(algorithm: AlgorithmCurves, simulation: Reproduction | None) -> list[tuple[int, Why]]:
    """Where the messages of an algorithm that cuts the vector into a block for each rank go another way."""
    if algorithm.operation not in collectives():
        return []
    known = {one.name: one for one in algorithms(algorithm.operation)}
    of_ours = known.get(algorithm.name.rpartition(":")[2])
    if of_ours is None or not of_ours.is_divided or COLLECTIVES[algorithm.operation].sizes_are_blocks:
        return []
    segment_B = next(iter(algorithm.points.values()))["segment_bytes"].fillna(0).iloc[0]
    limits_B = [] if simulation is None else simulation.limits_B(algorithm.name)
    return block_changes(algorithm.size_B, int(segment_B), limits_B)


def _on_most_ranks(measured: pd.DataFrame) -> pd.DataFrame:
    """The points of each configuration on the largest number of ranks that has most of its algorithms."""
    parts = []
    for _, rows in groups(measured[measured["ranks"].notna()], CONFIGURATION):
        width = rows.groupby("ranks")["label"].nunique()
        ranks = max(int(str(count)) for count in width.index[width >= 0.8 * width.max()])
        parts.append(rows[rows["ranks"] == ranks])
    return pd.concat(parts, ignore_index=True) if parts else measured.iloc[:0]


def _algorithms(
    grown: pd.DataFrame, lines: Mapping[Key, pd.DataFrame]
) -> list[tuple[str, Configuration, dict[str, tuple[Configuration, pd.DataFrame]]]]:
    """Label, what is held beside the allocation, and the curves by allocation, of every algorithm."""
    by_algorithm: dict[tuple[Configuration, str], dict[str, tuple[Configuration, pd.DataFrame]]] = {}
    for (configuration, label), curve in lines.items():
        held = Configuration(tuple(pair for pair in configuration.held if pair[0] not in _ALLOCATION))
        several = [name for name in _ALLOCATION if configuration[name]]
        words = configuration[several[0]] if several == ["mapping"] else configuration.words(several)
        rows = grown.loc[curve.index].sort_values("ranks")
        by_algorithm.setdefault((held, label), {})[words or "not told"] = (configuration, rows)
    return [(label, held, own) for (held, label), own in by_algorithm.items()]


def _alike(grown: pd.DataFrame, size_B: int) -> list[int]:
    """Sizes up to `ALIKE` times as large or as small, all of them so short that bytes hardly count."""
    sizes = [int(other) for other in sorted(grown["bytes"].unique()) if 0 < other <= SHORT_B and other != size_B]
    return [other for other in sizes if 1 / ALIKE <= other / size_B <= ALIKE] if size_B <= SHORT_B else []


def _same(
    near: Sequence[Mapping[Key, pd.DataFrame]], configuration: Configuration, label: str
) -> list[tuple[Array, Array]]:
    """Ranks and times of the same curve at other sizes."""
    found = (of_size.get((configuration, label)) for of_size in near)
    return [
        (curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))
        for curve in found
        if curve is not None
    ]


def _as_points(curve: pd.DataFrame, operation: str) -> pd.DataFrame:
    """Rows of `over_ranks.points.points` with the columns of `predict.points.POINT`."""
    rows = curve.assign(operation=operation)
    for name in TEXT:
        rows[name] = as_text(rows[name]) if name in rows.columns else ""
    for name in NUMBERS:
        rows[name] = (rows[name] if name in rows.columns else pd.Series(pd.NA, rows.index)).astype("Int64")
    return rows.reset_index(drop=True)


def _simulation_of(simulations: Mapping[Hashable, Reproduction], points: pd.DataFrame) -> Reproduction | None:
    """The simulation of the conditions of these points; the program that measured is not among their columns."""
    told = [name for name in APART if name not in ("source", "oversubscribed")]
    for key, simulation in simulations.items():
        words = dict(zip(APART, key, strict=True))  # type: ignore[call-overload]
        if all(str(words[name]) == str(points[name].iloc[0]) for name in told):
            return simulation
    return None


def _curves(algorithm: AlgorithmCurves) -> dict[str, RankCurve]:
    """The curves by allocation, with what the schedule gives at their ranks."""
    form = closed_form(algorithm.operation, algorithm.name)
    made = {}
    for allocation, points in algorithm.points.items():
        ranks = algorithm.ranks(allocation)
        own = {}
        if form is not None and ranks.min() > 1:
            numbers = points[["ranks", "bytes", "segment_bytes", "radix"]].astype(np.float64).fillna(0)
            counts = np.broadcast_to(form.counts(FormulaCall(*numbers.to_numpy().T)).alpha, ranks.shape)
            own[SCHEDULE] = np.asarray(counts, np.float64)
        if allocation in algorithm.simulated:
            own[SIMULATED] = algorithm.simulated[allocation]
        made[allocation] = RankCurve(allocation, ranks, algorithm.time_s(allocation), own)
    return made


def _name(by_allocation: Mapping[str, pd.DataFrame]) -> str:
    return str(next(iter(by_allocation.values()))["algorithm"].iloc[0])


def _explained(
    algorithm: AlgorithmCurves,
    found: FoundStep,
    every: Sequence[FoundStep],
    own: Mapping[str, Sequence[StepPlace]],
    simulation: Reproduction | None,
    scenarios: Mapping[str, Sequence[Scenario | None]],
) -> list[ExplainedStep]:
    """A found step of all allocations together and of each that shows it by itself."""
    known = {name: one for name, one in found.each.items() if one.p_value is not None}
    place = {n: next(one for one in own[n] if _is_same(one, found.candidate)) for n in known}

    def ratio(allocation: str, time_s: Array) -> float:
        besides = [
            one
            for one in own[allocation]
            for other in every
            if one != place[allocation] and _is_same(one, other.candidate)
        ]
        return simulated_step(algorithm.ranks(allocation), time_s, place[allocation], besides, own[allocation])

    whole = {name: ratio(name, algorithm.simulated[name]) for name in known if name in algorithm.simulated}
    asked = {ALL: found.together.ratio} if found.is_common else {}
    asked |= {name: known[name].ratio for name in found.shown_by}
    made = {name: _mean(known, whole) if name == ALL else whole.get(name) for name in asked}
    reproduced = [name for name in asked if is_reproduced(asked[name], made[name])]
    without: dict[str, dict[Part, float]] = {}
    for name in known if ALL in reproduced else reproduced:
        assert simulation is not None  # it reproduced the step
        counting = counts_at(algorithm.ranks(name), place[name])
        curve = [one if counts else None for one, counts in zip(scenarios[name], counting, strict=True)]
        for part in PARTS:
            if part != "barrier" or simulation.has_barrier:
                time_s = simulation.time_s(curve, (part,), place[name].before)
                without.setdefault(name, {})[part] = ratio(name, time_s)
    if ALL in reproduced:
        means = {part: _mean(known, {n: without[n].get(part, math.nan) for n in known}) for part in PARTS}
        without[ALL] = {part: mean for part, mean in means.items() if mean is not None}
    return [
        ExplainedStep(
            algorithm,
            name,
            found.candidate if name == ALL else place[name],
            found.together if name == ALL else known[name],
            explained(asked[name], made[name], without.get(name, {}) if name in reproduced else {}),
        )
        for name in asked
    ]


def _is_same(one: StepPlace, other: StepPlace) -> bool:
    return one.before <= other.before and other.after <= one.after


def _mean(known: Mapping[str, LevelStep], ratios: Mapping[str, float]) -> float | None:
    """The mean of simulated ratios, in ln, each weighing as its measured step does; None without one."""
    usable = [name for name in known if name in ratios and math.isfinite(ratios[name]) and ratios[name] > 0]
    if len(usable) < len(known):
        return None
    widths = np.array([math.log(known[name].high / known[name].low) for name in usable])
    weight = 1 / widths**2
    return float(np.exp((weight * np.log([ratios[name] for name in usable])).sum() / weight.sum()))
