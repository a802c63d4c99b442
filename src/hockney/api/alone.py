"""The answer to who asks for messages where there are runs of applications alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord


def runs_alone(path: Path, apps: Sequence[AppRecord]) -> RequestError:
    """What a folder holds that has runs of applications and no messages, and what can be done with them."""
    names = sorted({record.operation for record in apps})
    doing = [f"`hockney report {path}` shows them"]
    if {"jacobi", "cg"} & set(names):
        doing.append(f"`hockney scaling fit {path}` fits how they scale")
    return RequestError(f"{path} holds runs of {', '.join(names)} alone, and no messages", "; ".join(doing))
