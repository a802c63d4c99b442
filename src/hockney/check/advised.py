"""How many launches to measure for a check, and how much of its result a person looks at."""

from __future__ import annotations

MANY_LAUNCHES = 10
"""What to measure where nothing is known of how launches differ (docs/reference/check.md says what it finds)."""
PATIENCE = 100
"""Launches that somebody may make; who would need more is told that noise does not average out."""
MOST_ROWS = 10
"""Rows of a table; `--json` has all."""
