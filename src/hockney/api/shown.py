"""How results look in a notebook: a heading, a frame as a table, and remarks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import pandas as pd

MOST_ROWS = 30
"""Rows that a notebook shows of a result; the frame has all."""


def as_html(heading: str, frame: pd.DataFrame | None = None, remarks: Iterable[str] = ()) -> str:
    """One element; every text in it is escaped, as names of files and systems may hold anything."""
    parts = [f"<p><strong>{escape(heading)}</strong></p>"]
    if frame is not None and not frame.empty:
        shown = frame.head(MOST_ROWS).astype(object).where(frame.head(MOST_ROWS).notna(), "–")
        parts.append(shown.to_html(index=False, escape=True, float_format="{:.4g}".format))
        if len(frame) > MOST_ROWS:
            parts.append(f"<p>and {len(frame) - MOST_ROWS} more rows</p>")
    parts += [f"<p>{escape(text)}</p>" for text in remarks if text]
    return f"<div>{''.join(parts)}</div>"
