"""Random programs against a simulation of a few lines: each rank's clock, each message's coming."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.predict.replay.encoding import ANY, traces, write

from hockney import _core
from hockney._core import Network, Recording, Replay
from hockney.predict.costs import NOTHING, Costs, line, terms_of

LATENCY_S, S_PER_B, OVERHEAD_S = 3e-6, 2e-9, 1e-6
OVERHEAD = [0.0], [OVERHEAD_S]
COSTS = Costs([terms_of(send=OVERHEAD, receive=OVERHEAD, transfer=line(LATENCY_S, S_PER_B))], NOTHING, NOTHING)
RANKS = 4
Pair = tuple[int, int, int]
"""Sender, receiver and tag."""


class Program:
    """What ranks do, as it is written and as it is simulated here."""

    def __init__(self) -> None:
        self.traces = traces(RANKS)
        self.work: list[list[tuple[float, int, Pair]]] = [[] for _ in range(RANKS)]
        """By rank, of each step the time since the last one, a size or -1 for waiting, and a channel."""
        self.groups: list[dict[int, list[tuple[Pair, int]]]] = [{} for _ in range(RANKS)]
        """By rank and step, what is waited for together: which message of which channel."""
        self.since_s = [0.0] * RANKS
        self.posted: list[list[tuple[int, Pair, int, bool]]] = [[] for _ in range(RANKS)]
        self.count: dict[Pair, int] = defaultdict(int)

    def compute(self, rank: int, time_ns: int) -> None:
        self.traces[rank].compute(1e-9 * time_ns)
        self.since_s[rank] += 1e-9 * time_ns

    def message(self, pair: Pair, size_B: int, wild: int, *, returns: bool) -> None:
        """Sent, and a receive posted for it, maybe with wildcards."""
        sender, receiver, tag = pair
        (self.traces[sender].isend if returns else self.traces[sender].send)(receiver, size_B, tag)
        self._step(sender, size_B, pair)
        request = self.traces[receiver].irecv(ANY if wild & 1 else sender, 1 << 20, ANY if wild & 2 else tag)
        self.posted[receiver].append((request, pair, self.count[pair], wild > 0))
        self.count[pair] += 1

    def wait(self, rank: int, places: list[int]) -> None:
        """For some of the receives that nobody has waited for."""
        posted = self.posted[rank]
        chosen = [posted[place] for place in sorted({place % len(posted) for place in places})] if posted else []
        self.posted[rank] = [one for one in posted if one not in chosen]
        self.traces[rank].wait(*((one, of[0], of[2]) if wild else one for one, of, _, wild in chosen))
        self.groups[rank][len(self.work[rank])] = [(pair, number) for _, pair, number, _ in chosen]
        self._step(rank, -1, (0, 0, 0))

    def _step(self, rank: int, size_B: int, pair: Pair) -> None:
        self.work[rank].append((self.since_s[rank], size_B, pair))
        self.since_s[rank] = 0.0

    def finish_s(self) -> list[float]:
        clock, place = [0.0] * RANKS, [0] * RANKS
        comes_s: dict[Pair, list[float]] = defaultdict(list)
        while place != [len(steps) for steps in self.work]:
            for rank, steps in enumerate(self.work):
                while place[rank] < len(steps):
                    work_s, size_B, pair = steps[place[rank]]
                    waited = self.groups[rank].get(place[rank], [])
                    if any(len(comes_s[of]) <= number for of, number in waited):
                        break
                    clock[rank] += work_s + (OVERHEAD_S if size_B >= 0 else 0.0)
                    if size_B >= 0:
                        comes_s[pair].append(clock[rank] + LATENCY_S + max(size_B - 1, 0) * S_PER_B)
                    for at_s in sorted(comes_s[of][number] for of, number in waited):
                        clock[rank] = max(clock[rank], at_s) + OVERHEAD_S
                    place[rank] += 1
        return [at_s + rest_s for at_s, rest_s in zip(clock, self.since_s, strict=True)]


ranks = st.integers(0, RANKS - 1)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("compute"), ranks, st.integers(1, 20_000)),
        st.tuples(
            st.just("message"),
            st.tuples(ranks, ranks, st.integers(0, 2)).filter(lambda pair: pair[0] != pair[1]),
            st.integers(0, 9000),
            st.integers(0, 3),
            st.booleans(),
        ),
        st.tuples(st.just("wait"), ranks, st.lists(st.integers(0, 99), max_size=4)),
    ),
    max_size=60,
)


@given(actions)
def test_a_replay_is_what_a_few_lines_calculate(asked: list[tuple[object, ...]]) -> None:
    program = Program()
    for action in asked:
        match action:
            case "compute", int(rank), int(time_ns):
                program.compute(rank, time_ns)
            case "message", (int(a), int(b), int(tag)), int(size_B), int(wild), bool(returns):
                program.message((a, b, tag), size_B, wild, returns=returns)
            case "wait", int(rank), list(places):
                program.wait(rank, places)
    for rank in range(RANKS):
        program.wait(rank, list(range(len(program.posted[rank]))))
    with TemporaryDirectory() as name:
        trace = Recording(str(write(Path(name) / "run.trace", program.traces)))
        levels, network = np.zeros((0, 0), np.int32), Network(node_of_rank=[])
        done = _core.simulate([Replay(trace, [])], COSTS.curves(), levels=levels, network=network, trace=True)
    assert done.finish_s == pytest.approx(program.finish_s(), abs=1e-12)
    assert done.alone == ""
