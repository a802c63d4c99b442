"""Which runs a machine file speaks of, applications nobody knows, and what must be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.factories import app_run, jacobi_run, ring_run

from hockney.machine.file import MpiLibrary
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, applications


def _told(records: list[AppRecord]) -> list[str]:
    return applications(records, None, lambda _: None).warnings


def test_a_file_speaks_of_its_own_mpi_system_and_variant(basis: Basis) -> None:
    mine = basis.machine.model_copy(update={"mpi": [MpiLibrary(name="Open MPI 5")]})
    own = replace(basis, machine=mine)
    assert own.refused(app_run("ring", 2, 1.0, mpi="Open MPI 5")) == ""
    assert own.refused(app_run("ring", 2, 1.0, mpi="SMPI")) == "the machine is of Open MPI 5, not of SMPI"
    assert "not of elsewhere" in own.refused(app_run("ring", 2, 1.0, system="elsewhere"))
    assert "no messages of variant udp" in own.refused(app_run("ring", 2, 1.0, variant="udp"))


def test_a_variant_is_predicted_from_its_own_messages(basis: Basis) -> None:
    usual, slow = (
        applications([ring_run(2, variant=variant)], basis, lambda _: None).runs[0]["predicted_s"]
        for variant in ("default", "<tcp>")
    )
    assert slow == pytest.approx(5 * usual, rel=1e-6)  # as the campaign's messages are


def test_an_unknown_application_is_listed() -> None:
    made = applications([app_run("fft 2", 4, 0.25, parameters={"n": 64})], None, lambda _: None)
    (section,) = made.sections
    (table,) = section.tables
    assert section.id == "app-fft-2"
    assert table.rows == [["fft 2", "4", "core", "250 ms", "n=64"]]
    assert made.warnings == [
        "fft 2: this version of hockney does not know the application; its runs are only listed."
    ]
    assert made.runs[0]["time_s"] == 0.25


def test_applications_come_in_the_order_of_their_first_run() -> None:
    made = applications([ring_run(2), jacobi_run(1), ring_run(1)], None, lambda _: None)
    assert [section.title for section in made.sections] == ["Ring", "Jacobi"]


def test_what_a_reader_must_know_is_told() -> None:
    assert _told([app_run("new", 2, 1.0)])[:-1] == []
    assert (
        "Wrong results in 1 of 2 runs"
        in _told([app_run("new", 2, 1.0), app_run("new", 2, 1.0, answer={"verified": False})])[0]
    )
    assert "Oversubscribed" in _told([app_run("new", 2, 1.0, oversubscribed=True)])[0]
    wide = _told([app_run("new", 2, 1.0, low_s=0.9, high_s=1.3), app_run("new", 2, 1.0)])[0]
    assert wide.startswith("1 of 2 runs of applications have an interval wider than ±10 %; widest: ±20 %")
    assert (
        "No interval of 1 of 1 run of applications" in _told([app_run("new", 2, 1.0, low_s=None, high_s=None)])[0]
    )
