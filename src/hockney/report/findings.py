"""Answers that a page begins with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One answer: a sentence with its number and its interval, and where the page shows it.

    `anchor` is the id of a section, figure or table of the page; `weight`, 0 to 1, is how much it matters. `kind`
    is the same for what is said of each operation in turn: a page begins with few of them.
    """

    text: str
    anchor: str
    weight: float
    kind: str = ""
