"""Files of times: units by the column's name, repetitions, and what is refused with its row."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from hockney.errors import RequestError
from hockney.models.scaling.times import Curve, Times, curves
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign


def load(path: Path) -> Times:
    (curve,) = curves(path)
    return curve.times


def written(folder: Path, text: str) -> Path:
    (folder / "times.csv").write_text(text, encoding="utf-8")
    return folder / "times.csv"


@pytest.mark.parametrize(
    ("column", "second"), [("time_s", 1.0), ("time_ms", 1e3), ("time_us", 1e6), ("time_ns", 1e9)]
)
@pytest.mark.parametrize("processes", ["ranks", "processes"])
def test_the_unit_is_in_the_name(tmp_path: Path, column: str, second: float, processes: str) -> None:
    times = load(written(tmp_path, f"note,{processes},{column}\na,4,{3 * second}\nb,1,{9 * second}\n"))
    assert times.processes.tolist() == [4, 1]
    assert times.time_s.tolist() == pytest.approx([3, 9])


def test_parquet_is_read_too(tmp_path: Path) -> None:
    pd.DataFrame({"ranks": [1, 2], "time_s": [2.0, 1.0]}).to_parquet(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet").time_s.tolist() == [2, 1]


def test_repetitions_have_a_median(tmp_path: Path) -> None:
    times = load(written(tmp_path, "ranks,time_s\n2,5\n1,7\n2,4\n2,9\n"))
    assert times.counts.tolist() == [1, 2]
    assert times.medians_s().tolist() == [7, 5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("ranks,time_s\n", "has no rows"),
        ("cores,time_s\n1,2\n", "no column for the number of processes"),
        ("ranks,seconds\n1,2\n", "no column for the time"),
        ("ranks,time\n1,2\n", "does not say its unit"),
        ("ranks,time_s,time_us\n1,2,3\n", "several columns for the time"),
        ("ranks,processes,time_s\n1,2,3\n", "several columns for the number"),
        ("ranks,time_s\n1,2\n2,0\n", "row 3: time_s '0' is not positive"),
        ("ranks,time_s\n1,-2\n", "row 2: time_s '-2' is not positive"),
        ("ranks,time_s\n1,fast\n", "time_s 'fast' is not a number"),
        ("ranks,time_s\n1,nan\n", "is not a number"),
        ("ranks,time_s\n1,inf\n", "is not a number"),
        ("ranks,time_s\n1,1e300\n", "is no time that can be measured"),
        ("ranks,time_s\n0,2\n", "ranks '0' is not positive"),
        ("ranks,time_s\n1.5,2\n", "not a whole number"),
        ("ranks,time_s\n3e9,2\n", "more than MPI can count"),
        ("ranks,time_s\n1,2\n2\n", "cut short"),
        ("ranks,time_us,operation\n1,2,bcast\n2,3,reduce\n", "2 curves (operation differ) each is of one number"),
        ("ranks,time_us,statistic\n1,2,message_rate_per_s\n", "is no time"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        load(written(tmp_path, text))
    assert message in caught.value.message
    assert caught.value.hint


def test_there_must_be_a_file(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.csv", "does not exist"), (tmp_path, "is not a campaign folder")):
        with pytest.raises(RequestError, match=message):
            load(path)


def shown(found: list[Curve]) -> dict[str, list[tuple[int, float]]]:
    return {
        one.name: [(int(n), float(t)) for n, t in zip(one.times.processes, one.times.time_s, strict=True)]
        for one in found
    }


# What `hockney report --csv` writes of an application, as far as it counts here.
RUNS = """\
operation,ranks,time_s,problem,grid,way
cg,1,8,90x90x1,1x1x1,fused
cg,2,5,90x90x1,2x1x1,fused
cg,2,4,90x90x1,1x2x1,fused
cg,1,3,60x60x1,1x1x1,fused
cg,2,2,60x60x1,1x2x1,fused
cg,1,9,90x90x1,1x1x1,pipelined
cg,2,6,90x90x1,1x2x1,pipelined
cg,4,1,77x77x1,2x2x1,fused
"""


def test_problems_and_ways_are_curves_of_their_own(tmp_path: Path) -> None:
    found = curves(written(tmp_path, RUNS))
    assert shown(found) == {
        "90x90x1, fused": [(1, 8), (2, 4)],
        "60x60x1, fused": [(1, 3), (2, 2)],
        "90x90x1, pipelined": [(1, 9), (2, 6)],
    }
    assert found[0].notes == ["1 slower process grids are left out"]
    assert found[-1].notes == ["1 curve of a single number of processes left out"]


def test_with_weak_scaling_a_curve_has_one_problem_a_process(tmp_path: Path) -> None:
    rows = "1,2,8x8x8,1x1x1\n2,3,8x8x16,1x1x2\n4,4,8x16x16,1x2x2\n1,5,9x9x9,1x1x1\n2,6,9x9x18,1x1x2\n"
    path = written(tmp_path, "ranks,time_s,problem,grid\n" + rows)
    assert shown(curves(path, is_weak=True)) == {
        "8x8x8 each": [(1, 2), (2, 3), (4, 4)],
        "9x9x9 each": [(1, 5), (2, 6)],
    }
    with pytest.raises(RequestError, match="of 5 curves"):
        curves(path)


def test_a_folder_of_runs_is_read(tmp_path: Path) -> None:
    folder = Campaign.create(tmp_path / "runs", {})
    for ranks, side, time_s, verified in (
        (1, 8, 4.0, True),
        (2, 8, 3.0, True),
        (2, 8, 1.0, False),
        (1, 9, 9.0, True),
    ):
        asked = {
            "nx": side,
            "ny": side,
            "nz": 8,
            "px": ranks,
            "py": 1,
            "pz": 1,
            "iterations": 10,
            "halo": "overlap",
        }
        answer = {"verified": verified}
        folder.append(
            AppRecord.model_validate(
                {"operation": "jacobi", "ranks": ranks, "parameters": asked, "time_s": time_s, "answer": answer}
            )
        )
    assert shown(curves(tmp_path / "runs")) == {"8x8x8": [(1, 4), (2, 3)]}
