"""The types of answers by verb, and their JSON Schemas."""

from __future__ import annotations

from types import UnionType
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
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


class _Schema(GenerateJsonSchema):
    """Fields of dataclasses are all written, whether they have a default or not."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Whether a key is always there."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)


class _Strict(_Schema):
    """Keys that the type does not name are refused: for tests. A reader passes over keys that come later."""

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Closed unless the type itself is open: that the one around it is says nothing of this one."""
        own = getattr(schema.get("cls"), "__pydantic_config__", {})
        return {**super().typed_dict_schema(schema), "additionalProperties": own.get("extra") == "allow"}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Closed: a dataclass writes its fields."""
        return {**super().dataclass_schema(schema), "additionalProperties": False}

    def generate(self, schema: Any, mode: Any = "serialization") -> JsonSchemaValue:
        """The schema, closed."""
        generated = super().generate(schema, mode)
        for part in [generated, *generated.get("$defs", {}).values()]:
            if "properties" in part:
                part.setdefault("additionalProperties", False)
        return generated


def schema(verb: str, *, strict: bool = False) -> JsonSchemaValue:
    """The JSON Schema (draft 2020-12) of what `hockney VERB --json` prints, an error included.

    KeyError for an unknown verb. `strict` refuses keys that are not named.
    """
    kind: Any = answers()[verb] | ErrorAnswer
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=_Strict if strict else _Schema)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:hockney:schema:{VERSION}:{verb.replace(' ', '-')}",
        "title": f"hockney {verb} --json",
        **made,
    }
