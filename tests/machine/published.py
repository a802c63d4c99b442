"""What is expected of a machine file that was typed in from a report."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hockney.machine.file import Machine
from hockney.models.base import Fit


def asymptotic(machine: Machine) -> dict[str, Fit]:
    """The extrapolated fits by locality."""
    found = [entry for entry in machine.point_to_point if "asymptotic" in entry.fits]
    by_locality = {str(entry.locality): entry.fits["asymptotic"] for entry in found}
    assert len(by_locality) == len(found)
    return by_locality


def expect_lines(machine: Machine, printed: Mapping[tuple[str, str, str], tuple[float, float]]) -> None:
    """Each line by locality, library and variant: latency in µs, bandwidth in MB/s."""
    found: dict[tuple[str, str, str], tuple[float, float]] = {}
    for entry in machine.point_to_point:
        [regime] = entry.fits["piecewise"].regimes
        key = (str(entry.locality), entry.other["mpi"], entry.variant)
        found[key] = (regime.alpha_s.value * 1e6, 1e-6 / regime.beta_s_per_B.value)
    assert found.keys() == printed.keys()
    for key, values in printed.items():
        assert found[key] == pytest.approx(values, rel=1e-12)


def expect_extrapolations(machine: Machine, printed: Mapping[str, tuple[float, float]]) -> None:
    """By locality: latency in µs, bandwidth in MB/s."""
    found = asymptotic(machine)
    assert found.keys() == printed.keys()
    for locality, (latency_us, bandwidth_MB_per_s) in printed.items():
        parameters = found[locality].parameters
        assert parameters["latency_s"].value == pytest.approx(latency_us * 1e-6, rel=1e-12)
        assert parameters["bandwidth_B_per_s"].value == pytest.approx(bandwidth_MB_per_s * 1e6, rel=1e-12)


def expect_no_claims(machine: Machine) -> None:
    """Sources, and neither points nor intervals, which nobody published."""
    for entry in machine.point_to_point:
        assert entry.source
        assert not entry.measurements.points
        for fit in entry.fits.values():
            assert all(one.low is None and one.high is None for one in fit.parameters.values())
