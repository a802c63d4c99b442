"""The formula of Jacobi against printed tables and by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hockney.apps.jacobi.printed import WeakScalingCase, predict_formula
from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.errors import RequestError


@pytest.mark.parametrize(
    "numbers", [(10, 1.0, 1e308, 1e30), (10, 0.0, 0.0, 1e9), (10, 1.0, 0.0, 0.0), (-1, 1.0, 0.0, 1e9)]
)
def test_numbers_of_no_machine_are_refused(numbers: tuple[int, float, float, float]) -> None:
    with pytest.raises(RequestError, match=r"out of range|must be positive"):
        predict_formula(WeakScalingCase(*numbers), Grid(2, 2, 1))


INPUTS = tomllib.loads((Path(__file__).parents[3] / "bench" / "exercises" / "inputs.toml").read_text("utf-8"))
TABLES = {table["name"]: table for table in INPUTS["jacobi"]["tables"]}
"""Of an unpublished report that the formula comes from, L = 1200. Its slips: the text counts k in
directions while the tables print twice that, and table VI's header has the bandwidth of table VII."""


def printed(table: dict[str, Any], bandwidth_MB_per_s: float, grid: list[int]) -> tuple[int, float, float, float]:
    """k, c in MB, P^com and N P₁/P of a row as the report prints them."""
    rates = table["latency_us"] * 1e-6, bandwidth_MB_per_s * 1e6
    made = predict_formula(WeakScalingCase(1200, table["serial_time_s"], *rates), Grid(*grid))
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
    one = predict_formula(case, parse_grid("1x1x1"))
    assert (one.k, one.halo_B, one.communication_s, one.efficiency) == (0, 0, 0, 1)
    assert f"{one.mlups:.2f}" == mlups


@pytest.mark.parametrize(
    ("grid", "k"), [(Grid(1, 1, 1), 0), (Grid(1, 4, 1), 2), (Grid(2, 1, 2), 4), (Grid(4, 3, 2), 6)]
)
def test_the_equations_by_hand(grid: Grid, k: int) -> None:
    # L = 100: c = 16 k · 10⁴ B; at 1 GB/s 0.16 ms and a latency of 10 µs for each side of a direction.
    one = predict_formula(WeakScalingCase(100, 0.01, 10e-6, 1e9), grid)
    assert (one.k, one.halo_B) == (k, 160_000 * k)
    assert one.communication_s == pytest.approx(k * 0.17e-3)
    assert one.mlups == pytest.approx(grid.ranks / (0.01 + k * 0.17e-3))
    assert one.communication_share == pytest.approx(k * 0.17e-3 / one.time_s)
