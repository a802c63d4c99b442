"""An effect's questions, and what they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hockney.campaign.effects.base import Here, NotMeasurable, Question, effects
from hockney.records.answers import Answer

Asked = list[Question | NotMeasurable]


def ask(effect: str, here: Here, answered: Callable[[Question], Answer | None] = lambda _: None) -> Asked:
    """All that the effect yields, its questions answered so."""
    asking = effects.get(effect)(here)
    asked: Asked = []
    answer: Answer | None = None
    while True:
        try:
            asked.append(asking.send(answer))
        except StopIteration:
            return asked
        answer = answered(asked[-1]) if isinstance(asked[-1], Question) else None


def questions(asked: Iterable[Question | NotMeasurable]) -> list[Question]:
    """What is to be measured."""
    return [question for question in asked if isinstance(question, Question)]


def whys(asked: Iterable[Question | NotMeasurable]) -> list[str]:
    """Why something is not."""
    return [reason.why for reason in asked if isinstance(reason, NotMeasurable)]
