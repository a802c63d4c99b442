"""The answer of `hockney schema`."""

from __future__ import annotations

from pydantic.json_schema import JsonSchemaValue

from hockney.api.answers.base import Schemas, answer

# The schema of a verb is a JSON Schema itself.
answer("schema")(Schemas | JsonSchemaValue)
