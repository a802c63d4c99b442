"""What the runner answers about matching."""

from __future__ import annotations

from hockney.records.answers import Timed
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Whole


class MatchingAnswer(Timed):
    """Messages whose match lies deep in a queue: the time of each of `targets` messages in a row."""

    targets: Whole = 1


effect_answers.register("matching")(MatchingAnswer)
