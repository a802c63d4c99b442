"""The file of a solution: raw doubles, described by a JSON file beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from hockney import writing

SCHEMA = 1


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
