"""What a page says of a collective against ranks and size: steps with their causes, crossover sizes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from hockney.machine.locality import Places
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.crossovers import Crossover, crossovers
from hockney.models.over_ranks.points import CONFIGURATION, Configuration, curves, groups
from hockney.models.over_ranks.search import FEWEST, counts_at, search, simulated_step
from hockney.models.over_ranks.steps import FoundStep, LevelStep, StepPlace, Why, block_changes, reasons
from hockney.predict.decisions.base import decisions_for
from hockney.predict.points import APART, DEFAULT, texts_and_numbers
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
from hockney.records.record import LOCALITIES
from hockney.report.explorer.chart import most_ranks
from hockney.report.page import Row
from hockney.schedule.catalogue import algorithms, collectives
from hockney.statistics import Array

ALLOCATION = ("mapping", "nodes", "ppn")
"""What an allocation is; nodes and ranks per node where one number of ranks ran on several."""
ALL = "all together"
ALIKE, SHORT_B = 2.0, 64
"""Messages of at most so many bytes whose sizes differ by at most that factor step alike."""
Key = tuple[Configuration, str]
"""What a curve of `over_ranks.points.curves` is of."""


@dataclass(frozen=True)
class ExplainedStep:
    """A step of one allocation, or of `ALL`, with what the simulation makes of it."""

    allocation: str
    place: StepPlace
    step: LevelStep
    explanation: Explanation


@dataclass(frozen=True)
class AlgorithmCurves:
    """The curves of one algorithm at one size: one for each allocation, everything else alike.

    `points`: allocation → the rows of its curve in the order of ranks, with the columns of `predict.points.POINT`
    and `time_s`; `configurations`: what it is.
    """

    operation: str
    label: str
    size_B: int
    held: Configuration
    configurations: Mapping[str, Configuration]
    points: Mapping[str, pd.DataFrame]
    steps: list[ExplainedStep] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The algorithm without its segment and radix."""
        return str(next(iter(self.points.values()))["algorithm"].iloc[0])

    @property
    def is_searched(self) -> bool:
        """Whether some curve has the points that tell of steps."""
        return any(len(curve) >= FEWEST for curve in self.points.values())

    def ranks(self, allocation: str) -> Array:
        """The numbers of ranks of a curve, shape (n,)."""
        return self.points[allocation]["ranks"].to_numpy(np.float64)

    def time_s(self, allocation: str) -> Array:
        """The times of a curve, shape (n,)."""
        return self.points[allocation]["time_s"].to_numpy(np.float64)


@dataclass(frozen=True)
class Analysis:
    """All that was found of one collective and statistic. `notes`: what stood against a simulation."""

    algorithms: list[AlgorithmCurves] = field(default_factory=list)
    crossovers: list[Crossover] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_rows(self) -> dict[str, list[Row]]:
        """`steps` and `crossovers` as rows of plain values, for JSON and CSV."""
        return {
            "steps": [_step_row(algorithm, step) for algorithm in self.algorithms for step in algorithm.steps],
            "crossovers": [
                {**dict(crossover.configuration.held), **{name: values[name] for name in _CROSSOVER}}
                for crossover in self.crossovers
                for values in [asdict(crossover)]
            ],
        }


_CROSSOVER = ("smaller", "larger", "at_B", "low_B", "high_B", "last_B")


