"""Formulas of Jacobi against printed tables and by hand; what follows from any: places, ties, when it matters."""

from __future__ import annotations

import math

import pytest

from hockney.apps.jacobi.printed import (
    MODELS,
    Halo,
    HaloModel,
    WeakScalingCase,
    exceeds,
    predict,
    rank,
    weak_scaling,
)
from hockney.apps.stencil.grids import Grid, factorisations, parse_grid
from hockney.errors import RequestError

CASE = WeakScalingCase(subdomain=10, serial_time_s=1.0, latency_s=0.0, bandwidth_B_per_s=1.0)
TENTH = HaloModel(
    "a tenth of T_s per direction", lambda _case, grid: Halo(grid.directions, 0, 0.1 * grid.directions)
)


def of_share(*shares: float) -> HaloModel:
    """Communication takes these shares of the time along 1, 2 and 3 directions: T_c = T_s s / (1 − s)."""
    times = [0.0, *(share / (1 - share) for share in shares)]
    return HaloModel("given", lambda _case, grid: Halo(grid.directions, 0, times[grid.directions]))


def test_the_numbers_of_a_prediction() -> None:
    one = predict(TENTH, CASE, Grid(4, 2, 1))
    # 8 ranks update 1000 cells each in 1 s + 2 · 0.1 s.
    assert one.time_s == pytest.approx(1.2)
    assert one.mlups == pytest.approx(8000 / 1.2 / 1e6)
    assert one.efficiency == pytest.approx(1 / 1.2)
    assert one.communication_share == pytest.approx(0.2 / 1.2)


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


@pytest.mark.parametrize(
    ("shares", "ranks_of_tenth", "ranks_of_half"),
    [
        ((0.01, 0.02, 0.03), None, None),
        ((0.05, 0.09, 0.11), 8, None),
        ((0.08, 0.15, 0.2), 4, None),
        ((0.3, 0.51, 0.6), 2, 4),
    ],
)
def test_where_communication_starts_to_matter(
    shares: tuple[float, ...], ranks_of_tenth: int | None, ranks_of_half: int | None
) -> None:
    steps = weak_scaling(of_share(*shares), CASE)
    assert [step.communication_share for step in steps] == pytest.approx(list(shares))
    # Two processes in each direction are the fewest that have a neighbour there.
    assert [(step.directions, step.ranks) for step in steps] == [(1, 2), (2, 4), (3, 8)]
    tenth, half = exceeds(steps, 0.1), exceeds(steps, 0.5)
    assert (tenth and tenth.ranks) == ranks_of_tenth
    assert (half and half.ranks) == ranks_of_half


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
    endless = HaloModel("endless", lambda _case, _grid: Halo(1, 0, math.inf))
    with pytest.raises(RequestError, match="out of range"):
        predict(endless, CASE, Grid(2, 1, 1))


PER_FACE = MODELS["weak_scaling_jacobi"]
PER_MESSAGE = MODELS["weak_scaling_jacobi_per_message"]

# Tables of an unpublished report that weak_scaling_jacobi comes from, copied from its print: grid, k, c in MB,
# P^com in MLUP/s, N P₁^com / P^com; L = 1200. Its slips: the text counts k in directions while the tables print
# twice that, and table VI's header has the bandwidth of table VII.
THIN_S, GPU_S = 15.3276, 22.0729

Row = tuple[str, int, str, str, str]
Table = tuple[float, float, float, list[Row]]

