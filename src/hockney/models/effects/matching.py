"""Matching: t(R) = t₀ + c·R for a search past R entries of a queue, or a constant, as the data say.

R entries lie before the one that matches. Hoefler et al. 2010, section 3, have c ≤ 100 ns on Blue Gene/P
and 13 entries for a 27-point stencil: each of 26 messages is looked for among the receives of 26 neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._launches import over_launches
from hockney.models.effects._least_squares import WeightedLine, is_disturbed, line, relative_errors, times_s
from hockney.models.effects._wording import latex, time
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.models.views import Statement, Views
from hockney.records.effect_answers.matching import MatchingAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import Array

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
    "matching", "What each entry in the queues of posted receives and unexpected messages costs."
)
@over_launches
def fit(records: Sequence[EffectRecord]) -> Effect:
    """c and t₀ of each queue with their intervals (fit covariance), the stencil's figure, and the worst entry."""
    groups: dict[str, list[EffectRecord]] = {}
    for record in records:
        groups.setdefault(_name(record), []).append(record)
    searches = [_search(name, members) for name, members in groups.items() if len(members) >= LEAST_POINTS]
    if not searches:
        raise RequestError(
            f"matching needs {LEAST_POINTS} depths of a queue",
            "measure it again without --quick or a small --budget",
        )
    parameters: dict[str, Parameter] = {}
    unknown: dict[str, str] = {}
    notes = [_verdict(search) for search in searches]
    for search in searches:
        parameters |= _parameters(search)
        if search.bound_s is None:
            unknown[f"{search.name}_entry_bound_s"] = (
                f"up to {search.depth} entries no undisturbed search took {VISIBLE} times as long as in an empty "
                "queue; measure on an idle node, with a longer --budget"
            )
    for name, members in groups.items():
        if len(members) < LEAST_POINTS:
            unknown[f"{name}_entry_s"] = f"{len(members)} of {LEAST_POINTS} depths measured; measure the others"
    posted = next((search for search in searches if search.name == "posted"), None)
    if posted is not None:
        entry = parameters["posted_entry_s"]
        for label, drained in (("stencil_27_s", False), ("stencil_27_drained_s", True)):
            parameters[label] = _times(entry, mean_search(STENCIL, drained=drained))
        notes.append(
            "27-point stencil, 26 neighbours: stencil_27_s is c times 13 entries (Hoefler et al. 2010: half of a "
            "full queue), stencil_27_drained_s c times 6.25, since receives that have matched leave the queue"
        )
    return Effect(
        effect="matching",
        parameters=parameters,
        views=_views(searches),
        points=_points(groups, searches),
        plots=[
            Plot(
                x="ahead",
                y="time_s",
                by="queue",
                where={"behind": 0},
                model="model_s",
                title="Time to match, by entries before the match",
            )
        ],
        not_identified=unknown,
        notes=notes,
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


def _parameters(search: QueueSearch) -> dict[str, Parameter]:
    def of(term: int) -> Parameter:
        # A physical cost is not negative; that of an interval that reaches below zero begins at zero.
        value, low, high = (
            max(0.0, float(x[term])) for x in (search.line.value, search.line.low, search.line.high)
        )
        known = bool(np.isfinite(search.line.high[term]))
        return Parameter(value=value, low=low if known else None, high=high if known else None, unit="s")

    parameters = {f"{search.name}_base_s": of(0)}
    if search.kind == "constant":
        low = None if search.limit_s is None else 0.0
        parameters[f"{search.name}_entry_s"] = Parameter(value=0.0, low=low, high=search.limit_s, unit="s")
    else:
        parameters[f"{search.name}_entry_s"] = of(1)
    if search.break_entries is not None:
        parameters[f"{search.name}_long_entry_s"] = of(2)
        parameters[f"{search.name}_break_entries"] = Parameter(value=search.break_entries, unit="1")
    if search.bound_s is not None:
        parameters[f"{search.name}_entry_bound_s"] = Parameter(value=search.bound_s, unit="s")
    return parameters


def _times(entry: Parameter, entries: float) -> Parameter:
    ends = [None if end is None else entries * end for end in (entry.low, entry.high)]
    return Parameter(value=entries * entry.value, low=ends[0], high=ends[1], unit="s")


def _verdict(search: QueueSearch) -> str:
    if search.kind == "constant":
        limit = "" if search.limit_s is None else f"; an entry costs {time(search.limit_s)} at most (95 %)"
        return (
            f"{search.name}: constant within the noise up to {search.depth} entries (a hash, an index, or too "
            f"cheap to be seen){limit}"
        )
    cost = time(max(0.0, float(search.line.value[1])))
    if search.kind == "linear":
        return f"{search.name}: a list is searched from its beginning, {cost} an entry before the match"
    beyond = time(float(search.line.value[2]))
    return (
        f"{search.name}: a list is searched from its beginning, {cost} an entry, {beyond} each beyond "
        f"{search.break_entries}"
    )


def _views(searches: Sequence[QueueSearch]) -> Views:
    views = Views()
    for search in searches:
        where = search.name.replace("_", " ")
        base = search.base_s
        is_constant = search.kind == "constant"
        order = "1" if is_constant else "R"
        views.asymptotic.append(
            Statement(text=f"T(R) = Θ({order})", latex=rf"T(R) = \Theta({order})", where=where)
        )
        if is_constant:
            text, formula = f"T(R) = {time(base)}", f"T(R) = {latex(base)}"
            views.dominant.append(Statement(text=text, latex=formula, where=where))
            views.exact.append(Statement(text=text, latex=formula, where=f"{where}, R ≤ {search.depth}"))
        else:
            slope = float(search.line.value[-1])
            text, formula = f"T(R) ≈ {time(slope)} · R", rf"T(R) \approx {latex(slope)} \cdot R"
            views.dominant.append(Statement(text=text, latex=formula, where=where))
            views.exact += _exact(search, where)
        if search.bound_s is not None:
            views.bounded.append(
                Statement(
                    text=f"0 ≤ T_match(R) ≤ {time(search.bound_s)} · R",
                    latex=rf"0 \le T_{{match}}(R) \le {latex(search.bound_s)} \cdot R",
                    where=f"{where}, R ≤ {search.depth}",
                    source=SOURCE,
                )
            )
    return views


def _exact(search: QueueSearch, where: str) -> list[Statement]:
    base, entry = search.base_s, float(search.line.value[1])
    end = search.break_entries if search.break_entries is not None else search.depth
    statements = [
        Statement(
            text=f"T(R) = {time(base)} + {time(entry)} · R",
            latex=rf"T(R) = {latex(base)} + {latex(entry)} \cdot R",
            where=f"{where}, R ≤ {end}",
        )
    ]
    if search.break_entries is not None:
        begin, slope = base + end * entry, float(search.line.value[2])
        statements.append(
            Statement(
                text=f"T(R) = {time(begin)} + {time(slope)} · (R − {end})",
                latex=rf"T(R) = {latex(begin)} + {latex(slope)} \cdot (R - {end})",
                where=f"{where}, {end} < R ≤ {search.depth}",
            )
        )
    return statements


def _points(groups: dict[str, list[EffectRecord]], searches: Sequence[QueueSearch]) -> list[dict[str, Cell]]:
    fitted = {search.name: search.line.fitted for search in searches}
    rows: list[dict[str, Cell]] = []
    for name, members in groups.items():
        models: Sequence[float | None] = list(fitted[name]) if name in fitted else [None] * len(members)
        for record, model_s in zip(members, models, strict=True):
            answer = answered(record, MatchingAnswer)
            rows.append(
                {
                    "queue": name,
                    "ahead": int(record.parameters["ahead"]),
                    "behind": int(record.parameters["behind"]),
                    "time_s": answer.time_s,
                    "low_s": answer.low_s,
                    "high_s": answer.high_s,
                    "model_s": None if model_s is None else float(model_s),
                }
            )
    return rows
