"""Patterns of programs: jacobi, ring, matrix and collective."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.factories import refusing, written

from hockney.errors import RequestError
from hockney.network.traffic.patterns import parse_pattern


def messages(text: str, size_B: float | None = None) -> dict[tuple[int, int], float]:
    demand = parse_pattern(text, size_B).demand.summed(10**6)
    ends = zip(demand.source.tolist(), demand.target.tolist(), strict=True)
    return dict(zip(ends, demand.size_B.tolist(), strict=True))


def test_jacobi_is_the_halo_exchange_of_a_grid() -> None:
    found = parse_pattern("jacobi:4x3x2")
    # Faces between two ranks, both ways: 3·3·2 + 4·2·2 + 4·3·1 = 46.
    assert len(found.demand.source) == 2 * 46
    assert (found.ranks, found.unit) == (24, "faces")
    sent = messages("jacobi:4x3x2")
    # Rank (1, 1, 0) is 8 and has (0, 1, 0), (2, 1, 0), (1, 0, 0), (1, 2, 0) and (1, 1, 1).
    assert {b for a, b in sent if a == 8} == {2, 14, 6, 10, 9}
    assert all((b, a) in sent for a, b in sent)


def test_faces_have_the_size_that_is_asked_for() -> None:
    assert set(messages("jacobi:2x2", 64).values()) == {64}


def test_ring() -> None:
    assert messages("ring:4") == {(a, b): 1 for a in range(4) for b in ((a + 1) % 4, (a - 1) % 4)}


def test_collective_is_its_schedule() -> None:
    # A binomial broadcast of 8: rank r > 0 receives once, from r without its lowest or highest bit.
    sent = messages("collective:bcast:binomial:8", 100)
    assert sorted(b for _, b in sent) == list(range(1, 8))
    assert all((a ^ b).bit_count() == 1 for a, b in sent)
    assert set(sent.values()) == {100}
    # A ring allgather of blocks of 1 KiB: P − 1 of them go from each to one neighbour.
    ring = messages("collective:allgather:ring:5")
    assert set(ring.values()) == {4 * 1024}
    assert sorted(a for a, _ in ring) == sorted(b for _, b in ring) == list(range(5))


def test_matrix_is_read_from_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "traffic.txt", "# who to whom\n0 1 10\n1,0,5.5\n0 1 2 # again\n3 3 7\n")
    assert messages(f"matrix:{path}") == {(0, 1): 12, (1, 0): 5.5}
    assert parse_pattern(f"matrix:{path}").ranks == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1", "line 1: 2 columns, not 3"),
        ("0 1 2\n0 x 3", "line 2: 'x' is no number"),
        ("0 1 -4", "line 1: '-4' is no number of bytes"),
        ("0 1 nan", "'nan' is no number of bytes"),
        ("99999999999 1 2", "line 1: 99999999999 is too large: 999999999 is the most"),
        # Two of them are no finite number.
        ("0 1 1e308\n1 0 1e308", r"line 1: 1e308 is too large: a message has at most 1e\+18 bytes"),
        ("# nothing", "has no lines"),
        ("0 0 5", "sends nothing"),
    ],
)
def test_what_is_wrong_in_a_matrix_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path / "traffic.txt", text)
    with pytest.raises(RequestError, match=said):
        parse_pattern(f"matrix:{path}")


@pytest.mark.parametrize(
    ("text", "size_B", "said"),
    [
        ("jacobu:8x8", None, "unknown pattern 'jacobu'"),
        ("jacobi", None, "'jacobi' lacks"),
        ("jacobi:8x", None, "'8x' is not a list of extents"),
        ("jacobi:8x0", None, "without ranks"),
        ("jacobi:1", None, "sends nothing"),
        ("matrix:sent.txt", 8, "--bytes means nothing for matrix"),
        ("ring:-8", None, "not a whole number"),
        ("ring:999999999999", None, "999999999999 is too large"),
        ("collective:bcast", None, "not NAME:ALGORITHM:RANKS"),
        ("collective:bcast:binomal:8", None, "unknown algorithm of bcast"),
        ("collective:bcast:binomial:1048577", None, "more than 1048576 ranks"),
        ("collective:alltoall:pairwise:5000", None, "more than 33554432 steps, too many to map"),
        ("matrix:/nowhere/at/all", None, "does not exist"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_said(text: str, size_B: float | None, said: str) -> None:
    with refusing(re.escape(said)):
        parse_pattern(text, size_B)


def test_ranks_follow_the_rows_of_the_grid() -> None:
    found = parse_pattern("jacobi:3x4")
    at = np.stack(np.unravel_index(np.arange(12), (3, 4)))
    apart = np.abs(at[:, found.demand.source] - at[:, found.demand.target]).sum(axis=0)
    assert set(apart.tolist()) == {1}
