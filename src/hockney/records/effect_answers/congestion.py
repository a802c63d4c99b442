"""The runner answers about congestion as about all streams."""

from __future__ import annotations

from hockney.records.answers import StreamsAnswer
from hockney.records.effect_answers.base import effect_answers

effect_answers.register("congestion")(StreamsAnswer)
