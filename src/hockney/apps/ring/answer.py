"""What cpp/runner/apps/ring.cpp answers."""

from __future__ import annotations

from pydantic import Field

from hockney.records.answers import Answer


class RingAnswer(Answer):
    """By rank of the launch: which process of the ring it is, what it received last, and its cycles' times.

    Means and variances are over `cycles` cycles. Of a ring that another program timed only some of this is known.
    """

    cycles: int | None = None
    positions: list[int] = Field(default_factory=list)
    received: list[int] = Field(default_factory=list)
    left_tags: list[int] = Field(default_factory=list)
    right_tags: list[int] = Field(default_factory=list)
    left_values: list[int] = Field(default_factory=list)
    right_values: list[int] = Field(default_factory=list)
    means_s: list[float] = Field(default_factory=list)
    variances_s2: list[float] = Field(default_factory=list)
