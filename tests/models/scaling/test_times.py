"""Files of times: units by the column's name, repetitions, and what is refused with its row."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from hockney.errors import RequestError
from hockney.models.scaling.times import load


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
        ("ranks,time_us,operation\n1,2,bcast\n2,3,reduce\n", "several curves: operation is 'bcast', 'reduce'"),
        ("ranks,time_s,problem\n1,2,9x9\n1,3,8x8\n2,1,9x9\n", "curves: on 1 ranks, problem is '9x9', '8x8'"),
        ("ranks,time_s,way\n1,2,cg\n2,3,cg\n2,1,pipelined\n", "on 2 ranks, way is 'cg', 'pipelined'"),
        ("ranks,time_us,statistic\n1,2,message_rate_per_s\n", "is no time"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        load(written(tmp_path, text))
    assert message in caught.value.message
    assert caught.value.hint


def test_there_must_be_a_file(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.csv", "does not exist"), (tmp_path, "is a folder, not a file")):
        with pytest.raises(RequestError, match=message):
            load(path)
