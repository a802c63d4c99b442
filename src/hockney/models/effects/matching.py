"""Matching: t(R) = t₀ + c·R for a search past R entries of a queue, or a constant, as the data say.

R entries lie before the one that matches. Hoefler et al. 2010, section 3, have c ≤ 100 ns on Blue Gene/P
and 13 entries for a 27-point stencil: each of 26 messages is looked for among the receives of 26 neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.models.effects._least_squares import WeightedLine, is_disturbed, line, relative_errors, times_s
from hockney.models.effects._scaffold import time
from hockney.models.effects.base import Effect, Plot, effect_models
from hockney.records.effect_answers import MatchingAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import Array
from hockney.units import grouped

STENCIL = 26
"""Neighbours of a point in a 27-point stencil."""
LEAST_POINTS = 4
VISIBLE = 1.5
"""Times an empty queue's: below that, a few entries would be charged with the noise of everything else."""
GAIN = 4.0
"""AICc by which a model of more terms must be better: Burnham and Anderson call it considerably less support."""
SOURCE = "Hoefler et al. 2010, section 3"


@dataclass(frozen=True)
class QueueSearch:
    """What the data say about one queue, one kind of receive and one kind of entry."""

    name: str
    kind: str
    """`constant`, `linear` or `broken`."""
    line: WeightedLine
    break_entries: int | None
    bound_s: float | None
    depth: int
    limit_s: float | None = None
    """The most seconds per entry that the data of a constant do not exclude (95 %); None: unknown."""

    @property
    def base_s(self) -> float:
        """t₀ in seconds."""
        return float(self.line.value[0])


def mean_search(neighbours: int, *, drained: bool) -> float:
    """The mean number of entries before the match, when messages come in any order.

    A queue that stays full is searched to its half, as Hoefler et al. 2010 count. In a `drained` queue a receive
    that has matched leaves, so that of m entries left (m − 1)/2 lie before the match: (neighbours − 1)/4 on
    average.
    """
    return (neighbours - 1) / 4 if drained else neighbours / 2


