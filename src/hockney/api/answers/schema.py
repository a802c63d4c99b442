"""The answer of `hockney schema`."""

from __future__ import annotations

from typing import Any

from hockney.api.answers.base import Schemas, answer

# The schema of a verb is a JSON Schema itself.
answer("schema")(Schemas | dict[str, Any])
