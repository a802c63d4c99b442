"""The program `cg` on every MPI: the same iteration on any process grid, against a solver of scipy's kind."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve
from tests.mounts import file_system
from tests.runner.sessions import LIMIT_S, UNTIL, session_of, simulated

from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.runner.session import Limitation, Refused, Session

RANKS = 4
VARIANTS = ("reference", "fused", "joint", "single_sweep", "pipelined")
BYTES = {"reference": 120, "fused": 96, "joint": 88, "single_sweep": 80, "pipelined": 128}
"""With plain stores: docs/reference/cg.md derives them."""
BASE: dict[str, Any] = {
    "variant": "single_sweep",
    "halo": "nonblocking",
    "faces": "packed",
    "stores": "auto",
    "eps": 1e-8,
    "iterations": 500,
    "replace_every": 50,
    "cell_s": 0,
    "compute": 1,
    "stream": 0,
    "file": "",
    "repetitions": 1,
    **UNTIL,
}


session = session_of(RANKS, bind_to="none")


def ask(
    session: Session, cells: tuple[int, ...], grid: tuple[int, int, int] = (1, 1, 1), **choices: Any
) -> dict[str, Any]:
    nx, ny, nz = (*cells, 1)[:3]
    px, py, pz = grid
    request = {"dimensions": len(cells), "nx": nx, "ny": ny, "nz": nz, "px": px, "py": py, "pz": pz}
    request = BASE | request | choices
    return session.app(LIMIT_S, Timed, operation="cg", ranks=math.prod(grid), **request).as_said()


def problem(cells: tuple[int, ...]) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Matrix, right-hand side and known solution, x fastest: u = Π s (L − s) eˢ, A of diagonal 2·dimensions."""
    h = 1 / (max(cells) + 1)
    values, curvatures = [], []
    for n in cells:
        s, length = h * np.arange(1, n + 1), h * (n + 1)
        values.append(s * (length - s) * np.exp(s))
        # By the product rule on s (L − s) eˢ = a eˢ: (a″ + 2a′ + a) eˢ.
        curvatures.append(-(-2 + 2 * (length - 2 * s) + s * (length - s)) * np.exp(s))

    def product(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        total = np.ones(1)
        for part in parts:  # x first: later directions are slower
            total = np.multiply.outer(part, total).ravel()
        return total

    f = sum(
        product([curvatures[d] if d == e else values[e] for e in range(len(cells))]) for d in range(len(cells))
    )
    matrix: Any = None
    for d, n in enumerate(cells):
        bands: Any = [-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)]
        part = diags_array(bands, offsets=[-1, 0, 1])
        sides = [part if e == d else eye_array(cells[e]) for e in range(len(cells))]
        whole: Any = sides[0]
        for side in sides[1:]:
            whole = kron(side, whole)
        matrix = whole if matrix is None else matrix + whole
    return matrix.tocsr(), h * h * np.asarray(f), product(values)


def plain_cg(matrix: Any, b: NDArray[np.float64], eps: float, most: int = 500) -> list[float]:
    """Residual norms of the textbook iteration, of `most` iterations at most."""
    x, r = np.zeros_like(b), b.copy()
    p, square = r.copy(), float(r @ r)
    norms = [math.sqrt(square)]
    while norms[-1] > eps * norms[0] and len(norms) <= most:
        q = matrix @ p
        alpha = square / float(p @ q)
        x += alpha * p
        r -= alpha * q
        new = float(r @ r)
        p = r + new / square * p
        square = new
        norms.append(math.sqrt(square))
    return norms


FLAT = [(1, 1, 1), (2, 1, 1), (1, 3, 1), (2, 2, 1), (4, 1, 1)]


