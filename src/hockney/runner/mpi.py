"""An MPI that was found: its compiler wrapper, its launcher, and what both need in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Mpi:
    """A wrapper and a launcher that belong to the same library.

    `kind` is openmpi, mpich, intel, smpi or unknown; `standard` the MPI standard its header declares ("3.1").
    `launcher_kind` names the unit in `hockney.runner.launchers`. `environment` holds the whole values of the
    variables that compiling and launching need beyond the present environment. `where` is the step of the
    search that found it, `passed_over` what that search found earlier and could not use.
    """

    kind: str
    version: str
    standard: str
    wrapper: Path
    launcher: Path
    launcher_kind: str
    environment: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    passed_over: tuple[Broken, ...] = ()

    def full_environment(self) -> dict[str, str]:
        """The present environment with `environment` on top."""
        return {**os.environ, **self.environment}

    def describe(self) -> str:
        """`Open MPI 5.0.11`."""
        return f"{TITLES.get(self.kind, self.kind)} {self.version}".strip()


@dataclass(frozen=True)
class Broken:
    """A wrapper that is there and cannot be used: why, and the one thing to do about it."""

    wrapper: Path
    where: str
    message: str
    hint: str


TITLES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "intel": "Intel MPI",
    "smpi": "SimGrid SMPI",
    "unknown": "MPI of unknown make",
}
KINDS = ("openmpi", "mpich", "intel")
"""What `--mpi` accepts by name, and `auto` finds; `smpi`, a simulator, only by name."""