def _step_row(algorithm: AlgorithmCurves, one: ExplainedStep) -> Row:
    return {
        **dict(algorithm.held.held),
        "algorithm": algorithm.label,
        "bytes": algorithm.size_B,
        "allocation": one.allocation,
        "before": one.place.before,
        "after": one.place.after,
        "there": list(one.place.why),
        **{
            name: None if value is not None and math.isnan(value) else value
            for name, value in asdict(one.step).items()
        },
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
    """Steps at the sizes of `lines`, and crossover sizes, of one collective of a tidy table.

    `measured` is what `hockney.models.over_ranks.points.points` makes of `frame` for this statistic, `lines` what
    `curves` makes of that at each size.
    """
    grown = measured[measured["ranks"].notna()]
    systems = {
        name: system
        for name in {str(system) for system in frame["system"].unique()}
        if (system := places.system(name)) is not None
    }
    simulations, notes = reproductions(frame, operation, statistic, [*lines], systems)
    result = Analysis(crossovers=crossovers(_on_most_ranks(grown)), notes=notes)
    for size in lines:
        near = [curves(grown, other) for other in _alike(grown, size)]
        for algorithm in _algorithms(grown, operation, size, lines[size]):
            simulation = _simulation_of(simulations, next(iter(algorithm.points.values())))
            changes = {name: _changes(algorithm, curve, simulation) for name, curve in algorithm.points.items()}
            boundaries = {
                name: places.boundaries(algorithm.configurations[name], curve)
                for name, curve in algorithm.points.items()
            }
            alike = {
                name: _same(near, configuration, algorithm.label)
                for name, configuration in algorithm.configurations.items()
            }
            found = search({name: (algorithm.ranks(name), algorithm.time_s(name)) for name in boundaries}, alike)
            beside = None if simulation is None else _simulated(algorithm, found, simulation)
            algorithm.steps.extend(_explained(found, boundaries, changes, beside))
            result.algorithms.append(algorithm)
    return result


def _changes(
    algorithm: AlgorithmCurves, points: pd.DataFrame, simulation: Reproduction | None
) -> list[tuple[int, Why]]:
    """The last ranks of one allocation before its messages go another way, or the library decides otherwise."""
    if algorithm.operation not in collectives():
        return []
    if algorithm.name == DEFAULT:
        return _decisions(algorithm, points)
    known = {one.name: one for one in algorithms(algorithm.operation)}
    of_ours = known.get(algorithm.name.rpartition(":")[2])
    if of_ours is None or not of_ours.is_divided or COLLECTIVES[algorithm.operation].sizes_are_blocks:
        return []
    segment_B = points["segment_bytes"].fillna(0).iloc[0]
    limits_B = [] if simulation is None else simulation.limits_B(algorithm.name)
    return block_changes(algorithm.size_B, int(segment_B), limits_B)


def _decisions(algorithm: AlgorithmCurves, points: pd.DataFrame) -> list[tuple[int, Why]]:
    """The last ranks before the library, where its decisions are known, takes another algorithm or component."""
    library = decisions_for(str(points["mpi"].iloc[0]))
    chosen = []
    for ranks, nodes in points[["ranks", "nodes"]].astype(object).fillna(0).itertuples(index=False, name=None):
        choice = library.default(algorithm.operation, ranks, algorithm.size_B, nodes=nodes or None)
        component = library.component(algorithm.operation, ranks, nodes)
        chosen.append((int(ranks), component or (choice and choice.algorithm)))
    return [
        (before, "decision") for (before, one), (_, other) in pairwise(chosen) if one and other and one != other
    ]


def _on_most_ranks(grown: pd.DataFrame) -> pd.DataFrame:
    """The points of each configuration on the largest number of ranks that has most of its algorithms."""
    parts = [rows[rows["ranks"] == most_ranks(rows)] for _, rows in groups(grown, CONFIGURATION)]
    return pd.concat(parts, ignore_index=True)


def _algorithms(
    grown: pd.DataFrame, operation: str, size_B: int, lines: Mapping[Key, pd.DataFrame]
) -> list[AlgorithmCurves]:
    """The curves of every algorithm by allocation."""
    of_algorithm: dict[Key, dict[str, tuple[Configuration, pd.DataFrame]]] = {}
    for (configuration, label), curve in lines.items():
        held = Configuration(tuple(pair for pair in configuration.held if pair[0] not in ALLOCATION))
        several = [name for name in ALLOCATION if configuration[name]]
        words = configuration[several[0]] if several == ["mapping"] else configuration.words(several)
        rows = _as_points(grown.loc[curve.index].sort_values("ranks"), operation)
        of_algorithm.setdefault((held, label), {})[words or "unknown"] = (configuration, rows)
    return [
        AlgorithmCurves(
            operation,
            label,
            size_B,
            held,
            {name: configuration for name, (configuration, _) in own.items()},
            {name: rows for name, (_, rows) in own.items()},
        )
        for (held, label), own in of_algorithm.items()
    ]


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
    typed = texts_and_numbers(rows)
    return rows.assign(**typed).reset_index(drop=True)


def _simulation_of(simulations: Mapping[Hashable, Reproduction], points: pd.DataFrame) -> Reproduction | None:
    """The simulation of the conditions of these points; the program that measured is not among their columns."""
    columns = [name for name in APART if name not in ("source", "oversubscribed")]
    for key, simulation in simulations.items():
        words = dict(zip(APART, key, strict=True))  # type: ignore[call-overload]
        if all(str(words[name]) == str(points[name].iloc[0]) for name in columns):
            return simulation
    return None


@dataclass(frozen=True)
class _Simulated:
    """An algorithm's curves beside their simulation: `scenarios` and seconds by allocation.

    `every`: all steps that were found.
    """

    algorithm: AlgorithmCurves
    every: Sequence[FoundStep]
    simulation: Reproduction
    scenarios: Mapping[str, Sequence[Scenario | None]]
    time_s: Mapping[str, Array]

    def ratio(self, allocation: str, found: FoundStep, time_s: Array) -> float:
        """The simulated step of a curve, beside all others."""
        besides = [step for step in self.every if step is not found]
        return simulated_step(self.algorithm.ranks(allocation), time_s, found, besides)

    def without(self, allocation: str, found: FoundStep, why: Sequence[Why]) -> dict[Part, float]:
        """The same without each part of the procedure; a level of the machine where one begins there."""
        ratios = {}
        counting = counts_at(self.algorithm.ranks(allocation), found.place)
        scenarios = zip(self.scenarios[allocation], counting, strict=True)
        curve = [scenario if counts else None for scenario, counts in scenarios]
        for part in PARTS:
            if self.simulation.has_barrier if part == "barrier" else part != "level" or {*why} & {*LOCALITIES}:
                time_s = self.simulation.time_s(curve, (part,), found.at.before)
                ratios[part] = self.ratio(allocation, found, time_s)
        return ratios

    def explained(self, found: FoundStep, why: Mapping[str, Sequence[Why]]) -> dict[str, Explanation]:
        """What makes a step of each allocation that shows it, and of all together."""
        known = {name: step for name, step in found.each.items() if step.p_value is not None}
        whole = {name: self.ratio(name, found, self.time_s[name]) for name in known if name in self.time_s}
        steps = _shown(found)
        ratios = {name: _mean(known, whole) if name == ALL else whole.get(name) for name in steps}
        reproduced = [name for name in steps if is_reproduced(steps[name].ratio, ratios[name])]
        without = {n: self.without(n, found, why[n]) for n in (known if ALL in reproduced else reproduced)}
        if ALL in reproduced:
            means = {part: _mean(known, {n: without[n].get(part, math.nan) for n in known}) for part in PARTS}
            without[ALL] = {part: mean for part, mean in means.items() if mean is not None}
        return {
            name: explained(steps[name].ratio, ratios[name], without.get(name, {}) if name in reproduced else {})
            for name in steps
        }


def _shown(found: FoundStep) -> dict[str, LevelStep]:
    """A step of all allocations together, and of each that shows it by itself."""
    return {**({ALL: found.together} if found.is_common else {}), **{n: found.each[n] for n in found.shown_by}}


def _simulated(algorithm: AlgorithmCurves, every: Sequence[FoundStep], simulation: Reproduction) -> _Simulated:
    scenarios = {name: simulation.scenarios.of_points(curve) for name, curve in algorithm.points.items()}
    simulated = {name: simulation.time_s(curve) for name, curve in scenarios.items()}
    whole = {name: time_s for name, time_s in simulated.items() if np.isfinite(time_s).all()}
    return _Simulated(algorithm, every, simulation, scenarios, whole)


def _explained(
    every: Sequence[FoundStep],
    boundaries: Mapping[str, Sequence[Boundary]],
    changes: Mapping[str, Sequence[tuple[int, Why]]],
    beside: _Simulated | None,
) -> list[ExplainedStep]:
    """All steps of an algorithm, each with what begins in its range; a bend is not explained."""
    result = []
    for found in every:
        if found.at.is_bend and found.together.slope_ratio is None:
            continue
        before, after = found.place.before, found.place.after
        why = {
            name: reasons(before, after, [each.level for each in own if found.holds(each)], changes[name])
            for name, own in boundaries.items()
        }
        why[ALL] = tuple(dict.fromkeys(word for name, own in why.items() for word in own))
        explanations = {} if beside is None or found.at.is_bend else beside.explained(found, why)
        for name, step in _shown(found).items():
            place = replace(found.place, why=why[name])
            result.append(ExplainedStep(name, place, step, explanations.get(name, UNEXPLAINED)))
    return result


UNEXPLAINED = Explanation(None, {}, ())


def _mean(known: Mapping[str, LevelStep], ratios: Mapping[str, float]) -> float | None:
    """The mean of simulated ratios, in ln, each weighing as its measured step does; None without one."""
    usable = [name for name in known if name in ratios and math.isfinite(ratios[name]) and ratios[name] > 0]
    if len(usable) < len(known):
        return None
    widths = np.array([math.log(known[name].high / known[name].low) for name in usable])
    weight = 1 / widths**2
    return float(np.exp((weight * np.log([ratios[name] for name in usable])).sum() / weight.sum()))
