"""How a campaign came off: what it measured, what it did not, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hockney.errors import HockneyError, Incomplete, RequestError

JOB_IS_OVER = "the job's time was over"
TIME_IS_OVER = "its time (--time) was over"


@dataclass
class Outcome:
    """The outcome of a campaign."""

    measured: int = 0
    failures: list[str] = field(default_factory=list)
    limitations: list[str] = field(default_factory=list)
    """What an algorithm or an effect does not do; recorded, and no failure."""
    vanished: list[str] = field(default_factory=list)
    """Points that gave no time at any visit, because noise exceeded it; recorded, and no failure."""
    left_out: int = 0
    """Points that the campaign's time did not allow."""
    effects_left_out: list[str] = field(default_factory=list)
    """Effects that the campaign's time did not allow, or not as a whole."""
    warnings: list[str] = field(default_factory=list)
    job_is_over: bool = False
    """The time of a batch system's job did not suffice; the campaign goes on in the next."""

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing that going on could measure."""
        is_left = bool(self.failures or self.vanished or self.left_out or self.effects_left_out)
        return not (is_left or self.job_is_over)

    @property
    def why(self) -> str:
        """Why it is not whole; empty where it is."""
        if self.job_is_over:
            return JOB_IS_OVER
        if self.failures:
            return self.failures[0]
        if self.left_out or self.effects_left_out:
            return TIME_IS_OVER
        return next(iter(self.vanished), "")

    @property
    def lack(self) -> str:
        """Why nothing was measured, where nothing was."""
        return self.why or next(iter(self.limitations), "no point was asked for")

    def nothing(self, folder: Path) -> HockneyError:
        """The error of a campaign without a record: a request that everything refuses is a wrong one."""
        hint = "run `hockney doctor --run`"
        if self.is_whole:
            hint = "see `hockney schedule list` and `hockney measure --help`"
        elif self.lack == JOB_IS_OVER:
            hint = "submit it with more time: --site walltime=2h"
        elif self.lack == TIME_IS_OVER:
            hint = f"give --time more than a launch takes, and a smaller --budget; or {hint}"
        elif self.vanished and not self.failures:
            hint = "measure on a quieter machine, or raise --budget"
        kind = RequestError if self.is_whole else Incomplete
        return kind(f"nothing could be measured into {folder}: {self.lack}", hint)
