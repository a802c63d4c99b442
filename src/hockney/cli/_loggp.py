"""The options that give LogGP's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.terminal.loading import later
from hockney.units import parse_per_byte, parse_time

with later():
    from hockney.machine.file import load


class LogGpOptions(BaseModel):
    """LogGP's parameters, or a machine file that has them."""

    machine: Annotated[Path | None, Option("With a `loggp` fit.")] = None
    locality: Annotated[str, Option("Of those in the machine file.")] = ""
    latency_s: Annotated[float | None, Option("L of LogGP.", flags=("--latency",), read=parse_time)] = None
    overhead_s: Annotated[float, Option(flags=("--overhead",), read=parse_time, show="{:g}s".format)] = 0.0
    gap_s: Annotated[float, Option(flags=("--gap",), read=parse_time, show="{:g}s".format)] = 0.0
    gap_s_per_B: Annotated[
        float | None,
        Option(
            "Or the time of a byte, such as 6ns: G of LogGP.",
            flags=("--bandwidth",),
            read=parse_per_byte,
        ),
    ] = None
    reduce_s_per_B: Annotated[
        float,
        Option(flags=("--reduction",), read=parse_per_byte, show=None),
    ] = 0.0


def loggp(options: LogGpOptions) -> dict[str, float] | None:
    """The parameters of `hockney.predict.costs.loggp_costs`, from a machine file or the options; None: neither.

    RequestError where only one of latency and time for each byte is given.
    """
    if options.machine is not None:
        return _loggp_of(options.machine, options.locality)
    if options.latency_s is None and options.gap_s_per_B is None:
        return None
    if options.latency_s is None or options.gap_s_per_B is None:
        raise RequestError("LogGP needs both --latency and --bandwidth", "for example 2us and 10GB/s")
    return options.model_dump(exclude={"machine", "locality"})


def _loggp_of(path: Path, locality: str) -> dict[str, float]:
    """The parameters of a machine file's LogGP fit of the ping-pong."""
    entries = [
        entry
        for entry in load(path).point_to_point
        if entry.operation == "pingpong" and "loggp" in entry.fits and locality in ("", entry.locality or "")
    ]
    if not entries:
        where = f" for locality {locality!r}" if locality else ""
        raise RequestError(f"{path} has no loggp fit of a ping-pong{where}", "make one with `hockney fit`")
    fitted = {name: parameter.value for name, parameter in entries[0].fits["loggp"].parameters.items()}
    return {
        "latency_s": fitted["L"],
        # One overhead for both ends, as in LogGP itself.
        "overhead_s": (fitted["o_s"] + fitted["o_r"]) / 2,
        "gap_s": fitted["g"],
        "gap_s_per_B": fitted["G"],
    }
