"""What a library needs at launch for its algorithms: Intel MPI's presets, and a switch of old Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.runner.library import INTEL_PRESETS, launch_environment, launch_variants
from hockney.runner.mpi import Mpi

OPERATIONS = sorted(INTEL_PRESETS)


def intel(folder: Path, says: str | None) -> Mpi:
    if says is not None:
        info = folder / "impi_info"
        info.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
        info.chmod(0o755)
    return Mpi("intel", "2021.18", "4.1", folder / "mpicc", folder / "mpiexec", "hydra")


def test_the_library_says_how_many_presets_it_has(tmp_path: Path) -> None:
    variants = launch_variants(intel(tmp_path, "  range: 0-3 "), ["bcast", "reduce_scatter"])
    assert [(v.operation, v.algorithm) for v in variants] == [
        (operation, f"adjust:{n}") for operation in ("bcast", "reduce_scatter") for n in (1, 2, 3)
    ]
    assert variants[-1].environment == {"I_MPI_ADJUST_REDUCE_SCATTER": "3"}


@pytest.mark.parametrize("says", [None, "no such variable"])
def test_documented_presets_stand_in(tmp_path: Path, says: str | None) -> None:
    variants = launch_variants(intel(tmp_path, says), ["scatter"])
    assert [v.algorithm for v in variants] == ["adjust:1", "adjust:2", "adjust:3"]


def test_only_intel_needs_launches(tmp_path: Path) -> None:
    other = Mpi("openmpi", "4.1.4", "3.1", tmp_path / "mpicc", tmp_path / "mpirun", "openmpi")
    assert launch_variants(other, OPERATIONS) == []
    with pytest.raises(RequestError, match="'pingpong' is not a collective"):
        launch_variants(other, ["pingpong"])


@pytest.mark.parametrize(
    ("kind", "version", "needed"), [("openmpi", "4.1.4", True), ("openmpi", "5.0.11", False)]
)
def test_old_open_mpi_is_told_at_launch(tmp_path: Path, kind: str, version: str, *, needed: bool) -> None:
    mpi = Mpi(kind, version, "3.1", tmp_path / "mpicc", tmp_path / "mpirun", kind)
    assert (launch_environment(mpi) == {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}) is needed
