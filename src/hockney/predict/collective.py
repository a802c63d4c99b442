"""The time of a collective by every algorithm: the method, the formula, and whether the best one is certain.

Three ways: all ranks are simulated; one rank stands for all where all do the same and cost the same (`by_class`);
or, where each further rank adds the same round, two small numbers of ranks give the line (`closed_form`).
One file, because which way is taken depends on what each of the others costs, and all end in one simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pydantic import computed_field

from hockney import _core
from hockney._core import Growth, Network
from hockney.errors import RequestError
from hockney.models.base import are_faster
from hockney.models.collectives.closed_form import closed_form
from hockney.predict.costs import CriticalTerms
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.options import CollectiveCase
from hockney.predict.place import LOCALITIES, Place
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest
from hockney.statistics import heeding
from hockney.units import percent

MOST_MESSAGES = 6e6
"""Simulated one by one: seconds."""
FEW_MESSAGES = 2e5
"""Simulated one by one even where a closed form is known."""
MOST_STEPS = 8e6
"""Steps of one rank and their dependencies: a gigabyte."""
SKEWED = 5
"""Runs of which the median is taken where it is chance whose message is ahead: ranks come a little apart."""
UNCALIBRATED = 1.5
"""Times of smaller ratio cannot be ordered without measured collectives: nothing says how far off they are."""
HALF = math.sqrt(UNCALIBRATED)
"""The factor by which a time from point-to-point costs may be off, so that two differ from that ratio on."""

LEAST_RANKS = 8
"""Of fewer ranks, special cases are not yet over."""
OF_ANOTHER_LAW = 0.03
"""Of a time: what a law of growth may miss where it is checked."""

BOUND = "lower bound"
"""Method of a row that has no time, only a lower bound of it: a published one."""
UNSHARED = "unshared"
"""The same of an algorithm whose messages share links that were not looked at one by one."""

SIMULATED = ("simulated", "by_class", "closed_form")
"""Methods of rows that point-to-point costs gave."""

_LINE = (48, 96)
"""Numbers of ranks through which a line goes: both even, and beyond all special cases."""
_LOG_LINE = 1024
"""The line through two numbers of ranks begins here where each doubling adds the same rounds."""


@dataclass(frozen=True)
class AlgorithmTime:
    """One algorithm: `time_s` is the last rank's finish after a common start; `note` is why it is None.

    `terms_s` adds up to the time; `messages` to `reduced_bytes` count what is on the critical path. A time that
    was corrected is `readable_s` · (1 + `correction`), with `weight` as in `predict.estimators.base.Correction`.
    `segment_B` is the best segment that was searched for (0: none), `flat_B` the sizes that do hardly worse.
    """

    algorithm: str
    method: str
    time_s: float | None
    low_s: float | None = None
    high_s: float | None = None
    readable_s: float | None = None
    correction: float | None = None
    weight: float | None = None
    messages: int | None = None
    overheads: int | None = None
    gaps: int | None = None
    bytes: int | None = None
    reduced_bytes: int | None = None
    terms_s: dict[str, float] | None = None
    formula: str = ""
    asymptotic: str = ""
    note: str = ""
    segment_B: int | None = None
    flat_B: tuple[int, int] | None = None
    trend_s: float | None = None
    """By a line through the numbers of ranks that were measured, beyond them; None where there is none."""

    @computed_field
    @property
    def dominant(self) -> str:
        """The largest term with its share; empty where the terms are not known."""
        if not self.terms_s or not self.time_s:
            return ""
        name, seconds = max(self.terms_s.items(), key=lambda item: item[1])
        return f"{name} {percent(seconds / self.time_s)}"


def predict_one(request: ScheduleRequest, costs: MachineCosts, place: Place | None) -> AlgorithmTime:
    """One algorithm under these costs. `place` None: all ranks are equally far apart, as far as was measured.

    RequestError where messages go between nodes and their costs are not known.
    """
    costs.check_network(place, request.problem.ranks)
    return way_of(request, costs, place)[0]()


def way_of(
    request: ScheduleRequest, costs: MachineCosts, place: Place | None
) -> tuple[Callable[[], AlgorithmTime], float]:
    """How the time comes about, and about how many messages are simulated one by one for it."""
    p, algorithm = request.problem, request.algorithm
    messages, steps = request.expected_messages(), request.expected_steps_of_root()
    if place is None and costs.streams and costs.crosses_network(None, p.ranks):
        if max(messages, p.ranks) > FEW_MESSAGES:
            return partial(_untimed, request, f"{messages:.2g} messages in streams"), 0.0
        place = costs.own_nodes(p.ranks)
    costs = costs.alike(p.ranks) if place is None else costs
    least_B = p.element_B * p.ranks if algorithm.is_divided else 0
    if place is None:
        if _core.symmetric_classes((algorithm.collective, algorithm.name, p)) == 1 and steps <= MOST_STEPS:
            return partial(_simulated, request, costs, None), 0.0
        # Where most blocks are empty few messages remain, but each rank looks at the round of each block.
        rounds = max(messages, request.resized(least_B).expected_messages() if p.bytes < least_B else 0.0)
        if algorithm.growth == Growth.per_rank and (rounds > FEW_MESSAGES or steps > MOST_STEPS):
            return partial(_line, request, costs), 0.0
        if algorithm.growth == Growth.per_doubling and messages > FEW_MESSAGES:
            return partial(_log_line, request, costs), 0.0
        if algorithm.growth == Growth.irregular and (rounds > MOST_MESSAGES or steps > MOST_STEPS):
            return lambda: _law(request, costs) or _untimed(request, f"{rounds:.2g} messages"), MOST_STEPS
    if messages > MOST_MESSAGES or steps > MOST_STEPS:
        is_many = messages > MOST_MESSAGES
        what = f"{messages:.2g} messages" if is_many else f"{steps:.2g} dependencies of a rank"
        return partial(_untimed, request, what), 0.0
    return partial(_simulated, request, costs, place), messages


def _simulated(request: ScheduleRequest, costs: MachineCosts, place: Place | None) -> AlgorithmTime:
    phases = [(request.algorithm.collective, request.algorithm.name, request.problem)]
    levels, network = np.zeros((0, 0), np.int32), Network(node_of_rank=())
    # One rank stands for all only without copies, and algorithms are compared: all go without.
    source, localities = replace(costs, copy_s_per_B=0.0), [max(costs.messages)]
    if place is not None:
        source, localities = costs, list(range(len(LOCALITIES)))
        shares = costs.node_s_per_B or costs.link_s_per_B
        levels, network = place.levels, place.network(is_shared=bool(shares))
    curves = source.at(localities)
    simulated = partial(
        _core.simulate,
        phases,
        curves.curves(),
        levels=levels,
        network=network,
        by_class=place is None,
        trace=True,
    )
    result = simulated()
    far = None if place is None else costs.streams
    if far and max(result.size_B, default=0) > (far.rendezvous_above_B or math.inf):
        runs = SKEWED if request.expected_messages() * SKEWED <= FEW_MESSAGES / 2 else 1
        skewed = [simulated(noise_s=[far.one_way_s[0]], seed=seed) for seed in range(runs)]
        result = sorted(skewed, key=lambda each: each.finish_s.max(initial=0.0))[runs // 2]
    path, time_s = CriticalTerms.of(result, curves), float(result.finish_s.max(initial=0.0))
    terms_s = {
        "latency": path.empty_s["transfer"] + path.whole_s("hop"),
        "overhead": path.whole_s("send", "receive"),
        "bytes": path.bytes_s["transfer"],
        "gap": path.whole_s("gap", "drain", "duplex"),
        "handshake": path.bytes_s["handshake"] + path.whole_s("behind"),
        "adapters": path.whole_s("node_link"),
        "links": path.whole_s("network_link"),
    }
    # What remains is local work: copies and reductions.
    terms_s["work"] = max(time_s - sum(terms_s.values()), 0.0)
    counts = {
        "messages": path.counted("transfer"),
        "overheads": path.counted("send", "receive"),
        "gaps": path.counted("gap", "drain", "duplex"),
        "bytes": round(float(path.count["transfer"] @ path.size_B)),
        "reduced_bytes": round(float(path.reduced @ path.size_B)),
    }
    return AlgorithmTime(
        request.algorithm.name,
        "by_class" if result.ranks_of_class.size else "simulated",
        time_s,
        **counts,  # type: ignore[arg-type]
        terms_s=terms_s,
        formula=formula(counts),
        asymptotic=growth(request),
    )


def _untimed(request: ScheduleRequest, what: str) -> AlgorithmTime:
    note = f"about {what} are too many to simulate, and no closed form is known"
    return AlgorithmTime(request.algorithm.name, "none", None, asymptotic=growth(request), note=note)


def _law(request: ScheduleRequest, costs: MachineCosts) -> AlgorithmTime | None:
    """Extrapolate a + b·⌈log₂P⌉ + c·P + d·P·⌈log₂P⌉ through four numbers of ranks, smaller by powers of two.

    Blocks have the same size, or a few elements are all that there is. None where a fifth number of ranks is off
    by more than `OF_ANOTHER_LAW`.
    """
    p, algorithm = request.problem, request.algorithm
    same_blocks = not algorithm.is_divided or p.bytes > p.element_B * _LINE[0]
    numbers: list[int] = []
    ranks = p.ranks
    while ranks > LEAST_RANKS and len(numbers) < 5:
        ranks >>= 1
        is_refused = _core.refusal(algorithm.collective, algorithm.name, _fewer(request, ranks).problem)
        few = _fewer(request, ranks + 1 if is_refused else ranks)
        if max(few.expected_messages(), few.expected_steps_of_root() * ranks) <= MOST_STEPS / 2:
            numbers.append(few.problem.ranks)
    if len(numbers) < 5:
        return None
    rows = [_simulated(_fewer(request, ranks, same_blocks=same_blocks), costs, None) for ranks in numbers]
    times_s = np.array([row.time_s for row in rows], float)
    to_check, to_answer = (
        _growing([ranks])[0] @ np.linalg.inv(_growing(numbers[:4])) for ranks in (numbers[4], p.ranks)
    )
    is_law = abs(to_check @ times_s[:4] / times_s[4] - 1) <= OF_ANOTHER_LAW
    return combined(rows[:4], to_answer) if is_law else None


def _growing(ranks: Sequence[int]) -> NDArray[np.float64]:
    """(ranks, 4): 1, ⌈log₂P⌉, P and their product."""
    p = np.array(ranks, float)
    q = np.frexp(p - 1)[1]
    return np.stack([np.ones_like(p), q, p, p * q], axis=1)


def _line(request: ScheduleRequest, costs: MachineCosts) -> AlgorithmTime:
    """Extrapolate the line through two small numbers of ranks with blocks of the same size."""
    few, more = (_fewer(request, ranks) for ranks in _LINE)
    share = (request.problem.ranks - _LINE[0]) / (_LINE[1] - _LINE[0])
    block_B = few.problem.bytes // _LINE[0]
    is_rounded = request.algorithm.is_divided and block_B * request.problem.ranks != request.problem.bytes
    note = f"with blocks of {block_B} B" if is_rounded else ""
    return combined([_simulated(few, costs, None), _simulated(more, costs, None)], (1 - share, share), note)


def _log_line(request: ScheduleRequest, costs: MachineCosts) -> AlgorithmTime:
    """Extrapolate, along the logarithm, the line through two numbers of ranks that are smaller by powers of two.

    Either both or neither of the two have more ranks than the vector has elements.
    """
    p = request.problem
    enough = max(_LOG_LINE, 2 * p.bytes // p.element_B if p.bytes < p.element_B * p.ranks else _LOG_LINE)
    doublings = 0
    while p.ranks >> (doublings + 1) >= enough:
        doublings += 1

    def alike(ranks: int) -> int:
        """No power of two for what is none: those need a round more, or two."""
        is_power, was_power = ranks & (ranks - 1) == 0, p.ranks & (p.ranks - 1) == 0
        return ranks + 1 if is_power and not was_power else ranks

    numbers = [alike(p.ranks >> doublings), alike(p.ranks >> max(doublings - 1, 0))]
    rows = [_simulated(_fewer(request, ranks, same_blocks=False), costs, None) for ranks in numbers]
    return combined(rows, (1 - doublings, doublings))


def combined(rows: Sequence[AlgorithmTime], weights: Sequence[float], note: str = "") -> AlgorithmTime:
    """The weighted sum of simulated rows; the weights add up to 1.

    Where a count would fall below zero, the rows have critical paths of different kinds: the time alone is given.
    """

    def summed(values: Iterable[float]) -> float:
        return sum(weight * value for weight, value in zip(weights, values, strict=True))

    first, counts = rows[0], {}
    if all(row.messages is not None for row in rows):
        counts = {name: round(summed(getattr(row, name) for row in rows)) for name in UNITS}
    time_s = summed(row.time_s or 0.0 for row in rows)
    if not counts or min(counts.values()) < 0:
        why = "the critical path changes on the way: its counts are not known"
        notes = "; ".join(filter(None, [note, why]))
        return AlgorithmTime(first.algorithm, "extrapolated", time_s, asymptotic=first.asymptotic, note=notes)
    terms_s = {name: summed((row.terms_s or {})[name] for row in rows) for name in first.terms_s or {}}
    row = replace(first, method="closed_form", time_s=time_s, terms_s=terms_s, formula=formula(counts), note=note)
    return replace(row, **counts)  # type: ignore[arg-type]


def _fewer(request: ScheduleRequest, ranks: int, *, same_blocks: bool = True) -> ScheduleRequest:
    """The same on fewer ranks: with blocks, or with a vector, of the same size."""
    p = request.problem
    size_B = p.bytes
    if same_blocks and request.algorithm.is_divided:
        elements = -(-p.bytes // (p.element_B * p.ranks))
        size_B = elements * p.element_B * ranks
    return request.on_ranks(ranks, size_B)


UNITS = {"messages": "·L", "overheads": "·o", "bytes": " B·G", "gaps": "·g(m)", "reduced_bytes": " B·γ"}
"""What is counted on a critical path, with what each takes in a formula."""


def formula(counts: dict[str, int]) -> str:
    """The exact form of the critical path: latencies, overheads, bytes, times between messages, reductions."""
    return " + ".join(f"{counts[name]}{unit}" for name, unit in UNITS.items() if counts[name]) or "0"


def growth(request: ScheduleRequest) -> str:
    """How α and β count as ranks grow, from the textbook's closed form; empty where there is none."""
    algorithm, p = request.algorithm, request.problem
    form = closed_form(algorithm.collective, algorithm.name)
    if form is None:
        return ""
    unit = "m per rank" if COLLECTIVES[algorithm.collective].sizes_are_blocks else "m"
    return form.growth(p.radix or algorithm.default_radix, unit, in_segments=bool(p.segment_B))


