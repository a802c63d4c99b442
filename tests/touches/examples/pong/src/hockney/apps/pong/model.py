"""The time of a message there and back: 2 (α + n β), with α and β as a ping-pong of the machine file has them."""

from __future__ import annotations

from hockney.machine.file import Machine
from hockney.machine.select import select_entry
from hockney.predict.message import predict_message

FORMULA = "T = 2 (α + n β)"


def there_and_back_s(machine: Machine, size_B: int, locality: str | None = None) -> float:
    """Seconds, without a locality for the nearest ranks; RequestError where no ping-pong was measured there."""
    entry = select_entry(machine, {"operation": "pingpong", "locality": locality})
    return 2 * predict_message(entry, size_B, "hockney").time_s
