"""Patterns of programs: who of the ranks sends how much to whom, as halo exchange, ring, collective or file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hockney import _core, reading
from hockney._core import Kind
from hockney.errors import RequestError
from hockney.network.topologies.base import limited, whole
from hockney.network.topologies.torus import extents
from hockney.network.traffic.base import MOST_PAIRS, Demand, check_bytes, check_pairs
from hockney.registry import Registry
from hockney.schedule.catalogue import ScheduleRequest, ask


@dataclass(frozen=True, eq=False)
class Pattern:
    """Messages between `ranks` ranks."""

    spec: str
    ranks: int
    demand: Demand
    unit: str
    """What a size counts: 'B', or 'faces' or 'messages' where sizes were not given."""


@dataclass(frozen=True)
class PatternKind:
    """`make` takes what stands behind the colon and the bytes of a message, None where they are not given."""

    meaning: str
    example: str
    make: Callable[[str, float | None], Pattern]
    has_size: bool = True


patterns: Registry[PatternKind] = Registry(
    "pattern", "hockney.network.traffic.patterns", "reference/network-traffic.md"
)
"""Patterns by name."""


def parse_pattern(text: str, size_B: float | None = None) -> Pattern:
    """`jacobi:8x8x4`, `ring:64` … RequestError for what is none, or for a size that it has no use for."""
    name, _, rest = text.strip().partition(":")
    kind = patterns.get(name)
    if not rest:
        raise RequestError(f"the pattern {name!r} lacks what it is of", f"write {kind.example}")
    if size_B is not None and not kind.has_size:
        raise RequestError(f"--bytes means nothing for {name}", f"leave it out, as in {kind.example}")
    pattern = kind.make(rest, size_B)
    if not len(pattern.demand.source):
        raise RequestError(f"the pattern {text!r} sends nothing between ranks", "there is nothing to map")
    return pattern


def read_lines(path: Path, columns: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Numbered lines, split at blanks and commas; '#' begins a comment. RequestError names the line."""
    text = reading.text(path, "give a text file")
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.partition("#")[0].replace(",", " ").split()
        if not parts:
            continue
        if len(parts) != len(columns):
            raise RequestError(
                f"{path}, line {number}: {len(parts)} columns, not {len(columns)}",
                f"each line is {' '.join(columns)}",
            )
        rows.append((number, parts))
    return rows


def rank_number(text: str, path: Path, line: int) -> int:
    """A number from 0 on."""
    if not (text.isascii() and text.isdigit()):
        raise RequestError(
            f"{path}, line {line}: {text!r} is no number from 0 on", "ranks and nodes count from 0"
        )
    try:
        return limited(text)
    except RequestError as error:
        raise RequestError(f"{path}, line {line}: {error.message}", error.hint) from error


def jacobi(text: str, size_B: float | None) -> Pattern:
    """`AxBxC` ranks by rows, the last coordinate fastest."""
    face = 1.0 if size_B is None else size_B
    grid = extents(text, "ranks")
    ranks = math.prod(grid)
    check_pairs(2 * len(grid) * ranks, f"a halo exchange of {text}")
    at = np.arange(ranks).reshape(grid)
    parts: list[Demand] = []
    for axis in range(len(grid)):
        low, high = (np.delete(part, -1, axis) for part in (at, np.roll(at, -1, axis)))
        parts += [Demand.of(low, high, face), Demand.of(high, low, face)]
    demand = Demand(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.size_B for part in parts]),
    )
    return Pattern(f"jacobi:{text}", ranks, demand, "faces" if size_B is None else "B")


patterns.register("jacobi")(PatternKind("halo exchange of a grid of ranks", "jacobi:8x8x4", jacobi))


def ring(text: str, size_B: float | None) -> Pattern:
    """Both ways round, as in `hockney run ring`."""
    ranks = whole(text)
    check_pairs(2 * ranks, f"a ring of {ranks}")
    here = np.arange(ranks)
    right = (here + 1) % ranks
    size = 1.0 if size_B is None else size_B
    demand = Demand.of(np.concatenate([here, right]), np.concatenate([right, here]), size)
    return Pattern(f"ring:{text}", ranks, demand, "messages" if size_B is None else "B")


patterns.register("ring")(PatternKind("a ring of ranks, both ways round", "ring:64", ring))


def matrix(text: str, _size_B: float | None) -> Pattern:
    """Lines `sender receiver bytes`; those of one pair add up. The largest number gives the ranks."""
    path = Path(text)
    rows = read_lines(path, ("sender", "receiver", "bytes"))
    if not rows:
        raise RequestError(f"{path} has no lines", "each line is sender receiver bytes")
    check_pairs(len(rows), str(path))
    ends = np.array([[rank_number(word, path, line) for word in parts[:2]] for line, parts in rows])
    sizes = [_size(parts[2], path, line) for line, parts in rows]
    ranks = int(ends.max()) + 1
    return Pattern(f"matrix:{text}", ranks, Demand.of(ends[:, 0], ends[:, 1], np.array(sizes)).summed(ranks), "B")


def _size(text: str, path: Path, line: int) -> float:
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise RequestError(f"{path}, line {line}: {text!r} is no number of bytes", "a number from 0 on")
    check_bytes(size, f"{path}, line {line}: {text}")
    return size


patterns.register("matrix")(
    PatternKind("lines `sender receiver bytes` of a file", "matrix:traffic.txt", matrix, has_size=False)
)


MOST_RANKS = 2**20
"""One rank's schedule, which may have a message to every other, then fits the memory of a small machine."""


def collective(text: str, size_B: float | None) -> Pattern:
    """`NAME:ALGORITHM:P`, with 1 KiB unless sizes are given; root 0, one piece."""
    parts = text.split(":")
    if len(parts) != 3:
        raise RequestError(
            f"collective:{text} is not NAME:ALGORITHM:RANKS", "for example collective:bcast:binomial:64"
        )
    name, algorithm, ranks = parts[0], parts[1], whole(parts[2])
    request = ask(name, algorithm, ranks=ranks, size_B=int(1024 if size_B is None else size_B))
    if ranks > MOST_RANKS:
        raise RequestError(f"collective:{text} has more than {MOST_RANKS} ranks", "ask for fewer ranks")
    # A message is a step of its sender and one of its receiver.
    request.expect_steps(2 * MOST_PAIRS, "to map", "ask for fewer ranks")
    table = np.fromiter(_messages(request), np.dtype((np.int64, 3)))
    demand = Demand.of(table[:, 0], table[:, 1], table[:, 2]).summed(ranks)
    return Pattern(f"collective:{text}", ranks, demand, "B")


def _messages(request: ScheduleRequest) -> Iterator[tuple[int, int, int]]:
    """Sender, receiver and bytes. One rank's schedule is held at a time: all together take gigabytes."""
    algorithm = request.algorithm
    for rank in range(request.problem.ranks):
        of_rank = _core.generate_rank(algorithm.collective, algorithm.name, request.problem, rank)
        for step in of_rank.steps:
            if step.kind == Kind.send:
                yield rank, step.peer, step.source.length_B


patterns.register("collective")(
    PatternKind("all messages of a collective's algorithm", "collective:bcast:binomial:64", collective)
)
