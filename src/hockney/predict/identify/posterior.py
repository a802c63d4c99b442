"""Which of several candidates made a table of times: a hidden Markov model along the sizes, for stretches of
ranks.

The state is the candidate that the library runs. What a candidate's time misses of the measured one is a
simulator's error, which hardly changes from one size to the next, and noise, which does: while the library stays
with a candidate only the change counts (an autoregressive emission, as in Hamilton, Econometrica 57, 1989);
where it switches, the whole error does. Switches are rare, so that a disturbed time is not one. One state more
stands for an algorithm that is none of the candidates.

A library's decision is the same for whole stretches of ranks. All ways to cut the ranks into stretches count,
each with its probability (a product partition: Barry and Hartigan, Ann. Stat. 20, 1992). Candidates miss times of
neighbouring ranks in the same way, so that ranks closer than half a doubling count less: many on a stretch count
as much as one at every half doubling of it would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

SWITCH = 0.1
"""How often a library switches where the size doubles: twice from 1 B to 1 MiB."""
RANK_SWITCH = 0.5
"""How often its choices are others where the ranks double."""
STEADY = 0.95
"""Correlation of a simulator's error with that at twice the size."""
ALIKE_DOUBLINGS = 0.5
"""Doublings of the ranks from which on a candidate's errors count as new ones; chosen on every fourth number of
ranks, from the second on, of `bcast` and `reduce` in `data/orfeo-epyc`."""
STRANGE, STRANGE_ALONE, STRANGE_ROUGH = 0.02, 0.5, 0.3
"""How often the algorithm is none of the candidates, before anything was measured; where one statistic alone
tells, the weight by which that is said of hardly one in twenty that are; and where costs of messages alone tell
(`bench/identify_simulated`)."""
HALVES_B = 2.0 ** np.arange(2, 22, 2)
"""Sizes at which times of unknown algorithms have doubled: any α + βn may be one's."""
GROWN, GROWN_ROUGH = ((0.75, 0.03), (0.25, 0.35)), ((1.0, 0.06),)
"""Shares and deviations in ln of how their times leave that from one size to the next, where one statistic alone
tells, and where costs of messages alone do; chosen there, too."""
TOO_FAR = np.log(10.0)
"""Error in ln beyond which such a simulation is not of the algorithm, however well the curves' shapes agree."""
STRANGE_DEVIATION = 1.5
"""Deviation in ln of the time of such an algorithm from that of the candidates."""
FIRST = "min_over_ranks"
"""The statistic that says when the first rank is done; that it counts by itself was chosen after looking at
`bcast` and `reduce` in `data/orfeo-epyc`."""
PIECES = 2
"""Of the evidence of a run: when its first rank is done, and when the others are."""
FREEDOM = 4.0
"""Of Student's t: outliers do not rule."""
_UNLIKELY = 1e-6
"""Stretches of less probability are left out."""


@dataclass(frozen=True)
class Evidence:
    """What candidates miss of one series of times at ascending sizes, arrays of shape (sizes, candidates), in ln.

    `missed` is ln measured − ln expected, NaN where the candidate cannot run. `model` is the deviation of what is
    expected (the simulator's known error), `noise` that of one measured time beside another. `statistic`: of
    which times of the calls. `ln_s`, shape (sizes,): the measured times, where no other statistic tells;
    `is_rough`: costs of messages alone say what is expected.
    """

    missed: Array
    model: Array
    noise: Array
    statistic: str = ""
    ln_s: Array | None = None
    is_rough: bool = False


@dataclass(frozen=True)
class Run:
    """Times of so many ranks, on as many nodes, at ascending sizes: series under several mappings and by several
    statistics."""

    ranks: int
    size_B: Sequence[int]
    series: Sequence[Evidence]

    @cached_property
    def pieces(self) -> Array:
        """ln densities of the times where a state is new, and where it is that of the size before, shape (pieces,
        2, sizes, candidates + 1).

        The mean over mappings, because candidates miss the times of all in the same way. When the first rank is
        done says something of its own beside when the others are; the mean of the ranks and the last one say
        nearly the same, and each counts for its share.
        """
        made = np.zeros((PIECES, 2, len(self.size_B), self.series[0].missed.shape[1] + 1))
        steady = STEADY ** _octaves(self.size_B)
        for piece, is_first in zip(made, (True, False), strict=True):
            alike = [one for one in self.series if (one.statistic == FIRST) == is_first]
            there = [np.asarray(np.isfinite(one.missed).any(axis=1))[:, None] for one in alike]
            many = np.maximum(np.sum(there, axis=0), 1)
            for one, has in zip(alike, there, strict=True):
                piece += np.where(has, _emissions(one, steady, self.size_B), 0.0) / many
        return made


