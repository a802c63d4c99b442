"""document-000 against the tables of document 000, copied from its print.

Columns: grid, k, c in MB, P^com in MLUP/s, N P₁^com / P^com. L = 1200. The slips: the text counts k in
directions while the tables print twice that, and table VI's header has the bandwidth of table VII.
"""

from __future__ import annotations

import pytest

from hockney.apps.jacobi.printed import Case, jacobi_models, predict
from hockney.apps.stencil.grids import parse_grid

MODEL = jacobi_models.get("document-000")
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
    """A row as the document prints it."""
    case = Case(1200, serial_time_s, latency_us * 1e-6, bandwidth_MB_per_s * 1e6)
    one = predict(MODEL, case, parse_grid(grid))
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
    case = Case(1200, serial_time_s, 1e-6, 1e9)
    one = predict(MODEL, case, parse_grid("1x1x1"))
    assert (one.k, one.halo_B, one.communication_s, one.efficiency) == (0, 0, 0, 1)
    assert f"{one.mlups:.2f}" == mlups