@pytest.mark.parametrize(
    ("cells", "grids"),
    [
        pytest.param((19, 14), [(2, 1, 1)], id="2d-two_ranks"),
        pytest.param((19, 14), FLAT, id="2d", marks=pytest.mark.one_mpi),
        pytest.param((11, 9, 7), [*FLAT, (1, 1, 3), (1, 2, 2)], id="3d", marks=pytest.mark.one_mpi),
    ],
)
def test_any_formulation_on_any_grid_is_the_same_iteration(
    session: Session, cells: tuple[int, ...], grids: list[tuple[int, int, int]]
) -> None:
    matrix, b, u = problem(cells)
    expected = plain_cg(matrix, b, BASE["eps"])
    error = float(np.abs(spsolve(matrix, b) - u).max())
    ways = (("nonblocking", "datatype", "plain"), ("overlap", "packed", "streaming"))
    for number, variant in enumerate(VARIANTS):
        for place, grid in enumerate(grids if variant in ("single_sweep", "pipelined") else grids[3:] or grids):
            # More ranks than cores wait for each other: there every grid and variant has one way.
            for halo, faces, stores in [ways[(number + place) % 2]] if math.prod(grid) > 2 else ways:
                found = ask(session, cells, grid, variant=variant, halo=halo, faces=faces, stores=stores)
                what = f"{variant} on {grid} with {halo}"
                assert found["converged"] is True, what
                assert found["verified"] is True, what
                assert found["iterations"] == len(expected) - 1, what
                # Rounding of one part in 1e16 grows with the iterations; records have six digits.
                assert found["residual_norms"] == pytest.approx(expected, rel=1e-4), what
                # The residual of the recurrence drifts from the true one by rounding of x, far below eps.
                assert found["true_residual_norm"] == pytest.approx(expected[-1], rel=1e-3), what
                # At eps 1e-8 the iteration's own error is far below the discretisation's.
                assert found["error_max"] == pytest.approx(error, rel=1e-2), what
                if stores == "plain":
                    assert found["bytes_per_unknown"] == BYTES[variant]


def test_rows_of_several_pieces_and_groups_of_rows(session: Session) -> None:
    # In two dimensions `single_sweep` takes pieces of 64 unknowns of 4 rows together: rests of all kinds, none.
    for cells in ((128, 5), (131, 9), (203, 6), (64, 2), (65, 1)):
        matrix, b, _ = problem(cells)
        expected = plain_cg(matrix, b, 0, most=15)
        for grid in ((1, 1, 1), (2, 1, 1), *([(1, 2, 1)] if cells[1] > 1 else [])):
            for stores in ("plain", "streaming"):
                found = ask(session, cells, grid, eps=0, iterations=15, stores=stores, replace_every=0)
                # Rounding has not grown in so few iterations; records have six digits.
                assert found["residual_norms"] == pytest.approx(expected, rel=1e-5), (cells, grid, stores)


def test_replacing_the_residual_changes_nothing_but_rounding(session: Session) -> None:
    norms = [
        ask(session, (19, 14), (2, 1, 1), variant=variant, replace_every=every)["residual_norms"]
        for variant in ("joint", "single_sweep", "pipelined")
        for every in (0, 1, 3)
    ]
    assert all(one == pytest.approx(norms[0], rel=1e-3) for one in norms[1:])


def test_a_fixed_number_of_iterations(session: Session) -> None:
    found = ask(session, (64, 64), (1, 2, 1), eps=0, iterations=7, stream=2, repetitions=6)
    assert found["iterations"] == 7
    assert found["converged"] is False
    assert len(found["residual_norms"]) == 8
    assert found["iteration_s"] == pytest.approx(found["time_s"] / 7, rel=1e-5)
    assert len(found["stream_samples_s"]) == len(found["fractions_of_bound"]) == 6
    assert all(len(found[key]) == 2 for key in ("compute_s", "halo_s", "allreduce_s"))
    # Both ranks have one neighbour, across a side of 64 unknowns.
    assert found["halo_B"] == [8 * 64] * 2
    assert all(isinstance(count, int) for count in (found["unknowns"], *found["halo_B"]))
    assert found["unknowns"] == 64 * 64
    assert found["verified"] is True, "whether or not it converged"


def test_an_iteration_that_lost_its_residual_is_not_verified(session: Session) -> None:
    # Rounding grows in the pipelined recurrences, without bound where r is never replaced (Cools et al., SIAM J.
    # Matrix Anal. Appl. 39, 2018); 1000 iterations are several times what 100 × 100 unknowns need.
    for variant, every, is_right in (("pipelined", 0, False), ("pipelined", 50, True), ("single_sweep", 0, True)):
        found = ask(session, (100, 100), (2, 1, 1), variant=variant, replace_every=every, eps=0, iterations=1000)
        apart = abs(found["true_residual_norm"] - found["residual_norms"][-1])
        assert (apart <= found["residual_tolerance"]) is is_right, (variant, every)
        assert found["verified"] is is_right, (variant, every)


def test_counts_have_all_their_digits(session: Session) -> None:
    found = ask(session, (1237, 1009), (1, 2, 1), eps=0, iterations=1)
    assert found["unknowns"] == 1237 * 1009
    assert found["halo_B"] == [8 * 1237] * 2


def test_what_is_left_when_nothing_is_left(session: Session) -> None:
    # One unknown is solved by the first iteration; the rest works on rounding until that is zero, or goes on.
    found = ask(session, (1, 1, 1), eps=0, iterations=50)
    norms = found["residual_norms"]
    assert all(math.isfinite(norm) for norm in norms)
    assert max(norms[1:]) <= 1e-15 * norms[0]


