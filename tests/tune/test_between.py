"""TrialTimes between measured numbers of ranks: what the model is off by there, and how sure that is."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hockney.predict.estimators.base import Prediction, unknown
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


def asked(*ranks: int, size_B: int = 1024, algorithm: str = "a") -> pd.DataFrame:
    return points(list(ranks), [math.nan] * len(ranks), size_B, algorithm)


def together(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)


def nothing(asked: pd.DataFrame) -> Prediction:
    return unknown(len(asked))


def rounds(asked: pd.DataFrame) -> Prediction:
    """A second for each round of a tree: it jumps behind powers of two. Of `theirs` it knows nothing."""
    time_s = np.array([float((int(ranks) - 1).bit_length()) for ranks in asked["ranks"]])
    time_s[(asked["algorithm"] == "theirs").to_numpy()] = np.nan
    return Prediction(time_s, time_s / 1.5, time_s * 1.5)


def trees(asked: pd.DataFrame) -> Prediction:
    """`rounds`; a second for each rank of `linear`."""
    made = rounds(asked)
    time_s = np.where(asked["algorithm"] == "linear", asked["ranks"].to_numpy(np.float64), made.time_s)
    return Prediction(time_s, time_s / 1.2, time_s * np.where(asked["algorithm"] == "linear", 1.4, 1.2))


def test_the_model_brings_its_jumps_and_neighbours_its_level() -> None:
    """Measured is twice the model everywhere: 2 rounds on 4 ranks, 3 on 5 to 8, 4 on 16."""
    known = points([2, 4, 8, 16], [2.0, 4.0, 6.0, 8.0])
    assert between(known, asked(3, 5, 16), rounds)[:, 0] == pytest.approx([4.0, 6.0, 8.0])


def test_what_the_model_is_off_by_changes_along_the_logarithm_of_ranks() -> None:
    """It is right on 4 ranks and takes a quarter on 16: half on 8."""
    known = points([4, 16], [2.0, 16.0])
    assert between(known, asked(8), rounds)[0, 0] == pytest.approx(3.0 * 2)


def test_beyond_the_measured_ranks_it_is_off_as_at_the_nearest() -> None:
    known = points([4, 16], [4.0, 8.0])
    assert between(known, asked(32), rounds)[0, 0] == pytest.approx(10.0)
    assert np.isnan(between(known, asked(32), nothing)).all()


def test_without_a_model_times_lie_on_a_line_of_logarithms() -> None:
    """Four times as long on four times as many ranks: twice on twice as many."""
    known = points([4, 16], [1.0, 4.0])
    assert between(known, asked(8), nothing)[0, 0] == pytest.approx(2.0)
    assert np.isnan(between(known, asked(8, algorithm="b"), nothing)).all()
    of_two = together(known, points([4], [1.0], algorithm="b"))
    assert np.isnan(between(of_two, asked(8, algorithm="b"), nothing)).all()


def test_what_has_no_model_keeps_its_ratio_to_the_fastest_that_has_one() -> None:
    """On 4 ranks `linear` is the fastest that has one, and on 64 the tree: theirs takes half of either."""
    of_all = (points([4], [4.0]), points([4], [1.0], algorithm="linear"), points([4], [0.5], algorithm="theirs"))
    names = ("a", "linear", "theirs")
    told = between(together(*of_all), together(*(asked(64, algorithm=name) for name in names)), trees)
    # 6 rounds of 2 s, and a quarter of a second for each rank.
    assert told[:, 0] == pytest.approx([12.0, 16.0, 6.0])
    # Of those that may be chosen there: an eighth of the tree's time.
    told = between(together(*of_all), together(asked(64), asked(64, algorithm="theirs")), trees)
    assert told[:, 0] == pytest.approx([12.0, 1.5])


def test_between_ranks_it_takes_the_jumps_of_the_fastest() -> None:
    known = together(points([4, 8], [2.0, 3.0]), points([4, 8], [4.0, 6.0], algorithm="theirs"))
    told = between(known, together(asked(5), asked(5, algorithm="theirs")), rounds)
    assert told[:, 0] == pytest.approx([3.0, 6.0])


def test_the_fastest_is_one_of_the_same_algorithms_everywhere() -> None:
    """The tree was measured on 4 ranks and `linear` on 16, as modelled: theirs takes half of a tree on both."""
    known = together(
        points([4], [2.0]),
        points([16], [16.0], algorithm="linear"),
        points([4, 16], [1.0, 2.0], algorithm="theirs"),
    )
    told = between(known, together(*(asked(8, algorithm=name) for name in ("a", "linear", "theirs"))), trees)
    assert told[:, 0] == pytest.approx([3.0, 8.0, 1.5])


def test_where_the_ratio_is_unknown_its_own_times_lie_on_a_line() -> None:
    """Nothing that has a model was measured at theirs's size but on the ranks that are asked."""

    def only_8(asked: pd.DataFrame) -> Prediction:
        made = rounds(asked)
        return Prediction(np.where(asked["ranks"] == 8, made.time_s, np.nan), made.low_s, made.high_s)

    known = together(points([8], [3.0]), points([4, 16], [1.0, 4.0], algorithm="theirs"))
    told = between(known, together(asked(8), asked(8, algorithm="theirs")), only_8)
    assert told[:, 0] == pytest.approx([3.0, 2.0])