@effect_models.register(
    "matching",
    "What each entry in the queues of posted receives and unexpected messages costs.",
    Plot(
        x="ahead",
        y="time_s",
        by="queue",
        where={"behind": 0},
        model="model_s",
        title="Time to match, by entries before the match",
    ),
    widens=True,
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """c and t₀ of each queue with their intervals (fit covariance), the stencil's figure, and the worst entry."""
    groups = grouped(records, _name)
    searches = {name: _search(name, members) for name, members in groups.items() if len(members) >= LEAST_POINTS}
    if not searches:
        raise RequestError(
            f"matching needs {LEAST_POINTS} depths of a queue",
            "measure it again without --quick or a small --budget",
        )
    effect.notes = [_limit(search) for search in searches.values() if search.kind == "constant"]
    for search in searches.values():
        _enter_parameters(effect, search)
        _state(effect, search)
    for name, members in groups.items():
        if name not in searches:
            few = f"{len(members)} of {LEAST_POINTS} depths measured; measure the others"
            effect.cannot_tell(few, f"{name}_entry_s")
    if "posted" in searches:
        entry = effect.parameters["posted_entry_s"]
        for label, drained in (("stencil_27_s", False), ("stencil_27_drained_s", True)):
            effect.parameters[label] = entry.scaled(mean_search(STENCIL, drained=drained), "s")
        effect.notes.append(
            "27-point stencil, 26 neighbours: stencil_27_s is c times 13 entries (Hoefler et al. 2010: half of a "
            "full queue), stencil_27_drained_s c times 6.25, since receives that have matched leave the queue"
        )
    for name, members in groups.items():
        modelled = searches[name].line.fitted.tolist() if name in searches else [None] * len(members)
        for record, model_s in zip(members, modelled, strict=True):
            answer = answered(record, MatchingAnswer)
            effect.points.append(
                {
                    "queue": name,
                    "ahead": int(record.parameters["ahead"]),
                    "behind": int(record.parameters["behind"]),
                    "time_s": answer.time_s,
                    "low_s": answer.low_s,
                    "high_s": answer.high_s,
                    "model_s": model_s,
                }
            )


def _name(record: EffectRecord) -> str:
    """The queue, and where they differ from the plain case what is received from and what entries differ by."""
    question = record.parameters
    parts = [str(question["queue"])]
    if question["source"] == "any":
        parts.append("any_source")
    if question["by"] == "source":
        parts.append("by_source")
    return "_".join(parts)


def _search(name: str, records: Sequence[EffectRecord]) -> QueueSearch:
    """The simplest model whose AICc none with more terms betters by GAIN; linear only if c's interval is > 0."""
    ahead = np.array([float(record.parameters["ahead"]) for record in records])
    depth = int(max(record.parameters["ahead"] + record.parameters["behind"] for record in records))
    time_s, error = times_s(records), relative_errors(records)
    ones = np.ones_like(ahead)
    constant = line(ones[:, None], time_s, error)
    linear = line(np.column_stack([ones, ahead]), time_s, error)
    if not (linear.aicc < constant.aicc - GAIN and linear.low[1] > 0):
        # A slope is not negative: one that came out below zero by chance does not make the limit tighter.
        limit_s = max(0.0, float(linear.value[1])) + float(linear.high[1] - linear.value[1])
        bound_s = _bound(records, ahead, constant.value[0])
        return QueueSearch(
            name, "constant", constant, None, bound_s, depth, limit_s if np.isfinite(limit_s) else None
        )
    bound_s = _bound(records, ahead, linear.value[0])
    best: tuple[float, int, WeightedLine] | None = None
    # A slope needs two depths of its own on either side of the break.
    for break_entries in sorted(set(ahead))[2:-2]:
        terms = np.column_stack([ones, np.minimum(ahead, break_entries), np.maximum(0, ahead - break_entries)])
        tried = line(terms, time_s, error, chosen=1)
        if best is None or tried.aicc < best[0]:
            best = tried.aicc, int(break_entries), tried
    if best is not None and best[0] < linear.aicc - GAIN and best[2].low[1] > 0 and best[2].low[2] > 0:
        return QueueSearch(name, "broken", best[2], best[1], _bound(records, ahead, best[2].value[0]), depth)
    return QueueSearch(name, "linear", linear, None, bound_s, depth)


def _bound(records: Sequence[EffectRecord], ahead: Array, base_s: float) -> float | None:
    """The largest cost per entry among the searches that are VISIBLE and undisturbed, in seconds."""
    rates = [
        (time_s - base_s) / past
        for record, time_s, past in zip(records, times_s(records), ahead, strict=True)
        if past > 0 and time_s > VISIBLE * base_s and not is_disturbed(record)
    ]
    return float(max(rates)) if rates else None


def _enter_parameters(effect: Effect, search: QueueSearch) -> None:
    def enter(name: str, term: int) -> None:
        # A physical cost is not negative; that of an interval that reaches below zero begins at zero.
        value, low, high = (
            max(0.0, float(x[term])) for x in (search.line.value, search.line.low, search.line.high)
        )
        has_interval = bool(np.isfinite(search.line.high[term]))
        ends = (low, high) if has_interval else (None, None)
        effect.know(f"{search.name}_{name}", value, "s", *ends)

    enter("base_s", 0)
    if search.kind == "constant":
        low = None if search.limit_s is None else 0.0
        effect.know(f"{search.name}_entry_s", 0.0, "s", low, search.limit_s)
    else:
        enter("entry_s", 1)
    if search.break_entries is not None:
        enter("long_entry_s", 2)
        effect.know(f"{search.name}_break_entries", search.break_entries, "1")
    if search.bound_s is not None:
        effect.know(f"{search.name}_entry_bound_s", search.bound_s, "s")
    else:
        effect.cannot_tell(
            f"up to {search.depth} entries no undisturbed search took {VISIBLE} times as long as in an empty "
            "queue. Measure on an idle node, with a longer --budget",
            f"{search.name}_entry_bound_s",
        )


def _limit(search: QueueSearch) -> str:
    limit = "" if search.limit_s is None else f"; an entry costs {time(search.limit_s)} at most (95 %)"
    return (
        f"{search.name}: constant within the noise up to {search.depth} entries (a hash, an index, or too "
        f"cheap to be seen){limit}"
    )


def _state(effect: Effect, search: QueueSearch) -> None:
    """The four views of one queue."""
    where, base = search.name.replace("_", " "), time(search.base_s)
    within = f"{where}, R ≤ {search.depth}"
    if search.kind == "constant":
        effect.state("asymptotic", "T(R) = Θ(1)", where)
        effect.state("dominant", f"T(R) = {base}", where)
        effect.state("exact", f"T(R) = {base}", within)
    else:
        entry, slope = float(search.line.value[1]), float(search.line.value[-1])
        end = search.depth if search.break_entries is None else search.break_entries
        effect.state("asymptotic", "T(R) = Θ(R)", where)
        effect.state("dominant", f"T(R) ≈ {time(slope)} · R", where)
        effect.state("exact", f"T(R) = {base} + {time(entry)} · R", f"{where}, R ≤ {end}")
        if search.break_entries is not None:
            begin = time(search.base_s + end * entry)
            beyond = f"{where}, {end} < R ≤ {search.depth}"
            effect.state("exact", f"T(R) = {begin} + {time(slope)} · (R − {end})", beyond)
    if search.bound_s is not None:
        effect.state("bounded", f"0 ≤ T_match(R) ≤ {time(search.bound_s)} · R", within, SOURCE)
