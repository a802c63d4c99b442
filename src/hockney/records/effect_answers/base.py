"""The answers about effects by the names of the effects."""

from __future__ import annotations

from hockney.records.answers import Answer
from hockney.registry import Registry

effect_answers: Registry[type[Answer]] = Registry(
    "answer about an effect", "hockney.records.effect_answers", "reference/effects.md"
)
"""Each answer by the name of its effect, which is that of the file in cpp/runner/effects."""


def answer_type(effect: str) -> type[Answer]:
    """The type of an effect's answers; the open `Answer` where this version does not know the effect."""
    return dict(effect_answers).get(effect, Answer)
