"""How much a run tolerates: its slopes along latency, bandwidth and overhead, and how far each may go.

For a fixed order of events the time of a run is a convex, piecewise linear curve over an added latency, or over
how many times as long bytes take: a Newton step along a piece ends at or beyond the time that is looked for, and
the next ones come back to it. Where messages share links their order may change; then the curve is no longer sure
to be convex, and the time is found between two others.

A run whose collectives take measured times is followed by its messages alone, from its own time on: an added
latency counts once a message, however long its collective took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from hockney._core import Replay
from hockney.predict.costs import TERMS, Costs, value
from hockney.predict.message_costs import STREAM_AHEAD_B
from hockney.predict.replay.run import Played, ReplaySetting

LONGER = (0.01, 0.02, 0.05)
MOST_FOLLOWED = 2_000_000
"""Events: of longer runs the slopes alone are said."""
MOST_STEPS = 24
CLOSE = 1e-6
"""Share of the run's time."""
FARTHEST = 1e6
"""Seconds of latency per second of the run, and times as long for bytes, beyond which nothing is looked for."""
What = Literal["latency", "link", "bandwidth"]
BYTES = ("transfer", "gap", "drain", "duplex", "node_link", "network_link", "behind")


@dataclass(frozen=True)
class Limit:
    """From where on the run takes `longer` more (a share): an added latency, or how many times narrower a
    bandwidth; None where it never does."""

    longer: float
    added_latency_s: float | None = None
    narrower: float | None = None


@dataclass(frozen=True)
class Tolerance:
    """Of messages of one locality: how many latencies L, seconds per byte G and overheads o the run's time has,
    how far each may go, and the curves as far as they were followed.

    `latency_curve`: (added seconds, seconds of the run); `bandwidth_curve`: (times narrower, seconds).
    """

    locality: str
    per_latency: float
    per_gap_per_B: float
    per_overhead: float
    latency_limits: Sequence[Limit] = ()
    bandwidth_limits: Sequence[Limit] = ()
    latency_curve: Sequence[tuple[float, float]] = ()
    bandwidth_curve: Sequence[tuple[float, float]] = ()
    is_reordered: bool = False
    """Whether a curve is not convex, as messages that share something change order. Each point was replayed."""


@dataclass
class _CostLine:
    """The run's time along one cost of one locality: 0 is the machine's own."""

    play: Callable[[float], tuple[float, float]]
    first: float
    """Where to look first if nothing says more."""
    known: dict[float, tuple[float, float]] = field(default_factory=dict)
    """Seconds and slope by place."""

    def at(self, place: float) -> tuple[float, float]:
        if place not in self.known:
            self.known[place] = self.play(place)
        return self.known[place]

    def reach(self, goal_s: float) -> float | None:
        """Where the run takes so long; None where nothing comes of it."""
        begin_s, slope = self.known[0.0]
        below, above = 0.0, float("inf")
        place = (goal_s - begin_s) / slope if slope > 0 else self.first
        for _ in range(MOST_STEPS):
            if place > FARTHEST:
                return None
            time_s, slope = self.at(place)
            if abs(time_s - goal_s) <= CLOSE * goal_s:
                return place
            below, above = (place, above) if time_s < goal_s else (below, place)
            place = place + (goal_s - time_s) / slope if slope > 0 else 4 * place
            if not below < place < above:
                place = (below + above) / 2 if above < float("inf") else 2 * below
        return place


def tolerances(
    around: ReplaySetting, replay: Replay, curves: Costs, first: Played, events: int, corrected_s: float = 0.0
) -> list[Tolerance]:
    """Of each locality that the run's messages have; measured collectives make the run `corrected_s` longer."""
    found = []
    for name, column in zip(around.names, around.columns(), strict=True):
        of_it = first.path.of_messages[:, column]
        if not of_it.any():
            continue
        count = dict(zip(TERMS, of_it.T, strict=True))
        size_B = first.path.size_B
        row = Tolerance(
            locality=name,
            per_latency=float((count["transfer"] + count["handshake"]).sum()),
            per_gap_per_B=float(sum(count[term] @ size_B for term in BYTES[:4]))
            + STREAM_AHEAD_B * float(count["behind"].sum()),
            per_overhead=float((count["send"] + count["receive"]).sum()),
        )
        if events <= MOST_FOLLOWED:
            row = _followed(row, around, replay, curves, first, column, corrected_s)
        found.append(row)
    return found


