"""Rules by which a library takes faster algorithms, from measurements or from a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from hockney import writing
from hockney.api.shown import as_html
from hockney.machine.file import Machine
from hockney.records.verification import Verification
from hockney.tune.rules import SIZES_B
from hockney.tune.source import MachineSource, Source
from hockney.tune.targets.base import targets
from hockney.tune.tuned import Tuned, as_data, cell_data, explained, rule_data
from hockney.units import counted
from hockney.words import several


@dataclass(frozen=True, repr=False)
class Tuning:
    """Rules for a target, as they were chosen; `verification`: what launches with them showed.

    `source`: the measurements that they are from; None where they are by the model.
    """

    tuned: Tuned
    verification: Verification | None = None
    source: Source | None = None

    @property
    def text(self) -> str:
        """The file for the library, after it was read back."""
        return self.tuned.checked()

    def write(self, path: str | Path) -> Path:
        """Write the file for the library and return its path."""
        writing.replace(Path(path), self.text)
        return Path(path)

    @property
    def rules(self) -> pd.DataFrame:
        """A row for each rule; bytes are those of the tidy table, empty is no bound."""
        return pd.DataFrame([rule_data(rule) for rule in self.tuned.rules])

    @property
    def cells(self) -> pd.DataFrame:
        """A row for each operation, number of ranks and size: what is taken, times (s) and the gain."""
        return pd.DataFrame([cell_data(decision) for decision in self.tuned.choice.decisions])

    @property
    def explained(self) -> list[str]:
        """The rules that gain most, in words."""
        return explained(self.tuned.choice)

    def data(self, path: Path) -> dict[str, object]:
        """What `hockney tune --json` prints of the rules in this file."""
        found = {} if self.verification is None else {"verification": self.verification.model_dump()}
        return as_data(self.tuned, path) | found

    def __repr__(self) -> str:
        return f"{counted(len(self.tuned.rules), 'rule')} for {self.tuned.target.title}; {self.tuned.tried}"

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.rules, [*self.explained, *self.tuned.refused])


def of_measurements(
    target: str,
    path: Path,
    operations: Sequence[str] = (),
    ranks: Sequence[int] = (),
    where: Sequence[str] = (),
    mpi: str = "",
    *,
    to_be_verified: bool = False,
) -> Tuning:
    """Rules from a campaign folder or a tidy table, where an algorithm is faster than the default beyond doubt.

    `target` is a form of rules (docs/reference/tuning-targets.md), such as `"openmpi-classic"`. On `ranks` that
    were not measured the model chooses. `where` keeps rows with NAME=VALUE; `mpi` names the library that will
    read the file. Rules `to_be_verified` may be for gains within their intervals.
    RequestError where nothing can be compared.
    """
    form = targets.get(target.replace("-", "_"))
    source = Source.read(path, several(where), mpi)
    done = source.tuned(form, several(operations), ranks, to_be_verified=to_be_verified)
    done.checked()
    return Tuning(done, source=source)


def of_machine(
    machine: Machine,
    target: str,
    path: Path,
    operations: Sequence[str] = (),
    ranks: Sequence[int] = (),
    where: Sequence[str] = (),
    mpi: str = "",
    *,
    sizes_B: Sequence[int] = (),
) -> Tuning:
    """Rules by the model alone, on these ranks; `sizes_B` as `SIZES_B` where none are named.

    RequestError where the machine has no messages, or no number of ranks is named.
    """
    form = targets.get(target.replace("-", "_"))
    source = MachineSource.of(machine, path, several(where), mpi)
    done = source.tuned(form, several(operations), ranks, sizes_B or SIZES_B)
    done.checked()
    return Tuning(done)
