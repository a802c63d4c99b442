"""Identification of the algorithms behind `default`, from what each candidate misses of each of its points.

Points of the same ranks on as many nodes ran the same algorithms, whatever their mapping and by whatever
statistic they were timed: together they are one chain along the sizes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from hockney.predict.identify.naming import alike, names
from hockney.predict.identify.posterior import (
    PIECES,
    RANK_SWITCH,
    Evidence,
    Posterior,
    Run,
    posterior,
    rank_weights,
)
from hockney.predict.points import positions

Array = NDArray[np.float64]

CHAIN = ("system", "mpi", "source", "variant", "cache", "oversubscribed", "root", "nodes", "ranks")
"""Default points that agree in these ran one decision along the sizes; nodes and ranks are last."""


DRAWS = 20
"""Of by how much each piece of a run counts."""
EVENNESS = 2.0
"""Shape of the gamma distribution, of mean 1, that they are of: 1 would be the Bayesian bootstrap of single
curves, and each piece is of several. Chosen on `bcast` in `data/orfeo-epyc`, on its training ranks."""
_LIKELIER = 0.5
"""Of two, the one of more than this probability."""
ROUGH = 0.25
"""Deviation in ln of times simulated with costs of messages alone; chosen on eight systems
(`bench/identify_simulated`)."""
SLOWER = {1.0: 0.85, 2.0: 0.15}
"""By what a network may lengthen all of them alike, and how often it does before anything was measured."""
NONE_ROUGH = 0.97
"""The same of none of the candidates, where costs of messages alone say what they take: distances and shared
links make a candidate miss its own times as much as another's. Chosen there, too."""


@dataclass(frozen=True)
class Expected:
    """What each candidate would take at each default point, arrays of shape (points, candidates).

    `ln_s` in ln seconds, NaN where it cannot run; `model` and `noise` as of `Evidence`; `plain_s` in seconds by
    the costs that all schedules share, by which names are told apart. `prior`: how probable that is beside the
    other assumptions, before anything was measured; `is_rough`: costs of messages alone say it.
    """

    ln_s: Array
    model: Array
    noise: Array
    plain_s: Array
    prior: float = 1.0
    is_rough: bool = False


def roughly(ln_s: Array, noise: Array) -> list[Expected]:
    """What costs of messages alone say, under each assumption of `SLOWER`."""
    deviation, plain_s = np.full(ln_s.shape, ROUGH), np.exp(ln_s)
    return [
        Expected(ln_s + np.log(factor), deviation, noise, plain_s, prior, is_rough=True)
        for factor, prior in SLOWER.items()
    ]


@dataclass(frozen=True)
class ChainCell:
    """What `default` runs for so many ranks and bytes.

    `share`, shape (candidates + 1,): probability of each candidate, last of none. `names`: the candidates of each
    name in the set, None where it cannot be told. `best`: the state most probable at this size. `plain_s`,
    shape (mappings, candidates): seconds by the costs that all schedules share. `same`: which candidates are one
    name, see `alike`. `is_rough`: as of `Expected`.
    """

    ranks: int
    size_B: int
    share: Array
    names: list[list[int]] | None
    best: int
    plain_s: Array
    same: NDArray[np.bool_]
    is_rough: bool = False

    @property
    def is_none(self) -> bool:
        """Whether no candidate fits the times within its error."""
        return float(self.share[-1]) > (NONE_ROUGH if self.is_rough else _LIKELIER)


@dataclass(frozen=True)
class Change:
    """The library runs another name at cell `at` than at the one before, `share`: how probably; most probably it
    goes from the state `before` to `after`."""

    at: int
    share: float
    before: int
    after: int


@dataclass(frozen=True)
class Chain:
    """The cells of one number of ranks, sizes ascending; `key` holds the values of `CHAIN`.

    `changes`: those that are more probable than that the name stays, also beside a cell that cannot be told.
    """

    key: tuple[Hashable, ...]
    cells: list[ChainCell]
    changes: list[Change]

    @property
    def ranks(self) -> int:
        return self.cells[0].ranks

    @property
    def nodes(self) -> int | None:
        """None where the table does not say."""
        value = self.key[CHAIN.index("nodes")]
        return None if value is None else int(value)  # type: ignore[call-overload]


