"""Options of `hockney fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Option
from hockney.options.measured import MeasuredData


class FitOptions(MeasuredData):
    """What is fitted, and what the machine file says of it."""

    output: Annotated[Path, Option("Machine file.", flags=("--output", "-o"))] = Path("machine.json")
    topology: Annotated[str, Option("See `hockney network`.")] = ""
