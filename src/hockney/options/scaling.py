"""The options of `hockney scaling`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.models.scaling.laws import laws
from hockney.units import LARGEST, wholes

LAWS = ", ".join(f"{name} (with --weak)" if law.is_weak else name for name, law in laws)


class LawOptions(BaseModel, defer_build=True):
    """The parameters of a law, the efficiency that is kept, and points of its curve."""

    parameters: Annotated[
        list[float],
        Argument(
            "Serial fraction s of amdahl or gustafson, or contention σ and coherency κ of usl.", metavar="VALUE…"
        ),
    ] = Field(default_factory=list)
    efficiency: Annotated[
        float | None, Option("Least efficiency: print up to how many processes the law keeps it.")
    ] = None
    processes: Annotated[
        list[int],
        Option(
            "Numbers of processes to print: 8, 8,16 or 1-64.",
            flags=("--ranks",),
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=list)


class ScalingOptions(BaseModel, defer_build=True):
    """The times, the laws that are fitted to them, and the figure."""

    path: Annotated[
        Path,
        Argument(
            "CSV or Parquet: ranks or processes, and time_s, time_ms, time_us or time_ns, or a folder of "
            "`hockney run`."
        ),
    ]
    law: Annotated[str, Option(f"Law: {LAWS}, or all that apply.")] = "all"
    weak: Annotated[bool, Option("The work grew in proportion to the processes.", flags=("--weak",))] = False
    figure: Annotated[Path | None, Option("Draw speed-up and efficiency: .svg, .png or .html.")] = None
