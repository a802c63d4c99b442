"""Effective bisection bandwidth: random halves of the ranks, paired at random, stream at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.campaign.effects.base import (
    NO_BYTES,
    ONCE,
    Here,
    NotMeasurable,
    Question,
    Questions,
    Request,
    effects,
)
from hockney.network.topologies.base import Network, parse_spec
from hockney.network.traffic.base import Allocated, Demand, Links
from hockney.network.traffic.demands import traffics
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import default_routing, rounded
from hockney.records.answers import Answer, StreamsAnswer

SIZE_B = 2**20
WINDOW, SIMULATED_WINDOW = 8, 2
LEAST_DRAWS, MOST_DRAWS, SIMULATED_DRAWS = 20, 200, 30
VISITS = 2
REFERENCES = 4
"""Pairs measured alone, of different places."""
DRAWS_BUDGET = 10.0
"""Points' budgets that all draws together may take."""
WINDOW_SHARE = 0.02
"""Share of a point's budget that a window takes alone; slower links get fewer messages in flight."""
AGAIN, MOST_AGAIN = 12, 4
"""Visits to the slowest pairing, half of which choose its slowest pair, and how many pairings may have been slow
by chance."""
THRICE = {**ONCE, "repetitions": 3}
"""What varies is the pairing; time is better spent on another."""


@effects.register("congestion")
def ask(here: Here) -> Questions:
    """Pairs alone, two ordered pairings, random ones until their mean is known, and the slowest of them again."""
    members = members_of(here)
    locality = here.farthest()
    if len(members) == len(here.ranks) and here.oversubscribed:
        yield NotMeasurable(f"ranks share cores ({here.oversubscribed})", locality)
        return
    half = len(members) // 2
    random = np.random.default_rng(here.seed)
    size_B = max(here.sizes_B, default=min(SIZE_B, here.largest_B))
    if not size_B:
        yield NotMeasurable(NO_BYTES, locality)
        return

    def question(ranks: Sequence[int], pairs: Sequence[int], **more: float | str) -> Question:
        parameters: dict[str, float | str] = {
            "bytes": size_B,
            "pairs": ",".join(map(str, pairs)),
            "sample_s": 0.0,
            **more,
        }
        return Question(ranks, parameters, locality)

    timing = ONCE if here.simulated else here.timing(0.2)
    alone = [int(rank) for rank in random.permutation(len(members))]
    chosen = [[members[a], members[b]] for a, b in zip(alone[:half], alone[half : 2 * half], strict=True)][
        :REFERENCES
    ]
    first = yield question(chosen[0], (0, 1), pattern="first", window=1, **timing)
    window = SIMULATED_WINDOW if here.simulated else _window(first, here.budget_s)
    for visit in range(1 if here.simulated else VISITS):
        for pair in chosen:
            yield question(pair, (0, 1), pattern="alone", visit=visit, window=window, **timing)
            empty: Request = {"pattern": "empty", "visit": visit, "window": 1, **timing, "bytes": 0}
            yield question(pair, (0, 1), **empty)
    repeated = ONCE if here.simulated else THRICE
    slowest: list[tuple[float, Question]] = []

    def noted(pairing: Question, answer: Answer | None) -> None:
        if answer is not None:
            slowest.append((float(np.max(answer.read_as(StreamsAnswer).pair_s)), pairing))

    if half > 1:
        for pattern, pairs in ordered(half).items():
            pairing = question(members, pairs, pattern=pattern, window=window, **repeated)
            noted(pairing, (yield pairing))
    if here.topology:
        network = parse_spec(here.topology)
        if network.nodes == len(members) > 3:
            pairs, bound = worst_of(network)
            about: Request = {"pattern": "topology", "topology": network.spec, "topology_bound": bound}
            pairing = question(members, pairs, window=window, **about, **repeated)
            noted(pairing, (yield pairing))
        else:
            yield NotMeasurable(
                f"the worst pairing of {network.spec} needs one rank on each of its {network.nodes} nodes (4 or "
                f"more); {len(members)} ranks on {len({place.host for place in here.ranks})} hosts take part",
                locality,
            )
    means: list[float] = []
    spent_s = 0.0
    for draw in range(_draws(here, half)):
        order = [int(rank) for rank in random.permutation(len(members))]
        pairs = [end for pair in zip(order[:half], order[half : 2 * half], strict=True) for end in pair]
        label: Request = {"pattern": "random", "seed": here.seed, "draw": draw, "window": window}
        pairing = question(members, pairs, **label, **repeated)
        answer = yield pairing
        noted(pairing, answer)
        if answer is None:
            continue
        streams = answer.read_as(StreamsAnswer)
        means.append(float(np.mean(1.0 / np.asarray(streams.pair_s))))
        spent_s += streams.time_s * (len(streams.samples_s) + streams.preempted)
        if not here.simulated and _enough(means, here.tolerance, spent_s > DRAWS_BUDGET * here.budget_s):
            break
    if half > 1 and not here.simulated:
        yield from _again(slowest)


