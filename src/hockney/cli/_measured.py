"""The argument of every verb that reads what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.options import Argument
from hockney.terminal.loading import later

with later():
    from hockney.records.app_record import AppRecord


class MeasuredData(BaseModel):
    """What was measured, in a campaign folder or in one table."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[Path, Argument("Campaign folder, or a tidy table (.csv, .csv.gz, .parquet).")]


def runs_alone(path: Path, apps: Sequence[AppRecord]) -> RequestError:
    """Of a folder with runs of applications and no messages: what it holds, and what can be done with them."""
    names = sorted({record.operation for record in apps})
    doing = [f"`hockney report {path}` shows them"]
    if "ring" in names:
        doing.append(f"`hockney evaluate {path} --operation ring` judges what is fitted to rings")
    if {"jacobi", "cg"} & set(names):
        doing.append(f"`hockney scaling fit {path}` fits how they scale")
    return RequestError(f"{path} holds runs of {', '.join(names)} alone, and no messages", "; ".join(doing))
