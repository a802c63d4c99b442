"""Tables of collectives whose true times are known, with noise between launches and planted violations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.check.cells import LaunchTimes, times_in
from hockney.check.judge import judge
from hockney.check.study import bounds, compared

Array = NDArray[np.float64]
SIZES = tuple(4**power for power in range(1, 11))
RANKS = (2, 4, 8)
NOISE = Path(__file__).with_name("launch_noise.json")
LATENCY_S, PER_BYTE_S = 1e-6, 1e-9
BLOCKS = ("scatter", "gather", "allgather", "alltoall", "reduce_scatter")
WHOLE = ("bcast", "reduce", "allreduce")
OPERATIONS = (*BLOCKS, *WHOLE, "barrier")
ROOTED = ("scatter", "gather", "bcast", "reduce")

True_ = Callable[[str, int, int], float]
"""Seconds of (operation, ranks, bytes of the table)."""


def consistent(operation: str, ranks: int, size_B: int) -> float:
    """Seconds of a library that keeps every guideline: trees, or blocks where those are faster."""
    rounds = math.log2(ranks)
    total_B = size_B * ranks if operation in BLOCKS else size_B
    part_s = rounds * LATENCY_S + total_B * PER_BYTE_S * (ranks - 1) / ranks
    tree_s = rounds * (LATENCY_S + total_B * PER_BYTE_S)
    match operation:
        case "barrier":
            return 0.9 * rounds * LATENCY_S
        case "scatter" | "gather":
            return 0.9 * part_s
        case "allgather" | "reduce_scatter":
            return part_s
        case "alltoall":
            return 1.5 * tree_s
        case "bcast" | "reduce":
            return min(tree_s, 1.8 * part_s)
    return min(1.9 * tree_s, 1.95 * part_s)


def equal(_operation: str, _ranks: int, _size_B: int) -> float:
    """The hardest case without a violation: nothing takes longer than anything else."""
    return 1e-5


class Noise(Protocol):
    """ln(time) of cells in each launch beyond the truth, (cells, launches)."""

    def drawn(self, cells: Sequence[tuple[str, int]], launches: int, random: np.random.Generator) -> Array:
        """For cells (operation, which size of it)."""


@dataclass(frozen=True)
class Made:
    """What moves all sizes of an operation, what moves one cell, and slow levels of the machine.

    The `common` and `own` standard deviations, the freedom of Student's t that `own` is drawn from, and the
    probability that a cell of a launch was met at a level `level` times as slow. `drift`: of a cell, the same in
    all launches of a campaign.
    """

    common: float = 0.03
    own: float = 0.05
    freedom: float = 3.0
    level: float = 1.5
    level_share: float = 0.0
    drift: float = 0.0

    def drawn(self, cells: Sequence[tuple[str, int]], launches: int, random: np.random.Generator) -> Array:
        names = list(dict.fromkeys(name for name, _ in cells))
        of_call = random.normal(0.0, self.common, (len(names), launches))
        place = np.array([names.index(name) for name, _ in cells])
        scale = self.own / math.sqrt(self.freedom / (self.freedom - 2))
        own = scale * random.standard_t(self.freedom, (len(cells), launches))
        is_slow = random.random((len(cells), launches)) < self.level_share
        drift = random.normal(0.0, self.drift, (len(cells), 1))
        return np.asarray(of_call[place] + own + math.log(self.level) * is_slow + drift)


class Spreads:
    """A spread of its own for each cell, most from 3 to 13 %, the widest above 30 %."""

    def drawn(self, cells: Sequence[tuple[str, int]], launches: int, random: np.random.Generator) -> Array:
        spread = 0.06 * np.exp(random.normal(0.0, 0.8, (len(cells), 1)))
        return np.asarray(spread * random.normal(0.0, 1.0, (len(cells), launches)))


class Measured:
    """What a library's collectives did on two cores of a virtual machine, ln(time) beyond the median of launches.

    launch_noise.json has it for 17 and 20 launches, six sizes of each collective. A drawn launch of
    an operation is one of these, with its sign drawn: then no operation is slower in truth. Of more launches some
    come again.
    """

    def __init__(self, mpi: str) -> None:
        of_mpi = json.loads(NOISE.read_text(encoding="utf-8"))[mpi]
        self.of = {operation: np.array(values) for operation, values in of_mpi.items()}

    def drawn(self, cells: Sequence[tuple[str, int]], launches: int, random: np.random.Generator) -> Array:
        values = {}
        for operation in dict.fromkeys(name for name, _ in cells):
            of_operation = self.of[operation]
            there = of_operation.shape[1]
            order = np.concatenate([random.permutation(there) for _ in range(-(-launches // there))])[:launches]
            chosen = of_operation[:, order]
            values[operation] = chosen * random.choice([-1.0, 1.0], size=launches)
        return np.array([values[name][place % len(values[name])] for name, place in cells])


QUIET = Made(0.0, 0.0)
MPIS = ("Open MPI 5.0.11", "MPICH 5.0.2")


def frame(
    truth: True_ = consistent,
    launches: int = 5,
    noise: Noise = QUIET,
    seed: int = 1,
    *,
    named: dict[tuple[str, str], float] | None = None,
    ranks: Sequence[int] = RANKS,
    sizes: Sequence[int] = SIZES,
) -> pd.DataFrame:
    """A tidy table of the library's own collectives in so many launches.

    `named`: further algorithms, (operation, algorithm), each so many times as slow as the library's own.
    """
    random = np.random.default_rng(seed)
    calls = [(operation, "default", 1.0) for operation in OPERATIONS]
    calls += [(operation, algorithm, factor) for (operation, algorithm), factor in (named or {}).items()]
    cells = [
        (operation, algorithm, factor, count, size_B)
        for operation, algorithm, factor in calls
        for count in ranks
        for size_B in (sizes if operation != "barrier" else (0,))
    ]
    true_s = np.array([factor * truth(operation, count, size_B) for operation, _, factor, count, size_B in cells])
    drawn = np.concatenate(
        [
            noise.drawn([(cell[0], place) for place, cell in enumerate(group)], launches, random)
            for group in (list(members) for _, members in groupby(cells, key=lambda cell: cell[:4]))
        ]
    )
    time_s = true_s[:, None] * np.exp(drawn)
    rows = [
        {
            "source": "hockney", "system": "made", "mpi": "Made MPI 1", "operation": operation,
            "algorithm": algorithm, "mapping": "core", "nodes": 1, "ppn": count, "ranks": count, "bytes": size_B,
            "statistic": "completion", "time_s": time_s[index, launch], "repetition": launch,
            "low_s": 0.999 * time_s[index, launch], "high_s": 1.001 * time_s[index, launch],
            "root": 0 if operation in ROOTED else None,
        }
        for index, (operation, algorithm, _, count, size_B) in enumerate(cells)
        for launch in range(launches)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def times(truth: True_ = consistent, launches: int = 5, noise: Noise = QUIET, **other: object) -> LaunchTimes:
    """The same as `check` sees it."""
    return times_in(frame(truth, launches, noise, **other))  # type: ignore[arg-type]


def violating(
    seed: int,
    launches: int = 15,
    noise: Noise = QUIET,
    truth: True_ = consistent,
    factors: tuple[float, float] = (1.3, 3.0),
) -> tuple[LaunchTimes, LaunchTimes]:
    """A noisy campaign in which a tenth of the cells takes so many times as long, drawn evenly, and its truth."""
    random = np.random.default_rng(seed)
    factor_of = {
        (operation, ranks, size_B): random.uniform(*factors) if random.random() < 0.1 else 1.0
        for operation in ("bcast", "reduce", "allreduce", "allgather", "scatter", "gather", "reduce_scatter")
        for ranks in RANKS
        for size_B in SIZES
    }

    def slow(operation: str, ranks: int, size_B: int) -> float:
        return truth(operation, ranks, size_B) * factor_of.get((operation, ranks, size_B), 1.0)

    return times(slow, launches=launches, noise=noise, seed=seed), times(slow)


def true_ratios(true: LaunchTimes) -> Array:
    """Slow over fast of every comparison of times without noise."""
    return judge(compared(true, bounds(true)), true.time_s, true.time_s, true.time_s).ratio
