"""What the runner answers about collectives on subsets of the ranks."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from hockney.records.answers import Asked, Timed
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Count, Positive, Real, Whole


class SubsetsAsked(Asked):
    """`of`, a collective, on subsets of `ranks` members: on one of them alone, or on all of them together."""

    of: str
    algorithm: str
    ranks: int = Field(ge=2)
    bytes: Count
    segment_B: Whole = 0
    radix: Whole = 0
    arrangement: Literal["blocks", "strided"]
    part: Literal["alone", "together"]


class SubsetsAnswer(Timed):
    """Completion times, last exit minus first entry of a subset. A sample is their mean over the subsets.

    `slowest_s`: of each sample the longest; `subset_s`: each subset's median. `late`: repetitions that a rank
    came too late for, which were done again; `late_kept`: samples that it was too late for at the last try as
    well, which count. `preempted`: samples left out because the system took a processor away.
    """

    ASKED = SubsetsAsked

    verified: bool
    slowest_s: list[Real] = Field(default_factory=list)
    subset_s: list[Positive] = Field(min_length=1)
    preempted: Whole = 0
    late: Whole = 0
    late_kept: Whole = 0

    @model_validator(mode="after")
    def _samples_fit(self) -> Self:
        if len(self.slowest_s) != len(self.samples_s):
            raise ValueError("a sample has a slowest subset")
        return self


effect_answers.register("subsets")(SubsetsAnswer)
