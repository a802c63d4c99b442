"""Where compiled runners and other things that can be made again are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """`$HOCKNEY_CACHE`, else `$XDG_CACHE_HOME/hockney`, else `~/.cache/hockney`."""
    if own := os.environ.get("HOCKNEY_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hockney"
