"""How a campaign is watched on the terminal, by every verb that measures one."""

from __future__ import annotations

from hockney.terminal import say
from hockney.terminal.loading import later

with later():
    from hockney.campaign.events import Progress
    from hockney.records.record import Record


class Terminal:
    """Draws a campaign's progress on the terminal; warnings go above the bar and are never erased."""

    def __init__(self, bar: say.PointsBar) -> None:
        self._bar = bar

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        self._bar.update(progress.doing, progress.done, progress.expected, progress.remaining_s)

    def measured(self, record: Record) -> None:
        """Nothing to say for each point: the bar moves."""

    def warning(self, text: str) -> None:
        """Print it above the bar."""
        say.warn(text)
