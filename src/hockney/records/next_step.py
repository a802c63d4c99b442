"""The verb that goes on from a campaign, as the verbs that make one name it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hockney.records.keys import POINT_TO_POINT


def next_step(folder: Path, operations: Iterable[str], *, has_effects: bool = False) -> str:
    """`next: …`: a fit needs messages or effects, a campaign of collectives or applications has its report."""
    verb = "fit" if has_effects or any(name in POINT_TO_POINT for name in operations) else "report"
    return f"next: `hockney {verb} {folder}`"
