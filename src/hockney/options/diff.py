"""What `hockney diff` is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option


class DiffOptions(BaseModel, defer_build=True):
    """Which machines are compared, and how closely."""

    a: Annotated[Path, Argument("Machine file, or the name of a published machine.", metavar="A.json")]
    b: Annotated[Path, Argument("Machine that A is compared with.", metavar="B.json")]
    points: Annotated[bool, Option("Compare every measured size, too.", flags=("--points",))] = False
    check: Annotated[
        bool,
        Option(
            "Exit with 1 if a difference exceeds chance, or if B lacks what A has.",
            flags=("--check",),
        ),
    ] = False
