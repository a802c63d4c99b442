"""What the runner answers about congestion."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from hockney.records.answers import StreamsAnswer, StreamsAsked
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Count, NotNegative


class CongestionAsked(StreamsAsked):
    """Pairs in a pattern: one of them alone, a random draw, or the worst of a topology."""

    pattern: str
    draw: Count | None = None
    seed: Count | None = None
    topology: str = ""
    topology_bound: NotNegative | None = None

    @model_validator(mode="after")
    def _pattern_is_whole(self) -> Self:
        if "draw" in self.model_fields_set and self.seed is None:
            raise ValueError("a draw has a seed")
        if self.pattern == "topology" and self.topology_bound is None:
            raise ValueError("the pairing of a topology has its bound")
        return self


class CongestionAnswer(StreamsAnswer):
    """The same as of all streams."""

    ASKED = CongestionAsked


effect_answers.register("congestion")(CongestionAnswer)
