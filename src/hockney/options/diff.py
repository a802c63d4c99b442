"""What `hockney diff` is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel


class DiffOptions(BaseModel):
    """Which machines are compared, and how closely."""

    a: Annotated[Path, Argument("Machine file, or the name of a published machine.", metavar="A.json")]
    b: Annotated[Path, Argument("Machine that A is compared with.", metavar="B.json")]
    points: Annotated[bool, Option("Compare every measured size too.", flags=("--points",))] = False
    check: Annotated[
        bool,
        Option(
            "Exit with 1 where a judged difference exceeds chance, or B lacks what A has; what could not be "
            "judged does not count.",
            flags=("--check",),
        ),
    ] = False
    any_level: AnyLevel = False
