"""What hears how far a piece of work is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Receives the share of a piece of work that is done, 0 to 1, and its name; a new piece begins at 0."""


def silent(_share: float, _what: str) -> None:
    """Progress that is not shown."""
