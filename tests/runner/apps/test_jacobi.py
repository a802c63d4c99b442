"""The program `jacobi` on every MPI: to the last bit what numpy computes on one array."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Limitation, Session

LIMIT_S = 120.0
MOST_RANKS = 8
EXCHANGES = ["sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"]
U64 = np.uint64


@pytest.fixture(scope="module")
def session(mpi: Mpi) -> Iterator[Session]:
    request = LaunchRequest(ranks=MOST_RANKS, oversubscribe=len(os.sched_getaffinity(0)) < MOST_RANKS)
    argv, environment = command(mpi, request)
    with Session([*argv, str(runner_binary(mpi))], {**mpi.environment, **environment}, LIMIT_S) as started:
        yield started


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
        "repetitions": 2,
        "least_samples": 6,
        "budget_s": 1,
        "tolerance": 0.01,
    }
    return session.app(LIMIT_S, **(request | choices))


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


def has(session: Session, exchange: str) -> bool:
    return exchange != "neighborhood" or not session.hello["ranks"][0].get("simulated")


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("faces", ["datatype", "packed"])
def test_every_exchange_gives_every_bit(session: Session, exchange: str, faces: str) -> None:
    if not has(session, exchange):
        with pytest.raises(Limitation, match="neighbourhood"):
            ask(session, (9, 7, 5), (1, 1, 1), halo=exchange, faces=faces)
        return
    cells = (11, 9, 7)
    expected = reference(cells, 3)
    for grid in [(1, 1, 1), (2, 1, 1), (1, 3, 1), (1, 1, 4), (3, 2, 1), (2, 2, 2), (1, 2, 3), (8, 1, 1)]:
        answer = ask(session, cells, grid, halo=exchange, faces=faces)
        assert same(answer, expected), grid
        assert answer["verified"] is True
