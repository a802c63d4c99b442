"""The options of `hockney predict` of a message."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hockney.fields import Option
from hockney.machine.level_option import AnyLevel
from hockney.predict.verb import MachineFile, Sizes
from hockney.units import parse_time


class Message(MachineFile, Sizes):
    """How long a message is, and which entry of a machine file predicts it."""

    locality: Annotated[
        str | None,
        Option("[default: the nearest measured]"),
    ] = None
    variant: Annotated[str | None, Option()] = None
    cache: Annotated[str | None, Option("[default: warm where measured]")] = None
    where: Annotated[
        list[str],
        Option("mapping, mpi, system, source, window, pairs."),
    ] = Field(default_factory=list)
    model: Annotated[str, Option("To predict with.")] = "piecewise"
    any_level: AnyLevel = False
    reference_s: Annotated[
        float | None,
        Option(
            "Time of the reference at which the machine is now, such as 0.105us: within a level it drifts. "
            "[default: that of the campaign]",
            read=parse_time,
            flags=("--reference",),
            metavar="TIME",
        ),
    ] = None
    large_reference_s: Annotated[
        float | None,
        Option(
            "With --reference: time of 64 KiB at which the machine is now, such as 4.1us: memory drifts by "
            "itself.",
            read=parse_time,
            flags=("--large-reference",),
            metavar="TIME",
        ),
    ] = None
