"""Jacobi's section: sweeps, shares, and communication simulated beside the run's own computation."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import jacobi_run, not_none

from hockney.apps.jacobi.section import compare, links_of_machine, reported
from hockney.apps.jacobi.section import section as jacobi
from hockney.apps.stencil.runs import simulated_s
from hockney.apps.stencil.scaling import scaling_tables
from hockney.machine.file import Entry
from hockney.report.app_sections import Basis, Runs

MESSAGE_S = 2e-6 + 8 * 8 * 8 / 1e9
"""A face of 8 × 8 doubles on the machine of the tests."""


def test_times_and_shares_are_those_of_a_sweep() -> None:
    answer = {"pack_s": [1e-4, 1e-4], "wait_s": [4e-4, 6e-4], "fraction_of_bound": 0.4}
    shown = reported(jacobi_run(2, time_s=1e-3, compute_s=4e-4, answer=answer))
    assert (shown.time_s, shown.low_s, shown.high_s) == pytest.approx((1e-4, 0.98e-4, 1.02e-4))
    assert shown.communication == pytest.approx(12 / 20)  # packing and waiting of both ranks, of all
    assert shown.bound_share == 0.4
    assert shown.rate == pytest.approx(5.12)  # 512 updates in 0.1 ms
    assert (shown.problem, shown.of_rank, shown.grid) == ("8x8x8", "8x8x4", "1x1x2")


def test_messages_are_predicted_and_cells_are_the_runs_own(basis: Basis) -> None:
    made, _ = simulated_s(jacobi_run(2, compute_s=4e-4), basis)
    slower, _ = simulated_s(jacobi_run(2, compute_s=9e-4), basis)
    assert made is not None
    assert slower is not None
    # Ten sweeps of 40 µs and a face each way: no less than one message, no more than one after the other.
    assert MESSAGE_S * 0.99 < made - 40e-6 < 2 * MESSAGE_S
    assert slower - made == pytest.approx(50e-6, rel=1e-6)


def test_packing_is_the_runs_own(basis: Basis) -> None:
    plain: dict[str, Any] = {"parameters": {"faces": "packed"}}
    without, _ = simulated_s(jacobi_run(2, **plain), basis)
    # Of both ranks together; faces of 512 B are copied out and in again in each of ten sweeps.
    with_it, _ = simulated_s(jacobi_run(2, **plain, answer={"pack_s": [2e-5, 2e-5]}), basis)
    assert without is not None
    assert with_it is not None
    assert with_it - without == pytest.approx(2e-6, rel=0.01)  # one sweep of one rank


def test_a_run_over_a_network_that_was_not_measured_is_not_predicted(basis: Basis) -> None:
    inside = [entry.model_copy(update={"locality": "cache"}) for entry in basis.machine.point_to_point]
    near = Basis(basis.machine.model_copy(update={"point_to_point": inside}), basis.origin)
    on_one = jacobi(Runs([jacobi_run(2)], near))
    assert "all ranks are taken to be on one node, as far apart as cache" in on_one.sections[0].note
    on_two = jacobi(Runs([jacobi_run(2).model_copy(update={"nodes": 2})], near))
    assert on_two.runs[0]["predicted_s"] is None
    assert "has no messages between nodes" in on_two.sections[0].note


def test_one_rank_has_nothing_to_predict(basis: Basis) -> None:
    assert simulated_s(jacobi_run(1), basis) == (None, [])


def test_more_ranks_than_the_launch_told_are_not_predicted(basis: Basis) -> None:
    made = jacobi(Runs([jacobi_run(2), jacobi_run(4)], basis))
    assert [one["predicted_s"] is None for one in made.runs] == [False, True]
    assert "Not predicted, 1 of 2 runs: 4 ranks asked for; launch 'a' has 2." in made.sections[0].note


def test_the_formula_takes_the_messages_of_the_runs_own_library_and_transport(basis: Basis) -> None:
    """Of two libraries, transports and mappings; λ and B are so many times those of the machine of the tests."""
    machine = basis.machine
    slower = {
        ("A 1", "default", "core"): 1.0, ("A 1", "tcp", "core"): 10.0, ("B 2", "default", "core"): 100.0,
        ("A 1", "default", "socket"): 1000.0,
    }  # fmt: skip

    def scaled(entry: Entry, factor: float, mpi: str, variant: str, mapping: str) -> Entry:
        fits = {
            name: fit.model_copy(
                update={
                    "regimes": [
                        one.model_copy(
                            update={
                                "alpha_s": one.alpha_s.scaled(factor, "s"),
                                "beta_s_per_B": one.beta_s_per_B.scaled(factor, "s/B"),
                            }
                        )
                        for one in fit.regimes
                    ]
                }
            )
            for name, fit in entry.fits.items()
        }
        named = {"variant": variant, "mapping": mapping, "other": {**entry.other, "mpi": mpi}}
        return entry.model_copy(update={"fits": fits, **named})

    entries = [
        scaled(entry, factor, *launched)
        for launched, factor in slower.items()
        for entry in machine.point_to_point
        if entry.variant == "default"
    ]
    several = Basis(machine.model_copy(update={"point_to_point": entries, "mpi": []}), "it", basis.launches)
    for (mpi, variant, mapping), factor in slower.items():
        launched: dict[str, Any] = {"mpi": mpi, "variant": variant, "mapping": mapping}
        runs = [
            jacobi_run(ranks, parameters={"nx": 50, "ny": 50, "nz": 50 * ranks}, **launched) for ranks in (1, 2)
        ]
        (each,) = scaling_tables(runs)
        compared = compare(each, links_of_machine(Runs(runs, several)))
        assert compared.lacking == []
        predicted = not_none(compared.rows[-1].predicted)
        # k = 2, 16 k L² bytes: λ = 2 µs and 1 GB/s.
        assert predicted.communication_s == pytest.approx(factor * (2 * 2e-6 + 16 * 2 * 50**2 / 1e9), rel=1e-3)


def test_strong_and_weak_scaling_are_told_apart() -> None:
    strong = [jacobi_run(ranks) for ranks in (1, 2, 4)]
    weak = [
        jacobi_run(ranks, parameters={"nx": 50, "ny": 50, "nz": 50 * ranks, "pz": ranks}) for ranks in (1, 2, 4)
    ]
    made = jacobi(Runs([*strong, *weak]))
    words = made.sections[0].figures[0].figure.legends[0].get_texts()
    assert [text.get_text() for text in words] == ["8x8x8", "50x50x50 each"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"parameters": {"px": 77}},
        {"answer": {"compute_s": []}},
        {"answer": {"compute_s": [1e308, 1e308]}},
        {"parameters": {"nx": 0}},
    ],
)
def test_what_cannot_be_predicted_is_still_shown(basis: Basis, wrong: Any) -> None:
    made = jacobi(Runs([jacobi_run(2, **wrong)], basis))
    assert made.runs[0]["predicted_s"] is None
    assert made.runs[0]["time_s"] == pytest.approx(1e-4)
    assert "Not predicted, 1 of 1 run" in made.sections[0].note


@pytest.mark.parametrize(
    "wrong",
    [
        {"answer": {"compute_s": None}},
        {"answer": {"compute_s": [None, 1.0]}},
        {"answer": {"mlups": "fast"}},
        {"parameters": {"iterations": 0}},
        {"parameters": {"px": "many"}},
        {"parameters": {"px": 0}},
    ],
)
def test_a_record_of_another_version_is_listed(wrong: Any) -> None:
    other = jacobi_run(2, **wrong)
    made = jacobi(Runs([jacobi_run(1), other]))
    assert [table.caption for table in made.sections[0].tables] == ["Runs (1): nonblocking, datatype", "Runs"]
    assert "1 of 2 runs have answers" in made.warnings[0]
    assert len(made.runs) == 2
