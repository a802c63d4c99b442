"""What `hockney show` is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from hockney.fields import Argument, Option
from hockney.machine.shipped import MACHINE, usual


class ShowOptions(BaseModel, defer_build=True):
    """What of a machine file is shown, and how."""

    machine: Annotated[Path, AfterValidator(usual), Argument("Machine file, or the campaign it lies in.")] = (
        Field(default=MACHINE, validate_default=True)
    )
    format_: Annotated[
        Literal["summary", "formulas", "table", "latex", "json"],
        Option(
            "Form: summary, formulas, table, latex or json.",
            flags=("--format",),
        ),
    ] = "summary"
    view: Annotated[
        Literal["asymptotic", "dominant", "bounded", "exact", "all"] | None,
        Option("View of the models: asymptotic, dominant, bounded, exact or all. [default: formulas]"),
    ] = None
    model: Annotated[
        str | None, Option("Model to show, or 'all'. [default: piecewise; all of them in tables]")
    ] = None
    operation: Annotated[str | None, Option("Operation, effect or collective to show.")] = None
    topology: Annotated[str, Option("Network that the bounds assume. [default: the machine's]")] = ""
    locality: Annotated[str | None, Option("How far ranks are apart. [default: all]")] = None
    where: Annotated[list[str], Option()] = Field(default_factory=list)
    warnings: Annotated[
        bool, Option("Print only what limits trust in the measurements.", flags=("--warnings",))
    ] = False