@pytest.mark.one_mpi
def test_requests_that_cannot_be_answered(session: Session) -> None:
    for choices, text in (
        ({"cells": (0, 5)}, "nx must be"),
        ({"cells": (5, -1, 5)}, "ny must be"),
        ({"cells": (8, 8), "replace_every": -1}, "replace_every must be"),
        ({"cells": (3, 3), "grid": (4, 1, 1)}, "more processes"),
        ({"cells": (8, 8), "variant": "fast"}, "variant must be"),
        ({"cells": (8, 8), "halo": "fast"}, "halo must be"),
        ({"cells": (8, 8), "eps": -1}, "eps"),
        ({"cells": (8, 8), "iterations": 0}, "iterations"),
        ({"cells": (8, 8), "compute": 0}, "eps must be 0"),
    ):
        with pytest.raises(RequestError, match=text):
            ask(session, **choices)
    with pytest.raises(RequestError):
        ask(session, (8, 8), (2, 1, 1), px=3)
    for charged in ({"cell_s": 1e-6}, {"compute": 0, "eps": 0}):
        with pytest.raises(Limitation, match="simulated host"):
            ask(session, (8, 8), **charged)
    with pytest.raises(Refused):
        ask(session, (40000, 40000, 1000), (2, 1, 1))
    assert ask(session, (8, 8), (2, 2, 1))["converged"] is True, "the session survived"


@pytest.mark.one_mpi
def test_the_solution_is_written_by_all(session: Session, tmp_path: Path) -> None:
    cells = (11, 9, 7)
    path = tmp_path / "u.dat"
    matrix, b, _ = problem(cells)
    exact = spsolve(matrix, b)
    path.write_bytes(b"x" * 10000)  # longer than what comes
    for grid in ((1, 1, 1), (2, 2, 1), (1, 1, 3), (1, 2, 2)):
        ask(session, cells, grid, file=str(path), eps=1e-12)
        found = np.fromfile(path, dtype=np.float64)
        # ‖A⁻¹‖ is about (13/π)²/3 here: an error of eps in r is a few times as much in u.
        assert found == pytest.approx(exact, rel=0, abs=1e-10 * np.abs(exact).max())
    assert [one.name for one in tmp_path.iterdir()] == ["u.dat"]
    with pytest.raises(Limitation, match="cannot open"):
        ask(session, cells, (2, 1, 1), file=str(tmp_path / "nowhere" / "u.dat"))
    assert ask(session, cells, (2, 2, 1))["converged"] is True, "the session survived"


def test_a_full_file_system_leaves_no_file(session: Session, tmp_path: Path) -> None:
    with file_system(tmp_path / "small", "size=1m") as small:
        # 100 × 100 × 40 doubles are 3.2 MB.
        with pytest.raises(Limitation, match=r"u\.dat\.part"):
            ask(session, (100, 100, 40), (1, 2, 1), eps=0, iterations=1, file=str(small / "u.dat"))
        assert list(small.iterdir()) == []
        ask(session, (20, 20, 20), (2, 2, 1), eps=0, iterations=1, file=str(small / "u.dat"))
        assert (small / "u.dat").stat().st_size == 8 * 20**3


@pytest.mark.simulated
def test_28_simulated_ranks_iterate_alike_on_any_grid(tmp_path: Path) -> None:
    flat, solid = (31, 29), (29, 7, 5)
    grids = {
        flat: [(1, 1, 1), (1, 28, 1), (28, 1, 1), (2, 14, 1), (14, 2, 1), (4, 7, 1), (7, 4, 1)],
        solid: [(28, 1, 1), (7, 4, 1), (7, 2, 2), (4, 7, 1), (4, 1, 5), (2, 7, 2)],
    }
    with simulated(28) as session:
        for cells, shapes in grids.items():
            matrix, b, _ = problem(cells)
            expected = plain_cg(matrix, b, 1e-6)
            for variant in VARIANTS:
                for grid in shapes if variant == "single_sweep" else shapes[-2:]:
                    found = ask(session, cells, grid, variant=variant, eps=1e-6)
                    assert found["iterations"] == len(expected) - 1, (variant, grid)
                    assert found["verified"] is True, (variant, grid)
                    assert found["stores"] == "plain"
                    # As on real hosts.
                    assert found["residual_norms"] == pytest.approx(expected, rel=1e-4), (variant, grid)
        with pytest.raises(Limitation, match="neighbourhood"):
            ask(session, flat, halo="neighborhood")
        with pytest.raises(Limitation, match="persistent requests with data types"):
            ask(session, flat, halo="persistent", faces="datatype")
        with pytest.raises(Limitation, match="no files"):
            ask(session, flat, file=str(tmp_path / "u.dat"))