@dataclass(frozen=True)
class Posterior:
    """`shares`: probability of each candidate, and last of none of them, for each run, shape (its sizes,
    candidates + 1); `joints`: probability of each pair of them at two sizes that follow each other, shape (its
    sizes − 1, candidates + 1, candidates + 1); `evidence`: ln density of all times."""

    shares: list[Array]
    joints: list[Array]
    evidence: float


def posterior(
    runs: Sequence[Run], weights: Mapping[int, float] | None = None, counts: Array | None = None
) -> Posterior:
    """Of runs of one library under one set of conditions, whose decisions depend on ranks and sizes alone.

    `weights`: by how much each number of ranks counts, else as of `rank_weights` of these runs; `counts`, shape
    (runs, pieces): by how much each piece of each run does, else as much as it says. Evidence is comparable
    only where the same weights and counts made it.
    """
    every_B = np.array(sorted({size_B for run in runs for size_B in run.size_B}))
    ranks = sorted({run.ranks for run in runs})
    rows = np.searchsorted(ranks, [run.ranks for run in runs])
    enter, stay = _at_every_size(runs, rows, every_B, np.ones((len(runs), PIECES)) if counts is None else counts)
    if weights is None:
        weights = rank_weights(ranks)
    counted = np.array([weights[each] for each in ranks])[:, None, None]
    enter, stay = counted * enter, counted * stay
    kept = (1 - SWITCH) ** _octaves(every_B)
    every = [one for run in runs for one in run.series]
    alone = STRANGE_ROUGH if any(one.is_rough for one in every) else STRANGE_ALONE
    strange = alone if all(one.ln_s is not None for one in every) else STRANGE
    same = np.log(1 - RANK_SWITCH) * np.diff(np.log2(ranks))
    other = np.append(0.0, np.log(-np.expm1(same)))
    count = len(ranks)
    evidence = np.full((count, count), -np.inf)
    shares: list[Array] = []
    joints: list[Array] = []
    for first in range(count):
        new, same_state = (np.cumsum(each[first:], axis=0) for each in (enter, stay))
        density, share, joint = _along_sizes(new, same_state, kept, strange)
        evidence[first, first:] = other[first] + density + np.append(0.0, np.cumsum(same[first:]))
        shares.append(share)
        joints.append(joint)
    before, after = np.zeros(count + 1), np.zeros(count + 1)
    for last in range(count):
        before[last + 1] = special.logsumexp(before[: last + 1] + evidence[: last + 1, last])
    for first in reversed(range(count)):
        after[first] = special.logsumexp(evidence[first, first:] + after[first + 1 :])
    weight = np.exp(before[:-1, None] + evidence + after[None, 1:] - after[0])
    whole = np.zeros(enter.shape)
    pairs = np.zeros((count, *joints[0].shape[1:]))
    for first, last in np.argwhere(weight > _UNLIKELY):
        whole[first : last + 1] += weight[first, last] * shares[first][last - first]
        pairs[first : last + 1] += weight[first, last] * joints[first][last - first]
    total = whole.sum(axis=2, keepdims=True)
    whole, pairs = whole / total, pairs / total[:, 1:, :, None]
    at = [np.searchsorted(every_B, run.size_B) for run in runs]
    return Posterior(
        [whole[row, index] for row, index in zip(rows, at, strict=True)],
        [_between(pairs[row], index) for row, index in zip(rows, at, strict=True)],
        float(after[0]),
    )


def _between(pairs: Array, at: NDArray[np.intp]) -> Array:
    """Of the pairs of states at all sizes that follow each other those at `at`, whatever ran at sizes between."""
    made = []
    for first, last in pairwise(at.tolist()):
        joint = pairs[first]
        for after in pairs[first + 1 : last]:
            begin = after.sum(axis=1, keepdims=True)
            joint = joint @ (after / np.where(begin > 0, begin, 1.0))
        made.append(joint)
    return np.array(made).reshape(-1, *pairs.shape[1:])


def _octaves(size_B: Sequence[int] | NDArray[np.int64]) -> Array:
    return np.asarray(np.diff(np.log2(np.maximum(np.asarray(size_B, dtype=np.float64), 0.5))))


def _at_every_size(
    runs: Sequence[Run], rows: NDArray[np.intp], every_B: NDArray[np.int64], counts: Array
) -> tuple[Array, Array]:
    """ln densities of the times of each row of runs: where a state is new, where it is that of the size before.

    Shape (rows, sizes, candidates + 1) each; nothing is known at sizes that a run lacks.
    """
    shape = (int(rows.max()) + 1, every_B.size, runs[0].series[0].missed.shape[1] + 1)
    enter, stay = np.zeros(shape), np.zeros(shape)
    for run, row, count in zip(runs, rows, counts, strict=True):
        at = np.searchsorted(every_B, run.size_B)
        for total, part in zip((enter, stay), np.tensordot(count, run.pieces, 1), strict=True):
            total[row, at] += part
    return enter, stay


