"""One list of columns: what identifies a point does so wherever points are told apart."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hockney.records import merge, table
from hockney.records.columns import (
    ALL,
    POINT,
    RECORD,
    REQUIRED,
    SERIES,
    Column,
    RecordColumns,
    codes,
    mistyped,
    names,
)
from hockney.records.folder import Campaign
from hockney.records.keys import CollectiveKey, PairKey
from hockney.records.record import Bracketed, Record
from hockney.records.series_of_table import series
from hockney.records.statistic import STATISTICS
from hockney.records.visits import settle

FIXED: dict[str, Any] = {
    "source": "hockney", "system": "s", "mpi": "m", "operation": "pingpong", "bytes": 8, "statistic": "one_way",
    "locality": "node", "cache": "warm", "pair": "0-1", "value": 2e-6,
}  # fmt: skip
VALUES = {"value", "low", "high", "quantiles", "samples", "sample_roots", "elapsed_s", "core_seconds"}
HOW = {
    *("clock_error_s", "late", "visit", "batch", "disturbed", "disturbed_at", "stop", "selection"),
    *("selection_why", "verified", "launch", "time", "origin"),
    *Bracketed.model_fields,
}
OTHER: dict[str, Any] = {
    "operation": "bandwidth", "statistic": "completion", "locality": "network", "cache": "off", "start": "window",
    "pair": "0-2", "oversubscribed": True, "bytes": 16, "repetition": 1,
}  # fmt: skip


def records(column: Column) -> tuple[Record, Record]:
    """Two records that differ in one column; the second is quicker, and stays alone where they are one point."""
    other = OTHER.get(column.name, 7 if column.kind == "count" else "other")
    return Record(**FIXED), Record(**FIXED | {column.name: other, "value": 1e-6})


def name(column: Column) -> str:
    return column.name


@pytest.mark.parametrize("column", [column for column in ALL if column.identifies], ids=name)
def test_points_are_told_apart_by_it_everywhere(column: Column, tmp_path: Path) -> None:
    first, second = records(column)
    assert len(settle([first, second], {}).records) == (1 if column.identifies == "visit" else 2)
    imported = codes(RecordColumns.of([first, second]).frame, RECORD)
    assert (imported[0] != imported[1]) == (column.identifies != "repetition")
    for number, record in enumerate((first, second)):
        Campaign.create(tmp_path / str(number), {}).append(record)
    merged = merge.merge([tmp_path / "0", tmp_path / "1"], tmp_path / "m").records
    # Another point keeps the number of its repetition; of the same point it is a further one.
    is_same_point = column.identifies in ("repetition", "condition", "visit")
    assert merged[1].repetition == second.repetition + is_same_point


@pytest.mark.parametrize("column", [each for each in ALL if each.name in {*SERIES} - {"repetition"}], ids=name)
def test_a_series_holds_it_fixed(column: Column) -> None:
    first, second = records(column)
    frame = table.from_records([first, second])
    operations = dict.fromkeys((first.operation, second.operation))
    keys = [whole.key for operation in operations for whole in series(frame, operation)]
    assert len(keys) == 2
    assert keys[0][column.name] != keys[1][column.name]


def test_a_key_has_what_varies_within_a_launch() -> None:
    other_name = {"segment_B": "segment_bytes", "leader": "pair", "follower": "pair"}
    parts = {other_name.get(part.name, part.name) for kind in (PairKey, CollectiveKey) for part in fields(kind)}
    # Nodes and ranks per node follow from the ranks; a campaign has one window, and one pair at a time.
    given = {"nodes", "ppn", "pairs", "window"}
    assert parts == {*names("scale", "pair", "choice", "call", "condition"), "cache"} - given


def test_names_are_those_of_files_and_records() -> None:
    published = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"
    assert ",".join(table.HEADER) == published
    assert len(REQUIRED) == len(table.HEADER)
    assert len({column.name for column in ALL}) == len(ALL)
    # A field of a record that is neither a value nor about how it was come by identifies something.
    assert {*POINT, *SERIES, *RECORD} == set(Record.model_fields) - VALUES - HOW


def published(pattern: str) -> list[str]:
    """The words in backticks of what `docs/reference/table.md` says in that place."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "table.md").read_text("utf-8")
    (place,) = re.findall(pattern, page, re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]*)`", re.sub(r"\([^)]*\)", "", place))


def test_the_published_columns_are_those_of_a_file() -> None:
    rows = published(r"^\| column \| meaning \|\n\|[-|]*\n(.*?)\n\nThese twelve")
    required = [column.header for column in ALL if column.presence == "required"]
    assert [name for name in rows if name in required] == required
    optional = published(r"Optional, as far\s+as\s+known: (.*?)\. Other columns")
    assert set(optional) == {column.header for column in ALL if column.presence == "optional"}


def test_the_published_statistics_are_those_of_the_table() -> None:
    assert published(r"^\| `statistic` \| (.*?) \|$") == list(STATISTICS)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("low_uS", "low_us"), ("hihg_us", "high_us"), ("localty", "locality"), ("locallity", "locality"),
        ("Variant", "variant"), (" cache", "cache"), ("segment-bytes", "segment_bytes"), ("low_s", "low_us"),
        ("Pair", "pair"), ("bandwith_B_per_s", "bandwidth_B_per_s"), ("over_subscribed", "oversubscribed"),
    ],
)  # fmt: skip
def test_a_mistyped_column_is_known_for_what_it_means(name: str, meant: str) -> None:
    assert mistyped(name, REQUIRED) == meant
    assert not mistyped(name, (*REQUIRED, meant)), "the table has the column, and this one beside it"


@pytest.mark.parametrize(
    "name",
    [
        "locale",
        "local",
        "sample",
        "roots",
        "boot",
        "pain",
        "variance",
        "energy_J",
        "loss",
        "run",
        "resource",
        "cached",
    ],
)
def test_a_column_of_its_own_means_no_other(name: str) -> None:
    assert not mistyped(name, REQUIRED)
