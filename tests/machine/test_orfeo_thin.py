"""machines/orfeo_thin.json against the tables of two unpublished reports, typed in here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.machine.published import asymptotic, expect_extrapolations, expect_lines, expect_no_claims

from hockney.machine.file import load

MACHINE = load(Path("orfeo_thin"))

FIGURE_5 = {
    # two-links, thin node: (locality, library, variant): latency in µs, bandwidth in MB/s
    ("cache", "Open MPI 4.1.1", "default"): (0.196710, 5384.612),
    ("cache", "Intel MPI", "infiniband"): (0.234158, 5485.757),
    ("cache", "Open MPI 4.1.1", "ob1-vader"): (0.276249, 3639.492),
    ("cache", "Open MPI 4.1.1", "ob1-tcp"): (5.472147, 5196.069),
    ("node", "Open MPI 4.1.1", "default"): (0.414452, 4612.174),
    ("node", "Intel MPI", "infiniband"): (0.432647, 4208.231),
    ("node", "Open MPI 4.1.1", "ob1-vader"): (0.602071, 3000.796),
    ("node", "Open MPI 4.1.1", "ob1-tcp"): (7.877553, 3265.919),
    ("network", "Open MPI 4.1.1", "default"): (0.981388, 12180.267),
    ("network", "Intel MPI", "infiniband"): (1.124170, 12210.497),
    ("network", "Open MPI 4.0.3", "ucx-ib0"): (10.277036, 2764.394),
    ("network", "Open MPI 4.1.1", "ob1-tcp"): (16.036402, 2784.559),
    ("network", "Open MPI 4.0.3", "ucx-br0"): (15.943306, 2433.027),
}
EXTRAPOLATED = {
    # weak_scaling_jacobi: T_ℓ in µs of tables VI, VIII and X; B in MB/s that their columns follow from
    "cache": (0.21, 5902.0),
    "node": (0.40, 5024.0),
    "network": (0.98, 12185.0),
}


def test_the_lines_of_figure_5() -> None:
    expect_lines(MACHINE, FIGURE_5)


def test_the_extrapolations() -> None:
    expect_extrapolations(MACHINE, EXTRAPOLATED)


def test_table_vi_follows_from_the_bandwidth_of_the_file_not_from_its_header() -> None:
    """weak_scaling_jacobi with L = 1200, T_s = 15.3276 s, 12 ranks as (3, 2, 2): k = 6."""
    fit = asymptotic(MACHINE)["cache"]

    def mlups(bandwidth_B_per_s: float) -> float:
        exchange_s = 138.24e6 / bandwidth_B_per_s + 6 * 0.21e-6
        return 12 * 1200**3 / (15.3276 + exchange_s) / 1e6

    # 1350.789 is printed; its last digit is half a unit of 0.001.
    assert mlups(fit.parameters["bandwidth_B_per_s"].value) == pytest.approx(1350.789, abs=0.002)
    assert mlups(6155e6) != pytest.approx(1350.789, abs=0.02)
    assert any("6155" in note for note in fit.notes)


def test_what_the_reports_say_of_the_node() -> None:
    [host] = MACHINE.system.hosts
    assert (host.cpus, host.cpu_model) == (24, "Intel(R) Xeon(R) Gold 6126 CPU @ 2.60GHz")
    sizes = {(cache.level, cache.type): cache.size_B for cache in host.caches}
    assert sizes == {
        (1, "Data"): 32 * 1024,
        (1, "Instruction"): 32 * 1024,
        (2, "Unified"): 1024 * 1024,
        (3, "Unified"): 19712 * 1024,
    }
    assert [len(cache.shared) for cache in host.caches if cache.level == 3] == [12, 12]


def test_nothing_is_claimed_that_was_not_published() -> None:
    expect_no_claims(MACHINE)
    assert MACHINE.effects
    assert all(one.not_identified for one in MACHINE.effects)
    assert {one.effect for one in MACHINE.effects if one.parameters} == {"pingping"}


def test_pingping_has_bandwidths_and_no_latency() -> None:
    found = {one.locality: one for one in MACHINE.effects if one.effect == "pingping"}
    in_MB_per_s = {where: one.parameters["bandwidth_B_per_s"].value * 1e-6 for where, one in found.items()}
    assert in_MB_per_s == pytest.approx({"cache": 6372.991, "node": 5530.801, "network": 11945.604}, rel=1e-12)
    assert all("latency" in one.not_identified and "latency_s" not in one.parameters for one in found.values())
    assert found["network"].parameters["switch_latency_s"].value == pytest.approx(1.35e-6, rel=1e-12)
    assert any("declares" in note for note in found["network"].notes)
