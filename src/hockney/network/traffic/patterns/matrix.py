"""A program's own communication, from a file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hockney.errors import RequestError
from hockney.network.traffic.base import Demand, check_bytes, check_pairs
from hockney.network.traffic.patterns.base import (
    Pattern,
    PatternKind,
    Volumes,
    patterns,
    rank_number,
    read_lines,
)


def matrix(text: str, _volumes: Volumes) -> Pattern:
    """Lines `sender receiver bytes`; those of one pair add up. The largest number gives the ranks."""
    path = Path(text)
    rows = read_lines(path, ("sender", "receiver", "bytes"))
    if not rows:
        raise RequestError(f"{path} has no lines", "each line is sender receiver bytes")
    check_pairs(len(rows), str(path))
    ends = np.array([[rank_number(word, path, line) for word in parts[:2]] for line, parts in rows])
    sizes = [_size(parts[2], path, line) for line, parts in rows]
    ranks = int(ends.max()) + 1
    return Pattern(
        f"matrix:{text}", (ranks,), Demand.of(ends[:, 0], ends[:, 1], np.array(sizes)).summed(ranks), "B"
    )


def _size(text: str, path: Path, line: int) -> float:
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise RequestError(f"{path}, line {line}: {text!r} is no number of bytes", "a number from 0 on")
    check_bytes(size, f"{path}, line {line}: {text}")
    return size


patterns.register("matrix")(
    PatternKind("lines `sender receiver bytes` of a file", "matrix:traffic.txt", matrix, takes=())
)
