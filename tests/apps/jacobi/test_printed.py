"""Formulas of Jacobi against printed tables and by hand; what follows from any: places, ties, when it matters."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hockney.apps.jacobi.printed import MODELS, HaloModel, WeakScalingCase, predict, rank, weak_scaling
from hockney.apps.stencil.grids import Grid, factorisations, parse_grid
from hockney.errors import RequestError

CASE = WeakScalingCase(subdomain=10, serial_time_s=1.0, latency_s=0.1, bandwidth_B_per_s=1e30)
TENTH = HaloModel("a tenth of T_s per direction", k=1, latencies=1)


def test_the_numbers_of_a_prediction() -> None:
    one = predict(TENTH, CASE, Grid(4, 2, 1))
    # 8 ranks update 1000 cells each in 1 s + 2 · 0.1 s.
    assert one.time_s == pytest.approx(1.2)
    assert one.mlups == pytest.approx(8000 / 1.2 / 1e6)
    assert one.efficiency == pytest.approx(1 / 1.2)
    assert one.communication_share == pytest.approx(0.2 / 1.2)


def test_two_ranks_of_a_core_take_turns() -> None:
    alone = predict(TENTH, CASE, Grid(4, 2, 1))
    shared = predict(TENTH, dataclasses.replace(CASE, ranks_on_core=2), Grid(4, 2, 1))
    assert shared.time_s == pytest.approx(alone.time_s + CASE.serial_time_s)
    assert shared.efficiency == pytest.approx(1 / 2.2)


def test_ties_share_a_place_and_the_next_counts_them() -> None:
    ranked = rank(
        predict(TENTH, CASE, grid) for grid in [Grid(2, 2, 2), Grid(1, 8, 1), Grid(4, 2, 1), Grid(8, 1, 1)]
    )
    assert [(grid.place, str(grid.grid)) for grid in ranked] == [
        (1, "1x8x1"),
        (1, "8x1x1"),
        (3, "4x2x1"),
        (4, "2x2x2"),
    ]


def test_every_grid_of_48_has_a_place() -> None:
    places = [grid.place for grid in rank(predict(TENTH, CASE, grid) for grid in factorisations(48))]
    # 48 = 2⁴ · 3: 45 grids; 3 with one direction, 3 · 8 with two (the divisors but 1 and 48), 18 with three.
    assert {place: places.count(place) for place in places} == {1: 3, 4: 24, 28: 18}


def test_communication_grows_with_the_directions() -> None:
    steps = weak_scaling(TENTH, CASE)
    assert [step.communication_share for step in steps] == pytest.approx([0.1 / 1.1, 0.2 / 1.2, 0.3 / 1.3])
    # Two processes in each direction are the fewest that have a neighbour there.
    assert [(step.directions, step.ranks) for step in steps] == [(1, 2), (2, 4), (3, 8)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"subdomain": 0},
        {"subdomain": -1},
        {"subdomain": 10**6 + 1},
        {"serial_time_s": 0.0},
        {"serial_time_s": -1.0},
        {"serial_time_s": math.nan},
        {"latency_s": -1e-9},
        {"latency_s": math.inf},
        {"bandwidth_B_per_s": 0.0},
        {"bandwidth_B_per_s": math.inf},
    ],
)
def test_a_case_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    case = {"subdomain": 10, "serial_time_s": 1.0, "latency_s": 1e-6, "bandwidth_B_per_s": 1e9}
    with pytest.raises(RequestError):
        WeakScalingCase(**(case | wrong))  # type: ignore[arg-type]


def test_times_out_of_range_are_refused() -> None:
    endless = dataclasses.replace(CASE, latency_s=1e308)
    with pytest.raises(RequestError, match="out of range"):
        predict(TENTH, endless, Grid(2, 2, 1))


PER_FACE = MODELS["weak_scaling_jacobi"]
PER_MESSAGE = MODELS["weak_scaling_jacobi_per_message"]

INPUTS = tomllib.loads((Path(__file__).parents[3] / "bench" / "exercises" / "inputs.toml").read_text("utf-8"))
TABLES = {table["name"]: table for table in INPUTS["jacobi"]["tables"]}
"""Of an unpublished report that weak_scaling_jacobi comes from, L = 1200. Its slips: the text counts k in
directions while the tables print twice that, and table VI's header has the bandwidth of table VII."""


def printed(table: dict[str, Any], bandwidth_MB_per_s: float, grid: list[int]) -> tuple[int, float, float, float]:
    """k, c in MB, P^com and N P₁/P of a row as the report prints them."""
    rates = table["latency_us"] * 1e-6, bandwidth_MB_per_s * 1e6
    made = predict(PER_FACE, WeakScalingCase(1200, table["serial_time_s"], *rates), Grid(*grid))
    return made.k, round(made.halo_B / 1e6, 2), round(made.mlups, 3), round(1 / made.efficiency, 3)


@pytest.mark.parametrize("name", ["VII", "VIII", "IX", "X", "XI"])
def test_printed_tables_to_the_last_digit(name: str) -> None:
    table = TABLES[name]
    for row in table["rows"]:
        expected = tuple(row[column] for column in ("k", "halo_MB", "mlups", "ratio"))
        assert printed(table, table["bandwidth_MB_per_s"], row["grid"]) == expected


def test_table_vi_follows_from_5902_not_from_its_header() -> None:
    for row in TABLES["VI"]["rows"]:
        assert printed(TABLES["VI"], 5902, row["grid"])[2] == row["mlups"]
        assert printed(TABLES["VI"], 6155, row["grid"])[2] != row["mlups"]


@pytest.mark.parametrize(("serial_time_s", "mlups"), [(15.3276, "112.74"), (22.0729, "78.29")])
def test_tables_iv_and_v_one_process_exchanges_nothing(serial_time_s: float, mlups: str) -> None:
    case = WeakScalingCase(1200, serial_time_s, 1e-6, 1e9)
    one = predict(PER_FACE, case, parse_grid("1x1x1"))
    assert (one.k, one.halo_B, one.communication_s, one.efficiency) == (0, 0, 0, 1)
    assert f"{one.mlups:.2f}" == mlups


GRIDS = [Grid(1, 1, 1), Grid(1, 4, 1), Grid(2, 1, 2), Grid(4, 3, 2)]


@pytest.mark.parametrize(("grid", "k"), list(zip(GRIDS, [0, 1, 2, 3], strict=True)))
def test_the_equations_by_hand(grid: Grid, k: int) -> None:
    # L = 100: C = 32 k · 10⁴ B; at 1 GB/s 0.32 ms for each direction, and four latencies of 10 µs.
    one = predict(PER_MESSAGE, WeakScalingCase(100, 0.01, 10e-6, 1e9), grid)
    assert (one.k, one.halo_B) == (k, 320_000 * k)
    assert one.communication_s == pytest.approx(k * (0.32e-3 + 40e-6))
    assert one.mlups == pytest.approx(grid.ranks / (0.01 + k * 0.36e-3))


@pytest.mark.parametrize("grid", GRIDS[1:])
def test_a_latency_of_each_message_is_two_more_for_each_direction(grid: Grid) -> None:
    case = WeakScalingCase(1200, 15.3276, 1e-3, 12185e6)
    per_face, per_message = predict(PER_FACE, case, grid), predict(PER_MESSAGE, case, grid)
    assert per_message.halo_B == per_face.halo_B
    assert per_message.communication_s - per_face.communication_s == pytest.approx(2e-3 * grid.directions)
