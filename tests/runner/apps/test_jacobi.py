"""The program `jacobi` on every MPI: to the last bit what numpy computes on one array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.capabilities import lacking
from tests.runner.sessions import LIMIT_S, UNTIL, session_of, simulated

from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.runner.session import Limitation, Refused, Session

MOST_RANKS = 8
EXCHANGES = ["sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"]
U64 = np.uint64


session = session_of(MOST_RANKS)


def ask(
    session: Session, cells: tuple[int, int, int], grid: tuple[int, int, int], **choices: Any
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "operation": "jacobi",
        "ranks": math.prod(grid),
        **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
        **dict(zip(("px", "py", "pz"), grid, strict=True)),
        "halo": "nonblocking",
        "faces": "packed",
        "iterations": 3,
        "threads": 1,
        "instructions": "auto",
        "stores": "auto",
        "block_rows": 0,
        "bound": 0,
        "compute": 1,
        "cell_s": 0,
        "repetitions": 1,
        **UNTIL,
    }
    return session.app(LIMIT_S, Timed, **(request | choices)).as_said()


def mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64."""
    value = (value ^ (value >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> U64(27))) * U64(0x94D049BB133111EB)
    return value ^ (value >> U64(31))


def reference(cells: tuple[int, int, int], sweeps: int) -> dict[str, Any]:
    """Error, residual and checksum after some sweeps, by whole-array numpy on an array [z, y, x] with walls."""
    h = 1.0 / (max(cells) + 1)
    x, y, z = (np.arange(n + 2, dtype=float) for n in cells)
    nx, ny, nz = x[None, None, :], y[None, :, None], z[:, None, None]
    limit = h * h * (nx * nx + ny * ny - 2 * nz * nz) + h * h * h * (nx * ny * nz)
    sines = [np.array([0.0, *(math.sin(math.pi * i / (n + 1)) for i in range(1, n + 1)), 0.0]) for n in cells]
    mode = sines[0][None, None, :] * sines[1][None, :, None] * sines[2][:, None, None]
    u = limit + mode
    inner = (slice(1, -1),) * 3
    for _ in range(sweeps):
        before = u.copy()
        u[inner] = (1.0 / 6.0) * (
            (
                (before[1:-1, 1:-1, :-2] + before[1:-1, 1:-1, 2:])
                + (before[1:-1, :-2, 1:-1] + before[1:-1, 2:, 1:-1])
            )
            + (before[:-2, 1:-1, 1:-1] + before[2:, 1:-1, 1:-1])
        )
    number = np.arange(math.prod(cells), dtype=U64).reshape(cells[::-1])
    bits = np.ascontiguousarray(u[inner]).view(U64)
    return {
        "error": float(np.abs(u[inner] - limit[inner]).max()),
        "residual": float(np.abs(u[inner] - before[inner]).max()),
        "checksum": str(int(mixed(bits ^ mixed(number)).sum(dtype=U64))),
    }


def same(answer: dict[str, Any], expected: dict[str, Any]) -> bool:
    return {key: answer[key] for key in expected} == expected


@pytest.mark.one_mpi
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_every_exchange_gives_every_bit(session: Session, exchange: str) -> None:
    # An odd number of sweeps and uneven shares; ranks with two, three and six neighbours.
    cells = (11, 9, 7)
    expected = reference(cells, 3)
    for faces, grid in [
        ("packed", (1, 1, 1)),
        ("packed", (2, 1, 2)),
        ("datatype", (3, 2, 1)),
        ("packed", (1, 2, 3)),
        ("datatype", (2, 2, 2)),
        ("packed", (3, 1, 1)),
        ("datatype", (1, 1, 3)),
    ]:
        answer = ask(session, cells, grid, halo=exchange, faces=faces)
        assert same(answer, expected), (faces, grid)
        assert answer["verified"] is True


def test_one_cell_between_two_neighbours(session: Session) -> None:
    for exchange in ("overlap", "sendrecv"):
        answer = ask(session, (5, 1, 3), (1, 1, 3), halo=exchange, faces="datatype")
        assert same(answer, reference((5, 1, 3), 3))


@pytest.mark.parametrize("instructions", ["avx512", "avx2", "portable"])
def test_every_kernel_gives_every_bit(session: Session, instructions: str) -> None:
    # Rows that end at every place of a cache line, planes in fours and left over, blocks that end anywhere.
    compared = 0
    for cells in [(n, 5, 6) for n in range(1, 18)] + [(40, 13, 9), (24, 3, 1), (250, 7, 5)]:
        expected = reference(cells, 2)
        for stores in ("regular", "non_temporal"):
            for block_rows in (0, 2):
                try:
                    answer = ask(
                        session,
                        cells,
                        (1, 1, 1),
                        iterations=2,
                        repetitions=1,
                        instructions=instructions,
                        stores=stores,
                        block_rows=block_rows,
                    )
                except Limitation:
                    assert instructions != "portable" or stores == "non_temporal"
                    continue
                assert same(answer, expected), (cells, stores, block_rows)
                assert answer["instructions"] == instructions
                assert answer["non_temporal"] == (stores == "non_temporal")
                compared += 1
    if not compared:
        pytest.skip(lacking(instructions, "the runner refuses them on this CPU"))


