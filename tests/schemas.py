"""Every answer of every verb in tests is held against the JSON Schema of its verb: tests/command_line.py asks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from hockney.api.answers.base import AnswerSchema, schema
from hockney.terminal import application


class Strict(AnswerSchema):
    """Keys that the type does not name are refused."""

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


@cache
def _verbs() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """The verbs, and those of each group by the words that they are called by."""
    found = application()
    groups = {}
    for group in found.registered_groups:
        assert group.typer_instance is not None
        words = group.typer_instance.info.cls.words  # type: ignore[union-attr]
        names = [str(one.name) for one in group.typer_instance.registered_commands]
        groups[str(group.name)] = frozenset(word for name in names for word in words.get(name, name).split())
    return frozenset(str(one.name) for one in found.registered_commands), groups


def verb_of(words: Sequence[str]) -> str | None:
    """`predict bcast` of what was typed; None where no verb is named."""
    alone, groups = _verbs()
    if not words or words[0] not in groups:
        return words[0] if words and words[0] in alone else None
    group, rest = words[0], words[1:]
    if group == "predict" and rest and rest[0].endswith(".json"):
        return "predict profile"
    return next((f"{group} {word}" for word in rest if word in groups[group]), None)


@cache
def validator(verb: str) -> Draft202012Validator:
    """That refuses unknown keys, too."""
    made = schema(verb, Strict)
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


def complaint(verb: str, answer: Any) -> str:
    """What is wrong with an answer, where in it; empty where it is as its schema says."""
    found: ValidationError | None = best_match(validator(verb).iter_errors(answer))
    return "" if found is None else f"hockney {verb} --json: {found.json_path}: {found.message[:500]}"


def expect_as_in_schema(words: Sequence[str], printed: str) -> None:
    """AssertionError where what was printed is no answer of the verb."""
    verb = verb_of(words)
    if verb is None or "--json" not in words or not printed:
        return
    assert not (wrong := complaint(verb, json.loads(printed))), wrong
