"""What a pattern is: who of a program's ranks sends how much to whom, and the grid that they form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.errors import RequestError
from hockney.network.topologies.base import limited, whole
from hockney.network.traffic.base import Demand
from hockney.registry import Registry


@dataclass(frozen=True, eq=False)
class Pattern:
    """Messages between `ranks` ranks, numbered by rows (the last coordinate fastest) of `grid`."""

    spec: str
    grid: tuple[int, ...]
    demand: Demand
    unit: str
    """What a size counts: 'B', or 'faces' or 'messages' where sizes were not given."""

    about: Mapping[str, Any] = field(default_factory=dict)
    """What else was asked for, as JSON has it."""

    @property
    def ranks(self) -> int:
        """How many ranks the grid has."""
        count = 1
        for extent in self.grid:
            count *= extent
        return count


@dataclass(frozen=True)
class Volumes:
    """What was asked for: bytes of a message, cells of a rank (None: not said), periodic boundaries."""

    size_B: float | None = None
    cells: tuple[int, ...] | None = None
    periodic: bool = False


@dataclass(frozen=True)
class PatternKind:
    """`make` takes what stands behind the colon and the volumes; `takes` names the volumes that it uses."""

    meaning: str
    example: str
    make: Callable[[str, Volumes], Pattern]
    takes: Sequence[str] = ("bytes",)


patterns: Registry[PatternKind] = Registry(
    "pattern", "hockney.network.traffic.patterns", "reference/network-traffic.md"
)
"""Patterns by name."""


def parse_pattern(text: str, volumes: Volumes) -> Pattern:
    """`jacobi:8x8x4`, `ring:64` … RequestError for what is none, or for volumes that it has no use for."""
    name, _, rest = text.strip().partition(":")
    kind = patterns.get(name)
    if not rest:
        raise RequestError(f"the pattern {name!r} lacks what it is of", f"write {kind.example}")
    given = {
        "bytes": volumes.size_B is not None,
        "subdomain": volumes.cells is not None,
        "periodic": volumes.periodic,
    }
    if useless := [option for option, is_given in given.items() if is_given and option not in kind.takes]:
        raise RequestError(f"--{useless[0]} means nothing for {name}", f"leave it out, as in {kind.example}")
    pattern = kind.make(rest, volumes)
    if not len(pattern.demand.source):
        raise RequestError(f"the pattern {text!r} sends nothing between ranks", "there is nothing to map")
    return pattern


def rank_count(text: str) -> int:
    """A number of ranks; RequestError for anything else."""
    return whole(text)


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
