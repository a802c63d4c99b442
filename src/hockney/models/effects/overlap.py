"""Overlap of a transfer with computation; the host's overhead per message (o) and per byte (O); by protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._sampling import MOST_STRETCHES, draw, places, stretches, widening
from hockney.models.effects._scaffold import expect_undamaged, per_byte
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.records.effect_answers import OverlapAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import TAILS
from hockney.units import format_bytes, format_time, grouped

RESAMPLES = 400
SEED = 0
LEAST_CALM = 6
"""The fewest undisturbed repetitions; below that all are used, because no interval of a median has fewer."""
RESOLVED_CLOCKS = 20
"""A transfer of fewer readings of the clock than this has an overlap that says more about the clock."""
DISTURBED = -0.05
"""An overlap surely below this is none: the computation slows the calls, or something else takes the time."""
WIDEST = 1.0
"""An interval as wide as all that is possible tells nothing of an overlap."""
LEAST_S = 1e-12
"""The least error of a weight, where a simulation's clock takes no time."""
PROGRESSED = 0.5
"""A transfer has not proceeded by itself where the last call takes longer than this share of it."""
SIDES = {"sender": "send", "receiver": "recv"}
OVERHEAD = "Martínez et al., IPDPS 2009; Hoefler et al. 2010, section 3"
FORMULA = "Overlap = (T_comm + T_comp − T_total)/min(T_comm, T_comp)"

Samples = NDArray[np.float64]


@dataclass(frozen=True)
class _Transfer:
    """All launches' samples of one size, side and number of tests. Seconds, one entry a repetition."""

    size_B: int
    side: str
    tests: int
    eager: bool
    clock_s: float
    samples: Mapping[str, Samples]
    """alone_s, computation_s, total_s, start_s and wait_s."""
    stretch: NDArray[np.int_]
    """Of each repetition; `test_s` and `test_stretch`: of those with tests."""
    test_s: Samples
    test_stretch: NDArray[np.int_]

    @property
    def overlap(self) -> float | None:
        """The ratio of the medians, not cut off at 0 or 1; None where the clock does not resolve it."""
        if self.median_s("alone_s") < RESOLVED_CLOCKS * self.clock_s:
            return None
        return _overlap_of(self.samples)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the overlap, by bootstrap of stretches; None where there is no overlap."""
        if self.overlap is None:
            return None
        chance = np.random.default_rng(SEED)
        again = [_overlap_of(self.samples, draw(self.places, chance)) for _ in range(RESAMPLES)]
        return _interval(again, self.overlap, len(self.places))

    @cached_property
    def places(self) -> list[NDArray[np.int_]]:
        """The repetitions of each stretch."""
        return places(self.stretch)

    def median_s(self, name: str) -> float:
        """The median over the repetitions."""
        return float(np.median(self.samples[name]))

    @property
    def host_s(self) -> Samples:
        """The host's time in the two calls, each without its one reading of the clock."""
        start_s, wait_s = (np.maximum(self.samples[name] - self.clock_s, 0.0) for name in ("start_s", "wait_s"))
        return start_s + wait_s

    @property
    def has_progressed(self) -> bool:
        return self.median_s("wait_s") - self.clock_s <= PROGRESSED * self.median_s("alone_s")

    def resampled(self, chance: np.random.Generator) -> _Transfer:
        pick = draw(self.places, chance)
        return replace(self, samples={name: samples[pick] for name, samples in self.samples.items()})


