"""Other libraries that take a program's MPI calls, as Darshan and mpiP do: behind the layer they miss its calls.

Such a library defines MPI_Finalize and not PMPI_Finalize, which is the MPI library's own.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from hockney.errors import EnvironmentLack
from hockney.runner.launch_line import UserLaunch
from hockney.runner.probe import capture

LIMIT_S = 20.0
TAKEN, OWN = "MPI_Finalize", "PMPI_Finalize"


def other_tools(launch: UserLaunch) -> list[str]:
    """What is to be said of such libraries: those of LD_PRELOAD, and those that the programs are linked with.

    Nothing where `ldd` or `nm` is not there.
    """
    said = []
    if any("LD_PRELOAD" in word for word in launch.words):
        said.append(
            "the launch line sets LD_PRELOAD itself: processes get either that setting or the layer, never both"
        )
    words = re.split("[ :]", os.environ.get("LD_PRELOAD", ""))
    files = [Path(word) for word in words if "/" in word]
    files += [library for program in launch.programs for library in _libraries(program)]
    for tool in _takers([file for file in dict.fromkeys(files) if file.is_file()]):
        said.append(
            f"{tool} takes MPI calls too, and comes after the layer: it misses those that the layer takes"
        )
    return said


def _libraries(program: Path) -> list[Path]:
    """The libraries that the loader would find for a program; none of a script."""
    printed = _printed(["ldd", str(program)])
    return [Path(path) for path in re.findall(r"^\t(?:\S+ => )?(/.*) \(0x", printed, re.MULTILINE)]


def _takers(files: Sequence[Path]) -> list[Path]:
    """Those of the libraries that define a call of MPI and are not MPI."""
    defined: dict[str, set[str]] = defaultdict(set)
    if files:
        argv = ["nm", "-A", "-D", "--defined-only", "-f", "posix", *map(str, files)]
        for line in _printed(argv).splitlines():
            file, _, symbol = line.partition(": ")
            defined[file].add(symbol.partition(" ")[0].partition("@")[0])
    return [file for file in files if TAKEN in defined[str(file)] and OWN not in defined[str(file)]]


def _printed(argv: list[str]) -> str:
    """What a tool prints; nothing where it is not there, or fails."""
    if shutil.which(argv[0]) is None:
        return ""
    try:
        return capture(argv, os.environ, LIMIT_S).stdout
    except EnvironmentLack:
        return ""
