"""Options of `hockney fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Option
from hockney.options.measured import MeasuredData


class FitOptions(MeasuredData):
    """What is fitted, and what the machine file says of it."""

    output: Annotated[
        Path | None, Option("Machine file to write. [default: in the campaign]", flags=("--output", "-o"))
    ] = None
    topology: Annotated[str, Option("Network of the nodes, as `hockney network` takes it.")] = ""
