"""Options of `hockney import` and `hockney merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.importers.base import Given as Given
from hockney.registry import unit_files


class ImportOptions(BaseModel, defer_build=True):
    """What is read, as what, and where it goes."""

    files: Annotated[
        list[Path],
        Argument("Results of other benchmarks, tidy tables, or folders with them.", metavar="FILE…"),
    ]
    output: Annotated[Path, Option("New campaign folder.", flags=("--output", "-o"), metavar="CAMPAIGN")]
    format_name: Annotated[
        str | None,
        Option(
            f"Format of the files: {', '.join(unit_files('hockney.importers'))}. [default: recognised]",
            flags=("--format",),
            metavar="NAME",
        ),
    ] = None


class MergeOptions(BaseModel, defer_build=True):
    """Which campaigns are joined, and where."""

    campaigns: Annotated[list[Path], Argument("Campaign folders, at least two.", metavar="CAMPAIGN")]
    output: Annotated[Path, Option("New campaign folder.", flags=("--output", "-o"))]
