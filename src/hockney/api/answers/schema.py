"""The answer of `hockney schema`."""

from __future__ import annotations

from typing import Any

from hockney.api.answers.base import answer
from hockney.api.schemas import Schemas

# The schema of a verb is a JSON Schema itself.
answer("schema")(Schemas | dict[str, Any])
