"""What a campaign knows of its library's `default` but times: what was watched (`defaults.json`), and set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hockney.records import journal
from hockney.records.journal import LaunchLine

FILE = "defaults.json"

Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Seen(_Part):
    """An algorithm that sends what the default sent: the schedule, or the `library`'s names where it has none."""

    algorithm: str = ""
    segment_B: Count = 0
    radix: Count = 0
    library: list[str] = Field(default_factory=list, description="what the library calls it: tuned:binomial")


class WatchedCell(_Part):
    """The default at a size that was watched; `names` None: it cannot be told, and `why`.

    `nodes`: as the library saw the ranks while it was watched. `fits_none`: it sends what no algorithm does that
    can be named, so that it is none of those that the library is known to choose.
    """

    operation: str
    mpi: str
    variant: str
    ranks: Count
    nodes: Count
    bytes: Count
    names: list[Seen] | None = None
    fits_none: bool = False
    why: str = ""

    @property
    def says(self) -> tuple[list[Seen] | None, bool]:
        """What it says of the default."""
        return self.names, self.fits_none

    @property
    def place(self) -> tuple[str, str, str, int, int]:
        """What one chain of sizes has in common."""
        return self.operation, self.mpi, self.variant, self.ranks, self.nodes


class WatchedFile(_Part):
    """The file as a whole."""

    schema_version: Literal[1] = 1
    time: str
    cells: list[WatchedCell]


@dataclass(frozen=True)
class Defaults:
    """`watched` cells; `settings` that all launches of a (library, variant) had, and names that differ."""

    watched: Sequence[WatchedCell] = ()
    settings: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    differing: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)

    def near(
        self, operation: str, mpi: str, variant: str, ranks: int, nodes: int | None, size_B: int
    ) -> WatchedCell | None:
        """The cell that holds for a size: its own, or that of the sizes around it where both say the same.

        None beyond the sizes that were watched, and where the library changes its mind in between.
        """
        place = operation, mpi, variant, ranks, nodes or 1
        chain = sorted((cell for cell in self.watched if cell.place == place), key=lambda cell: cell.bytes)
        below = [cell for cell in chain if cell.bytes <= size_B][-1:]
        above = [cell for cell in chain if cell.bytes >= size_B][:1]
        if not below or not above or below[0].says != above[0].says:
            return None
        return below[0]


def defaults_of(folder: Path, launches: Iterable[LaunchLine]) -> Defaults:
    """What the folder of a campaign and its launches say; RequestError where the file is damaged."""
    settings: dict[tuple[str, str], dict[str, str]] = {}
    differing: dict[tuple[str, str], set[str]] = {}
    for launch in launches:
        key = launch.mpi_name, launch.variant
        before = settings.setdefault(key, launch.settings)
        # What differs from launch to launch says nothing of all of them.
        settings[key] = dict(before.items() & launch.settings.items())
        differing.setdefault(key, set()).update(name for name, _ in before.items() ^ launch.settings.items())
    return Defaults(tuple(find(folder)), settings, {key: names for key, names in differing.items() if names})


def find(folder: Path) -> list[WatchedCell]:
    """What was watched in the folder; nothing where there is no file, RequestError where it is damaged."""
    hint = "remove it, and give `hockney identify --watch` again"
    watched = journal.find(WatchedFile, folder / FILE, hint)
    return watched.cells if watched else []


def add(folder: Path, time: str, cells: Sequence[WatchedCell]) -> None:
    """Write the cells into the folder's file, in place of what it had of the same places."""
    places = {cell.place for cell in cells}
    kept = [cell for cell in find(folder) if cell.place not in places]
    journal.write(folder / FILE, WatchedFile(time=time, cells=[*kept, *cells]))


NOTHING_KNOWN = Defaults()
"""Where nobody watched, and no launch says what it set."""
