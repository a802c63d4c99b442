"""Options of `hockney schema`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from hockney.fields import Argument


class SchemaOptions(BaseModel, defer_build=True):
    """Which verb."""

    words: Annotated[
        list[str], Argument("A verb, such as `fit` or `predict bcast`. [default: name all]", metavar="VERB")
    ] = Field(default_factory=list)
