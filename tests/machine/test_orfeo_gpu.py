"""machines/orfeo_gpu.json against the tables of two unpublished reports, typed in here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.machine.published import asymptotic, expect_extrapolations, expect_lines, expect_no_claims

from hockney.machine.file import load

MACHINE = load(Path("orfeo_gpu"))

FIGURE_5 = {
    # two-links, GPU node: (locality, library, variant): latency in µs, bandwidth in MB/s
    ("cache", "Open MPI 4.1.1", "default"): (0.239114, 3760.817),
    ("cache", "Intel MPI", "infiniband"): (0.289496, 5129.400),
    ("cache", "Open MPI 4.1.1", "ob1-vader"): (0.330979, 2801.128),
    ("cache", "Open MPI 4.1.1", "ob1-tcp"): (5.944020, 3400.770),
    ("node", "Open MPI 4.1.1", "default"): (0.479683, 4949.990),
    ("node", "Intel MPI", "infiniband"): (0.474816, 4890.206),
    ("node", "Open MPI 4.1.1", "ob1-vader"): (0.623670, 3578.910),
    ("node", "Open MPI 4.1.1", "ob1-tcp"): (9.515453, 2808.541),
    ("network", "Open MPI 4.1.1", "default"): (1.357744, 12145.917),
    ("network", "Intel MPI", "infiniband"): (1.287712, 12188.889),
    ("network", "Open MPI 4.0.3", "ucx-ib0"): (12.945012, 2432.176),
    ("network", "Open MPI 4.1.1", "ob1-tcp"): (15.480444, 2118.792),
    ("network", "Open MPI 4.0.3", "ucx-br0"): (17.777864, 1920.804),
}
EXTRAPOLATED = {
    # weak_scaling_jacobi: headers of tables VII and IX; two GPU nodes are in none of its tables.
    "cache": (0.21, 6155.0),
    "node": (0.42, 5007.0),
}
T_SERIAL_S, SIDE = 22.0729, 1200


def test_the_lines_of_figure_5() -> None:
    expect_lines(MACHINE, FIGURE_5)


def test_the_extrapolations() -> None:
    expect_extrapolations(MACHINE, EXTRAPOLATED)


@pytest.mark.parametrize(
    ("locality", "ranks", "k", "printed_mlups"),
    [
        # Tables VII, IX and XI: grids (12, 1, 1), (3, 2, 2), (12, 1, 1) and (4, 4, 3).
        ("cache", 12, 2, 939.114),
        ("cache", 12, 6, 938.478),
        ("node", 12, 2, 939.041),
        ("node", 48, 6, 3753.035),
    ],
)
def test_the_tables_of_weak_scaling_follow(locality: str, ranks: int, k: int, printed_mlups: float) -> None:
    fit = asymptotic(MACHINE)[locality]
    exchange_s = (
        SIDE**2 * k * 16 / fit.parameters["bandwidth_B_per_s"].value + k * fit.parameters["latency_s"].value
    )
    mlups = ranks * SIDE**3 / (T_SERIAL_S + exchange_s) / 1e6
    # Half a unit of the last printed digit of the time, 0.0001 of 22 s, is 0.01 MLUP/s in 3753.
    assert mlups == pytest.approx(printed_mlups, abs=0.01)


def test_what_the_reports_say_of_the_node() -> None:
    [host] = MACHINE.system.hosts
    assert (host.cpus, host.cpu_model) == (48, "Intel(R) Xeon(R) Gold 6226 CPU @ 2.70GHz")
    groups = {level: [cache.shared for cache in host.caches if cache.level == level] for level in (1, 2, 3)}
    # Data and instructions.
    assert sorted(groups[1]) == sorted(2 * [[cpu, cpu + 24] for cpu in range(24)])
    assert sorted(groups[2]) == [[cpu, cpu + 24] for cpu in range(24)]
    assert groups[3] == [list(range(0, 48, 2)), list(range(1, 48, 2))]


def test_nothing_is_claimed_that_was_not_published() -> None:
    expect_no_claims(MACHINE)
    assert MACHINE.effects
    assert all(one.not_identified and not one.parameters for one in MACHINE.effects)
    assert any("not reserved" in text for text in MACHINE.provenance.warnings)
