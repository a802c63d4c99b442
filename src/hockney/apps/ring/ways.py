"""How messages travel around a ring, and which models predict it: the words, which options need without numpy."""

from __future__ import annotations

BOTH_WAYS_AT_ONCE = ("nonblocking", "persistent")
EXCHANGES = ("sendrecv", *BOTH_WAYS_AT_ONCE)
TOPOLOGIES = ("world", "cartesian", "cartesian-reorder")
OURS = "slowest-link"
TWO_LINKS = "two-links"
MODEL_NAMES = (OURS, TWO_LINKS)
