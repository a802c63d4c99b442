"""Slabs or pencils, with messages whose all-to-alls can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.command_line import succeeded

from hockney.predict.fft import (
    PENCILS,
    SLABS,
    crossover,
    decide,
)
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import NETWORK

ALPHA_S, BETA_S_PER_B = 1e-5, 1e-9


def planted(spread: float | None = None) -> MachineCosts:
    """Messages of α + βn, one after another; with an interval of ± `spread`."""
    times = ALPHA_S + BETA_S_PER_B * SIZES_B
    ends = None if spread is None else (np.full_like(times, 1 - spread), np.full_like(times, 1 + spread))
    return MachineCosts({NETWORK: Messages(times, 0.0, 0.0, times, ends=ends)}, "planted")


def exchange_s(ranks: int, block_B: float) -> float:
    """Pairwise: P − 1 rounds."""
    return (ranks - 1) * (ALPHA_S + BETA_S_PER_B * block_B)


def test_times_are_those_of_their_exchanges() -> None:
    """64³ numbers of 16 B on 16 ranks: blocks of 16 KiB among all, or of 64 KiB in fours, twice."""
    (decision,) = decide(64, [16], planted(), "pairwise")
    slabs, pencils = decision.divisions
    assert (slabs.division, slabs.grid, slabs.messages) == (SLABS, [16], 15)
    assert (pencils.division, pencils.grid, pencils.messages) == (PENCILS, (4, 4), 6)
    assert slabs.time_s == pytest.approx(exchange_s(16, 16384))
    assert pencils.time_s == pytest.approx(2 * exchange_s(4, 65536))
    assert (slabs.sent_B, pencils.sent_B) == (15 * 16384, 6 * 65536)


def test_limits() -> None:
    """More ranks than slabs, and than pencils; a prime is no grid."""
    few, prime, many = decide(8, [8, 13, 128], planted(), "pairwise")
    assert [way.division for way in few.divisions] == [SLABS, PENCILS]
    assert few.divisions[1].grid == (2, 4)
    assert (prime.divisions, set(prime.refused)) == ([], {SLABS, PENCILS})
    assert (many.divisions, set(many.refused)) == ([], {SLABS, PENCILS})


def test_pencils_win_where_messages_are_many() -> None:
    """P − 1 starts against 2(√P − 1), 64³ numbers: the start-ups of 64 ranks outweigh a second passage."""
    decisions = decide(64, [4, 16, 64, 256], planted(0.01), "pairwise")
    slabs, pencils = (way.time_s for way in decisions[2].divisions)
    assert slabs == pytest.approx(exchange_s(64, 1024))
    assert pencils == pytest.approx(2 * exchange_s(8, 8192))
    by_hand = [exchange_s(p, 2**22 / p**2) / (2 * exchange_s(int(p**0.5), 2**22 / p**1.5)) for p in (4, 16, 64)]
    assert [ratio > 1.01 for ratio in by_hand] == [False, False, True]
    assert crossover(decisions) == 64
    # On 256 ranks there are no slabs left.
    assert set(decisions[3].refused) == {SLABS}


def test_intervals_are_those_of_messages() -> None:
    (decision,) = decide(64, [16], planted(0.1), "pairwise")
    row = decision.divisions[0]
    assert (row.low_s, row.high_s) == pytest.approx((0.9 * exchange_s(16, 16384), 1.1 * exchange_s(16, 16384)))
    assert decide(64, [16], planted(), "pairwise")[0].divisions[0].low_s is None


def test_nothing_is_told_apart_within_the_intervals() -> None:
    assert crossover(decide(64, [64], planted(0.01), "pairwise")) == 64
    assert crossover(decide(64, [64], planted(0.9), "pairwise")) is None


def test_what_is_impossible_is_not_compared() -> None:
    """One rank is no grid: 1-D alone is possible there, on four ranks both are."""
    words = ("predict", "fft", "--size", "4", "--machine", "bluegene_p")
    out = succeeded(*words, "--ranks", "1")
    assert "on 1 rank 1-D alone is possible: no grid of at most 4 × 4, both at least 2, has 1 rank" in out
    assert "2-D" not in out.splitlines()[-1]
