"""Which of several candidates made a series of times: a hidden Markov model along the sizes.

The state is the candidate that the library runs. What a candidate's time misses of the measured one is a
simulator's error, which hardly changes from one size to the next, and noise, which does: while the library stays
with a candidate only the change counts (an autoregressive emission, as in Hamilton, Econometrica 57, 1989);
where it switches, the whole error does. Switches are rare, so that a disturbed time is not one. One state more
stands for an algorithm that is none of the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Array = NDArray[np.float64]

SWITCH = 0.1
"""How often a library switches where the size doubles: twice from 1 B to 1 MiB."""
STEADY = 0.95
"""Correlation of a simulator's error with that at twice the size."""
STRANGE = 0.02
"""How often the algorithm is none of the candidates, before anything was measured."""
STRANGE_DEVIATION = 1.5
"""Deviation in ln of the time of such an algorithm from that of the candidates."""
_FREEDOM = 4.0
"""Of Student's t: outliers do not rule."""


@dataclass(frozen=True)
class Evidence:
    """What candidates miss of one series of times at ascending sizes, arrays of shape (sizes, candidates), in ln.

    `missed` is ln measured − ln expected, NaN where the candidate cannot run. `model` is the deviation of what is
    expected (the simulator's known error), `noise` that of one measured time beside another.
    """

    missed: Array
    model: Array
    noise: Array


@dataclass(frozen=True)
class Posterior:
    """`share`, shape (sizes, candidates + 1): probability of each candidate, and last of none of them; `path`,
    shape (sizes,): the most probable sequence of states."""

    share: Array
    path: NDArray[np.intp]


def posterior(size_B: Sequence[int], series: Sequence[Evidence]) -> Posterior:
    """From series that ran the same algorithms at the same sizes, for example under several mappings.

    The simulator is wrong about all of them in the same way: each counts for its share only.
    """
    octaves = np.diff(np.log2(np.maximum(np.array(size_B, dtype=np.float64), 0.5)))
    enter, stay = _together(series, STEADY**octaves)
    sizes, states = enter.shape
    begin = np.log(np.append(np.full(states - 1, (1 - STRANGE) / max(states - 1, 1)), STRANGE))
    # A switch leads to any other state as that state begins.
    kept = (1 - SWITCH) ** octaves
    forward, backward = np.empty((sizes, states)), np.zeros((sizes, states))
    best, came = np.empty((sizes, states)), np.zeros((sizes, states), dtype=np.intp)
    forward[0] = best[0] = begin + enter[0]
    for i in range(1, sizes):
        step = _step(kept[i - 1], begin + enter[i], stay[i])
        forward[i] = special.logsumexp(forward[i - 1][:, None] + step, axis=0)
        through = best[i - 1][:, None] + step
        came[i], best[i] = through.argmax(axis=0), through.max(axis=0)
    for i in range(sizes - 1, 0, -1):
        step = _step(kept[i - 1], begin + enter[i], stay[i])
        backward[i - 1] = special.logsumexp(step + backward[i], axis=1)
    share = special.softmax(forward + backward, axis=1)
    path = np.empty(sizes, dtype=np.intp)
    path[-1] = best[-1].argmax()
    for i in range(sizes - 1, 0, -1):
        path[i - 1] = came[i, path[i]]
    return Posterior(share, path)


def _together(series: Sequence[Evidence], steady: Array) -> tuple[Array, Array]:
    """The mean of all series that have a time at a size; nothing is known where none has."""
    there = np.array([np.isfinite(one.missed).any(axis=1) for one in series])
    many = np.maximum(there.sum(axis=0), 1)[:, None]
    parts = zip(*(_emissions(one, steady) for one in series), strict=True)
    enter, stay = (np.where(there[:, :, None], np.array(part), 0.0).sum(axis=0) / many for part in parts)
    return enter, stay


def _step(kept: float, other: Array, same: Array) -> Array:
    """ln probability of state and time at a size, from each state (rows) at the size before; `kept`: that it
    stays."""
    step = np.broadcast_to(np.log1p(-kept) + other, (same.size, same.size)).copy()
    step[np.diag_indices(same.size)] = np.log(kept) + same
    return step


def _emissions(one: Evidence, steady: Array) -> tuple[Array, Array]:
    """ln density of each time where its state is new, and where it is that of the size before; with the last
    state, shape (sizes, candidates + 1)."""
    can = np.isfinite(one.missed)
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
    return np.hstack([enter, strange]), np.hstack([stay, strange])


def _density(missed: Array, deviation: Array) -> Array:
    return np.asarray(stats.t.logpdf(missed / deviation, _FREEDOM) - np.log(deviation))
