"""Records as columns are the records themselves: the same lines, the same rows of a table, the same refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from tests import factories

from hockney.records import table
from hockney.records.columns import RecordColumns, codes, prefixed, words
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

LAUNCHES = [
    LaunchLine(id="a", eager_limit_B={"shared_memory": 4096, "network": 65536}),
    LaunchLine(id="b"),
]


record = partial(factories.record, 8, 1.5e-6, source="osu")


RECORDS = [
    record(low=1e-6, high=2e-6, pair="0-1", locality="numa", ranks=2, launch="a", origin='a "b".csv:2'),
    record(operation="bandwidth", window=64, locality="network", launch="a", samples=[1e-6, 2e-6], batch=3),
    record(operation="bidirectional", bytes=0, repetition=2, oversubscribed=False, variant="α, 2 of 4 ranks"),
    record(operation="bcast", statistic="mean_over_ranks", algorithm="ring", nodes=2, ppn=1, root=0, launch="b"),
    record(statistic="message_rate_per_s", value=1e6, low=9e5, high=2e6, quantiles={"0.5": 1e6}, source=""),
    record(verified=False, repetition=1),
    record(source="hockney", value=2e-6, low=2.5e-6, high=3e-6, cache="warm", oversubscribed=True),
    record(
        source="hockney",
        value=2e-6,
        low=1e-6,
        repetition=1,
        elapsed_s=0.5,
        disturbed_at=[1],
        samples=[1e-6, 2e-6],
    ),
    record(source="hockney", operation="send_overhead", low=0.0, high=1e-6, segment_bytes=2**40),
]


def test_they_come_back() -> None:
    columns = RecordColumns.of(RECORDS)
    assert [*columns] == RECORDS
    assert columns[3] == RECORDS[3]
    assert [*columns.where(np.array([4, 1]))] == [RECORDS[4], RECORDS[1]]
    assert [*RecordColumns.joined([columns.where(slice(0, 2)), columns.where(slice(2, None))])] == RECORDS


def test_lines_are_those_of_the_records() -> None:
    lines = [each.model_dump_json(exclude_defaults=True) for each in RECORDS]
    assert [*RecordColumns.of(RECORDS).lines()] == lines


@pytest.mark.parametrize("records", [RECORDS, [*RECORDS, record(source="hockney", value=3e-6, cache="warm")]])
def test_rows_of_a_table_are_those_of_the_records(records: list[Record]) -> None:
    """Of the second list, two visits of one point become a row."""
    imported = table.from_imported(RecordColumns.of(records), LAUNCHES)
    # A visit's interval is value − (value − low): one rounding apart.
    pd.testing.assert_frame_equal(imported, table.from_records(records, LAUNCHES), rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "value"),
    [("locality", "nearby"), ("cache", "cold"), ("low", -1.0), ("value", 0.0), ("value", np.nan), ("bytes", -1)],
)
def test_the_first_that_a_record_refuses(name: str, value: object) -> None:
    frame = RecordColumns.of(RECORDS + RECORDS).frame
    assert RecordColumns(frame).first_refused() is None
    values = frame[name].astype(object)
    frame[name] = frame[name].cat.add_categories([value]) if isinstance(value, str) else frame[name]
    values.iloc[[5, 7]] = value
    wrong = RecordColumns(frame.assign(**{name: values.astype(frame[name].dtype)}))
    assert wrong.first_refused() == 5
    with pytest.raises(ValidationError):
        wrong[5]


def test_codes_are_equal_where_all_columns_are() -> None:
    rows = [("x", 1), ("y", 1), ("x", None), ("y", 2), ("x", None), ("y", None), ("x", 2)]
    a, b = zip(*rows, strict=True)
    both = codes(pd.DataFrame({"a": pd.Categorical(a), "b": pd.array(b, dtype="Int64")}), ["a", "b"])
    assert [[one == other for other in both] for one in both] == [
        [one == other for other in rows] for one in rows
    ]


def test_texts_may_become_the_same() -> None:
    column = pd.Series(pd.Categorical(["b", "", "a", "b"], categories=["", "a", "b"]))
    assert words(column.cat.codes, ["a", "a", "b"]).tolist() == ["b", "a", "a", "b"]
    assert prefixed(column, np.array([0, 0, 1, 1]), ["", "p"]).tolist() == ["b", "", "p, a", "p, b"]
