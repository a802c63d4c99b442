"""Streams of references of machines that keep to one level, resampled from real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Stream = NDArray[np.float64]

STRETCHES = [
    np.log(1e-9 * np.array(stretch["reference_ns"]))
    for stretch in json.loads(Path(__file__).with_name("one_level_references.json").read_text("utf-8"))
]
"""References of real stretches during which the machine kept to one level; ln of seconds."""

BLOCK = 25
"""References that are drawn together, so that what neighbours share is kept."""


def resampled(rng: np.random.Generator, count: int) -> Stream:
    """A stream of blocks of one real stretch."""
    stretch = STRETCHES[rng.integers(len(STRETCHES))]
    starts = rng.integers(0, stretch.size - BLOCK, size=-(-count // BLOCK))
    return np.concatenate([stretch[start : start + BLOCK] for start in starts])[:count]
