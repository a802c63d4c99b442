"""Runs written by hand, and a machine whose messages take 2 µs + n / 1 GB/s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hockney.machine.build import build
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.report.app_sections import Basis

EVIL = "<b>n1</b> & 'co' \"x\""
GRID = {"px": 1, "py": 1}


def _run(operation: str, ranks: int, time_s: float, **other: Any) -> AppRecord:
    fields = {
        "operation": operation, "ranks": ranks, "parameters": {}, "time_s": time_s, "low_s": 0.98 * time_s,
        "high_s": 1.02 * time_s, "samples_s": [time_s] * 8, "answer": {}, "system": EVIL, "mapping": "core",
        "variant": "default", "nodes": 1, "ppn": ranks, "oversubscribed": False, "launch": "a",
    }  # fmt: skip
    return AppRecord.model_validate(fields | other)


def _jacobi(ranks: int, time_s: float = 1e-3, compute_s: float = 4e-4, **other: Any) -> AppRecord:
    """Ten sweeps of 8³ cells on 1x1xranks that are neither packed nor computed for longer than `compute_s`."""
    asked = {
        "nx": 8, "ny": 8, "nz": 8, **GRID, "pz": ranks, "halo": "nonblocking", "faces": "datatype",
        "iterations": 10, "compute": 1,
    } | other.pop("parameters", {})  # fmt: skip
    answer = {
        "mlups": 8**3 * 10 / time_s / 1e6, "compute_s": [compute_s] * ranks, "pack_s": [0.0] * ranks,
        "wait_s": [time_s - compute_s] * ranks, "halo_B": [512] * ranks, "verified": True,
    } | other.pop("answer", {})  # fmt: skip
    return _run("jacobi", ranks, time_s, parameters=asked, answer=answer, **other)


def _ring(ranks: int, time_s: float = 1e-5, exchange: str = "sendrecv", **other: Any) -> AppRecord:
    asked = {"exchange": exchange, "topology": "world", "iterations": 0}
    answer = {"positions": list(range(ranks)), "cycles": 100, "verified": True}
    return _run("ring", ranks, time_s, parameters=asked, answer=answer, **other)


@pytest.fixture(scope="session")
def run() -> Callable[..., AppRecord]:
    """Make a run of any application: (operation, ranks, time in s, fields that differ)."""
    return _run


@pytest.fixture(scope="session")
def jacobi_run() -> Callable[..., AppRecord]:
    """Make a run of Jacobi: (ranks, time and computation of ten sweeps in s, fields that differ)."""
    return _jacobi


@pytest.fixture(scope="session")
def ring_run() -> Callable[..., AppRecord]:
    """Make a run of the ring: (ranks, time in s, exchange, fields that differ)."""
    return _ring


@pytest.fixture(scope="session")
def basis(campaign: Path) -> Basis:
    """Fitted to the campaign's messages; its launches have two ranks that share a cache."""
    launches = {launch.id: launch for launch in Campaign(campaign).launches()}
    return Basis(build(campaign), "the machine", launches)
