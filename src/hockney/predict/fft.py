"""How a three-dimensional FFT is best divided: slabs (1-D) or pencils (2-D), by what their transpositions take.

An FFT of N³ numbers on P ranks transposes them between its directions. In slabs, of which there are at most N,
that is one all-to-all of all P ranks, of blocks of N³/P². In pencils, of which there are at most N², it is two:
in P₂ groups of P₁ ranks at once, of blocks of N³/(P·P₁), and in P₁ groups of P₂. The decision is the example of
Hoefler et al. 2010, section 2. Arithmetic is the same in both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from hockney.errors import RequestError
from hockney.network.bisection.bisection import cut
from hockney.predict.collective import AlgorithmTime, Verdict, predict_one, verdict
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message import added_up
from hockney.predict.network_figures import UNSHARED_LINKS, costs_of
from hockney.predict.on_topology import RanksOnTopology, on_topology
from hockney.predict.options import FftCase
from hockney.schedule.catalogue import algorithms, ask, find
from hockney.units import counted, format_size, format_time

ELEMENT_B = 16
"""A complex number of double precision."""
SLABS, PENCILS = "1-D", "2-D"
MOST_SIDE = 2**17
"""Numbers along a side of the cube: 36 petabytes of them."""


@dataclass(frozen=True)
class Transposition:
    """`groups` all-to-alls at once, each of `ranks` ranks with blocks of `block_B`, by the fastest algorithm."""

    groups: int
    ranks: int
    block_B: int
    algorithm: str
    time_s: float
    low_s: float | None
    high_s: float | None
    terms_s: dict[str, float]
    at_least_s: float
    """What the network's links need; 0 where they are not looked at."""


@dataclass(frozen=True)
class Division:
    """One way to divide the cube on the ranks, `grid` of them, with all its transpositions one after another."""

    division: str
    grid: Sequence[int]
    time_s: float
    low_s: float | None
    high_s: float | None
    messages: int
    """That a rank would send if each block were one."""
    sent_B: int
    """Bytes that a rank sends."""
    terms_s: Mapping[str, float]
    transpositions: Sequence[Transposition]

    @classmethod
    def of(cls, division: str, grid: Sequence[int], transpositions: Sequence[Transposition]) -> Division:
        """The sums over its transpositions."""
        terms_s: Counter[str] = Counter()
        for part in transpositions:
            terms_s.update(part.terms_s)
        return cls(
            division,
            grid,
            time_s=sum(part.time_s for part in transpositions),
            low_s=added_up(part.low_s for part in transpositions),
            high_s=added_up(part.high_s for part in transpositions),
            messages=sum(part.ranks - 1 for part in transpositions),
            sent_B=sum((part.ranks - 1) * part.block_B for part in transpositions),
            terms_s=dict(terms_s),
            transpositions=transpositions,
        )

    @property
    def row(self) -> AlgorithmTime:
        """The times as `verdict` compares them."""
        times_s = self.time_s, self.low_s, self.high_s
        return AlgorithmTime(self.division, "simulated", *times_s, terms_s=dict(self.terms_s))


@dataclass(frozen=True)
class FftDecision(Verdict):
    """What is possible on so many ranks, and which is faster; `best` None: neither is possible."""

    ranks: int = 0
    divisions: Sequence[Division] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, ranks: int, divisions: Sequence[Division], refused: Mapping[str, str]) -> FftDecision:
        """The divisions compared."""
        compared = verdict([division.row for division in divisions]) if divisions else Verdict()
        return cls(**vars(compared), ranks=ranks, divisions=divisions, refused=refused)


@dataclass(frozen=True)
class FftAnswer:
    """Slabs or pencils on each number of ranks, and from how many on pencils are the faster."""

    size: int
    origin: str
    decisions: Sequence[FftDecision]
    pencils_from_ranks: int | None
    why: str
    warnings: Sequence[str]


def predict_fft(case: FftCase) -> FftAnswer:
    """Both divisions on each number of ranks; RequestError as `decide`."""
    options = case.costs
    costs, _ = costs_of(options)
    most = max(case.ranks)
    decisions = decide(case.size, case.ranks, costs, case.algorithm, lambda ranks: on_topology(options, ranks))
    linked = on_topology(options, most)
    largest_B = max(
        (part.block_B for each in decisions for way in each.divisions for part in way.transpositions), default=0
    )
    warnings = [*costs.warnings, *costs.assumptions(None, most), *costs.beyond(largest_B)]
    begins = crossover(decisions)
    return FftAnswer(
        case.size,
        costs.origin,
        decisions,
        begins,
        _why(decisions, begins),
        [*warnings, UNSHARED_LINKS if linked is None else linked.words],
    )