def test_error_decays_as_the_mode_does(session: Session) -> None:
    cells = (7, 5, 3)
    answer = ask(session, cells, (1, 2, 1), iterations=40)
    factor = sum(math.cos(math.pi / (n + 1)) for n in cells) / 3
    # All sides are odd: the mode is 1 in the middle. Forty sweeps round values below 3.
    assert answer["error"] == pytest.approx(factor**40, abs=1e-13)
    assert answer["residual"] == pytest.approx((1 - factor) * factor**39, abs=1e-13)


def test_what_is_sent_is_counted(session: Session) -> None:
    answer = ask(session, (8, 6, 4), (2, 3, 1))
    # Ranks are in the order of the grid, z fastest: two columns along x, three rows of 2 x 4 cells along y.
    edge, middle = 8 * (2 * 4 + 4 * 4), 8 * (2 * 4 + 2 * 4 * 4)
    assert answer["halo_B"] == [edge, middle, edge, edge, middle, edge]
    assert answer["messages"] == [2, 3, 2, 2, 3, 2]
    parts = zip(answer["compute_s"], answer["pack_s"], answer["wait_s"], strict=True)
    assert all(min(part) >= 0 for part in parts)


def test_the_bound_is_of_the_same_mix(session: Session) -> None:
    for block_rows, stores, per_update in [
        # Planes are read once, and written past the cache or through it.
        (0, "non_temporal", 16),
        (0, "regular", 24),
    ]:
        answer = ask(session, (40, 30, 9), (1, 1, 2), bound=1, stores=stores, block_rows=block_rows)
        assert answer["bytes_per_update"] == per_update
        assert answer["bound_mlups"] == pytest.approx(
            answer["stream_bandwidth_B_per_s"] / per_update / 1e6, rel=1e-5
        )
        assert answer["fraction_of_bound"] > 0
        assert answer["verified"] is True, "the copies leave the fields as they must be"


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"px": 3}, "6 processes, the run 2 ranks|from 1 to 2"),
        ({"px": 1}, "1 processes, the run 2 ranks"),
        ({"nx": 0}, "nx must be"),
        ({"ny": 10**12}, "ny must be"),
        ({"nz": -4}, "nz must be"),
        ({"nx": 1}, r"more processes \(2\) than cells \(1\) along x"),
        ({"halo": "carrier"}, "halo must be"),
        ({"faces": "smiling"}, "faces must be"),
        ({"instructions": "mmx"}, "instructions must be"),
        ({"stores": "none"}, "stores must be"),
        ({"iterations": 0}, "iterations"),
        ({"threads": 0}, "threads"),
        ({"block_rows": -1}, "block_rows"),
        ({"cell_s": -1}, "cell_s"),
        ({"nx": "many"}, "not a whole number"),
        ({"compute": 0, "faces": "datatype"}, "compute=0"),
        ({"nx": 10**6, "ny": 10**6, "nz": 2}, "a face"),
    ],
)
def test_a_bad_request_is_told_and_the_next_works(session: Session, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        ask(session, (4, 4, 4), (2, 1, 1), **wrong)
    assert ask(session, (4, 4, 4), (2, 1, 1), repetitions=1)["verified"] is True


def test_what_does_not_fit_the_memory_is_refused_before_it_is_taken(session: Session) -> None:
    with pytest.raises(Refused, match="GiB"):
        ask(session, (20_000, 20_000, 20_000), (2, 1, 1))
    assert ask(session, (4, 4, 4), (2, 1, 1), repetitions=1)["verified"] is True


def test_no_time_is_charged_on_a_real_host(session: Session) -> None:
    for choices in ({"cell_s": 1e-6}, {"compute": 0}):
        with pytest.raises(Limitation, match="simulated host"):
            ask(session, (8, 8, 8), (2, 1, 1), **choices)


@pytest.mark.simulated
def test_on_a_simulated_cluster() -> None:
    with simulated(12) as session:
        with pytest.raises(Limitation, match="neighbourhood"):
            ask(session, (9, 7, 5), (3, 2, 2), halo="neighborhood")
        with pytest.raises(Limitation, match="persistent requests with data types"):
            ask(session, (9, 7, 5), (3, 2, 2), halo="persistent", faces="datatype")
        cells = (11, 9, 7)
        expected = reference(cells, 3)
        for exchange in EXCHANGES[:-1]:
            for faces in ("packed",) if exchange == "persistent" else ("packed", "datatype"):
                assert same(ask(session, cells, (3, 2, 2), halo=exchange, faces=faces), expected), exchange
        for compute in (1, 0):
            for exchange in ("nonblocking", "overlap"):
                answer = ask(session, (8, 8, 8), (2, 1, 1), cell_s=1e-6, compute=compute, halo=exchange)
                # Three sweeps of half the cells. Reading the simulated clock takes 10 ns (SimGrid's
                # `smpi/wtime`), once for each part of a sweep: seven at most.
                assert answer["compute_s"] == pytest.approx([3 * 256e-6] * 2, abs=3 * 7 * 10e-9)
                assert answer["time_s"] > 3 * 256e-6
                assert ("checksum" in answer) == bool(compute)