@effect_models.register(
    "overlap",
    "How much of a transfer proceeds while the host computes, and what messages cost the host.",
    Plot(
        x="bytes", y="overlap", by="way", where={"left_out": False}, title="Overlap with computation", log_y=False
    ),
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """The overlap ratio, o and O of each side and protocol; intervals are bootstraps over stretches of them.

    The interval of an overlap ratio spans those of all its sizes. A size is eager where most of its sends were
    done before their receive was posted. RequestError where a payload was damaged, or where only some transfers
    were measured beside a progress thread.
    """
    expect_undamaged(records)
    if len({"thread_cpus" in record.parameters for record in records}) > 1:
        raise RequestError(
            "some transfers were measured with a progress thread of the runner and some without, under one name. "
            "Measure them as two variants, in a new campaign"
        )
    points = _points(records)
    effect.points = [_row(point) for point in points]
    chance = np.random.default_rng(SEED)
    for side, short in SIDES.items():
        for eager, protocol in ((True, "eager"), (False, "rendezvous")):
            of_protocol = [point for point in points if (point.side, point.eager) == (side, eager)]
            name = f"{short}_{protocol}"
            untested = [point for point in of_protocol if not point.tests]
            _enter_overlap(effect, f"overlap_{name}", untested)
            _enter_overlap(effect, f"overlap_{name}_tests", [point for point in of_protocol if point.tests])
            _enter_overhead(effect, name, protocol, untested, chance)
    _enter_test(effect, points, chance)
    disturbed = [mark for record in records for mark in answered(record, OverlapAnswer).disturbed]
    if any(disturbed):
        effect.notes.append(
            f"in {sum(disturbed)} of {len(disturbed)} repetitions the system took a processor away from a rank; "
            f"they are left out where {LEAST_CALM} others remain"
        )
    _state(effect)


def _points(records: Sequence[EffectRecord]) -> list[_Transfer]:
    def question_of(record: EffectRecord) -> tuple[int, str, int]:
        question = record.parameters
        return int(question["bytes"]), str(question["side"]), int(question["tests"])

    groups = {
        question: [answered(record, OverlapAnswer) for record in members]
        for question, members in grouped(records, question_of).items()
    }
    points = []
    for (size_B, side, tests), answers in sorted(groups.items()):
        samples = _samples(answers)
        is_tested = samples["tests"] > 0
        points.append(
            _Transfer(
                size_B=size_B,
                side=side,
                tests=tests,
                eager=2 * sum(answer.done_early for answer in answers) > sum(answer.tries for answer in answers),
                clock_s=float(np.median([answer.clock_s for answer in answers])),
                samples=samples,
                test_s=samples["tests_s"][is_tested] / samples["tests"][is_tested],
                stretch=samples["stretch"].astype(np.int_),
                test_stretch=samples["stretch"][is_tested].astype(np.int_),
            )
        )
    return points


def _samples(answers: Sequence[OverlapAnswer]) -> dict[str, Samples]:
    """The undisturbed repetitions of all answers in a row, by name; all where too few are undisturbed."""
    disturbed = [answer.disturbed or [0] * len(answer.total_s) for answer in answers]
    calm = ~np.concatenate(disturbed).astype(bool)
    if calm.sum() < LEAST_CALM:
        calm[:] = True
    of_answers: dict[str, list[Sequence[float]]] = {
        # One computation is that of all repetitions.
        "computation_s": [[answer.computation_s] * len(answer.total_s) for answer in answers],
        **{
            name: [getattr(answer, name) for answer in answers]
            for name in ("alone_s", "total_s", "start_s", "wait_s", "tests_s", "tests")
        },
        "stretch": [
            (stretches(answer.group_begins, len(answer.total_s)) + MOST_STRETCHES * number).tolist()
            for number, answer in enumerate(answers)
        ],
    }
    return {name: np.concatenate(each)[calm].astype(np.float64) for name, each in of_answers.items()}


def _overlap_of(samples: Mapping[str, Samples], pick: NDArray[np.int_] | slice = slice(None)) -> float:
    """(T_comm + T_comp − T_total) / min(T_comm, T_comp) of the medians of these repetitions."""
    names = ("alone_s", "computation_s", "total_s")
    alone, computation, total = (float(np.median(samples[name][pick])) for name in names)
    return (alone + computation - total) / min(alone, computation)


def _interval(again: Sequence[float], value: float, stretches: int) -> tuple[float, float]:
    """The 95 % interval of a value from replicates that were drawn from so many stretches."""
    low, high = np.quantile(again, TAILS)
    factor = widening(stretches)
    return value + factor * (min(low, value) - value), value + factor * (max(high, value) - value)


def _is_left_out(low: float, high: float) -> bool:
    """Whether this interval is surely of no overlap, or as wide as all that is possible."""
    return high < DISTURBED or high - low > WIDEST


def _enter_overlap(effect: Effect, name: str, points: Sequence[_Transfer]) -> None:
    """Median over the sizes; its interval holds those of all sizes, because no one number need hold for each."""
    if not points:
        return
    clear = [
        (point.size_B, point.overlap, *point.interval)
        for point in points
        if point.overlap is not None and point.interval
    ]
    worse = [f"{value:.2g} at {format_bytes(size_B)}" for size_B, value, _, high in clear if high < DISTURBED]
    if worse:
        effect.notes.append(
            f"{name}: both together take longer than one after the other ({', '.join(worse)}): the computation "
            "slows the calls, or something disturbed them; left out"
        )
    unclear = [
        f"{low:.2g} to {high:.2g} at {format_bytes(size_B)}"
        for size_B, _, low, high in clear
        if high - low > WIDEST
    ]
    if unclear:
        effect.notes.append(f"{name}: too disturbed to judge an overlap ({', '.join(unclear)}); left out")
    left = [(value, low, high) for _, value, low, high in clear if not _is_left_out(low, high)]
    if left:
        values, lows, highs = zip(*left, strict=True)
        effect.know(name, float(np.median(values)), "1", min(lows), max(highs))
        return
    slow = (
        "at every size both together take longer than one after the other, or times vary too much. Measure "
        "larger messages, on an idle machine"
    )
    short = "the transfers take less than twenty readings of the clock: measure larger messages"
    effect.cannot_tell(slow if clear else short, name)


def _line(points: Sequence[_Transfer]) -> tuple[float, float]:
    """o and O of least relative squares, neither negative; a reading of the clock is the least error."""
    size = np.array([point.size_B for point in points], dtype=np.float64)
    host = np.array([np.median(point.host_s) for point in points])
    error = np.maximum(host, max(LEAST_S, *(point.clock_s for point in points)))
    from scipy.optimize import nnls  # a fifth of a second, which reading a machine file does without

    coefficients, _ = nnls(np.column_stack((1 / error, size / error)), host / error)
    return float(coefficients[0]), float(coefficients[1])


def _enter_overhead(
    effect: Effect, name: str, protocol: str, points: Sequence[_Transfer], chance: np.random.Generator
) -> None:
    """o and O of one side and protocol, and the line that they make."""
    if not points:
        return
    o_name, O_name = f"o_{name}_s", f"O_{name}_s_per_B"
    # An eager message has left, or arrived, by the end of the computation: what its calls take is the host's.
    usable = [point for point in points if point.eager or point.has_progressed]
    if len({point.size_B for point in usable}) < 2:
        why = (
            "the transfer does not proceed without the host, and the calls wait for it. A variant with a "
            "progress thread, or hardware that transfers by itself, would show the host's part"
            if len(usable) < len(points)
            else "fewer than two sizes of this protocol: measure with a larger --largest"
        )
        effect.cannot_tell(why, o_name, O_name)
        return
    line = _line(usable)
    again = [_line([point.resampled(chance) for point in usable]) for _ in range(RESAMPLES)]
    sizes = [point.size_B for point in usable]
    clock_s, fewest = max(point.clock_s for point in usable), min(len(point.places) for point in usable)
    terms = (
        (o_name, "s", 1, "a finer clock", format_time(line[0])),
        (O_name, "s/B", max(sizes), "a larger --largest, or a finer clock", f"{per_byte(line[1])} · n"),
    )
    parts = []
    for column, (key, unit, factor, settle, part) in enumerate(terms):
        low, high = _interval([drawn[column] for drawn in again], line[column], fewest)
        # A value at the edge of what the clock tells is an artefact of the fit, however narrow its interval.
        if high * factor <= clock_s:
            effect.cannot_tell(
                f"below the clock's resolution: in a message of {format_bytes(factor)} it is less than the "
                f"{format_time(clock_s)} that one reading takes; {settle} would resolve it",
                key,
            )
        else:
            effect.know(key, line[column], unit, max(low, 0.0), high)
            parts.append(part)
    if parts:
        where = f"{min(sizes)} B ≤ n ≤ {max(sizes)} B ({protocol})"
        effect.state("exact", f"h_{name}(n) = {' + '.join(parts)}", where, OVERHEAD)


def _enter_test(effect: Effect, points: Sequence[_Transfer], chance: np.random.Generator) -> None:
    """What one MPI_Test costs that finds nothing to do: the least median over the sizes."""
    tested = [point for point in points if point.tests and len(point.test_s)]
    if not tested:
        return
    cheapest = min(tested, key=lambda point: float(np.median(point.test_s)))
    spent = np.maximum(cheapest.test_s - cheapest.clock_s, 0.0)
    of_stretch, value = places(cheapest.test_stretch), float(np.median(spent))
    again = [float(np.median(spent[draw(of_stretch, chance)])) for _ in range(RESAMPLES)]
    low, high = _interval(again, value, len(of_stretch))
    if high <= cheapest.clock_s:
        effect.cannot_tell(
            f"below the clock's resolution: less than the {format_time(cheapest.clock_s)} that a reading takes; "
            "a finer clock would resolve it",
            "test_s",
        )
    else:
        effect.know("test_s", value, "s", max(low, 0.0), high)


def _state(effect: Effect) -> None:
    """The four views; the lines of the overheads, which stand in the exact one already, come last."""
    ratios = {name: ratio for name, ratio in effect.parameters.items() if name.startswith("overlap_")}
    overheads, effect.views.exact = effect.views.exact, []
    effect.state("asymptotic", "T_total = Θ(n + T_comp)", "every n")
    effect.state("bounded", "max(T_comm(n), T_comp) ≤ T_total ≤ T_comm(n) + T_comp", "every n")
    for name, ratio in ratios.items():
        where = _where(name, ratio)
        hidden = f"T_comp + {1 - ratio.value:.3g} · T_comm(n)"
        effect.state("dominant", f"T_total ≈ {hidden}", f"{where}; T_comp ≥ T_comm(n)")
        both = f"T_comm(n) + T_comp − {ratio.value:.3g} · min(T_comm(n), T_comp)"
        effect.state("exact", f"T_total = {both}", where, FORMULA)
    effect.views.exact += overheads


def _where(name: str, ratio: Parameter) -> str:
    """The side and protocol of an overlap, and its range over the sizes: no single size need have the median."""
    return f"{name.removeprefix('overlap_').replace('_', ', ')}, by size {ratio.low:.3g} to {ratio.high:.3g}"


def _row(point: _Transfer) -> dict[str, Cell]:
    method = point.side + (", MPI_Test" if point.tests else "")
    return {
        "bytes": point.size_B,
        "way": method,
        "tests": point.tests,
        "protocol": "eager" if point.eager else "rendezvous",
        **{name: point.median_s(name) for name in ("alone_s", "computation_s", "total_s", "start_s", "wait_s")},
        "overlap": point.overlap,
        "overlap_low": point.interval[0] if point.interval else None,
        "overlap_high": point.interval[1] if point.interval else None,
        "left_out": bool(point.interval and _is_left_out(*point.interval)),
    }