def test_runs_need_not_have_the_same_sizes() -> None:
    """Eight ranks measured 1 KiB and 4 KiB, where the model is off by 2 and 8: by 4 at 2 KiB. Sixteen: by 3."""
    known = together(points([8], [6.0]), points([8], [24.0], 4096), points([16], [12.0], 2048))
    told = between(known, together(asked(8, size_B=2048), asked(32, size_B=4096)), rounds)
    # On 32 ranks as on 8, because 16 have no such size.
    assert told[:, 0] == pytest.approx([12.0, 40.0])


def test_beyond_the_sizes_that_were_measured_of_it_an_algorithm_is_unknown() -> None:
    known = points([8, 16], [3.0, 4.0])
    assert np.isnan(between(known, together(asked(8, size_B=512), asked(8, size_B=2048)), rounds)).all()


def test_in_a_wide_gap_between_the_sizes_of_an_algorithm_it_is_unknown() -> None:
    """Of 4 and 64 KiB nobody tells 16 KiB; of 8 and 32 KiB, a step of a campaign's ladder, one does."""
    ends = together(points([2, 8], [1.0, 3.0], size_B=4096), points([2, 8], [1.0, 3.0], size_B=65536))
    assert np.isnan(between(ends, asked(4, size_B=16384), rounds)).all()
    assert np.isfinite(between(ends, asked(4, size_B=4096), rounds)).all()
    steps = together(points([2, 8], [1.0, 3.0], size_B=8192), points([2, 8], [1.0, 3.0], size_B=32768))
    assert between(steps, asked(4, size_B=16384), rounds)[0, 0] == pytest.approx(2.0)


def test_the_table_s_own_steps_are_no_gaps() -> None:
    """Blocks of one vector on 2 and 4 ranks: steps of 8, each between those of the other. One of 64 is a gap."""
    two = together(*(points([2], [1.0], size_B) for size_B in (64, 512, 4096, 32768, 2097152)))
    four = points([4], [2.0], 1024)
    assert between(together(two, four), asked(3, size_B=1024), rounds)[0, 0] == pytest.approx(2.0)
    four = points([4], [2.0], 262144)
    known = together(two, four)
    told = between(known, together(asked(2, size_B=1024), asked(2, size_B=262144)), rounds)
    assert told[0, 0] == pytest.approx(1.0)
    # What two ranks say nothing of, four do: nothing off. Without them nothing is known.
    assert told[1, 0] == pytest.approx(1.0)
    assert np.isnan(between(two, asked(2, size_B=262144), rounds)).all()


def test_the_interval_is_what_known_ranks_are_off_by_at_that_size() -> None:
    """Nine algorithms whose middle of three numbers of ranks is off by 30 %, and by nothing at a larger size."""
    known = together(
        *(points([2, 4, 8], [1.0, 1.3, 1.0], 1024, name) for name in "abcdefghi"),
        *(points([2, 4, 8], [1.0, 1.0, 1.0], 4096, name) for name in "abcdefghi"),
    )
    small, large = between(known, together(asked(2), asked(2, size_B=4096)), nothing)
    assert small[2] / small[0] == pytest.approx(1.3)
    assert large[2] / large[0] == pytest.approx(1.0)


def test_beyond_the_ranks_the_interval_is_what_their_ends_are_off_by() -> None:
    """The model takes half on 16 ranks, else it is right: told from 8 they are off by 2, 8 from both by √2."""
    known = together(*(points([4, 8, 16], [2.0, 3.0, 8.0], 1024, name) for name in "abcdefgh"))
    inside, beyond = between(known, asked(5, 32), rounds)
    assert inside[2] / inside[0] == pytest.approx(math.sqrt(2))
    assert beyond[2] / beyond[0] == pytest.approx(2.0)


def test_of_few_known_ranks_the_usual_interval_is_the_least() -> None:
    known = points([2, 4, 8], [1.0, 1.01, 1.0])
    time_s, low_s, high_s = between(known, asked(2), nothing)[0]
    assert (low_s, high_s) == (pytest.approx(time_s / 1.1), pytest.approx(time_s * 1.1))


def test_of_one_number_of_ranks_the_interval_is_the_model_s() -> None:
    """And as wide as the widest beside it for what has no model."""
    names = ("a", "linear", "theirs")
    known = together(*(points([4], [1.0], algorithm=name) for name in names))
    told = between(known, together(*(asked(8, algorithm=name) for name in names)), trees)
    assert told[:, 2] / told[:, 0] == pytest.approx([1.2, 1.4, 1.4])
    assert told[:, 0] / told[:, 1] == pytest.approx([1.2, 1.4, 1.4])
