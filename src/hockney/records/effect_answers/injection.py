"""The runner answers about injection as about all streams."""

from __future__ import annotations

from hockney.records.answers import StreamsAnswer
from hockney.records.effect_answers.base import effect_answers

effect_answers.register("injection")(StreamsAnswer)
