"""The argument of every verb that reads what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel

from hockney.fields import Argument


class MeasuredData(BaseModel, defer_build=True):
    """What was measured, in a campaign folder or in one table."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[Path, Argument("Campaign folder, or a tidy table (.csv, .csv.gz, .parquet).")]
