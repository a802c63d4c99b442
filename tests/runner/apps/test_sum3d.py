"""The program `sum3d`, on every MPI: every element arrives where it should, whatever the grid and the split."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, UNTIL, session_of, simulation_of

from hockney.apps.stencil.grids import Grid, factorisations
from hockney.apps.stencil.loads import SPLITS, loads
from hockney.apps.sum3d.answer import PARTS
from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.runner.session import Refused, Session
from hockney.units import Extents

LAUNCHED = 8
SIZE = Extents(9, 10, 11)
"""No count of ranks here divides it along any direction."""
GRIDS = {
    # Of more ranks than cores, some libraries take milliseconds for a collective: not all grids of those.
    **{ranks: factorisations(ranks) for ranks in (1, 2, 3, 4)},
    6: [Grid(6, 1, 1), Grid(1, 2, 3), Grid(3, 1, 2)],
    8: [Grid(2, 2, 2), Grid(1, 4, 2), Grid(1, 1, 8)],
}


def ask(session: Session, grid: Grid, split: str, **other: Any) -> dict[str, Any]:
    request: dict[str, Any] = {
        "operation": "sum3d",
        "ranks": grid.ranks,
        **{f"n{name}": cells for name, cells in zip("xyz", SIZE, strict=True)},
        **{f"p{name}": processes for name, processes in zip("xyz", grid, strict=True)},
        "split": split,
        "seed": 5,
        "cycles": 1,
        "memory_bandwidth_B_per_s": 1e10,
        "repetitions": 1,
        **UNTIL,
    }
    return session.app(LIMIT_S, Timed, **(request | other)).as_said()


session, simulation = session_of(LAUNCHED), simulation_of(LAUNCHED)


def check(session: Session, grid: Grid, split: str) -> None:
    answer = ask(session, grid, split)
    assert answer["verified"] is True, (grid, split)
    assert answer["wrong_elements"] == 0
    assert answer["elements"] == loads(SIZE, grid, split)
    assert len(answer["samples_s"]) == 1
    for part in (*PARTS, "memory_bandwidth_B_per_s", "sum_bandwidth_B_per_s"):
        assert len(answer[part]) == grid.ranks


@pytest.mark.parametrize(
    "ranks", [pytest.param(n, marks=pytest.mark.one_mpi) if n > 3 else n for n in sorted(GRIDS)]
)
def test_every_element_arrives_whatever_the_grid(session: Session, ranks: int) -> None:
    for grid in GRIDS[ranks]:
        for split in SPLITS:
            check(session, grid, split)


@pytest.mark.simulated
def test_a_simulated_sum_takes_what_its_memory_takes(simulation: Session) -> None:
    answer = ask(simulation, Grid(2, 1, 1), "blocks", nx=10, ny=10, nz=10, memory_bandwidth_B_per_s=1e6)
    # 500 sums of 24 B. SMPI's clock takes 10 ns a reading.
    assert answer["compute_s"] == pytest.approx([0.012, 0.012], abs=2e-8)
    assert answer["memory_bandwidth_B_per_s"] == [1e6, 1e6]


def test_the_time_is_that_of_one_cycle(session: Session) -> None:
    answer = ask(session, Grid(1, 1, 1), "balanced", nx=64, ny=64, nz=64, cycles=20, repetitions=5)
    parts_s = sum(answer[part][0] for part in PARTS)
    # Medians of the parts add up to that of the whole but for the clock and what interrupts: never to 20 times.
    assert 0.2 < parts_s / answer["time_s"] < 5


def test_a_size_that_the_least_process_cannot_have_is_one_of_its_own(session: Session) -> None:
    one_each = ask(session, Grid(2, 2, 2), "blocks", nx=2, ny=2, nz=2)
    assert (one_each["verified"], one_each["elements"]) == (True, [1] * 8)
    one_each = ask(session, Grid(8, 1, 1), "balanced", nx=2, ny=2, nz=2)
    assert (one_each["verified"], one_each["elements"]) == (True, [1] * 8)


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"nx": 0}, "nx must be"),
        ({"split": "cartesian", "px": 0}, "px must be"),
        ({"split": "cartesian", "px": 3}, "px must be"),
        ({"split": "blocks", "px": 1}, "1 processes, the run 2 ranks"),
        ({"nx": 65536, "ny": 32768, "nz": 1}, "more elements than MPI counts"),
        ({"nx": 2**62, "ny": 2**62, "nz": 2**62}, "nx must be"),
        ({"split": "cartesian", "nx": 1, "ny": 100}, r"more processes \(2\) than cells \(1\) along x"),
        ({"split": "blocks", "ny": 1, "py": 2, "px": 1}, "along y"),
        ({"nx": 1, "ny": 1, "nz": 1}, "more ranks than elements"),
        ({"split": "rows"}, "split must be"),
        ({"cycles": 0}, "cycles must be"),
        ({"memory_bandwidth_B_per_s": 0}, "must be positive"),
        ({"repetitions": -1}, "repetitions must be"),
        ({"seed": "any"}, "not a whole number"),
    ],
)
def test_a_wrong_request_is_refused_and_the_next_served(
    session: Session, wrong: dict[str, Any], what: str
) -> None:
    with pytest.raises(RequestError, match=what):
        ask(session, Grid(2, 1, 1), **({"split": "balanced"} | wrong))
    assert ask(session, Grid(2, 1, 1), "balanced")["verified"] is True


def test_what_does_not_fit_into_memory_is_refused_before_it_is_allocated(session: Session) -> None:
    free_B = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    side = 1290  # 2,146,689,000 elements, the most that MPI counts: six times 17 GB in all
    if free_B > 6 * 8 * side**3:
        pytest.skip("all of it fits into this machine's memory")
    with pytest.raises(Refused, match="memory is free"):
        ask(session, Grid(2, 1, 1), "balanced", nx=side, ny=side, nz=side)
    assert ask(session, Grid(2, 1, 1), "balanced")["verified"] is True
