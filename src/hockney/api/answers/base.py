"""The types of answers by verb, and their JSON Schemas."""

from __future__ import annotations

from types import UnionType
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from typing_extensions import TypedDict

from hockney.api.answers.verbs import ANSWERS

VERSION = 1
"""Of the schemas. It grows where a key goes or changes what it means; a key that is added keeps it."""


class Error(TypedDict):
    """What is wrong, and what to do."""

    kind: str
    message: str
    hint: str


class ErrorAnswer(TypedDict):
    """In place of the answer, where there is none."""

    error: Error


def answers() -> dict[str, type | UnionType]:
    """The type of each verb's answer, sorted by the verbs."""
    return dict(sorted(ANSWERS.items()))


class AnswerSchema(GenerateJsonSchema):
    """Fields of dataclasses are all written, whether they have a default or not."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Whether a key is always there."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)


def schema(verb: str, generator: type[GenerateJsonSchema] = AnswerSchema) -> JsonSchemaValue:
    """The JSON Schema (draft 2020-12) of what `hockney VERB --json` prints, an error included.

    A reader passes over keys that come later. KeyError for an unknown verb.
    """
    kind: Any = answers()[verb] | ErrorAnswer
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=generator)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:hockney:schema:{VERSION}:{verb.replace(' ', '-')}",
        "title": f"hockney {verb} --json",
        **made,
    }