@dataclass
class _Open:
    """A chain before it is decided: its times, and for each size its rows of points by the main statistic."""

    key: tuple[Hashable, ...]
    run: Run
    rows: list[list[int]]


def chains(points: pd.DataFrame, expected: Sequence[Expected], main: str) -> list[Chain]:
    """Of default points, by ranks and nodes ascending.

    They have the columns of `predict.points.POINT`, `time_s` and `statistic`; names are told apart by the times
    of the statistic `main`. `expected`: under each of several assumptions, of which one is right: each counts by
    its prior, and as probable as all times are under it.
    """
    ways = [_under(points, one, main) for one in expected]
    opened, _, _ = ways[0]
    weight = special.softmax([np.log(one.prior) + way[2] for one, way in zip(expected, ways, strict=True)])
    best = expected[int(weight.argmax())]
    closed = []
    for i, chain in enumerate(opened):
        shares, joints = zip(*(told[i] for _, told, _ in ways), strict=True)
        share, joint = (np.tensordot(weight, each, 1) for each in (shares, joints))
        closed.append(_closed(chain, share, joint, best))
    return sorted(closed, key=lambda chain: (chain.ranks, chain.nodes or 0))


def _under(
    points: pd.DataFrame, expected: Expected, main: str
) -> tuple[list[_Open], list[tuple[Array, Array]], float]:
    """The chains, probabilities of states and of pairs of them for each, and the ln density of all times, 0 where
    several statistics tell."""
    ln_s = np.log(points["time_s"].to_numpy(np.float64))
    missed = ln_s[:, None] - expected.ln_s
    places: dict[tuple[Hashable, ...], dict[Hashable, list[_Open]]] = {}
    for key, index in positions(points, CHAIN).items():
        own_s = ln_s[index] if len(set(points["statistic"].iloc[index])) == 1 else None
        chain = _opened(key, points.iloc[index], missed[index], expected, index, main, own_s)  # type: ignore[arg-type]
        *conditions, nodes, _ = chain.key
        places.setdefault(tuple(conditions), {}).setdefault(nodes, []).append(chain)
    every, told, evidence = list[_Open](), list[tuple[Array, Array]](), 0.0
    for on_nodes in places.values():
        opened = [chain for part in on_nodes.values() for chain in part]
        every += opened
        if len({series.statistic for chain in opened for series in chain.run.series}) > 1:
            told += _told([[chain.run for chain in part] for part in on_nodes.values()])
        else:
            # By one statistic alone candidates miss all times alike: together they only seem to say more.
            made = [posterior([chain.run]) for chain in opened]
            told += _each(made)
            evidence += sum(one.evidence for one in made)
    return every, told, evidence


def _told(on_nodes: Sequence[Sequence[Run]]) -> list[tuple[Array, Array]]:
    """Probabilities of states and of pairs of them for each run.

    Where each candidate is wrong in its own way one becomes certain by chance, as evidence adds up. So which one
    runs is the mean over draws of by how much each piece of each run counts: a bagged posterior (Huggins and
    Miller, Bayesian Anal. 18, 2023) by a Bayesian bootstrap (Rubin, Ann. Stat. 9, 1981). That another one runs at
    the next size is told by all of it: there what a candidate is wrong by at both sizes falls out.
    """
    many = sum(len(runs) for runs in on_nodes)
    draws = np.random.default_rng(0).gamma(EVENNESS, 1 / EVENNESS, (DRAWS, many, PIECES))
    bagged = zip(*[[share for share, _ in _counted(on_nodes, counts)] for counts in draws], strict=True)
    whole = _counted(on_nodes, np.ones((many, PIECES)))
    return [(np.mean(shares, axis=0), joint) for shares, (_, joint) in zip(bagged, whole, strict=True)]


def _counted(on_nodes: Sequence[Sequence[Run]], counts: Array) -> list[tuple[Array, Array]]:
    """The same where pieces count so much (`counts` as of `posterior`), from the runs on each number of nodes: a
    decision may depend on it or not, which is as likely before anything was measured."""
    together, apart = _both_ways(on_nodes, counts)
    weight = float(special.expit(together.evidence - sum(one.evidence for one in apart)))
    return [
        (weight * share + (1 - weight) * own_share, weight * joint + (1 - weight) * own_joint)
        for (share, joint), (own_share, own_joint) in zip(_each([together]), _each(apart), strict=True)
    ]


