"""`hockney predict`: the time of a message, a collective or an application that was not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import group

predict = group(
    "predict",
    help="The time of a message, a collective or an application that was not measured.",
)

MACHINE = Path("machine.json")
"""The file that is read where none is named."""
MachineFile = Annotated[Path, typer.Option("--machine", help="Machine file.")]
Sizes = Annotated[list[str] | None, typer.Option("--bytes", help="Size, such as 64KiB; repeat for several.")]
