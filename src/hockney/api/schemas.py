"""The JSON Schemas of what verbs print with `--json`."""

from __future__ import annotations

from pydantic.json_schema import JsonSchemaValue

from hockney.api.answers.base import VERSION, answers, schema
from hockney.api.answers.verbs import Schemas
from hockney.errors import RequestError
from hockney.registry import did_you_mean


def schemas() -> Schemas:
    """All verbs that have a schema."""
    return Schemas(VERSION, [*answers()])


def schema_of(verb: str) -> JsonSchemaValue:
    """The JSON Schema (draft 2020-12) of a verb; RequestError for an unknown one."""
    known = answers()
    if verb not in known:
        raise RequestError(f"there is no verb {verb!r}", f"{did_you_mean(verb, known)}`hockney schema` names all")
    return schema(verb)