def decide(
    side: int,
    ranks: Sequence[int],
    costs: MachineCosts,
    algorithm: str = "best",
    linked: Callable[[int], RanksOnTopology | None] = lambda _: None,
) -> list[FftDecision]:
    """Both divisions of `side`³ numbers on each number of ranks.

    The interval of a time is what it is where all messages take the low, or the high, end of theirs.
    RequestError for an unknown algorithm, and for messages between nodes whose costs are not known.
    """
    if not 1 <= side <= MOST_SIDE:
        raise RequestError(f"--size {side}: a cube has 1 to {MOST_SIDE} numbers along a side", "for example 1024")
    known = [each.name for each in algorithms("alltoall")]
    names = known if algorithm == "best" else [find("alltoall", algorithm).name]
    ends = [costs.at_end(end) for end in (0, 1)]

    @cache
    def fastest(group: int, block_B: int) -> tuple[AlgorithmTime, float | None, float | None]:
        rows = [row for name in names if (row := _row(name, group, block_B, costs)).time_s is not None]
        if not rows:
            raise RequestError(f"no alltoall on {group} ranks could be predicted", "choose another --algorithm")
        best = min(rows, key=lambda row: row.time_s or math.inf)
        low, high = (None if end is None else _row(best.algorithm, group, block_B, end).time_s for end in ends)
        return best, low, high

    def transposed(groups: int, group: int, block_B: int, at_least_s: float) -> Transposition:
        best, low_s, high_s = fastest(group, block_B)
        time_s, terms_s = best.time_s or 0.0, best.terms_s or {}
        if time_s < at_least_s:
            time_s, terms_s = at_least_s, {"links": at_least_s}
            low_s, high_s = (None if end is None else max(end, at_least_s) for end in (low_s, high_s))
        return Transposition(groups, group, block_B, best.algorithm, time_s, low_s, high_s, terms_s, at_least_s)

    decisions = []
    for count in ranks:
        divisions, refused = [], {}
        on = linked(count)
        # Whatever the division, every second number lies in the other half of the nodes afterwards.
        across_s = 0.0 if on is None else _across_s(on, count, side)
        if count <= side:
            block_B = _block_B(side, count * count)
            divisions.append(Division.of(SLABS, [count], [transposed(1, count, block_B, across_s)]))
        else:
            refused[SLABS] = f"{side} slabs are too few for {counted(count, 'rank')}"
        grid = _grid(count, side)
        if grid is None:
            refused[PENCILS] = (
                f"no grid of at most {side} × {side}, both at least 2, has {counted(count, 'rank')}"
            )
        else:
            near, far = grid
            parts = ((far, near, 0.0), (near, far, across_s))
            divisions.append(
                Division.of(
                    PENCILS,
                    grid,
                    [
                        transposed(groups, group, _block_B(side, count * group), least_s)
                        for groups, group, least_s in parts
                    ],
                )
            )
        decisions.append(FftDecision.of(count, divisions, refused))
    return decisions


def crossover(decisions: Sequence[FftDecision]) -> int | None:
    """The number of ranks from which on 2-D is the faster, told apart or the only one possible; None: nowhere."""
    ranks = None
    for decision in reversed(decisions):
        if decision.best != PENCILS or decision.told_apart is False:
            break
        ranks = decision.ranks
    return ranks


def _why(decisions: Sequence[FftDecision], begins: int | None) -> str:
    """Which division from where on, with the counts that decide it."""
    if begins is None:
        last = decisions[-1]
        many = counted(last.ranks, "rank", ",")
        if last.best is None:
            return f"on {many} neither division is possible"
        if last.best == PENCILS:
            return f"on up to {many} 2-D and 1-D do not differ"
        if PENCILS in last.refused:
            return f"on {many} 1-D alone is possible: {last.refused[PENCILS]}"
        apart = "" if last.told_apart else ", not by more than the error over 2-D"
        return f"1-D is predicted fastest on up to {many}{apart}"
    decision = next(each for each in decisions if each.ranks == begins)
    if SLABS in decision.refused:
        return f"2-D from {counted(begins, 'rank', ',')} on: {decision.refused[SLABS]}"
    slabs, pencils = decision.divisions
    return f"2-D from {counted(begins, 'rank', ',')} on: there {_counts(pencils)}, and 1-D {_counts(slabs)}"


def _counts(way: Division) -> str:
    return (
        f"a rank sends {way.messages:,} blocks, {format_size(way.sent_B)}, in "
        f"{format_time(way.time_s)} ({way.row.dominant or 'nothing is sent'})"
    )


def _row(name: str, ranks: int, block_B: int, costs: MachineCosts) -> AlgorithmTime:
    try:
        return predict_one(ask("alltoall", name, ranks=ranks, size_B=block_B), costs, None)
    except RequestError as error:
        if "messages between nodes" in error.message:
            raise
        return AlgorithmTime(name, "none", None, note=error.message)


def _block_B(side: int, parts: int) -> int:
    """Of the rank with the most, whole numbers."""
    return ELEMENT_B * -(-(side**3) // parts)


def _grid(ranks: int, side: int) -> tuple[int, int] | None:
    """The divisors nearest to a square, the smaller first; None where one is 1 or more than `side`."""
    near = next(near for near in range(math.isqrt(ranks), 0, -1) if ranks % near == 0)
    far = ranks // near
    return (near, far) if near > 1 and far <= side else None


def _across_s(on: RanksOnTopology, ranks: int, side: int) -> float:
    """A quarter of all numbers goes from the first half of the ranks to the other; so long at least."""
    nodes = on.among.nodes[: -(-ranks // on.ppn)]
    if len(nodes) < 2:
        return 0.0
    network = on.among.links.network
    first = np.zeros(network.vertices, np.bool_)
    first[nodes[: len(nodes) // 2]] = True
    if network.switches:
        # Leaves in their order are divided where the bisection divides them.
        rate_B_per_s = on.bisection_B_per_s(ranks)
    else:
        rate_B_per_s = cut(network, first, np.asarray(network.parallel * on.link_B_per_s, np.float64))
    return ELEMENT_B * side**3 / 4 / rate_B_per_s