def _each(made: Sequence[Posterior]) -> list[tuple[Array, Array]]:
    """Probabilities of states and of pairs of them, of run after run."""
    return [both for one in made for both in zip(one.shares, one.joints, strict=True)]


def _both_ways(on_nodes: Sequence[Sequence[Run]], counts: Array) -> tuple[Posterior, list[Posterior]]:
    """By one decision for all nodes, and by one for each number of nodes, every time counted alike in both;
    `counts` as of `posterior`."""
    every = [run for runs in on_nodes for run in runs]
    weights = rank_weights(run.ranks for run in every)
    parts = np.split(counts, np.cumsum([len(runs) for runs in on_nodes])[:-1])
    apart = [posterior(runs, weights, part) for runs, part in zip(on_nodes, parts, strict=True)]
    return posterior(every, weights, counts), apart


def _opened(
    key: tuple[Hashable, ...],
    points: pd.DataFrame,
    missed: Array,
    expected: Expected,
    index: NDArray[np.intp],
    main: str,
    ln_s: Array | None,
) -> _Open:
    sizes = sorted({int(size_B) for size_B in points["bytes"]})
    at = np.searchsorted(sizes, points["bytes"].to_numpy(np.int64))
    series = []
    of_size: list[list[int]] = [[] for _ in sizes]
    for group, rows in positions(points, ("mapping", "ppn", "statistic")).items():
        statistic = str(group[-1])  # type: ignore[index]
        shape = (len(sizes), missed.shape[1])
        parts = [np.full(shape, np.nan), np.ones(shape), np.ones(shape)]
        for part, values in zip(parts, (missed, expected.model[index], expected.noise[index]), strict=True):
            part[at[rows]] = values[rows]
        own_s = None
        if ln_s is not None:
            own_s = np.full(len(sizes), np.nan)
            own_s[at[rows]] = ln_s[rows]
        series.append(Evidence(parts[0], parts[1], parts[2], statistic, own_s, expected.is_rough))
        for row in rows if statistic == main else ():
            of_size[at[row]].append(int(index[row]))
    return _Open(key, Run(int(key[-1]), sizes, series), of_size)  # type: ignore[call-overload]


def carried(share: Array, from_B: Sequence[int], ranks_from: int, to_B: Sequence[int], ranks: int) -> Array:
    """Probabilities of the states at sizes `to_B` and other ranks, from those of a chain, shape (sizes,
    states).

    Where the library may have chosen anew, nobody knows what: that is the last state, none of the candidates.
    """
    nearest = [int(np.argmin(np.abs(np.log((np.array(from_B) + 1) / (size_B + 1))))) for size_B in to_B]
    kept = (1 - RANK_SWITCH) ** abs(np.log2(ranks / ranks_from))
    made = kept * share[nearest]
    made[:, -1] += 1 - kept
    return np.asarray(made)


def _closed(chain: _Open, share: Array, joint: Array, expected: Expected) -> Chain:
    cells = []
    for size_B, rows, own in zip(chain.run.size_B, chain.rows, share, strict=True):
        plain_s, deviation = expected.plain_s[rows], np.hypot(expected.model[rows], expected.noise[rows])
        same = alike(plain_s, expected.ln_s[rows], deviation)
        best = int(own.argmax())
        cells.append(
            ChainCell(chain.run.ranks, size_B, own, names(own, same), best, plain_s, same, expected.is_rough)
        )
    return Chain(chain.key, cells, _changes(cells, joint))


def _changes(cells: Sequence[ChainCell], joint: Array) -> list[Change]:
    found = []
    for at, (first, second) in enumerate(pairwise(cells), start=1):
        # An algorithm that is none of the candidates is a name of its own.
        is_one = np.eye(joint.shape[1], dtype=np.bool_)
        is_one[:-1, :-1] = first.same & second.same
        other = np.where(is_one, 0.0, joint[at - 1])
        if (share := float(other.sum())) > _LIKELIER:
            before, after = np.unravel_index(int(other.argmax()), other.shape)
            found.append(Change(at, share, int(before), int(after)))
    return found
