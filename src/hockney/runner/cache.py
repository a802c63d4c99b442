"""The cache: compiled runners and other files that can be made again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hockney.errors import EnvironmentLack


def cache_root() -> Path:
    """`$HOCKNEY_CACHE`, else `$XDG_CACHE_HOME/hockney`, else `~/.cache/hockney`."""
    if own := os.environ.get("HOCKNEY_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hockney"


def make_private(folder: Path) -> None:
    """Make the folder, for this user alone, unless it exists; refuse it as `expect_private` does.

    OSError where it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    expect_private(folder)


def expect_private(folder: Path) -> None:
    """EnvironmentLack where anybody but this user and root may change what the folder holds: it will be run."""
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise EnvironmentLack(
            f"{folder} belongs to another user, and programs in it would be run",
            "set HOCKNEY_CACHE to a folder of your own",
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise EnvironmentLack(
            f"other users may write to {folder}, and programs in it would be run",
            f"remove it, or `chmod go-w {folder}` if nobody else has used it",
        )
