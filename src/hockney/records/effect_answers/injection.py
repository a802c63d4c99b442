"""What the runner answers about injection."""

from __future__ import annotations

from hockney.records.answers import StreamsAnswer, StreamsAsked
from hockney.records.effect_answers.base import effect_answers


class InjectionAnswer(StreamsAnswer):
    """The same as of all streams."""

    ASKED = StreamsAsked


effect_answers.register("injection")(InjectionAnswer)
