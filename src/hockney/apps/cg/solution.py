"""The file of a solution: raw doubles, described by a JSON file beside it, read back and drawn."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.answers import first_problem

SCHEMA = 1
BYTES = 8
"""Of a double."""


class Description(BaseModel):
    """What is needed of the description to read a solution."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = Field(alias="schema")
    byte_order: Literal["little", "big"]
    shape: tuple[PositiveInt, PositiveInt, PositiveInt]


def description(path: Path) -> Path:
    """The JSON file that belongs to a solution: its name with `.json` behind."""
    return path.with_name(path.name + ".json")


def part(path: Path) -> Path:
    """Where the ranks write before the solution has its name."""
    return path.with_name(path.name + ".part")


def describe(
    path: Path, shape: tuple[int, int, int], spacing: float, facts: Mapping[str, float | bool | None]
) -> None:
    """Write the description. `shape`: unknowns along z, y, x; RequestError where the place cannot be written."""
    text = json.dumps(
        {
            "schema": SCHEMA,
            "type": "float64",
            "byte_order": sys.byteorder,
            "order": "z, y, x; x is contiguous",
            "shape": list(shape),
            "spacing": spacing,
            **facts,
        },
        indent=2,
        allow_nan=False,
    )
    writing.replace(description(path), text + "\n")


def read(path: Path) -> NDArray[np.float64]:
    """The solution as an array (z, y, x), without its boundary, which is zero.

    RequestError where the file or its description is missing or damaged, or where their sizes differ.
    """
    hint = "write one with `hockney run cg --solution FILE`"
    try:
        described = Description.model_validate(reading.json_file(description(path), hint))
    except ValidationError as error:
        raise RequestError(
            f"{description(path)} does not describe a solution: {first_problem(error)}", hint
        ) from error
    data = reading.content(path, hint, most_B=sys.maxsize)
    expected_B = BYTES * math.prod(described.shape)
    if len(data) != expected_B:
        raise RequestError(f"{path} has {len(data)} B, its description says {expected_B} B", "write it again")
    order = {"little": "<", "big": ">"}[described.byte_order]
    return np.frombuffer(data, dtype=f"{order}f8").reshape(described.shape).astype(np.float64)
