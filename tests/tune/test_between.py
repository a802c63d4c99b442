"""Times between measured numbers of ranks: what the model is off by there, and how sure that is."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hockney.statistics import Array
from hockney.tune.between import between


def points(ranks: list[int], time_s: list[float], size_B: int = 1024, algorithm: str = "a") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "algorithm": algorithm,
            "segment_bytes": pd.NA,
            "radix": pd.NA,
            "bytes": size_B,
            "ranks": ranks,
            "time_s": time_s,
        }
    )


def nothing(asked: pd.DataFrame) -> Array:
    return np.full(len(asked), np.nan)


def rounds(asked: pd.DataFrame) -> Array:
    """A second for each round of a tree: it jumps behind powers of two."""
    return np.array([float((int(ranks) - 1).bit_length()) for ranks in asked["ranks"]])


def asked(*ranks: int) -> pd.DataFrame:
    return points(list(ranks), [math.nan] * len(ranks))


def test_the_model_brings_its_jumps_and_neighbours_its_level() -> None:
    """Measured is twice the model everywhere: 2 rounds on 4 ranks, 3 on 5 to 8, 4 on 16."""
    known = points([2, 4, 8, 16], [2.0, 4.0, 6.0, 8.0])
    assert between(known, asked(3, 5, 16), rounds)[:, 0] == pytest.approx([4.0, 6.0, 8.0])


def test_what_the_model_is_off_by_changes_along_the_logarithm_of_ranks() -> None:
    """It is right on 4 ranks and takes a quarter on 16: half on 8."""
    known = points([4, 16], [2.0, 16.0])
    assert between(known, asked(8), rounds)[0, 0] == pytest.approx(3.0 * 2)


def test_beyond_the_measured_ranks_only_the_model_says_anything() -> None:
    known = points([4, 8], [4.0, 6.0])
    assert between(known, asked(32), rounds)[0, 0] == pytest.approx(10.0)
    assert np.isnan(between(known, asked(32), nothing)).all()


def test_without_a_model_times_lie_on_a_line_of_logarithms() -> None:
    """Four times as long on four times as many ranks: twice on twice as many."""
    known = points([4, 16], [1.0, 4.0])
    assert between(known, asked(8), nothing)[0, 0] == pytest.approx(2.0)
    assert np.isnan(between(known, asked(8).assign(algorithm="b"), nothing)).all()


def test_the_interval_is_what_known_ranks_are_off_by_at_that_size() -> None:
    """Nine algorithms whose middle of three numbers of ranks is off by 30 %, and by nothing at a larger size."""
    known = pd.concat(
        [points([2, 4, 8], [1.0, 1.3, 1.0], 1024, name) for name in "abcdefghi"]
        + [points([2, 4, 8], [1.0, 1.0, 1.0], 4096, name) for name in "abcdefghi"],
        ignore_index=True,
    )
    both = pd.concat([asked(2), asked(2).assign(bytes=4096)], ignore_index=True)
    small, large = between(known, both, nothing)
    assert small[2] / small[0] == pytest.approx(1.3)
    assert large[2] / large[0] == pytest.approx(1.0)


def test_of_few_known_ranks_the_usual_interval_is_the_least() -> None:
    known = points([2, 4, 8], [1.0, 1.01, 1.0])
    time_s, low_s, high_s = between(known, asked(2), nothing)[0]
    assert (low_s, high_s) == (pytest.approx(time_s / 1.1), pytest.approx(time_s * 1.1))
