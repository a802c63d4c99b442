"""Chains of a table that holds times of several places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hockney.predict.identify.chains import CHAIN, ChainCell, Expected, chains
from hockney.predict.identify.posterior import FIRST

MEAN = "mean_over_ranks"
SIZE_B = [2**power for power in range(8)]


def table(source: str, *statistics: str) -> pd.DataFrame:
    """`default` on 4 and 8 ranks: between what two candidates take, nearer to that of the first."""
    random = np.random.default_rng(1)
    rows = [
        dict.fromkeys((*CHAIN, "mapping"), "")
        | {"source": source, "nodes": 1, "ranks": ranks, "ppn": ranks, "bytes": size_B}
        | {"statistic": statistic, "time_s": float(np.exp(0.03 + random.normal(0, 0.03)))}
        for statistic in statistics
        for ranks in (4, 8)
        for size_B in SIZE_B
    ]
    return pd.DataFrame(rows)


def test_times_of_none_of_the_candidates_are_so() -> None:
    """Six times as long as what either takes, at the last sizes more."""
    points = table("one", MEAN).assign(time_s=lambda frame: frame["time_s"] * (5.0 + frame["bytes"] / 128))
    ln_s = np.tile([0.0, 0.1], (len(points), 1))
    errors = np.full(ln_s.shape, 0.1)
    found = chains(points, [Expected(ln_s, errors, errors, np.exp(ln_s))], MEAN)
    assert all(cell.is_none for chain in found for cell in chain.cells)


@pytest.mark.parametrize(("share", "said"), [(0.6, [True, False]), (0.98, [True, True]), (0.4, [False, False])])
def test_costs_of_messages_alone_must_be_surer_of_none(share: float, said: list[bool]) -> None:
    alike = np.eye(1, dtype=np.bool_)
    cells = [
        ChainCell(8, 8, np.array([1 - share, share]), None, 1, np.ones((1, 1)), alike, is_rough)
        for is_rough in (False, True)
    ]
    assert [cell.is_none for cell in cells] == said


def test_an_assumption_counts_by_its_prior() -> None:
    """Under the other one the two candidates change places, so that the times say nothing of either."""
    points = table("one", MEAN)
    ln_s = np.tile([0.0, 0.1], (len(points), 1))
    errors = np.full(ln_s.shape, 0.1)

    def first(*expected: Expected) -> np.ndarray:
        return np.array([cell.share[0] for chain in chains(points, expected, MEAN) for cell in chain.cells])

    usual, other = (Expected(each, errors, errors, np.exp(each), 0.9) for each in (ln_s, ln_s[:, ::-1]))
    assert first(usual, replace(other, prior=0.1)) == pytest.approx(0.9 * first(usual) + 0.1 * first(other))


def shares(points: pd.DataFrame, source: str) -> np.ndarray:
    """Probabilities of the states in each cell of that source."""
    shape = (len(points), 2)
    ln_s = np.tile([0.0, 0.1], (len(points), 1))
    expected = Expected(ln_s, np.full(shape, 0.1), np.full(shape, 0.05), np.exp(ln_s))
    found = [chain for chain in chains(points, [expected], MEAN) if source in chain.key]
    assert [chain.ranks for chain in found] == [4, 8]
    return np.array([cell.share for chain in found for cell in chain.cells])


def test_a_place_of_one_statistic_is_told_as_if_alone_beside_one_of_several() -> None:
    several, one = table("several", MEAN, FIRST), table("one", MEAN)
    both = pd.concat([several, one], ignore_index=True)
    assert shares(both, "one") == pytest.approx(shares(one, "one"))
    assert shares(both, "several") == pytest.approx(shares(several, "several"))
    # And what several statistics say is not told so.
    alone = several[several["statistic"] == MEAN].reset_index(drop=True)
    assert shares(several, "several") != pytest.approx(shares(alone, "several"), abs=0.01)
