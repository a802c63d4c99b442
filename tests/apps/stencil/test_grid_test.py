"""Whether the grid matters: planted sums of which one knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.factories import app_run, draws, not_none

from hockney.apps.stencil.grid_test import Configuration, configuration, grid_test, judged
from hockney.records.app_record import AppRecord

GRIDS = ("24x1x1", "12x2x1", "8x3x1", "6x4x1", "6x2x2", "4x3x2")
TIME_S = 0.626
"""A cycle in the printed tables of a report, in which the grid did not matter."""
RUNS = 10
NOISE = 0.01
DRAWS = draws(200)


def record(samples_s: list[float], number: int | None = None) -> AppRecord:
    parameters = {} if number is None else {"round": number}
    known = {"parameters": parameters, "samples_s": samples_s, "launch": ""}
    return app_run("sum3d", 24, float(np.median(samples_s)), **known)


def drawn(rng: np.random.Generator, effects: NDArray[np.float64], drift: float = 0.0) -> list[Configuration]:
    """Each grid once a round; `drift` is what all times of a round share."""
    rounds = rng.normal(0, drift, RUNS)
    made = []
    for grid, effect in zip(GRIDS, effects, strict=True):
        times = TIME_S * (1 + effect + rounds + rng.normal(0, NOISE, RUNS))
        records = [record([float(time)], number) for number, time in enumerate(times)]
        made.append(configuration(grid, "balanced", records))
    return made


def as_repetitions(made: list[Configuration]) -> list[Configuration]:
    """The same values of one visit each."""
    return [configuration(one.grid, one.split, [record(list(one.values_s))]) for one in made]


CHANGES: dict[str, Callable[[list[Configuration]], list[Configuration]]] = {
    "rounds": list,
    "repetitions": as_repetitions,
}


def test_the_mean_of_a_configuration_and_its_interval() -> None:
    # Of 1, 2, 3, 4 s the interval is 2.5 ± 3.182 · √(5/3)/2 (a table of Student's t).
    one = configuration("2x1x1", "balanced", [record([1.0, 2.0, 3.0, 4.0])])
    half = 3.182 * (5 / 3) ** 0.5 / 2
    assert (one.mean_s, one.low_s, one.high_s) == pytest.approx((2.5, 2.5 - half, 2.5 + half), abs=1e-3)
    # Of several visits their means are the values.
    visits = configuration("2x1x1", "balanced", [record([1.0, 3.0], 0), record([4.0, 6.0], 1)])
    assert (visits.values_s, visits.rounds) == ((2.0, 5.0), (("", 0), ("", 1)))


def test_intervals_hold_the_mean() -> None:
    rng = np.random.default_rng(3)
    every = [one for _ in range(DRAWS) for one in drawn(rng, np.zeros(6))]
    errors = np.array([abs(one.mean_s / TIME_S - 1) for one in every])
    inside = np.mean([(one.low_s or 0) <= TIME_S <= (one.high_s or 0) for one in every])
    assert np.median(errors) <= 0.03
    assert np.mean(errors <= 0.08) >= 0.95
    assert inside >= 0.92


@pytest.mark.parametrize("seen", CHANGES)
def test_grids_that_do_not_matter_are_seldom_said_to(seen: str) -> None:
    rng = np.random.default_rng(5)
    change = CHANGES[seen]
    tests = [grid_test("", change(drawn(rng, np.zeros(6)))) for _ in range(DRAWS)]
    wrong = np.mean([test is not None and test.p_value < 0.05 for test in tests])
    # 5 % of 200 with three standard deviations, of 80 with two.
    assert wrong <= 0.10


@pytest.mark.parametrize("seen", CHANGES)
def test_a_slow_grid_is_found_and_named(seen: str) -> None:
    rng = np.random.default_rng(7)
    change = CHANGES[seen]
    effects = np.array([0, 0, 0, 0, 0.05, 0])
    tests = [grid_test("10x1x1", change(drawn(rng, effects))) for _ in range(50)]
    found = [test for test in tests if test is not None and test.p_value < 0.01]
    assert len(found) >= 48
    assert all(test.slowest.startswith("6x2x2") for test in found)
    slower = [test.slower for test in found]
    # The fastest of five alike lies half a per cent below their mean: the ratio is 1.05 to 1.06.
    assert 0.045 <= float(np.median(slower)) <= 0.065


def test_how_much_grids_differ_lies_in_its_interval() -> None:
    rng = np.random.default_rng(11)
    spread = 0.02
    inside = []
    for _ in range(DRAWS):
        for change in (list, as_repetitions):
            test = not_none(grid_test("", change(drawn(rng, rng.normal(0, spread, 6)))))
            inside.append(test.grids_differ_by_low <= spread <= test.grids_differ_by_high)
    assert np.mean(inside) >= 0.92


def test_rounds_see_through_drift() -> None:
    rng = np.random.default_rng(13)
    made = drawn(rng, np.array([0, 0, 0, 0, 0.03, 0]), drift=0.10)
    by_rounds, blind = grid_test("", made), grid_test("", as_repetitions(made))
    assert by_rounds is not None
    assert blind is not None
    assert by_rounds.p_value < 0.001 < 0.05 < blind.p_value


def test_several_tests_share_their_level() -> None:
    tests = [grid_test("", drawn(np.random.default_rng(seed), np.zeros(6))) for seed in range(3)]
    known = [test for test in tests if test is not None]
    # Holm: 0.01 ≤ 0.05/3, then 0.02 ≤ 0.05/2.
    for p_values, expected in (((0.02, 0.01, 0.5), [True, True, False]), ((0.02, 0.02, 0.5), [False] * 3)):
        changed = [replace(test, p_value=p_value) for test, p_value in zip(known, p_values, strict=True)]
        assert [test.significant for test in judged(changed)] == expected


def test_what_cannot_be_told() -> None:
    one = configuration("2x1x1", "balanced", [record([1.0, 2.0])])
    assert grid_test("", [one]) is None
    bare = Configuration("1x2x1", "balanced", (), (), 1.0, None, None)
    assert grid_test("", [one, bare]) is None


def test_rounds_of_a_second_launch_are_rounds_of_their_own() -> None:
    # The first launch says that 2x1x1 is slower, the second, as clearly, that it is faster.
    made = []
    for grid, first_s, second_s in (("2x1x1", 2.0, 1.0), ("1x2x1", 1.5, 1.5), ("1x1x2", 1.0, 2.0)):
        visits = [
            record([time_s + 0.001 * number], number).model_copy(update={"launch": launch})
            for launch, time_s in (("a", first_s), ("b", second_s))
            for number in range(4)
        ]
        made.append(configuration(grid, "balanced", visits))
    found = not_none(grid_test("a sum", made))
    assert found.values == 3 * 8
    assert found.p_value == pytest.approx(1.0)


def test_times_that_repeat_exactly_differ_by_what_they_differ() -> None:
    # Simulated hosts: means 1, 2 and 3 s, of which the standard deviation is 1 s, half their mean.
    made = [
        configuration(grid, "balanced", [record([time_s], number) for number in range(4)])
        for grid, time_s in (("4x1x1", 1.0), ("2x2x1", 2.0), ("1x2x2", 3.0))
    ]
    for changed in (made, as_repetitions(made)):
        found = not_none(grid_test("a sum", changed))
        differ = found.grids_differ_by, found.grids_differ_by_low, found.grids_differ_by_high
        assert differ == pytest.approx((0.5, 0.5, 0.5))
