"""Identification of the algorithms behind `default`, from what each candidate misses of each of its points.

Points of the same ranks on as many nodes ran the same algorithms, whatever their mapping: together they are one
chain along the sizes. Chains of neighbouring ranks are kept apart: candidates miss their times in the same way,
so that together they would only seem to say more.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.predict.identify.naming import alike, names
from hockney.predict.identify.posterior import Evidence, posterior
from hockney.predict.points import positions

Array = NDArray[np.float64]

CHAIN = ("system", "mpi", "source", "variant", "cache", "oversubscribed", "root", "nodes", "ranks")
"""Default points that agree in these ran one decision along the sizes."""
RANK_SWITCH = 0.5
"""How often a library's choice at a size differs where the ranks double."""


@dataclass(frozen=True)
class Expected:
    """What each candidate would take at each default point, arrays of shape (points, candidates).

    `ln_s` in ln seconds, NaN where it cannot run; `model` and `noise` as of `Evidence`; `plain_s` in seconds by
    the costs that all schedules share, by which names are told apart.
    """

    ln_s: Array
    model: Array
    noise: Array
    plain_s: Array


@dataclass(frozen=True)
class Cell:
    """What `default` runs for so many ranks and bytes.

    `share`, shape (candidates + 1,): probability of each candidate, last of none. `names`: the candidates of each
    name in the set, None where it cannot be told. `best`: the state in the most probable sequence along the
    sizes. `plain_s`, shape (mappings, candidates): seconds by the costs that all schedules share. `same`: which
    candidates are one name, see `alike`.
    """

    ranks: int
    size_B: int
    share: Array
    names: list[list[int]] | None
    best: int
    plain_s: Array
    same: NDArray[np.bool_]


@dataclass(frozen=True)
class Chain:
    """The cells of one number of ranks, sizes ascending; `key` holds the values of `CHAIN`."""

    key: tuple[Hashable, ...]
    cells: list[Cell]

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
    """A chain before it is decided: its sizes, and for each its rows of evidence."""

    key: tuple[Hashable, ...]
    size_B: list[int]
    series: list[Evidence]
    rows: list[list[int]]
    """Of the points, at each size."""


def chains(points: pd.DataFrame, expected: Expected) -> list[Chain]:
    """Of default points (columns of `predict.points.POINT` and `time_s`), by ranks and nodes ascending."""
    missed = np.log(points["time_s"].to_numpy(np.float64))[:, None] - expected.ln_s
    opened = [
        _opened(key, points.iloc[index], missed[index], expected, index)  # type: ignore[arg-type]
        for key, index in positions(points, CHAIN).items()
    ]
    closed = [_closed(chain, expected) for chain in opened]
    return sorted(closed, key=lambda chain: (chain.ranks, chain.nodes or 0))


def _opened(
    key: tuple[Hashable, ...], points: pd.DataFrame, missed: Array, expected: Expected, index: NDArray[np.intp]
) -> _Open:
    sizes = sorted({int(size_B) for size_B in points["bytes"]})
    at = np.searchsorted(sizes, points["bytes"].to_numpy(np.int64))
    series = []
    of_size: list[list[int]] = [[] for _ in sizes]
    for rows in positions(points, ("mapping", "ppn")).values():
        shape = (len(sizes), missed.shape[1])
        parts = [np.full(shape, np.nan), np.ones(shape), np.ones(shape)]
        for part, values in zip(parts, (missed, expected.model[index], expected.noise[index]), strict=True):
            part[at[rows]] = values[rows]
        series.append(Evidence(*parts))
        for row in rows:
            of_size[at[row]].append(int(index[row]))
    return _Open(key, sizes, series, of_size)


def carried(share: Array, from_B: Sequence[int], ranks_from: int, to_B: Sequence[int], ranks: int) -> Array:
    """Probabilities of the states at sizes `to_B` and other ranks, from those of a chain, shape (sizes,
    states)."""
    nearest = [int(np.argmin(np.abs(np.log((np.array(from_B) + 1) / (size_B + 1))))) for size_B in to_B]
    kept = (1 - RANK_SWITCH) ** abs(np.log2(ranks / ranks_from))
    return np.asarray(kept * share[nearest] + (1 - kept) / share.shape[1])


def _closed(chain: _Open, expected: Expected) -> Chain:
    cells, ranks = [], int(chain.key[-1])  # type: ignore[call-overload]
    found = posterior(chain.size_B, chain.series)
    for size_B, rows, share, best in zip(chain.size_B, chain.rows, found.share, found.path, strict=True):
        plain_s, deviation = expected.plain_s[rows], np.hypot(expected.model[rows], expected.noise[rows])
        same = alike(plain_s, expected.ln_s[rows], deviation)
        cells.append(Cell(ranks, size_B, share, names(share, same), int(best), plain_s, same))
    return Chain(chain.key, cells)
