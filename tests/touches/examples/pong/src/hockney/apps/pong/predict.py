"""`hockney predict pong`: what a message there and back takes."""

from __future__ import annotations

from typing import Annotated

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.options import MachineFile, Sizes
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.apps.pong.model import FORMULA, there_and_back_s
    from hockney.machine.file import load


class PongCase(MachineFile, Sizes):
    """Which messages are predicted."""

    locality: Annotated[str | None, Option("Of the two ranks. [default: the nearest measured]")] = None


@verb("pong", examples="hockney predict pong --bytes 8 --bytes 1MiB --machine machine.json", of=predict)
def pong(case: PongCase, json: JsonOption = False) -> None:
    """The time of `hockney run pong` from the latency and the bandwidth of a machine file."""
    if not case.sizes_B:
        raise RequestError("pong needs --bytes", "for example --bytes 64KiB")
    machine = load(case.machine)
    times_s = {size_B: there_and_back_s(machine, size_B, case.locality) for size_B in case.sizes_B}
    if json:
        points = [{"size_B": size_B, "time_s": time_s} for size_B, time_s in times_s.items()]
        say.json({"operation": "pong", "formula": FORMULA, "machine": str(case.machine), "points": points})
        return
    for size_B, time_s in times_s.items():
        say.line(f"{format_bytes(size_B)} there and back: {format_time(time_s)}, {FORMULA}")
