"""Rules of Open MPI from 4.1 up to 5 as rows of numbers. Before 4.1 gather and scatter counted other bytes."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.tune.rules import Rule
from hockney.tune.targets import _openmpi as openmpi
from hockney.tune.targets import _openmpi_numbers as numbers
from hockney.tune.targets.base import PROOF, Library, Target, targets


def write(rules: Sequence[Rule], library: Library, comment: str) -> str:  # noqa: ARG001 - the same for all versions
    return numbers.write(rules, comment, version=1)


def read(text: str, library: Library) -> list[Rule]:
    return numbers.read(text, library, version=1)


targets.register("openmpi_classic")(
    Target(
        title="rules of Open MPI's tuned, version 1",
        banner=openmpi.BANNER,
        versions=((4, 1), (6,)),
        knows=openmpi.knows,
        refuses=openmpi.refuses,
        write=write,
        read=read,
        settings=openmpi.settings,
        rivals=openmpi.rivals,
        complete=openmpi.complete,
        proof=PROOF,
        names=openmpi.names,
        caution=openmpi.CAUTION,
    )
)