SIX: list[Row] = [
    ("4x1x1", 2, "46.08", "450.722", "1.001"),
    ("2x2x1", 4, "92.16", "450.492", "1.001"),
    ("8x1x1", 2, "46.08", "901.443", "1.001"),
    ("2x2x2", 6, "138.24", "900.526", "1.002"),
    ("12x1x1", 2, "46.08", "1352.165", "1.001"),
    ("3x2x2", 6, "138.24", "1350.789", "1.002"),
]
# T_s in s, T_ℓ in µs, B in MB/s, rows.
TABLES: dict[str, Table] = {
    "VII": (
        GPU_S,
        0.21,
        6155,
        [
            ("4x1x1", 2, "46.08", "313.038", "1.000"),
            ("2x2x1", 4, "92.16", "312.932", "1.001"),
            ("8x1x1", 2, "46.08", "626.076", "1.000"),
            ("2x2x2", 6, "138.24", "625.652", "1.001"),
            ("12x1x1", 2, "46.08", "939.114", "1.000"),
            ("3x2x2", 6, "138.24", "938.478", "1.001"),
        ],
    ),
    "VIII": (
        THIN_S,
        0.40,
        5024,
        [
            ("4x1x1", 2, "46.08", "450.682", "1.001"),
            ("2x2x1", 4, "92.16", "450.412", "1.001"),
            ("8x1x1", 2, "46.08", "901.363", "1.001"),
            ("2x2x2", 6, "138.24", "900.286", "1.002"),
            ("12x1x1", 2, "46.08", "1352.045", "1.001"),
            ("3x2x2", 6, "138.24", "1350.429", "1.002"),
        ],
    ),
    "IX": (
        GPU_S,
        0.42,
        5007,
        [
            ("4x1x1", 2, "46.08", "313.014", "1.000"),
            ("2x2x1", 4, "92.16", "312.883", "1.001"),
            ("8x1x1", 2, "46.08", "626.027", "1.000"),
            ("2x2x2", 6, "138.24", "625.506", "1.001"),
            ("12x1x1", 2, "46.08", "939.041", "1.000"),
            ("3x2x2", 6, "138.24", "938.259", "1.001"),
        ],
    ),
    "X": (
        THIN_S,
        0.98,
        12185,
        [
            ("12x1x1", 2, "46.08", "1352.520", "1.000"),
            ("3x2x2", 6, "138.24", "1351.853", "1.001"),
            ("24x1x1", 2, "46.08", "2705.040", "1.000"),
            ("4x3x2", 6, "138.24", "2703.705", "1.001"),
            ("32x1x1", 2, "46.08", "3606.719", "1.000"),
            ("4x4x2", 6, "138.24", "3604.940", "1.001"),
            ("40x1x1", 2, "46.08", "4508.399", "1.000"),
            ("5x4x2", 6, "138.24", "4506.175", "1.001"),
            ("48x1x1", 2, "46.08", "5410.079", "1.000"),
            ("4x4x3", 6, "138.24", "5407.410", "1.001"),
        ],
    ),
    "XI": (
        GPU_S,
        0.42,
        5007,
        [
            ("12x1x1", 2, "46.08", "939.041", "1.000"),
            ("3x2x2", 6, "138.24", "938.259", "1.001"),
            ("24x1x1", 2, "46.08", "1878.082", "1.000"),
            ("4x3x2", 6, "138.24", "1876.518", "1.001"),
            ("25x1x1", 2, "46.08", "1956.335", "1.000"),
            ("5x5x1", 4, "92.16", "1955.520", "1.001"),
            ("32x1x1", 2, "46.08", "2504.109", "1.000"),
            ("4x4x2", 6, "138.24", "2502.023", "1.001"),
            ("40x1x1", 2, "46.08", "3130.137", "1.000"),
            ("5x4x2", 6, "138.24", "3127.529", "1.001"),
            ("48x1x1", 2, "46.08", "3756.164", "1.000"),
            ("4x4x3", 6, "138.24", "3753.035", "1.001"),
        ],
    ),
}


def printed(serial_time_s: float, latency_us: float, bandwidth_MB_per_s: float, grid: str) -> Row:
    """A row as the report prints it."""
    case = WeakScalingCase(1200, serial_time_s, latency_us * 1e-6, bandwidth_MB_per_s * 1e6)
    one = predict(PER_FACE, case, parse_grid(grid))
    return grid, one.k, f"{one.halo_B / 1e6:.2f}", f"{one.mlups:.3f}", f"{1 / one.efficiency:.3f}"


ROWS = [
    pytest.param(serial_time_s, latency_us, bandwidth_MB_per_s, row, id=f"{name}-{row[0]}")
    for name, (serial_time_s, latency_us, bandwidth_MB_per_s, rows) in TABLES.items()
    for row in rows
]


@pytest.mark.parametrize(("serial_time_s", "latency_us", "bandwidth_MB_per_s", "row"), ROWS)
def test_tables_vii_to_xi_to_the_last_digit(
    serial_time_s: float, latency_us: float, bandwidth_MB_per_s: float, row: Row
) -> None:
    assert printed(serial_time_s, latency_us, bandwidth_MB_per_s, row[0]) == row


@pytest.mark.parametrize("row", SIX, ids=lambda row: str(row[0]))
def test_table_vi_follows_from_5902_not_from_its_header(row: Row) -> None:
    assert printed(THIN_S, 0.21, 5902, row[0]) == row
    *_, of_header, _ = printed(THIN_S, 0.21, 6155, row[0])
    assert of_header != row[3]


@pytest.mark.parametrize(("serial_time_s", "mlups"), [(THIN_S, "112.74"), (GPU_S, "78.29")])
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
