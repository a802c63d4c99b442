"""The types of answers by verb, and their JSON Schemas."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from hockney.registry import unit_files

VERSION = 1
"""Of the schemas. It grows where a key goes or changes what it means; a key that is added keeps it."""

Answer = TypeVar("Answer", bound=type | UnionType)
_answers: dict[str, type | UnionType] = {}


class Error(TypedDict):
    """What is wrong, and what to do."""

    kind: str
    message: str
    hint: str


class ErrorAnswer(TypedDict):
    """In place of the answer, where there is none."""

    error: Error


@dataclass(frozen=True)
class Schemas:
    """Verbs that have a schema, and the version of all."""

    version: int
    verbs: list[str]


def answer(*verbs: str) -> Callable[[Answer], Answer]:
    """Register the type of what `hockney VERB --json` prints, for one verb or several: `"predict bcast"`."""

    def register(kind: Answer) -> Answer:
        _answers.update(dict.fromkeys(verbs, kind))
        return kind

    return register


@cache
def answers() -> dict[str, type | UnionType]:
    """The type of each verb's answer."""
    for name in unit_files(__package__):
        importlib.import_module(f"{__package__}.{name}")
    return dict(sorted(_answers.items()))


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
        made = super().generate(schema, mode)
        for part in [made, *made.get("$defs", {}).values()]:
            if "properties" in part:
                part.setdefault("additionalProperties", False)
        return made


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
