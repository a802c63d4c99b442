"""A figure that the bench measured, and the bar that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A share (or a count) and its bound; `holds` says whether it is on the right side."""

    name: str
    value: float
    bound: float
    holds: bool
    is_count: bool = False

    @classmethod
    def most(cls, name: str, value: float, bound: float, *, is_count: bool = False) -> Bar:
        """A figure that may be as large as `bound`."""
        return cls(name, value, bound, value <= bound, is_count)

    @classmethod
    def least(cls, name: str, value: float, bound: float, *, is_count: bool = False) -> Bar:
        """A figure that may be as small as `bound`."""
        return cls(name, value, bound, value >= bound, is_count)

    def __str__(self) -> str:
        value, bound = (f"{x:.3g}" if self.is_count else f"{100 * x:.3g} %" for x in (self.value, self.bound))
        return f"{'holds ' if self.holds else 'MISSED'}  {self.name}: {value} (bar {bound})"
