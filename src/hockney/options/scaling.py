"""The options of `hockney scaling`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument, Option
from hockney.models.scaling.laws import laws
from hockney.words import LARGEST, wholes

LAWS = ", ".join(f"{name} (with --weak)" if law.is_weak else name for name, law in laws)


class LawOptions(BaseModel):
    """What is derived from a law: the most processes for an efficiency, and points of its curve."""

    efficiency: Annotated[
        float | None, Option("Least efficiency: print up to how many processes the law keeps it.")
    ] = None
    processes: Annotated[
        list[int],
        Option(
            "Speed-up and efficiency are printed for 8, 8,16 or 1-64.",
            flags=("--ranks",),
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=list)


class SerialOptions(LawOptions):
    """The share that does not run in parallel, said one way or the other."""

    serial: Annotated[
        float | None,
        Option("s: the share of the time that does not run in parallel.", flags=("--serial-fraction",)),
    ] = None
    parallel: Annotated[
        float | None, Option("1 − s: the other way to say it.", flags=("--parallel-fraction",))
    ] = None


class UslOptions(LawOptions):
    """The parameters of the universal scalability law."""

    contention: Annotated[float, Option("σ: the share of the work that is done one at a time.")]
    coherency: Annotated[float, Option("κ: the cost of each pair of processes that agree.")]


class ScalingOptions(BaseModel):
    """The times, the laws that are fitted to them, and the figure."""

    path: Annotated[
        Path,
        Argument(
            "CSV or Parquet: ranks or processes, and time_s, time_ms, time_us or time_ns; or a folder of "
            "`hockney run`."
        ),
    ]
    law: Annotated[str, Option(f"{LAWS}, or all that apply.")] = "all"
    weak: Annotated[bool, Option("The work grew in proportion to the processes.", flags=("--weak",))] = False
    extrapolate: Annotated[
        bool,
        Option(
            "Without a time of 1 process, take the one that the fit gives.", flags=("--extrapolate-baseline",)
        ),
    ] = False
    figure: Annotated[Path | None, Option("Speed-up and efficiency.")] = None
