"""What would make a recorded run faster: another algorithm, placement, network or balance, each played again.

Runs are compared by their messages alone: a measured time of one side alone would be taken for a gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from hockney.errors import RequestError
from hockney.machine.system import find_system
from hockney.predict.costs import TERMS, Costs, value
from hockney.predict.replay.replay_case import ReplayCase
from hockney.predict.replay.run import ReplaySetting
from hockney.predict.replay.tolerance import moved
from hockney.schedule.catalogue import offered
from hockney.units import format_time

MOST_EVENTS = 20_000_000
"""Events of all runs that are tried; of long runs few are."""
MOST_UNEVEN = 4.0
"""Times as much as a rank computes now that it may compute in a run with even shares."""
WORTH = 0.005
"""Share of the run's time that a gain must have."""
Kind = Literal["algorithm", "placement", "network", "balance"]


@dataclass(frozen=True)
class Gain:
    """What would be saved: seconds of the run, and the least and most of them where all messages take the ends of
    their intervals (None: they have none)."""

    kind: Kind
    what: str
    saved_s: float
    low_s: float | None = None
    high_s: float | None = None


@dataclass(frozen=True)
class _Try:
    """A change of the run: of the costs of its messages by `changes`, of all else in `replayed`."""

    kind: Kind
    what: str
    replayed: ReplayCase
    changes: Callable[[Costs], Costs] = lambda costs: costs

    def run_s(self, end: int | None) -> float | None:
        """Seconds with what was measured at one end of its intervals; None without any."""
        replayed = self.replayed.at_end(end)
        return None if replayed is None else replayed.run_s(self.changes)


def gains(replayed: ReplayCase) -> list[Gain]:
    """Those that are worth it, the largest first; of each operation and of each kind of change the best."""
    replayed = replayed.uncorrected()
    base_s = replayed.run_s()
    best: dict[tuple[Kind, str], tuple[float, _Try]] = {}
    left = MOST_EVENTS // max(1, replayed.run.events)
    for group, trial in _tries(replayed):
        if left <= 0:
            break
        with suppress(RequestError):
            time_s = trial.run_s(None)
            left -= 1
            key = trial.kind, group
            if time_s is not None and (key not in best or time_s < best[key][0]):
                best[key] = time_s, trial
    worth = [(base_s - time_s, trial) for time_s, trial in best.values() if base_s - time_s > WORTH * base_s]
    ends_s = [_Try("network", "", replayed).run_s(end) for end in (0, 1)]
    answers = [_gain(saved_s, trial, ends_s) for saved_s, trial in worth]
    return sorted(answers, key=lambda gain: -gain.saved_s)


def _gain(saved_s: float, trial: _Try, ends_s: list[float | None]) -> Gain:
    saved = [saved_s]
    for end, base_s in enumerate(ends_s):
        time_s = None if base_s is None else trial.run_s(end)
        if base_s is None or time_s is None:
            return Gain(trial.kind, trial.what, saved_s)
        saved.append(base_s - time_s)
    return Gain(trial.kind, trial.what, saved_s, min(saved), max(saved))


def _tries(replayed: ReplayCase) -> Iterator[tuple[str, _Try]]:
    """Changes, each with what it is the best of."""
    yield from _of_network(replayed)
    yield from _of_balance(replayed)
    yield from _of_placement(replayed)
    for operation, taken in replayed.algorithms.taken.items():
        for algorithm in offered(operation):
            if set(taken) != {algorithm.name}:
                asked = replayed.with_algorithm(operation, algorithm.name)
                yield operation, _Try("algorithm", f"{operation} by {algorithm.name}", asked)


def _of_network(replayed: ReplayCase) -> Iterator[tuple[str, _Try]]:
    around = replayed.around
    for name, column in zip(around.names, around.columns(), strict=True):
        curves = dict(zip(TERMS, around.curves().messages[column], strict=True))
        empty_s, link_s = (float(value(curves[term], np.zeros(1))[0]) for term in ("transfer", "hop"))
        if link_s > empty_s:
            less = f"half the latency of each link ({format_time(link_s / 2)} less)"
            quicker = partial(moved, column=column, what="link", by=-0.5)
        else:
            less = f"half the latency of {name} messages ({format_time(empty_s / 2)} less)"
            quicker = partial(moved, column=column, what="latency", by=-empty_s / 2)
        yield f"latency, {name}", _Try("network", less, replayed, quicker)
        wider = partial(moved, column=column, what="bandwidth", by=-0.5)
        yield f"bandwidth, {name}", _Try("network", f"twice the bandwidth of {name} messages", replayed, wider)


def _of_balance(replayed: ReplayCase) -> Iterator[tuple[str, _Try]]:
    computing_s = np.array(replayed.run.trace.computing_s)
    # Where a rank computes next to nothing, the little that it does is no place for others' work.
    if computing_s.min() * MOST_UNEVEN > computing_s.mean():
        even = replayed.with_ranks(list(computing_s.mean() / computing_s))
        yield "", _Try("balance", "as much computing on each rank", even)


def _of_placement(replayed: ReplayCase) -> Iterator[tuple[str, _Try]]:
    place = replayed.place
    if not place.system:
        return
    for mapping in find_system(place.system).mappings:
        if mapping != place.mapping:
            with suppress(RequestError):
                case = place.model_copy(update={"mapping": mapping})
                elsewhere = replace(replayed, place=case, around=ReplaySetting.of(case, replayed.run))
                yield "", _Try("placement", f"ranks mapped by {mapping}", elsewhere)