def _again(slowest: Sequence[tuple[float, Question]]) -> Questions:
    """Measure the slowest pairing again: the greatest of many times is partly chance.

    If the median of its slowest pair then lies below the single time of the next pairing, measure that one again
    too. (Medians are taken pair by pair, because every visit disturbs some pair of many.)
    """
    surely_s = 0.0
    for once_s, pairing in sorted(slowest, key=lambda entry: entry[0], reverse=True)[:MOST_AGAIN]:
        if once_s <= surely_s:
            return
        visits_s = []
        for again in range(AGAIN):
            answer = yield Question(pairing.members, {**pairing.parameters, "again": again}, pairing.locality)
            if answer is not None:
                visits_s.append(answer.read_as(StreamsAnswer).pair_s)
        surely_s = max(surely_s, float(np.max(np.median(visits_s, axis=0))) if visits_s else 0.0)


def members_of(here: Here) -> list[int]:
    """One rank of each node where there are several nodes, else all ranks."""
    first: dict[str, int] = {}
    for place in here.ranks:
        first.setdefault(place.host, place.rank)
    return list(first.values()) if len(first) > 1 else [place.rank for place in here.ranks]


def ordered(half: int) -> dict[str, list[int]]:
    """Two pairings by order of ranks: across the middle, i with i + P/2, and each with its neighbour."""
    return {
        "halves": [end for rank in range(half) for end in (rank, rank + half)],
        "neighbours": list(range(2 * half)),
    }


def worst_of(network: Network) -> tuple[list[int], float]:
    """Sender and receiver of each pair, node after node, and how many of them share the most loaded link.

    In the worst pairing by distance (Hoefler et al. 2010) every node sends; here each node is in one pair: in
    the nodes' order those whose ends are both free.
    """
    among = Allocated(Links.of(network), np.arange(network.nodes))
    pairs: list[int] = []
    for a, b in zip(*traffics.get("worst_pairing").pairs(among, 0), strict=True):
        if a != b and int(a) not in pairs and int(b) not in pairs:
            pairs += [int(a), int(b)]
    load = routings.get(default_routing(network)).load(among.links, Demand.of(pairs[::2], pairs[1::2]))
    return pairs, rounded(max(1.0, load.worst_B))


def _draws(here: Here, half: int) -> int:
    if half == 1:
        return 1
    return SIMULATED_DRAWS if here.simulated else MOST_DRAWS


def _window(first: Answer | None, budget_s: float) -> int:
    if first is None:
        return WINDOW
    return int(np.clip(WINDOW_SHARE * budget_s / first.read_as(StreamsAnswer).time_s, 1, WINDOW))


def _enough(means: Sequence[float], tolerance: float, late: bool) -> bool:
    """Whether the 95 % interval of the mean over draws is narrow enough, or the time is spent."""
    if len(means) < LEAST_DRAWS:
        return False
    reach = 1.96 * np.std(means, ddof=1) / np.sqrt(len(means))
    return late or bool(reach <= tolerance * np.mean(means))
