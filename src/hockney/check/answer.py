"""The answer of a check: guidelines, and what became slower, each where it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hockney.check.against import Changes, QuantityChange
from hockney.check.power import Power
from hockney.check.study import Checked, GuidelineFinding


@dataclass(frozen=True)
class Against:
    """What became slower or faster than it was in `older`, of so many quantities that were `compared`.

    `yardstick`: those of our own schedules that did, which count for nothing here.
    """

    older: str
    compared: int
    slower: list[QuantityChange]
    faster: list[QuantityChange]
    not_slower: int
    undecided: int
    missing: list[str]
    yardstick: list[QuantityChange]


@dataclass(frozen=True)
class CheckAnswer:
    """What was checked, how sure an alarm is, and what was found; None where it was not asked for."""

    guidelines_checked: Annotated[Checked | None, Field(exclude=True)]
    changes: Annotated[Changes | None, Field(exclude=True)]
    checked: str
    family_error: float
    least_factor: float
    correction: str = "Holm"
    launches: int | None = None
    compared: int | None = None
    violated: int | None = None
    kept: int | None = None
    undecided: int | None = None
    points_of_another_level: int | None = None
    operations_of_other_statistics: tuple[str, ...] | None = None
    power: Power | None = None
    guidelines: dict[str, dict[str, int]] | None = None
    violations: Sequence[GuidelineFinding] | None = None
    against: Against | None = None

    @property
    def passes(self) -> bool:
        """Whether no violation stands, and nothing became slower."""
        stands = any(finding.stands for finding in self.violations or ())
        is_slower = self.against is not None and bool(self.against.slower)
        return not (stands or is_slower)

    @property
    def tells_nothing(self) -> bool:
        """Whether guidelines were compared, and launches tell nothing of any."""
        return bool(self.compared) and not self.violated and not self.kept
