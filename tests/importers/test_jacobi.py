"""Runs of a Jacobi solver that were measured elsewhere: a table as CSV, and as reports print it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import answer, outcome
from tests.factories import written

from hockney.apps.jacobi.section import section
from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.importers.jacobi import read, recognises
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.report.app_sections import Runs

# Two tables as a report prints them; 4.608 MB = 16 · 2 · 379.47² is not a cube, 0.32 MB = 16 · 2 · 100² is.
PRINTED = """
TABLE IV: Two nodes of one kind

$$T_s^{THIN} = 0.01 \\text{ s}, T_\\ell = 0.98 \\text{ } \\mu\\text{s}, B = 12185 \\text{ MB/s}$$

N\t(N_x, N_y, N_z)\tk\tc [MB]\tP^{com}\tratio\tP^{Jac}\tratio
12\t(12, 1, 1)\t2\t0.32\t1199.1\t1.000\t1150.5\t1.043
12\t(3, 2, 2)\t6\t0.96\t1197.2\t1.002\t1100.25\t1.090

| 24 | (24, 1, 1) | 2 | 0.32 | 2398.2 | 1.000 | 2201 | 1.090 |
"""


def of_print(text: str, path: Path = Path("table.txt")) -> list[AppRecord]:
    assert recognises(path, text)
    return read(path, text, Given()).apps


def test_printed_tables_give_the_run_on_one_rank_too() -> None:
    runs = of_print(PRINTED)
    assert [(run.ranks, tuple(int(run.parameters[f"p{axis}"]) for axis in "xyz")) for run in runs] == [
        (1, (1, 1, 1)),
        (12, (12, 1, 1)),
        (12, (3, 2, 2)),
        (24, (24, 1, 1)),
    ]
    assert [tuple(int(run.parameters[f"n{axis}"]) for axis in "xyz") for run in runs][2] == (300, 200, 200)
    assert runs[0].time_s == pytest.approx(0.01)
    # 12 cubes of 100³ cells at 1150.5 MLUP/s
    assert runs[1].time_s == pytest.approx(12 / 1150.5)
    assert {run.system for run in runs} == {"THIN"}
    assert [run.variant for run in runs] == ["", *["Two nodes of one kind"] * 3]
    said = runs[1].answer.as_said()
    assert (said["stated_latency_s"], said["stated_bandwidth_B_per_s"]) == pytest.approx((0.98e-6, 12185e6))


CSV = """\
system,ranks,grid,subdomain,mlups
a,1,1x1x1,100,100
a,2,2x1x1,100,190
a,2,2x1x1,100,180
a,2,2x1x1,100,200
b,2,2x1x1,100,150
"""


def test_rows_that_are_alike_are_repetitions(tmp_path: Path) -> None:
    path = written(tmp_path / "jacobi.csv", CSV)
    collection = _collect.collect([path], Given())
    assert [file.format for file in collection.files] == ["jacobi"]
    folder = _collect.write(collection, tmp_path / "made", Given())
    one, two, other = folder.apps()
    assert (one.ranks, two.ranks, other.system) == (1, 2, "b")
    # Two cubes of 10⁶ cells at 190 MLUP/s, the rate in the middle.
    assert two.time_s == pytest.approx(2 / 190)
    assert len(two.samples_s) == 3
    assert two.low_s is None
    assert folder.launches()[0].records == 3
    assert {run.launch for run in folder.apps()} == {folder.launches()[0].id}


def test_six_repetitions_bound_their_median() -> None:
    # One of them was disturbed. All six bound the median at 1 − 2 · 2⁻⁶ = 97 %, five of them at less than 95 %.
    times = [1.0, 1.01, 1.02, 1.03, 1.04, 9.0]
    rows = "".join(f"2,2x1x1,100x50x50,{time}\n" for time in times)
    (run,) = read(Path("t.csv"), "ranks,grid,cells,time_s\n" + rows, Given()).apps
    assert (run.low_s, run.time_s, run.high_s) == pytest.approx((1.0, 1.025, 9.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ranks,grid,subdomain,mlups\n4,2x1x1,100,9\n", "is not one of 4 ranks"),
        ("ranks,grid,subdomain,mlups\n2,2x1x1,100,fast\n", "no rate"),
        ("ranks,grid,subdomain,mlups\n2,2x1x1,100,0\n", "no rate"),
        ("ranks,grid,subdomain,mlups\n2,2x1x1,0,9\n", "no size"),
        ("ranks,grid,subdomain,mlups\n2,two,100,9\n", "no size"),
        ("ranks,grid,subdomain,cells,mlups\n2,2x1x1,100,100,9\n", "subdomain and cells for the size"),
        ("ranks,grid,cells,time_s\n2,2x1x1,100,0\n", "is no time"),
        ("ranks,grid,subdomain,mlups\n2,2x1x1,100,1e-300\n", "no rate"),
        ("ranks,grid,subdomain,mlups\n2,2x1x1,100,1e308\n", "no rate"),
        ("ranks,grid,subdomain,mlups,nodes\n2,2x1x1,100,9,x\n", "nodes 'x' is no number"),
        ("ranks,grid,subdomain,mlups,nodes\n2,2x1x1,100,9,-3\n", "nodes '-3' is no number"),
        ("ranks,grid,subdomain,mlups,nodes\n2,2x1x1,100,9,99999999999\n", "99999999999 nodes for 2 ranks"),
        (PRINTED.replace("(3, 2, 2)", "(3, 2, 1)"), "is not one of 12 ranks"),
        (PRINTED.replace("1150.5", "0"), "P is 0"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(text: str, message: str) -> None:
    path = Path("t.csv" if text.startswith("ranks") else "t.txt")
    with pytest.raises(RequestError, match=message) as caught:
        read(path, text, Given())
    assert "t." in caught.value.message


def test_it_is_imported_compared_and_fitted_as_a_user_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.txt").write_text(PRINTED, encoding="utf-8")
    assert outcome("import", "table.txt", "-o", "made")[0] == 0
    tables = section(Runs(Campaign.open(Path("made")).apps())).sections[0].tables
    rows = [" ".join(row) for table in tables for row in table.rows]
    # T_c = 0.32 MB / 12185 MB/s + 2 · 0.98 µs = 28.22 µs beside 10 ms.
    assert any(row.startswith("12 12x1x1 2 0.32 MB 1196.623 1.003 1150.500 1.043") for row in rows)
    fitted = answer("scaling", "fit", "made", "--weak")
    # The run on one rank serves the table, whose title it does not bear; of 12 ranks the faster grid counts.
    assert [point["processes"] for point in fitted["points"]] == [1, 12, 24]
    assert fitted["points"][2]["efficiency"] == pytest.approx(2201 / 24 / 100)


SOLVER = """  spat_dim , proc_dim, PBC ?
           1 -Dim Input         1200           0 T
           2 -Dim Input         1200           0 T
           3 -Dim Input          600           0 T
#   0 Process grid   3   2   2
  4  Maxtime , Mintime    0.65 0.65   Residual    12019999.9905      MLUPs    1350.0
  4  Maxtime , Mintime    0.64 0.64   Residual    1999999.99999      MLUPs    1080.0
"""


def test_the_text_of_the_solver_gives_a_sweep_for_each_line(tmp_path: Path) -> None:
    for name in ("jacobi_thin12_nodes", "jacobi_thin12_samesocket"):
        (tmp_path / name).write_text(SOLVER + f"# {name}\n")
    runs = _collect.collect([tmp_path], Given()).apps()
    # 864 million cells at 1350 and 1080 million a second.
    assert [run.samples_s for run in runs] == [[pytest.approx(0.64), pytest.approx(0.8)]] * 2
    assert [run.variant for run in runs] == ["jacobi-thin-nodes", "jacobi-thin-samesocket"]
    extents = ("nx", "ny", "nz", "px", "py", "pz")
    assert [runs[0].parameters[name] for name in extents] == [1200, 1200, 600, 3, 2, 2]
    with pytest.raises(RequestError, match="whose size no line"):
        read(Path("out"), SOLVER.partition("T\n")[2], Given())
