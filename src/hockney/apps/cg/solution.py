"""The file of a solution: raw doubles, described by a JSON file beside it, read back and drawn."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError

SCHEMA = 1
BYTES = 8
"""Of a double."""


def require_place(path: Path) -> None:
    """RequestError where no file can be made: asked before a run, whose time would be lost."""
    hint = "choose another place"
    if not path.parent.is_dir():
        raise RequestError(f"cannot write {path}: there is no folder {path.parent}", hint)
    if path.is_dir():
        raise RequestError(f"cannot write {path}: it is a folder", hint)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise RequestError(f"cannot write {path}: not permitted", hint)


def description(path: Path) -> Path:
    """The JSON file that belongs to a solution: its name with `.json` behind."""
    return path.with_name(path.name + ".json")


def part(path: Path) -> Path:
    """Where the ranks write before the solution has its name."""
    return path.with_name(path.name + ".part")


def describe(path: Path, shape: tuple[int, int, int], spacing: float, facts: dict[str, Any]) -> None:
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
    try:
        description(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise RequestError(
            f"cannot write {description(path)}: {error.strerror or error}", "choose another place"
        ) from error


def read(path: Path) -> NDArray[np.float64]:
    """The solution as an array (z, y, x), without its boundary, which is zero.

    RequestError where the file or its description is missing or damaged, or where their sizes differ.
    """
    hint = "write one with `hockney run cg --solution FILE`"
    try:
        described = json.loads(description(path).read_text(encoding="utf-8"))
        shape = tuple(int(count) for count in described["shape"])
        order = {"little": "<", "big": ">"}[described["byte_order"]]
        schema = described["schema"]
    except OSError as error:
        raise RequestError(f"cannot read {description(path)}: {error.strerror or error}", hint) from error
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{description(path)} does not describe a solution", hint) from error
    if schema != SCHEMA or len(shape) != 3 or min(shape) < 1:
        raise RequestError(f"{description(path)} is of a kind that is not known", hint)
    try:
        size = path.stat().st_size
        expected = BYTES * shape[0] * shape[1] * shape[2]
        if size != expected:
            raise RequestError(f"{path} has {size} B, its description says {expected} B", "write it again")
        return np.fromfile(path, dtype=f"{order}f8").reshape(shape).astype(np.float64, copy=False)
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror or error}", hint) from error
