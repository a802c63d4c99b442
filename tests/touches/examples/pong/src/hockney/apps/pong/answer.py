"""What cpp/runner/apps/pong.cpp answers."""

from __future__ import annotations

from hockney.records.answers import Answer


class PongAnswer(Answer):
    """How many messages, of all that either rank received, were not what the other sent."""

    wrong_messages: int
