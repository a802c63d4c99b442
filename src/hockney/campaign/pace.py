"""How long a campaign will still take."""

from __future__ import annotations

import time

from hockney.campaign.events import Progress
from hockney.campaign.work import Work


class Pace:
    """Estimate of the time that remains, from the pace so far; parts (launch × variant) are taken as alike."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._finished: list[int] = []
        self._start_s = time.monotonic()
        self._measured = 0

    def progress(self, work: Work, doing: str) -> Progress:
        """The estimate; to be called once before each point."""
        self._measured += 1
        done, expected = work.visits.total(), max(work.expected_points(), work.visits.total() + 1)
        others = max(0, self._parts - len(self._finished) - 1) * (
            sum(self._finished) / len(self._finished) if self._finished else expected
        )
        pace_s = (time.monotonic() - self._start_s) / self._measured
        before = sum(self._finished)
        left = expected - done + others
        return Progress(before + done, round(before + expected + others), left * pace_s, doing)

    def finish_part(self, work: Work) -> None:
        """One launch index of one variant is over."""
        self._finished.append(work.visits.total())
