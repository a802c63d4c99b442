"""What both forms of MPICH share: words for algorithms, and the selection that its library has built in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.errors import EnvironmentLack
from hockney.tune.rules import Rule
from hockney.tune.targets.base import Library

BANNER = "MPICH"
COMPONENT = "mpir:"
_NAME = re.compile(r"mpir:([a-z][a-z0-9_]*)")
_SELECTION = re.compile(rb'\{"collective=[^\0]*')
_FORM = re.compile(r"MPIR_[A-Z][a-z_]*_(?:intra|allcomm)_[a-z0-9_]+")
MOST_LIBRARY_B = 2**28


def knows(operation: str, name: str, library: Library) -> bool:  # noqa: ARG001 - all that was measured exists
    """Whether a word of a table can be expressed."""
    return _NAME.fullmatch(name) is not None


def refuses(rule: Rule, library: Library) -> str:
    """Why a rule cannot be said."""
    if not knows(rule.operation, rule.algorithm.name, library):
        return f"{rule.algorithm.name} is no algorithm of MPICH's component mpir"
    if rule.algorithm.segment_B or rule.algorithm.radix:
        return "segment sizes and radices of MPICH's algorithms are not written"
    return ""


def device_off(operation: str) -> str:
    """The variable that takes an operation from the device, whose compositions would win: 0."""
    return f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"


def function(rule: Rule) -> str:
    """What the selection calls an algorithm: `MPIR_Bcast_intra_binomial`."""
    name = rule.algorithm.name.removeprefix(COMPONENT)
    kind = "allcomm" if name == "nb" else "intra"
    return f"MPIR_{rule.operation.capitalize()}_{kind}_{name}"


def built_in(library: Library) -> dict[str, Any]:
    """The selection of algorithms that the library has built in; EnvironmentLack where it is not found.

    The library holds three documents: of the device's compositions, of shared memory, and of algorithms.
    """
    for path in _libraries(library):
        for found in _SELECTION.findall(reading.content(path, "is it MPICH's?", most_B=MOST_LIBRARY_B)):
            text = found.decode("ascii", "replace")
            if _FORM.search(text) and "composition=" not in text and "POSIX" not in text:
                document: dict[str, Any] = reading.parsed(text, f"the selection in {path}", "")
                return document
    raise EnvironmentLack(
        f"the selection that {library.name or 'MPICH'} has built in was not found in its library",
        "name its wrapper with --mpi; MPICH before 4.0 has none",
    )


def _libraries(library: Library) -> list[Path]:
    if library.wrapper is None:
        raise EnvironmentLack(
            f"{library.name or 'MPICH'} is not on this machine, and its file is its own selection, changed",
            "run this where it is, or name its wrapper with --mpi",
        )
    suffix = "".join(library.wrapper.suffixes)
    prefix = library.wrapper.resolve().parent.parent
    names = ["libmpich.so*"] if suffix else ["libmpi.so*", "libmpich.so*"]
    folders = [prefix / "lib", prefix / "lib64", *sorted((prefix / "lib").glob("*-linux-gnu"))]
    return [
        path for folder in folders for name in names for path in sorted(folder.glob(name)) if _is_library(path)
    ]


def _is_library(path: Path) -> bool:
    return reading.beginning(path, 4) == b"\x7fELF"
