"""Options of `hockney status`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument


class StatusOptions(BaseModel, defer_build=True):
    """Of which folder."""

    folder: Annotated[Path, Argument("A campaign or a study.", metavar="FOLDER")]
