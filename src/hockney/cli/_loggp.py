"""LogGP parameters as the command line gives them."""

from __future__ import annotations

import math
from pathlib import Path

from hockney.errors import RequestError
from hockney.units import parse_rate, parse_time


def loggp(
    machine: Path | None, locality: str, latency: str, overhead: str, gap: str, bandwidth: str, reduction: str
) -> dict[str, float] | None:
    """By the names of `hockney.predict.costs.loggp`, from a machine file or the options; None: neither is given.

    RequestError for a rate of nothing, and where only one of latency and bandwidth is given.
    """
    if machine is not None:
        return _loggp_of(machine, locality)
    if not latency and not bandwidth:
        return None
    if not latency or not bandwidth:
        raise RequestError("LogGP needs both --latency and --bandwidth", "for example 2us and 10GB/s")
    return {
        "latency_s": parse_time(latency),
        "overhead_s": parse_time(overhead),
        "gap_s": parse_time(gap),
        "gap_s_per_B": _s_per_B(bandwidth, "--bandwidth"),
        "reduce_s_per_B": _s_per_B(reduction, "--reduction") if reduction else 0.0,
    }


def _s_per_B(rate: str, option: str) -> float:
    rate_B_per_s = parse_rate(rate)
    # The inverse of a rate near zero is no number either.
    if not rate_B_per_s or not math.isfinite(1 / rate_B_per_s):
        raise RequestError(f"{option} {rate!r} is too little for any byte to arrive", "for example 10GB/s")
    return 1 / rate_B_per_s


def _loggp_of(path: Path, locality: str) -> dict[str, float]:
    """The parameters of a machine file's LogGP fit of the ping-pong."""
    from hockney.machine.file import load

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