@dataclass(frozen=True)
class Verdict:
    """The best of several, its margin over the next, and whether that is significant; None where all are bounds.

    Where a trend chose it (`trend_s`), another may take less: the margin is negative.
    `not_told_apart_from` are those that may be as quick.
    """

    best: str | None = None
    margin: float | None = None
    told_apart: bool | None = None
    not_told_apart_from: Sequence[str] = ()


def verdict(rows: Sequence[AlgorithmTime], half: float = HALF) -> Verdict:
    """Compare times; one without an interval may be off by the factor `half`.

    Algorithms of which only a bound is known are rivals where that does not lie clearly above the best time.
    RequestError, with the reasons, where there is neither.
    """
    timed = sorted((row for row in rows if row.time_s is not None), key=lambda row: row.time_s or 0.0)
    if not timed:
        if any(row.method in (BOUND, UNSHARED) for row in rows):
            return Verdict()
        notes = dict.fromkeys(row.note for row in rows if row.note)
        named = {note: ", ".join(row.algorithm for row in rows if row.note == note) for note in notes}
        reasons = "; ".join(f"{names}: {note}" for note, names in named.items())
        raise RequestError(f"no algorithm could be predicted: {reasons}", "change what these reasons name")
    best = timed[0]
    if best.time_s and all(row.trend_s is not None for row in timed):
        best = timed[heeding(*np.array([(row.time_s, row.trend_s) for row in timed]).T).argmin()]
    rest = [row for row in timed if row is not best]
    # What takes at least so long, itself or in other segments, may take no longer.
    others = [
        row if row.high_s or not row.low_s else replace(row, time_s=row.low_s, low_s=None)
        for row in [*rest, *(row for row in rows if row.method == UNSHARED)]
    ]
    if not others:
        return Verdict(best.algorithm)
    _, most_s = _ends(best, half)
    # Not `fastest` of all: what is only bounded may win nothing.
    rivals = [
        row.algorithm
        for row in others
        if not best.time_s or not are_faster(best.time_s, most_s, _ends(row, half)[0], row.time_s)
    ]
    margin = (rest[0].time_s or 0.0) / best.time_s - 1 if best.time_s and rest else None
    return Verdict(best.algorithm, margin, not rivals, rivals)


