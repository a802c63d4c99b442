"""The options of `hockney predict profile.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Argument, Option
from hockney.predict.verb import MessageCosts


class ProfileCase(MessageCosts):
    """Which profile is predicted, and for how many ranks."""

    file: Annotated[Path, Argument("File of `hockney profile`.", metavar="PROFILE.JSON")]
    ranks: Annotated[int | None, Option("[default: those of the profile]")] = None
