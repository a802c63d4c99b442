"""What `hockney show` is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel


class ShowOptions(BaseModel):
    """What of a machine file is shown, and how."""

    machine: Annotated[Path, Argument("Machine file.")] = Path("machine.json")
    format_: Annotated[
        Literal["text", "table", "latex", "json", "summary"],
        Option("text, table, latex, json or summary.", flags=("--format",)),
    ] = "text"
    view: Annotated[
        Literal["asymptotic", "dominant", "bounded", "exact", "all"] | None,
        Option(
            "Models in this view: asymptotic, dominant, bounded, exact, or all four. [default: formulas; all in "
            "JSON]"
        ),
    ] = None
    model: Annotated[str | None, Option("To show, or 'all'. [default: piecewise; all of them in tables]")] = None
    operation: Annotated[
        str | None, Option("Or an effect; a collective, or 'collectives', for closed forms.")
    ] = None
    algorithm: Annotated[str, Option("[default: all]")] = ""
    ranks: Annotated[int | None, Option("The exact form of the collective is given for it.")] = None
    topology: Annotated[str, Option("Bounds are for it. [default: the machine's]")] = ""
    locality: Annotated[str | None, Option("[default: all]")] = None
    variant: Annotated[str | None, Option("[default: all]")] = None
    cache: Annotated[str | None, Option("[default: both]")] = None
    any_level: AnyLevel = False
    plot: Annotated[
        bool,
        Option("Draw times against sizes with characters, and the model through them.", flags=("--plot",)),
    ] = False
