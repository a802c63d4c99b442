"""What the runner answers about matching."""

from __future__ import annotations

from hockney.records.answers import Asked, Timed
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Count, Whole


class MatchingAsked(Asked):
    """Entries ahead of the one that matches, and behind it; what they differ by."""

    queue: str
    source: str
    by: str
    ahead: Count
    behind: Count


class MatchingAnswer(Timed):
    """Messages whose match lies deep in a queue: the time of each of `targets` messages in a row."""

    ASKED = MatchingAsked

    targets: Whole = 1


effect_answers.register("matching")(MatchingAnswer)
