"""combination: laws of growth come back beyond training, nodes and ranks a node are axes, doubt is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.factories import training

from hockney.predict.estimators._along import WAYS, combined, direction
from hockney.predict.estimators.base import Prediction, estimators
from hockney.predict.points import limits, points

Tables = Callable[..., pd.DataFrame]
SIZES = [8 * 4**power for power in range(9)]


def power(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float(1e-6 * ranks**0.7 * (1 + size / 1e4))


def rounds(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float(2e-6 + np.log2(ranks) * (1e-6 + size / 5e9))


def grid(nodes: Iterable[int], ppn: Iterable[int], sizes: Iterable[int] = SIZES) -> pd.DataFrame:
    """A default that takes rounds between nodes and steps inside of them; no mapping."""
    rows = [
        {
            "system": "s", "mpi": "m", "operation": "bcast", "algorithm": "default", "nodes": n, "ppn": q,
            "ranks": n * q, "bytes": size, "statistic": "completion", "repetition": 0,
            "time_s": 1e-6 + 4e-6 * np.log2(n) * (1 + size / 1e4) + 2e-7 * q * (1 + size / 1e5),
        }
        for n, q, size in product(nodes, ppn, sizes)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def off(made: Prediction, asked: pd.DataFrame) -> Any:
    """Relative errors of the points."""
    measured_s = points(asked, "bcast").frame["time_s"].to_numpy(np.float64)
    return np.abs(made.time_s / measured_s - 1)


def predicted(trained: pd.DataFrame, asked: pd.DataFrame, name: str = "combination") -> Prediction:
    return estimators.get(name)(training(trained)).predict(points(asked, "bcast").frame)


@pytest.mark.parametrize(("law", "algorithm"), [(power, "default"), (rounds, "default"), (rounds, "binomial")])
def test_growth_goes_on(bcast: Tables, law: Callable[..., float], algorithm: str) -> None:
    """A power goes on by its last slope, rounds by a logarithm or the closed form: windows tell them apart."""
    made, asked = (
        bcast(law, ranks=ranks, sizes=SIZES, algorithms=[algorithm])
        for ranks in ([2, 4, 8, 16, 32, 64], [128, 512])
    )
    found = predicted(made, asked)
    assert np.median(off(found, asked)) < 0.02
    assert off(found, asked).max() < 0.1
    assert (found.low_s < found.time_s).all()


def test_bytes_go_on_as_latency_and_bandwidth(bcast: Tables) -> None:
    made, asked = (bcast(power, sizes=sizes, algorithms=["default"]) for sizes in (SIZES[:7], SIZES[7:]))
    assert off(predicted(made, asked), asked).max() < 0.05


def test_along_two_axes_both_are_added(bcast: Tables) -> None:
    made = bcast(power, ranks=[2, 4, 8, 16, 32], sizes=SIZES[:7], algorithms=["default"])
    asked = bcast(power, ranks=[64], sizes=SIZES[7:], algorithms=["default"])
    assert off(predicted(made, asked), asked).max() < 0.1


@pytest.mark.parametrize("name", ["combination", "gaussian_process", "linear_in_ranks"])
def test_as_many_ranks_on_other_nodes_are_another_point(name: str) -> None:
    """2 × 8 and 8 × 2 differ by a factor of three."""
    made = grid([1, 2, 4, 8, 16], [1, 2, 4, 8])
    found = predicted(made, made, name)
    assert off(found, made)[made["nodes"].to_numpy() > 1].max() < {"linear_in_ranks": 0.6}.get(name, 0.1)
    held = [made[(made["nodes"] == n) & (made["ppn"] == 16 // n)]["time_s"].mean() for n in (2, 8)]
    assert held[1] > 2 * held[0]


@pytest.mark.parametrize("axes", [([16, 32], [1, 4, 8]), ([2, 8], [16, 32]), ([16], [16])])
def test_nodes_and_ranks_a_node_go_on_by_themselves(axes: tuple[list[int], list[int]]) -> None:
    made, asked = grid([1, 2, 4, 8], [1, 2, 4, 8]), grid(*axes)
    assert np.median(off(predicted(made, asked), asked)) < 0.06


def test_a_grid_is_taken_to_fill_nodes_in_blocks_and_says_so() -> None:
    texts = limits(points(grid([1, 2], [4]), "bcast").frame)
    assert sum("blocks" in text for text in texts) == 1
    assert not any("how ranks were placed" in text for text in texts)


def test_one_number_of_ranks_shows_no_growth(bcast: Tables) -> None:
    """Without a closed form nothing says how the time grows; sizes between the measured ones are known."""
    made = bcast(power, ranks=[8], sizes=SIZES, algorithms=["default"])
    beyond = predicted(made, bcast(power, ranks=[16], sizes=[64], algorithms=["default"]))
    assert np.isnan(beyond.time_s).all()
    assert any("how their times grow" in note for note in beyond.note or [])
    between = bcast(power, ranks=[8], sizes=[64, 300], algorithms=["default"])
    assert off(predicted(made, between), between).max() < 0.1
    named = bcast(rounds, ranks=[8], sizes=SIZES, algorithms=["binomial"])
    asked = bcast(rounds, ranks=[64], sizes=[64], algorithms=["binomial"])
    assert off(predicted(named, asked), asked).max() < 0.6


def test_the_step_to_a_second_node_is_said_and_widens(bcast: Tables) -> None:
    few = {"sizes": [8, 512], "algorithms": ["default"], "ppn": 64}
    one, two = (bcast(rounds, ranks=[2, 4, 8, 16, 32, 64], nodes=nodes, **few) for nodes in (1, 2))
    asked = bcast(rounds, ranks=[128], nodes=2, **few)
    made, known = predicted(one, asked), predicted(two, asked)
    assert any("one node" in note for note in made.note or [])
    assert not any("one node" in note for note in known.note or [])
    assert (made.high_s / made.low_s > 1.2 * known.high_s / known.low_s).all()


def test_what_it_rests_on_is_said(bcast: Tables) -> None:
    asked = bcast(power, ranks=[128], algorithms=["default"])
    made = predicted(bcast(power, algorithms=["default"], repetitions=2), asked)
    assert any(note.startswith("beyond training in nodes or ranks mostly by ") for note in made.note or [])
    assert not any("measured twice" in note for note in made.note or [])
    once = predicted(bcast(power, algorithms=["default"]), asked)
    assert any("measured twice" in note for note in once.note or [])
    assert np.isnan(predicted(bcast(power), bcast(power, mappings=["far"])).time_s).all()


def test_intervals_hold_noisy_times_that_are_not_seen(bcast: Tables) -> None:
    random = np.random.default_rng(4)

    def noisy(*point: Any) -> float:
        return rounds(*point) * float(np.exp(random.normal(0, 0.1)))

    made = bcast(noisy, ranks=[2, 4, 8, 16, 32, 64], sizes=SIZES, algorithms=["default"])
    asked = bcast(noisy, ranks=[128, 256, 512], sizes=SIZES, algorithms=["default"])
    found, measured_s = predicted(made, asked), points(asked, "bcast").frame["time_s"].to_numpy(np.float64)
    assert np.mean((found.low_s <= measured_s) & (measured_s <= found.high_s)) >= 0.8
    assert np.median(found.high_s / found.low_s) < 10


def test_the_median_weighs_and_leaves_out_what_is_unknown() -> None:
    values = np.array([[1.0, np.nan], [2.0, 5.0], [9.0, np.nan], [np.nan, np.nan], [np.nan, 7.0], [np.nan, 6.0]])
    assert combined(values, np.array([1.0, 1, 3, 1, 1, 1])).tolist() == [9.0, 6.0]
    assert combined(values, np.ones(6)).tolist() == [2.0, 6.0]


def test_a_way_that_missed_less_counts_more_and_errors_become_the_interval() -> None:
    errors = np.full((len(WAYS), 200), 0.5)
    errors[WAYS.index("a line")] = 0.1
    alone = direction((errors, np.full(200, 0.5)), [])
    assert alone.weight.argmax() == WAYS.index("a line")
    assert alone.weight.max() > 10 * np.sort(alone.weight)[-2]
    # Errors as large everywhere: they are what is stated at their distance.
    worse = direction((np.full((len(WAYS), 200), 0.9), np.full(200, 0.5)), [])
    assert worse.reach(np.array([0.5]))[0] == pytest.approx(0.9)
    assert worse.reach(np.array([2.0]))[0] > worse.reach(np.array([0.5]))[0]
