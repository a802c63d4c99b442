"""What `hockney run cg` asks for, refuses, and makes of its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.answers import answering
from tests.factories import app_run

from hockney.apps.cg.app import CgStudy
from hockney.apps.cg.run import CgRuns
from hockney.apps.cg.solved import speedups
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import parse_unknowns
from hockney.errors import RequestError
from hockney.fields import checked
from hockney.records.app_record import AppRecord
from hockney.report.tables import Table
from hockney.units import Extents

FLAT = (2, Extents(12, 8, 1))


def request(study: CgStudy, *, is_simulated: bool = False) -> dict[str, int | float | str]:
    _, asked = next(study.requests(is_simulated=is_simulated))
    return asked


def grids_of(study: CgStudy) -> list[Grid]:
    asked = (keys for _, keys in study.requests(is_simulated=True))
    return [Grid(*(int(keys[f"p{axis}"]) for axis in "xyz")) for keys in asked]


def shown(records: list[AppRecord]) -> Table:
    runs, solutions = (part for part in CgRuns(records).text() if not isinstance(part, str))
    assert len(runs.rows) == len(records)
    assert "compute + halo + sums" in runs.columns
    return solutions


def record(ranks: int, iteration_s: float, size: Extents = FLAT[1], **asked: Any) -> AppRecord:
    wanted = CgStudy(ranks=(ranks,), sizes=((3, size),))
    answer = {
        "iteration_s": iteration_s,
        "iterations": 10,
        "converged": True,
        "residual_norms": [1.0, 0.5],
        "counted_bytes_per_unknown": 80.0,
        "bytes_per_unknown": 80.0,
        "unknowns": float(size.x * size.y * size.z),
        "halo_B": [8000] * ranks,
        **{key: [iteration_s / 3] * ranks for key in ("compute_s", "halo_s", "allreduce_s")},
    }
    return app_run("cg", ranks, 10 * iteration_s, parameters=request(wanted) | asked, answer=answer)


def test_sizes() -> None:
    assert parse_unknowns("12x8") == FLAT
    assert parse_unknowns(" 5x6x7 ") == (3, Extents(5, 6, 7))
    for text in ("", "5", "5x", "axb", "5x6x7x8", "-5x6", "5.5x6"):
        with pytest.raises(RequestError, match="not a grid"):
            parse_unknowns(text)
    with pytest.raises(RequestError, match="without unknowns"):
        parse_unknowns("5x0")
    for text in ("99999999x5", "9" * 400 + "x5"):
        with pytest.raises(RequestError, match="at most"):
            parse_unknowns(text)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"variants": "fast"}, "--formulation"),
        ({"halo": "fast"}, "--exchange"),
        ({"eps": 1.0}, "--tolerance"),
        ({"eps": float("nan")}, "--tolerance"),
        ({"iterations": 0}, "--iterations"),
        ({"replace_every": -1}, "--replace-every"),
        ({"cell_s": "-1s"}, "--cell-time"),
        ({"grids": ["3x1x1"]}, "3 processes"),
        ({"ranks": "2,4", "solution": Path("u")}, "same file"),
        ({"ranks": "13"}, "no grid of 13 processes"),
        ({"compute": False}, "without computing"),
    ],
)
def test_what_no_launch_could_do_is_refused_before(choices: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestError, match=text):
        checked(CgStudy, {"ranks": "4", "sizes": ["12x8"], **choices}, "run cg")


def test_every_grid_that_fits() -> None:
    wanted = CgStudy(ranks=(12,), sizes=(FLAT,), grids=("all",))
    # 1 × 12 has more processes than the 8 unknowns along y, and z has one.
    assert wanted.grids_on(12, FLAT[1]) == [
        Grid(12, 1, 1),
        Grid(6, 2, 1),
        Grid(4, 3, 1),
        Grid(3, 4, 1),
        Grid(2, 6, 1),
    ]
    # 2 × 2 cuts 8 + 12 connections, 4 × 1 cuts 24, 1 × 4 cuts 36.
    assert CgStudy(ranks=(4,), sizes=(FLAT,)).grids_on(4, FLAT[1]) == [Grid(2, 2, 1)]


def test_a_path_with_blanks_stays_one_word() -> None:
    wanted = CgStudy(ranks=(1,), sizes=(FLAT,), solution=Path("/a b/ü=1.dat"))
    assert request(wanted)["file"] == "/a%20b/%C3%BC%3D1.dat"


def test_nothing_bounds_a_simulation() -> None:
    wanted = CgStudy(ranks=(1,), sizes=(FLAT,))
    assert request(wanted)["stream"]
    assert request(wanted, is_simulated=True)["stream"] == 0


def test_speedup_is_over_the_fewest_ranks() -> None:
    records = [record(2, 4.0), record(4, 1.6), record(2, 5.0), record(2, 1.0, Extents(6, 5, 4))]
    base, fast, slow, alone = speedups(records)
    assert base == (1.0, 1.0)
    assert fast == pytest.approx((2.5, 1.25))
    assert slow == pytest.approx((0.8, 0.8))
    assert alone is None


def test_launches_are_not_compared_with_each_other() -> None:
    records = [record(1, 4.0), record(2, 2.0), record(1, 9.0), record(2, 3.0)]
    for one, launch in zip(records, ("plain", "plain", "tuned", "tuned"), strict=True):
        one.variant = launch
    assert speedups(records) == [(1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (3.0, 1.5)]
    assert shown(records).columns[0] == "launch"
    assert [row[0] for row in shown(records).rows] == ["plain", "plain", "tuned", "tuned"]
    assert "launch" not in shown([record(1, 4.0)]).columns


def test_what_was_to_converge() -> None:
    late = answering(record(1, 1.0), converged=False)
    fixed = answering(record(1, 1.0, eps=0.0), converged=False)
    (wrong,) = CgRuns([record(1, 1.0), late, fixed]).wrong()
    assert wrong[0] == "not converged"
    assert [row[5] for row in shown([late, fixed]).rows] == ["no", "—"]


def test_what_is_wrong() -> None:
    right, unchecked = answering(record(1, 1.0), verified=True), record(1, 1.0)
    bad = answering(record(1, 1.0), verified=False, residual_norms=[1.0, None])
    (wrong,) = CgRuns([right, bad, unchecked]).wrong()
    assert wrong[0] == "wrong"
    assert "not None as the iteration says" in wrong[1]
    assert len(shown([right, bad]).rows) == 2


def test_grids_are_kept_and_bring_their_ranks() -> None:
    both = checked(CgStudy, {"grids": ["2x1", "1x2", "2x3"], "sizes": ["12x8"]}, "run cg")
    assert both.ranks == (2, 6)
    assert grids_of(both) == [Grid(2, 1, 1), Grid(1, 2, 1), Grid(2, 3, 1)]
    assert len(grids_of(checked(CgStudy, {"grids": ["all"], "ranks": "4"}, "run cg"))) == 6
    with pytest.raises(RequestError, match="every other grid"):
        checked(CgStudy, {"grids": ["all", "2x2"], "ranks": "4"}, "run cg")
    # 1 × 2 cuts 12 connections, 2 × 1 only 8: what is named does not decide about other numbers of ranks.
    mixed = checked(CgStudy, {"grids": ["1x4"], "ranks": "2,4", "sizes": ["12x8"]}, "run cg")
    assert grids_of(mixed) == [Grid(2, 1, 1), Grid(1, 4, 1)]
