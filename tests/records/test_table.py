"""The tidy table: what is written comes back, and what is wrong is named with its row."""

from __future__ import annotations

import gzip
import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from tests import factories
from tests.capabilities import shared
from tests.factories import refusing, written

from hockney.errors import RequestError
from hockney.records import columns, table
from hockney.records.columns import REQUIRED
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine

HEADER = ",".join(table.HEADER)
ROW = "sys,Open MPI,pingpong,default,core,1,2,2,8,one_way,1.5,0"


record = partial(factories.record, 8, 1.5e-6)


def file(folder: Path, *lines: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_times_are_seconds_and_unknown_is_empty() -> None:
    frame = table.from_records([record(low=1e-6, high=2e-6, pair="0-1", oversubscribed=True, samples=[1.0, 2.0])])
    row = frame.iloc[0]
    assert (row["time_s"], row["low_s"], row["high_s"]) == pytest.approx((1.5e-6, 1e-6, 2e-6))
    assert (row["pair"], row["mpi"], row["samples"]) == ("0-1", "", 2)
    assert bool(row["oversubscribed"])
    assert frame["ranks"].isna().all()


@pytest.mark.parametrize(("operation", "messages"), [("bandwidth", 1), ("bidirectional", 2)])
def test_windowed_operations_get_their_rates(operation: str, messages: int) -> None:
    frame = table.from_records([record(operation=operation, bytes=1000, value=1e-6, window=64)])
    rates = frame.set_index("statistic")
    assert rates.loc["bandwidth_B_per_s", "bandwidth_B_per_s"] == pytest.approx(messages * 1e9)
    assert rates.loc["message_rate_per_s", "message_rate_per_s"] == pytest.approx(messages * 1e6)
    assert rates["time_s"].notna().tolist() == [True, False, False]
    assert rates.loc["one_way", "time_s"] == pytest.approx(1e-6)


def test_an_empty_message_has_a_rate_but_no_bandwidth() -> None:
    frame = table.from_records([record(operation="bandwidth", bytes=0)])
    assert frame["statistic"].tolist() == ["one_way", "message_rate_per_s"]


def test_without_references_all_visits_of_a_point_count() -> None:
    again = [
        record(value=2.3e-6),
        record(value=1e-6),
        record(value=1.5e-6),
        record(value=3e-6, repetition=1),
        record(value=4e-6, variant="tcp"),
    ]
    assert table.from_records(again)["time_s"].tolist() == pytest.approx([1.5e-6, 3e-6, 4e-6])


def test_a_visit_on_a_shared_core_counts_where_there_is_no_other() -> None:
    visits = [record(value=9e-6, oversubscribed=True), record(value=1e-6, oversubscribed=False)]
    assert table.from_records(visits)["time_s"].tolist() == pytest.approx([1e-6])
    assert table.from_records(visits[:1])["time_s"].tolist() == pytest.approx([9e-6])


def test_imported_duplicates_are_kept() -> None:
    assert len(table.from_records([record(source="osu"), record(source="osu")])) == 2


def test_the_eager_limit_follows_the_launch_and_the_channel() -> None:
    limits_B = {"shared_memory": 4096, "network": 65536}
    known = LaunchLine(id="a", eager_limit_B=limits_B, breaks_B={"shared_memory": [256, 2112.5]})
    records = [record(launch="a", locality=locality) for locality in ("cache", "network")]
    records.append(record(launch="b", locality="cache", repetition=1))
    frame = table.from_records(records, [known, LaunchLine(id="b")])
    assert frame["eager_limit_B"].fillna(-1).tolist() == [4096, 65536, -1]
    assert frame["breaks_B"].tolist() == ["256 2112.5", "", ""]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_what_is_written_comes_back(tmp_path: Path, ending: str) -> None:
    frame = table.from_records(
        [
            record(low=1e-6, high=2e-6, pair="0-1", locality="cache", ranks=2, oversubscribed=False),
            record(operation="bandwidth", bytes=4096, window=64, mpi='MPI, "5"', mapping="α"),
        ]
    )
    table.write(frame, tmp_path / f"t{ending}")
    back = table.load(tmp_path / f"t{ending}")
    shared = [name for name in frame.columns if name in back.columns]
    pd.testing.assert_frame_equal(back[shared], frame[shared], rtol=1e-11)
    assert list(back.columns[: len(REQUIRED)]) == list(REQUIRED)
    assert "radix" not in back.columns
    assert [path.name for path in tmp_path.iterdir()] == [f"t{ending}"]


def test_a_compressed_table_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    frame = table.from_records([record()])
    for name in ("a.csv.gz", "b.csv.gz"):
        table.write(frame, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_a_campaign_is_a_table(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    campaign.append(record())
    with (campaign.path / "records.jsonl").open("a") as records:
        records.write("{damaged\n")
    frame = table.load(campaign.path)
    assert frame["time_s"].tolist() == pytest.approx([1.5e-6])
    assert "damaged" in frame.attrs["warnings"][0]


def test_duplicates_and_foreign_columns_are_kept_and_blank_lines_are_not(tmp_path: Path) -> None:
    frame = table.load(file(tmp_path, HEADER + ",remark", ROW + ",x", "", ROW + ",y", ""))
    assert frame["remark"].tolist() == ["x", "y"]


BAD = [
    ("time_us", "nan", "time_us 'nan'"), ("time_us", "inf", "time_us 'inf'"), ("time_us", "", "is missing"),
    ("time_us", "0", "time_us '0' is not a positive time"), ("time_us", "-1.5", "not a positive time"),
    ("time_us", "out-of-mem", "not a number"), ("time_us", "5e-324", "is no value that can be measured"),
    ("time_us", "1e300", "is no value that can be measured"), ("statistic", "best", "'best' is unknown"),
    ("bytes", "-8", "not a size"), ("bytes", "1.5", "not a whole number"), ("bytes", "", "bytes is missing"),
    ("bytes", str(2**63), "is too large a number"), ("bytes", "1e300", "is too large a number"),
    ("ranks", "two", "not a number"), ("ranks", "9" * 20, "is too large a number"),
    *((name, "0", f"{name} '0' is less than 1") for name in ("nodes", "ppn", "ranks")),
    *((name, said, f"'{said}' is not a ") for name in columns.STATED for said in ("-1", "nan", "inf", "many")),
]  # fmt: skip


def told(folder: Path, cells: dict[str, str]) -> RequestError:
    """The refusal of a table whose second row has these cells."""
    good = dict(zip(table.HEADER, ROW.split(","), strict=True)) | dict.fromkeys(
        cells.keys() - set(table.HEADER), ""
    )
    with pytest.raises(RequestError) as caught:
        table.load(file(folder, ",".join(good), ",".join(good.values()), ",".join((good | cells).values())))
    return caught.value


@pytest.mark.parametrize(("column", "value", "message"), BAD)
def test_a_bad_value_is_named_with_its_row(tmp_path: Path, column: str, value: str, message: str) -> None:
    error = told(tmp_path, {column: value})
    assert "row 3: " in error.message
    assert message in error.message
    assert error.hint


def test_a_rate_row_needs_its_value(tmp_path: Path) -> None:
    rate = {"statistic": "message_rate_per_s", "time_us": ""}
    assert "but no such column" in told(tmp_path, rate).message
    without = told(tmp_path, {**rate, "message_rate_per_s": "0"})
    assert "row 3: message_rate_per_s '0' is not a positive rate" in without.message


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="column time_us, repetition is missing"):
        table.load(file(tmp_path, ",".join(table.HEADER[:-2]), ",".join(ROW.split(",")[: len(table.HEADER) - 2])))


def test_a_column_that_a_table_lacks_is_named_before_it_is_written(tmp_path: Path) -> None:
    lacking = table.from_records([record()]).drop(columns=["mapping", "ppn"])
    with pytest.raises(RequestError, match="column mapping, ppn, which this one lacks"):
        table.write(lacking, tmp_path / "table.csv")
    assert list(tmp_path.iterdir()) == []


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(f"{HEADER}\n{ROW}\n".encode())
    cases = {
        "cut.csv.gz": whole[:-12],
        "plain.csv.gz": b"not compressed",
        "binary.csv": b"\xff\xfe\x00",
        "empty.csv": b"",
        "bad.parquet": b"PAR1 nothing",
        "cut.csv": f"{HEADER}\n{ROW}\n{ROW[:30]}".encode(),
        "long.csv": f"{HEADER}\n{ROW}\n{ROW},1,2,3\n".encode(),
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RequestError, match=re.escape(name)):
            table.load(tmp_path / name)
    with pytest.raises(RequestError, match="does not exist"):
        table.load(tmp_path / "nowhere.csv")


def test_an_unknown_ending_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"table\.xlsx"):
        table.write(table.from_records([record()]), tmp_path / "table.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "rows"), [("orfeo-epyc", 184_925), ("pico", 5_256)])
def test_published_tables_are_read_whole(name: str, rows: int) -> None:
    assert len(table.load(shared(name) / "tidy.csv.gz")) == rows


@pytest.mark.parametrize("commas", [",", ""])
def test_rows_may_end_in_a_comma(tmp_path: Path, commas: str) -> None:
    frame = table.load(file(tmp_path, HEADER, ROW + commas, ROW.replace(",8,", ",64,") + commas))
    assert frame["system"].tolist() == ["sys", "sys"]
    assert frame["bytes"].tolist() == [8, 64]
    assert frame["repetition"].tolist() == [0, 0]


def test_rows_longer_than_the_header_are_refused(tmp_path: Path) -> None:
    for more in (",x", ",,", ",1,2"):
        with pytest.raises(RequestError, match="row 2: more values than the header has names"):
            table.load(file(tmp_path, HEADER, ROW + more))


def test_a_table_that_does_not_say_which_times_it_holds_may_be_told(tmp_path: Path) -> None:
    at = table.HEADER.index("statistic")
    lines = [
        ",".join(word for number, word in enumerate(line.split(",")) if number != at) for line in (HEADER, ROW)
    ]
    path = file(tmp_path, *lines)
    with refusing("no column statistic", "one_way"):
        table.load(path)
    assert list(table.load(path, "completion")["statistic"]) == ["completion"]
    with pytest.raises(RequestError, match="statistic 'mean' is unknown"):
        table.load(path, "mean")
    # What the table says is not overridden.
    assert set(table.load(file(tmp_path, HEADER, ROW), "min_over_ranks")["statistic"]) == {ROW.split(",")[at]}


@pytest.mark.parametrize("name", ["low_uS", "localty"])
def test_a_column_that_is_nearly_another_is_asked_about(tmp_path: Path, name: str) -> None:
    path = file(tmp_path, f"{HEADER},{name}", f"{ROW},")
    with pytest.raises(RequestError, match=f"has a column '{name}' and none of the name") as failed:
        table.load(path)
    assert failed.value.hint.endswith(f"such as own_{name}")
    assert f"own_{name}" in table.load(file(tmp_path, f"{HEADER},own_{name}", f"{ROW},")).columns


@pytest.mark.parametrize("last", ["", ","])
def test_texts_that_look_like_numbers_stay_texts_over_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setattr(columns, "_BLOCK", 2)
    names = ["007", "7", "", "07", "1e3"]
    rows = [f"s,m,bcast,{name},core,2,1,2,{8 + place},completion,1.5,0{last}" for place, name in enumerate(names)]
    path = written(tmp_path / "t.csv", "\n".join([HEADER, *rows, ""]))
    frame = table.load(path)
    assert frame["algorithm"].tolist() == names
    assert frame["bytes"].tolist() == [8, 9, 10, 11, 12]
    path.write_text(path.read_text().replace(",12,", ",-12,"), encoding="utf-8")
    with pytest.raises(RequestError, match="row 6: bytes '-12' is not a size"):
        table.load(path)
