"""The file of a solution: raw doubles, described by a JSON file beside it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hockney import writing
from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.solved import last_norm
from hockney.apps.stencil.grids import cells_of
from hockney.records.app_record import AppRecord

SCHEMA = 1


def description(path: Path) -> Path:
    """The JSON file that belongs to a solution: its name with `.json` behind."""
    return path.with_name(path.name + ".json")


def part(path: Path) -> Path:
    """Where the ranks write before the solution has its name."""
    return path.with_name(path.name + ".part")


def describe(path: Path, run: AppRecord) -> None:
    """Write the description of what a run wrote; RequestError where the place cannot be written."""
    answer, cells = run.answer.read_as(CgAnswer), cells_of(run)
    text = json.dumps(
        {
            "schema": SCHEMA,
            "type": "float64",
            "byte_order": sys.byteorder,
            "order": "z, y, x; x is contiguous",
            "shape": cells[::-1],
            "spacing": 1 / (max(cells) + 1),
            "iterations": answer.iterations,
            "converged": answer.converged,
            "verified": answer.verified,
            "residual_norm": last_norm(answer),
        },
        indent=2,
        allow_nan=False,
    )
    writing.replace(description(path), text + "\n")
