"""`hockney predict pong`: 2 (α + n β), with α and β as a ping-pong of the machine file has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hockney.apps.pong.app import FORMULA, PongCase
from hockney.errors import RequestError
from hockney.machine.file import Machine, load
from hockney.machine.select import select_entry
from hockney.predict.message import predict_message
from hockney.progress import Progress
from hockney.report.application import AppAnswer
from hockney.units import format_bytes, format_time


@dataclass(frozen=True)
class PongTime:
    """Of one message."""

    size_B: int
    time_s: float


@dataclass(frozen=True)
class PongTimes(AppAnswer):
    """Of each message."""

    operation: str
    formula: str
    machine: Path
    points: list[PongTime]

    def text(self) -> Iterator[str]:
        """A line for each message."""
        for point in self.points:
            yield f"{format_bytes(point.size_B)} there and back: {format_time(point.time_s)}, {self.formula}"


def predict(_: Progress, case: PongCase) -> PongTimes:
    """RequestError without a size."""
    if not case.sizes_B:
        raise RequestError("pong needs --bytes", "for example --bytes 64KiB")
    machine = load(case.machine)
    points = [PongTime(size_B, there_and_back_s(machine, size_B, case.locality)) for size_B in case.sizes_B]
    return PongTimes("pong", FORMULA, case.machine, points)


def there_and_back_s(machine: Machine, size_B: int, locality: str | None = None) -> float:
    """Seconds, without a locality for the nearest ranks; RequestError where no ping-pong was measured there."""
    entry = select_entry(machine, {"operation": "pingpong", "locality": locality})
    return 2 * predict_message(entry, size_B, "hockney").time_s