def _ends(row: AlgorithmTime, half: float) -> tuple[float, float]:
    """The least and the most that it may take, in seconds."""
    time_s = row.time_s or 0.0
    return (row.low_s, row.high_s) if row.low_s and row.high_s else (time_s / half, time_s * half)


@dataclass(frozen=True)
class PredictedSize(Verdict):
    """One size, the fastest algorithm first; `bounds` (seconds) are those that no algorithm beats.

    `model_off`: the least and the most factor by which the simulation is off on rows that were measured.
    """

    bytes: int = 0
    origin: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)
    algorithms: Sequence[AlgorithmTime] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    """Algorithms that cannot run here, with the reason."""
    warnings: Sequence[str] = ()
    model_off: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        case: CollectiveCase,
        size_B: int,
        origin: str,
        rows: Sequence[AlgorithmTime],
        warnings: Sequence[str],
        refused: Mapping[str, str] | None = None,
        bounds: Mapping[str, float] | None = None,
        model_off: tuple[float, float] | None = None,
    ) -> PredictedSize:
        """The rows compared and sorted; with `--algorithm best` only the first."""
        ordered = sorted(rows, key=lambda row: (row.time_s is None, row.time_s or 0.0))
        said = verdict(rows, HALF if model_off is None else max(HALF, model_off[1]))
        if case.algorithm == "best":
            ordered = [row for row in ordered if row.algorithm == said.best][:1] or ordered[:1]
        return cls(
            **vars(said),
            bytes=size_B,
            origin=origin,
            bounds=bounds or {},
            algorithms=ordered,
            refused=refused or {},
            warnings=list(dict.fromkeys(warnings)),
            model_off=model_off,
        )
