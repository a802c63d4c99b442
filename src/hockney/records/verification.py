"""What a verification of rules found: `verification.json` of its campaign folder."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hockney.records import journal
from hockney.units import counted, format_bytes

FILE = "verification.json"

Verdict = Literal["faster", "slower", "not told", "no rule", "not timed"]
Effect = Literal["proven", "none", "not proven"]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Gain = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class VerifiedCell(BaseModel):
    """A call under the library's default and under the rules, from the same launches; times are medians.

    `algorithm` is what the rules said of it, empty where they said nothing. `gain` is the time by default over
    the time with the rules, launch by launch, with its 95 % interval; `regret` by what share what the file now
    says takes longer than the best that was measured. `is_kept`: whether the file still has the rule.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    operation: str
    ranks: Count
    bytes: Count
    algorithm: str = ""
    verdict: Verdict
    is_kept: bool
    default_s: Number | None = None
    tuned_s: Number | None = None
    best: str = ""
    best_s: Number | None = None
    gain: Gain | None = None
    gain_low: Number | None = None
    gain_high: Number | None = None
    regret: Number | None = None

    def __str__(self) -> str:
        """Why it went back, or what is wrong with it, in a line."""
        where = f"{self.operation} on {counted(self.ranks, 'rank')}, {format_bytes(self.bytes)}"
        rule = self.algorithm or "no rule"
        if self.gain is None or self.verdict == "not timed":
            return f"{where}: {rule}, no time, one at another level of the machine, or a wrong result"
        between = "" if self.gain_low is None else f" ({self.gain_low:.2f} to {self.gain_high:.2f})"
        return f"{where}: {rule}, {self.gain:.2f} times as fast as the default{between}"

    @property
    def fate(self) -> str:
        """Why a rule went back; empty where it stays, or there was none."""
        if not self.algorithm or self.is_kept:
            return ""
        return f"goes back: {_WHY_BACK[self.verdict]}"


_WHY_BACK: dict[Verdict, str] = {
    "slower": "slower",
    "not told": "interval holds 1",
    "not timed": "too few times",
    "faster": "rules have no effect, or slow others",
}


class Proof(BaseModel):
    """Whether rules for an operation take effect, by one that changes its time in a known way.

    The rule names `algorithm` in one cell; `expected` is how many times as long as the default it takes there
    by the campaign, `seen` what launches with it showed, with its 95 % interval.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    operation: str
    effect: Effect
    why: str
    algorithm: str = ""
    ranks: Count | None = None
    bytes: Count | None = None
    expected: Number | None = None
    seen: Number | None = None
    seen_low: Number | None = None
    seen_high: Number | None = None


class Verification(BaseModel):
    """A verification as a whole."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    schema_version: Literal[1] = 1
    time: str
    target: str
    library: str
    launches: Count
    proofs: list[Proof]
    cells: list[VerifiedCell]

    @property
    def mean_gain(self) -> float | None:
        """Geometric mean of the gains of the cells that keep a rule; None without one."""
        return _mean(cell.gain for cell in self.cells if cell.is_kept)

    def ruled(self, effect: Effect) -> list[str]:
        """The operations that keep a rule, and whose rules have this effect."""
        left = {cell.operation for cell in self.cells if cell.is_kept}
        return [proof.operation for proof in self.proofs if proof.effect == effect and proof.operation in left]

    def of(self, *verdicts: Verdict) -> list[VerifiedCell]:
        """The cells with one of these verdicts."""
        return [cell for cell in self.cells if cell.verdict in verdicts]

    @property
    def gone_back(self) -> list[VerifiedCell]:
        """The cells that had a rule and have none any more."""
        return [cell for cell in self.cells if cell.algorithm and not cell.is_kept]


def _mean(gains: Iterable[float | None]) -> float | None:
    known = [math.log(gain) for gain in gains if gain is not None]
    return math.exp(sum(known) / len(known)) if known else None


def write(folder: Path, verification: Verification) -> None:
    """Write the file of a folder."""
    journal.write(folder / FILE, verification)


def find(folder: Path) -> Verification | None:
    """What is in the folder; None where there is none, RequestError where it is damaged."""
    return journal.find(Verification, folder / FILE, "give the same `hockney tune --verify` again")
