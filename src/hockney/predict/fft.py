"""How a three-dimensional FFT is best divided: slabs (1-D) or pencils (2-D), by what their transpositions take.

An FFT of N³ numbers on P ranks transposes them between its directions. In slabs, of which there are at most N,
that is one all-to-all of all P ranks, of blocks of N³/P². In pencils, of which there are at most N², it is two:
in P₂ groups of P₁ ranks at once, of blocks of N³/(P·P₁), and in P₁ groups of P₂. The decision is the example of
Hoefler et al. 2010, section 2. Arithmetic is the same in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from hockney.errors import RequestError
from hockney.models.effects.base import Cell, Effect
from hockney.network.bisection.bisection import cut
from hockney.predict.collective import Row, predict_one, verdict
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.on_topology import RanksOnTopology
from hockney.schedule.catalogue import algorithms, ask
from hockney.units import counted

ELEMENT_B = 16
"""A complex number of double precision."""
SLABS, PENCILS = "1-D", "2-D"
IDENTIFYING = ("mpi", "mapping", "variant", "system")
"""Words of `--where` that an effect has as well."""
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
    """One way to divide the cube on `ranks` ranks, `grid` of them, with all its transpositions."""

    name: str
    ranks: int
    grid: tuple[int, ...]
    transpositions: Sequence[Transposition]

    @property
    def row(self) -> Row:
        """The sum of the transpositions, one after another, as `verdict` compares rows."""
        lows = [each.low_s for each in self.transpositions]
        highs = [each.high_s for each in self.transpositions]
        terms: dict[str, float] = {}
        for each in self.transpositions:
            for name, seconds in each.terms_s.items():
                terms[name] = terms.get(name, 0.0) + seconds
        return Row(
            self.name,
            "simulated",
            sum(each.time_s for each in self.transpositions),
            None if None in lows else sum(low for low in lows if low is not None),
            None if None in highs else sum(high for high in highs if high is not None),
            terms_s=terms,
        )

    @property
    def messages(self) -> int:
        """That a rank would send if each block were one."""
        return sum(each.ranks - 1 for each in self.transpositions)

    @property
    def sent_B(self) -> int:
        """Bytes that a rank sends."""
        return sum((each.ranks - 1) * each.block_B for each in self.transpositions)


@dataclass(frozen=True)
class Together:
    """Measured: by how much an all-to-all is slower while `groups` − 1 others run; the interval where known."""

    mpi: str
    mapping: str
    groups: int
    ranks: int
    arrangement: str
    block_B: int
    algorithm: str
    factor: float
    low: float | None
    high: float | None
    shares_cores: bool


@dataclass(frozen=True)
class FftDecision:
    """What is possible on so many ranks, and which is faster."""

    ranks: int
    divisions: Sequence[Division]
    refused: dict[str, str]

    @property
    def verdict(self) -> dict[str, Any]:
        """As of collectives: best, margin, told_apart, not_told_apart_from."""
        return verdict([division.row for division in self.divisions])


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
    names = known if algorithm == "best" else [algorithm]
    ends = [costs.at_end(end) for end in (0, 1)]

    @cache
    def fastest(group: int, block_B: int) -> tuple[Row, float | None, float | None]:
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
            divisions.append(Division(SLABS, count, (count,), [transposed(1, count, block_B, across_s)]))
        else:
            refused[SLABS] = f"{side} slabs are too few for {count} ranks"
        grid = _grid(count, side)
        if grid is None:
            refused[PENCILS] = (
                f"no grid of at most {side} × {side}, both at least 2, has {counted(count, 'rank')}"
            )
        else:
            near, far = grid
            parts = ((far, near, 0.0), (near, far, across_s))
            divisions.append(
                Division(
                    PENCILS,
                    count,
                    grid,
                    [
                        transposed(groups, group, _block_B(side, count * group), least_s)
                        for groups, group, least_s in parts
                    ],
                )
            )
        decisions.append(FftDecision(count, divisions, refused))
    return decisions


def measured_together(effects: Sequence[Effect], where: Mapping[str, str]) -> list[Together]:
    """What a machine's campaigns found of all-to-alls on several groups at once.

    `where`: words that the effect must have (mpi, mapping, variant, system); without a variant the default one.
    Others, of what identifies entries alone, say nothing of it.
    """
    wanted = {name: {word} for name, word in where.items() if name in IDENTIFYING}
    wanted.setdefault("variant", {"", "default"})
    return [
        Together(
            effect.mpi,
            effect.mapping,
            int(point["subsets"] or 0),
            int(point["ranks"] or 0),
            str(point["arrangement"]),
            int(point["bytes"] or 0),
            str(point["algorithm"]),
            float(point["factor"] or 0.0),
            _or_none(point["low"]),
            _or_none(point["high"]),
            bool(effect.oversubscribed),
        )
        for effect in effects
        if effect.effect == "subsets" and all(getattr(effect, name) in words for name, words in wanted.items())
        for point in effect.points
        if point["operation"] == "alltoall"
    ]


def nearest_together(
    measured: Sequence[Together], decisions: Sequence[FftDecision]
) -> list[tuple[Together, Transposition]]:
    """Of each library, mapping and arrangement the point nearest to a transposition in pencils, with that one.

    Near is what has nearly as many groups, of as many ranks, with blocks as long, by their logarithms; of points
    as near, the one of the same algorithm.
    """
    asked = [
        part
        for decision in decisions
        for way in decision.divisions
        if way.name == PENCILS
        for part in way.transpositions
    ]

    def apart(pair: tuple[Together, Transposition]) -> tuple[float, bool]:
        point, part = pair
        ratios = (point.groups / part.groups, point.ranks / part.ranks, point.block_B / part.block_B)
        return round(sum(abs(math.log(ratio)) for ratio in ratios), 9), point.algorithm != part.algorithm

    of_kind: dict[tuple[str, ...], list[Together]] = {}
    for point in measured:
        of_kind.setdefault((point.mpi, point.mapping, point.arrangement), []).append(point)
    return [min(product(points, asked), key=apart) for points in of_kind.values()] if asked else []


def _or_none(value: Cell) -> float | None:
    return None if value is None else float(value)


def crossover(decisions: Sequence[FftDecision]) -> int | None:
    """The number of ranks from which on 2-D is the faster, told apart or the only one possible; None: nowhere."""
    found = None
    for decision in reversed(decisions):
        names = [division.name for division in decision.divisions]
        judged = decision.verdict if names else None
        if judged is None or judged["best"] != PENCILS or judged["told_apart"] is False:
            break
        found = decision.ranks
    return found


def _row(name: str, ranks: int, block_B: int, costs: MachineCosts) -> Row:
    try:
        return predict_one(ask("alltoall", name, ranks=ranks, size_B=block_B), costs, None)
    except RequestError as error:
        if "messages between nodes" in error.message:
            raise
        return Row(name, "none", None, note=error.message)


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
