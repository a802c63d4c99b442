"""Boxes, neighbours and exchanges, as cpp/runner/apps/halo lays them out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney._core import Kind
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import EXCHANGES, Exchange
from hockney.apps.stencil.stencil import Script, Stencil, exchange
from hockney.errors import RequestError

SIDES = st.integers(1, 4)


@st.composite
def stencils(draw: st.DrawFn) -> Stencil:
    parts = [draw(SIDES) for _ in range(3)]
    x, y, z = (one * draw(st.integers(1, 5)) + draw(st.integers(0, 3)) for one in parts)
    return Stencil((x, y, z), Grid(*parts))


STENCILS = stencils()


@given(STENCILS)
def test_boxes_hold_every_cell_once_and_are_even(stencil: Stencil) -> None:
    boxes = stencil.boxes()
    assert boxes.prod(axis=1).sum() == np.prod(stencil.cells)
    assert ((boxes.max(axis=0) - boxes.min(axis=0)) <= 1).all()


@given(STENCILS)
def test_neighbours_are_mutual_and_their_faces_fit(stencil: Stencil) -> None:
    neighbours, faces = stencil.neighbours(), stencil.faces()
    links = 0
    for rank in range(stencil.ranks):
        for slot in range(6):
            other = neighbours[rank, slot]
            if other < 0:
                continue
            links += 1
            assert neighbours[other, slot ^ 1] == rank
            assert faces[other, slot ^ 1] == faces[rank, slot]
    x, y, z = stencil.grid
    assert links == 2 * ((x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1))


def test_ranks_along_z_vary_fastest_and_longer_parts_come_first() -> None:
    stencil = Stencil((7, 5, 3), Grid(2, 1, 3))
    assert stencil.coordinates().tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]]
    assert stencil.boxes().tolist() == [[4, 5, 1]] * 3 + [[3, 5, 1]] * 3
    assert stencil.neighbours()[1].tolist() == [-1, 4, -1, -1, 0, 2]
    # Faces across x hold y·z cells, those across z x·y.
    assert stencil.faces()[1].tolist() == [5, 5, 4, 4, 20, 20]


def test_inner_cells_need_no_neighbour() -> None:
    stencil = Stencil((12, 12, 12), Grid(3, 1, 2))
    # Along x the ranks in the middle have two neighbours, the others one; along z all have one.
    assert stencil.inner().tolist() == [3 * 12 * 5, 3 * 12 * 5, 2 * 12 * 5, 2 * 12 * 5, 3 * 12 * 5, 3 * 12 * 5]


@pytest.mark.parametrize("how", EXCHANGES)
def test_every_face_is_sent_once_and_received_once(how: Exchange) -> None:
    stencil = Stencil((8, 6, 4), Grid(2, 3, 1), how)
    script = Script(stencil.ranks)
    inner = np.full(stencil.ranks, 1e-6)
    exchange(script, stencil, [inner, 2 * inner])
    schedule = script.schedule()
    sent = {
        (r, s.peer, s.source.length_B)
        for r, mine in enumerate(schedule)
        for s in mine.steps
        if s.kind == Kind.send
    }
    come = {
        (s.peer, r, s.target.length_B)
        for r, mine in enumerate(schedule)
        for s in mine.steps
        if s.kind == Kind.receive
    }
    assert sent == come
    neighbours, faces = stencil.neighbours(), stencil.faces()
    assert sent == {
        (r, int(neighbours[r, k]), 8 * int(faces[r, k]))
        for r in range(6)
        for k in range(6)
        if neighbours[r, k] >= 0
    }
    for rank, mine in enumerate(schedule):
        worked = sum(s.target.length_B for s in mine.steps if s.kind == Kind.reduce)
        copied = sum(s.target.length_B for s in mine.steps if s.kind == Kind.copy)
        assert worked == 3_000_000
        assert copied == 2 * 8 * sum(int(faces[rank, k]) for k in range(6) if neighbours[rank, k] >= 0)


@pytest.mark.parametrize("cells", [(0, 4, 4), (4, -1, 4), (4, 4, 2)])
def test_fewer_cells_than_ranks_are_refused(cells: tuple[int, int, int]) -> None:
    with pytest.raises(RequestError):
        Stencil(cells, Grid(1, 1, 3))