def rank_weights(ranks: Iterable[int]) -> dict[int, float]:
    """By how much each of these numbers of ranks counts, at most one.

    It counts for half the way to each neighbour, in units of `ALIKE_DOUBLINGS`; a way that is longer, or leads to
    no neighbour, is one unit.
    """
    ascending = sorted(set(ranks))
    between = np.minimum(np.diff(np.log2(ascending)) / ALIKE_DOUBLINGS, 1.0) / 2
    counted = np.append(0.5, between) + np.append(between, 0.5)
    return dict(zip(ascending, counted.tolist(), strict=True))


def _along_sizes(enter: Array, stay: Array, kept: Array, strange: float) -> tuple[Array, Array, Array]:
    """ln density of all times, shape (n,), the probability of each state, shape (n, sizes, states), and of each
    pair of states at two sizes that follow each other, shape (n, sizes − 1, states, states).

    `enter` and `stay`, shape (n, sizes, states), as of `_at_every_size`; `kept`: that a state stays;
    `strange`: that the last one begins.
    """
    states = enter.shape[2]
    # A switch leads to any state as that state begins.
    begin = np.log(np.append(np.full(states - 1, (1 - strange) / max(states - 1, 1)), strange)) + enter
    new, same = np.log1p(-kept)[:, None] + begin[:, 1:], np.log(kept)[:, None] + stay[:, 1:]
    forward, backward = np.empty(enter.shape), np.zeros(enter.shape)
    forward[:, 0] = begin[:, 0]
    for i in range(1, enter.shape[1]):
        arrived = special.logsumexp(forward[:, i - 1], axis=1, keepdims=True)
        forward[:, i] = np.logaddexp(arrived + new[:, i - 1], forward[:, i - 1] + same[:, i - 1])
    for i in reversed(range(1, enter.shape[1])):
        left = special.logsumexp(new[:, i - 1] + backward[:, i], axis=1, keepdims=True)
        backward[:, i - 1] = np.logaddexp(left, same[:, i - 1] + backward[:, i])
    density = special.logsumexp(forward[:, -1], axis=1)
    earlier, later = forward[:, :-1] - density[:, None, None], backward[:, 1:]
    joint = np.exp(earlier[..., :, None] + (new + later)[..., None, :])
    joint[..., np.arange(states), np.arange(states)] += np.exp(earlier + same + later)
    return density, special.softmax(forward + backward, axis=2), joint


def _emissions(one: Evidence, steady: Array, size_B: Sequence[int]) -> tuple[Array, Array]:
    """ln density of each time where its state is new, and where it is that of the size before; with the last
    state, shape (sizes, candidates + 1)."""
    can = np.isfinite(one.missed)
    if one.is_rough:
        can &= np.nan_to_num(np.abs(one.missed)) < TOO_FAR
    missed = np.where(can, one.missed, 0.0)
    wide2 = np.where(can, one.model**2 + one.noise**2, 1.0)
    enter = np.where(can, _density(missed, np.sqrt(wide2)), -np.inf)
    stay = enter.copy()
    tied = steady[:, None] * np.where(can, one.model, 0.0)[:-1] * np.where(can, one.model, 0.0)[1:] / wide2[:-1]
    changed = np.sqrt(np.maximum(wide2[1:] - tied**2 * wide2[:-1], 1e-12))
    both = can[1:] & can[:-1]
    stay[1:] = np.where(both, _density(missed[1:] - tied * missed[:-1], changed), enter[1:])
    # Of an algorithm that nobody knows, the times lie anywhere around those of the candidates.
    middle = np.array(
        [np.median(row[here]) if here.any() else 0.0 for row, here in zip(missed, can, strict=True)]
    )
    strange = _density(middle, np.full(middle.size, STRANGE_DEVIATION))[:, None]
    stranger = strange.copy()
    if one.ln_s is not None:
        lines = np.diff(np.log1p(np.array(size_B)[:, None] / HALVES_B), axis=0)
        grown = np.diff(one.ln_s)[:, None] - lines
        errors = GROWN_ROUGH if one.is_rough else GROWN
        densities = [np.log(share) + _density(grown, deviation) for share, deviation in errors]
        grows = special.logsumexp(np.hstack(densities), axis=1) - np.log(HALVES_B.size)
        stranger[1:, 0] = np.where(np.isfinite(grows), grows, strange[1:, 0])
    return np.hstack([enter, strange]), np.hstack([stay, stranger])


def _density(missed: Array, deviation: Array | float) -> Array:
    """ln of Student's t of `FREEDOM`: `scipy.stats` has it, too, and takes half a second to import."""
    constant = special.gammaln((FREEDOM + 1) / 2) - special.gammaln(FREEDOM / 2) - np.log(FREEDOM * np.pi) / 2
    heavy = np.log1p((missed / deviation) ** 2 / FREEDOM) * (FREEDOM + 1) / 2
    return np.asarray(constant - heavy - np.log(deviation))
