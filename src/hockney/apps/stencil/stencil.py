"""What the ranks of a stencil program exchange: boxes of cells on a process grid, as the programs lay them out.

The boxes, the order of ranks and of messages are those of cpp/runner/apps/halo: parts as even as can be with the
longer first, ranks along z varying fastest, messages below and above along x, y and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney import _core
from hockney._core import Kind, Schedule
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import Exchange
from hockney.errors import RequestError

CELL_B = 8
"""A double."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Stencil:
    """`cells` along x, y and z on `grid`, six neighbours at most, by one way of `exchange`.

    RequestError where a direction has fewer cells than ranks.
    """

    cells: tuple[int, int, int]
    grid: Grid
    exchange: Exchange = "nonblocking"

    def __post_init__(self) -> None:
        for name, cells, parts in zip("xyz", self.cells, self.grid, strict=True):
            if cells < 1:
                raise RequestError(f"{cells} cells along {name} are none", "give at least one, for example 400")
            if parts > cells:
                raise RequestError(
                    f"{parts} ranks along {name} have only {cells} cells to share", "choose fewer, or more cells"
                )

    @property
    def ranks(self) -> int:
        """Processes of the grid."""
        return self.grid.ranks

    def coordinates(self) -> Ints:
        """Of each rank in the grid, shape (ranks, 3)."""
        return np.stack(np.unravel_index(np.arange(self.ranks), self.grid), axis=1).astype(np.int64)

    def boxes(self) -> Ints:
        """Cells of each rank along x, y and z, shape (ranks, 3)."""
        at = self.coordinates()
        each, more = np.divmod(np.array(self.cells), np.array(self.grid))
        return np.asarray(each + (at < more), dtype=np.int64)

    def neighbours(self) -> Ints:
        """Ranks below and above along x, y and z, shape (ranks, 6); −1 at the edge."""
        at = self.coordinates()
        ranks = np.full((self.ranks, 6), -1, dtype=np.int64)
        for slot in range(6):
            target = at.copy()
            target[:, slot // 2] += 2 * (slot % 2) - 1
            inside = (target >= 0).all(axis=1) & (target < np.array(self.grid)).all(axis=1)
            ranks[inside, slot] = np.ravel_multi_index(tuple(target[inside].T), tuple(self.grid))
        return ranks

    def faces(self) -> Ints:
        """Cells of a face towards each neighbour, shape (ranks, 6)."""
        boxes = self.boxes()
        across = np.stack(
            [boxes[:, 1] * boxes[:, 2], boxes[:, 0] * boxes[:, 2], boxes[:, 0] * boxes[:, 1]], axis=1
        )
        return np.repeat(across, 2, axis=1)

    def inner(self) -> Ints:
        """Cells of each rank that need no neighbour's, shape (ranks,): what is computed while halos travel."""
        towards = (self.neighbours() >= 0).reshape(self.ranks, 3, 2).sum(axis=2)
        return np.asarray(np.maximum(self.boxes() - towards, 0).prod(axis=1), dtype=np.int64)


@dataclass
class Script:
    """Steps of all ranks, stage after stage; `schedule` makes them what the simulator takes.

    Lengths of work are picoseconds: the simulator charges local work by `Costs.reduce`, which is to be 1 ps for
    each (`WORK`).
    """

    ranks: int

    def __post_init__(self) -> None:
        self._columns: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
        self._stage = 0

    def next_stage(self) -> None:
        """What follows waits for everything so far."""
        self._stage += 1

    def add(self, kind: Kind, rank: Ints, peer: Ints, length: Ints) -> None:
        """The same kind of step for some ranks."""
        n = len(rank)
        self._columns.append(
            (rank, np.full(n, self._stage), np.full(n, kind.value), np.broadcast_to(peer, n), length)
        )

    def work(self, seconds: NDArray[np.float64]) -> None:
        """Computation of each rank, shape (ranks,)."""
        if seconds.max(initial=0.0) > MOST_WORK_S:
            raise RequestError(
                f"an iteration computes for {seconds.max():.3g} s; up to {MOST_WORK_S:.0e} s are simulated",
                "check the cells and what a cell takes",
            )
        self.add(
            Kind.reduce, np.arange(self.ranks), np.array(-1), np.rint(seconds / PICOSECOND_S).astype(np.int64)
        )

    def copy(self, rank: Ints, length_B: Ints) -> None:
        """A buffer that is packed or unpacked."""
        self.add(Kind.copy, rank, np.array(-1), length_B)

    def schedule(self) -> Schedule:
        """Of all ranks."""
        rank, stage, kind, peer, length = (np.concatenate(column) for column in zip(*self._columns, strict=True))
        order = np.lexsort((stage, rank))

        def ordered(column: Ints) -> NDArray[np.int32]:
            return np.ascontiguousarray(column[order], dtype=np.int32)

        lengths = np.ascontiguousarray(length[order], dtype=np.int64)
        return _core.write_schedule(
            self.ranks, ordered(rank), ordered(stage), ordered(kind), ordered(peer), lengths
        )


PICOSECOND_S = 1e-12
MOST_WORK_S = 1e6
WORK: tuple[list[float], list[float]] = ([0.0, 1.0], [0.0, PICOSECOND_S])
"""The cost curve of `Script.work`."""


def exchange(script: Script, stencil: Stencil, compute_s: Sequence[NDArray[np.float64]]) -> None:
    """One exchange of halos and the computation that needs it. Each face is copied out before and in after.

    `compute_s` holds the seconds of each rank for its inner and its other cells, arrays of shape (ranks,). With
    `overlap` the first are spent while the halos travel, otherwise all afterwards.
    """
    neighbours, face_B = stencil.neighbours(), stencil.faces() * CELL_B
    slots = [slot for slot in range(6) if (neighbours[:, slot] >= 0).any()]
    if stencil.exchange == "sendrecv":
        for slot in slots:
            _one_after_another(script, neighbours, face_B, slot)
        script.work(compute_s[0] + compute_s[1])
        script.next_stage()
        return
    for slot in slots:
        rank = np.flatnonzero(neighbours[:, slot] >= 0)
        script.add(Kind.receive, rank, neighbours[rank, slot], face_B[rank, slot])
    for slot in slots:
        rank = np.flatnonzero(neighbours[:, slot] >= 0)
        script.copy(rank, face_B[rank, slot])
        script.add(Kind.send, rank, neighbours[rank, slot], face_B[rank, slot])
    overlaps = stencil.exchange == "overlap"
    if overlaps:
        script.work(compute_s[0])
    script.next_stage()
    for slot in slots:
        rank = np.flatnonzero(neighbours[:, slot] >= 0)
        script.copy(rank, face_B[rank, slot])
    script.work(compute_s[1] if overlaps else compute_s[0] + compute_s[1])
    script.next_stage()


def _one_after_another(script: Script, neighbours: Ints, face_B: Ints, slot: int) -> None:
    """MPI_Sendrecv towards the neighbours of one slot, from those of the opposite one."""
    opposite = slot ^ 1
    to = np.flatnonzero(neighbours[:, slot] >= 0)
    come = np.flatnonzero(neighbours[:, opposite] >= 0)
    script.copy(to, face_B[to, slot])
    script.add(Kind.receive, come, neighbours[come, opposite], face_B[come, opposite])
    script.add(Kind.send, to, neighbours[to, slot], face_B[to, slot])
    script.next_stage()
    script.copy(come, face_B[come, opposite])