def _followed(
    row: Tolerance,
    around: ReplaySetting,
    replay: Replay,
    curves: Costs,
    first: Played,
    column: int,
    corrected_s: float,
) -> Tolerance:
    run_s = first.run_s + corrected_s

    def line(what: What) -> _CostLine:
        def play(place: float) -> tuple[float, float]:
            changed = moved(curves, column, what, place)
            at = Played.of(around.play(replay, changed), changed)
            return at.run_s + corrected_s, _slope(at, curves, column, what)

        begin = run_s if what == "latency" else 1.0
        return _CostLine(play, begin, {0.0: (run_s, _slope(first, curves, column, what))})

    latency, bandwidth = line("latency"), line("bandwidth")
    ends_s = [(longer, (1 + longer) * run_s) for longer in LONGER]
    latency_limits = [Limit(longer, added_latency_s=latency.reach(end_s)) for longer, end_s in ends_s]
    reached = [(longer, bandwidth.reach(end_s)) for longer, end_s in ends_s]
    return replace(
        row,
        latency_limits=latency_limits,
        bandwidth_limits=[Limit(longer, narrower=None if at is None else 1 + at) for longer, at in reached],
        latency_curve=_curve(latency),
        bandwidth_curve=[(1 + place, time_s) for place, time_s in _curve(bandwidth)],
        is_reordered=not all(_is_convex(_curve(line)) for line in (latency, bandwidth)),
    )


def _curve(line: _CostLine) -> list[tuple[float, float]]:
    return sorted((place, time_s) for place, (time_s, _) in line.known.items())


def _is_convex(curve: list[tuple[float, float]]) -> bool:
    """Rounding aside."""
    slopes = [(after - before) / (b - a) for (a, before), (b, after) in pairwise(curve)]
    return all(after >= before * (1 - 1e-6) for before, after in pairwise(slopes))


def _slope(at: Played, curves: Costs, column: int, what: What) -> float:
    """Of the run's time by an added latency, or by a share that bytes take longer."""
    of_it = at.path.of_messages[:, column]
    if what == "latency":
        return float(of_it[:, [TERMS.index("transfer"), TERMS.index("handshake")]].sum())
    slope = 0.0
    for term in BYTES:
        sizes, times_s = curves.messages[column][TERMS.index(term)]
        if sizes:
            whole_s = value((sizes, times_s), at.path.size_B)
            slope += float(of_it[:, TERMS.index(term)] @ (whole_s - value((sizes, times_s), np.zeros(1))))
    return slope


def moved(curves: Costs, column: int, what: What, by: float) -> Costs:
    """The costs with that much more latency, or with links or bytes that take (1 + by) times as long, in one
    locality."""
    messages = [list(of_locality) for of_locality in curves.messages]
    mine = messages[column]
    for place, term in enumerate(TERMS):
        sizes, times_s = mine[place]
        if what == "latency" and term == "transfer":
            mine[place] = (sizes, [time_s + by for time_s in times_s]) if sizes else ([0.0], [by])
        elif what == "latency" and term == "handshake":
            # Negative ones are marks of messages without.
            mine[place] = sizes, [time_s + by if time_s >= 0 else time_s for time_s in times_s]
        elif what == "link" and term == "hop":
            mine[place] = sizes, [(1 + by) * time_s for time_s in times_s]
        elif what == "bandwidth" and term in BYTES and sizes:
            empty_s = float(value((sizes, times_s), np.zeros(1))[0])
            mine[place] = sizes, [empty_s + (1 + by) * (time_s - empty_s) for time_s in times_s]
    return replace(curves, messages=messages)
