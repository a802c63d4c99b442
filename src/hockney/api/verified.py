"""A verification of rules as a table."""

from __future__ import annotations

from hockney.report.verified import cells as verified_cells

__all__ = ["verified_cells"]
