"""How many launches to measure for a check."""

from __future__ import annotations

MANY_LAUNCHES = 10
"""What to measure where nothing is known of how launches differ (docs/reference/check.md says what it finds)."""
