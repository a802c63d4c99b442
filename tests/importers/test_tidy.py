"""The tidy table as input: round trip, and each way it can be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests import factories
from tests.factories import not_none

from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers import tidy as module
from hockney.importers.base import Given, Imported, load_text
from hockney.records import table
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

HEADER = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"
ROW = "s,Open MPI 4.1.5,bcast,binomial,core,2,128,206,1,mean_over_ranks,5.24,0"


def records(path: Path) -> list[Record]:
    columns = not_none(read(path).columns)
    return [*columns]


def read(path: Path) -> Imported:
    text = load_text(path)
    assert module.recognises(path, text)
    return module.read(path, text, Given())


def written(tmp_path: Path, *lines: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_row_becomes_a_record(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, ROW)
    (record,) = records(path)
    # 5.24 µs in seconds, up to rounding of one multiplication.
    assert record.value == pytest.approx(5.24e-6, rel=1e-15)
    expected = Record(
        source="",
        operation="bcast",
        bytes=1,
        statistic="mean_over_ranks",
        value=record.value,
        system="s",
        mpi="Open MPI 4.1.5",
        algorithm="binomial",
        mapping="core",
        nodes=2,
        ppn=128,
        ranks=206,
        origin=f"{path}:2",
    )
    assert record == expected


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_round_trip_of_our_own_records(tmp_path: Path, name: str) -> None:
    point: dict[str, Any] = {
        "operation": "pingpong",
        "statistic": "one_way",
        "ranks": 2,
        "pair": "0-1",
        "locality": "numa",
    }
    ours = [
        Record(source="hockney", bytes=8, value=2.5e-7, low=2.4e-7, high=2.6e-7, repetition=1, **point),
        Record(source="hockney", bytes=8, value=2e-7, **(point | {"operation": "bandwidth", "window": 64})),
        Record(source="imb", bytes=8, value=1e9, **(point | {"statistic": "bandwidth_B_per_s"})),
        Record(source="imb", bytes=0, value=1e6, **(point | {"statistic": "message_rate_per_s"})),
    ]
    frame = table.from_records(ours)
    # The bandwidth record has two more rows, its rates.
    assert len(frame) == len(ours) + 2
    table.write(frame, tmp_path / name)
    back = records(tmp_path / name)
    assert len(back) == len(ours)
    # CSV keeps twelve digits.
    pd.testing.assert_frame_equal(table.from_records(back), frame, rtol=1e-11)


def test_what_the_library_says_survives(tmp_path: Path) -> None:
    record = factories.record(locality="numa", launch="a")
    stated = {"eager_limit_B": {"shared_memory": 4096.0}, "breaks_B": {"shared_memory": [256.0, 2112.5]}}
    frame = table.from_records([record], [LaunchLine.model_validate({"id": "a", **stated})])
    table.write(frame, tmp_path / "t.csv")
    assert read(tmp_path / "t.csv").metadata == stated


def test_columns_without_a_field_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + ",segment_bytes,radix,samples", ROW + ",1024,,20")
    (record,) = records(path)
    assert (record.segment_bytes, record.radix) == (1024, None)
    (warning,) = read(path).warnings
    assert "samples" in warning
    assert "segment_bytes" not in warning


def test_a_field_the_record_refuses(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"t\.csv:2: locality"):
        read(written(tmp_path, HEADER + ",locality", ROW + ",nearby"))


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no rows"):
        read(written(tmp_path, HEADER))


def allreduces(path: Path, times_us: list[float], **other: object) -> Path:
    """A table of allreduces on 4 ranks, one size for each time."""
    fields = {
        "system": "s", "mpi": "m", "operation": "allreduce", "algorithm": "default", "mapping": "core",
        "nodes": 1, "ppn": 4, "ranks": 4, "statistic": "completion", "repetition": 0,
    }  # fmt: skip
    rows = [fields | other | {"bytes": 8 * (i + 1), "time_us": time} for i, time in enumerate(times_us)]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


TIMES = [1.0 + i / 7 for i in range(20)]


def test_the_same_points_in_two_tables_count_once(tmp_path: Path) -> None:
    first = allreduces(tmp_path / "a.csv", TIMES)
    # Another program wrote it: more digits, a column more, two points more.
    second = allreduces(tmp_path / "b.csv", [time * (1 + 1e-15) for time in TIMES] + [7.0, 8.0], source="imb")
    collection = _collect.collect([first, second], Given())
    assert [len(records) for _, records in collection.by_file()] == [20, 2]
    (warning,) = collection.files[1].content.warnings
    assert "20 of 22 points are in other files too" in warning
    assert {record.repetition for record in collection.records} == {0}


def test_a_table_that_holds_nothing_else_is_skipped(tmp_path: Path) -> None:
    collection = _collect.collect(
        [allreduces(tmp_path / "a.csv", TIMES), allreduces(tmp_path / "b.csv", TIMES[:10], variant="")], Given()
    )
    assert [file.path.name for file in collection.files] == ["a.csv"]
    ((path, reason),) = collection.skipped
    assert path.endswith("b.csv")
    assert "10 of 10 points" in reason


def test_repetitions_that_agree_now_and_then_are_kept(tmp_path: Path) -> None:
    again = [time if i % 2 else time * 1.01 for i, time in enumerate(TIMES)]
    collection = _collect.collect(
        [allreduces(tmp_path / "a.csv", TIMES), allreduces(tmp_path / "b.csv", again)], Given()
    )
    assert [len(records) for _, records in collection.by_file()] == [20, 20]
    assert {record.repetition for record in collection.records.where(collection.file == 1)} == {1}


def test_other_segments_are_other_points(tmp_path: Path) -> None:
    path = allreduces(tmp_path / "a.csv", TIMES, segment_bytes=64, radix=2, root=1)
    other = allreduces(tmp_path / "b.csv", TIMES, segment_bytes=128, radix=2, root=1)
    collection = _collect.collect([path, other], Given())
    assert collection.skipped == []
    records = [*collection.records]
    assert {(one.segment_bytes, one.radix, one.root, one.repetition) for one in records} == {
        (64, 2, 1, 0),
        (128, 2, 1, 0),
    }
    assert [file.content.left_out() for file in collection.files] == [[], []]
