"""The answer of `hockney schema`."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from hockney.api.answers.base import answer


class Schemas(TypedDict):
    """Verbs that have a schema, and the version of all."""

    version: int
    verbs: list[str]


# The schema of a verb is a JSON Schema itself.
SchemaAnswer = answer("schema")(Schemas | dict[str, Any])
