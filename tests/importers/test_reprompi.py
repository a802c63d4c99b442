"""ReproMPI's own output: rows of repetitions, and summaries."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.importers import reading
from tests.importers.reading import EXACT, columns

from hockney.importers import _collect
from hockney.importers import reprompi as module
from hockney.importers.base import Given

read_text = partial(reading.read_text, module)

HEAD = (
    "#@datatype=MPI_DOUBLE\n#@datatype_size_bytes=8\n#@nprocs={}\n#@clocksync=HCA3\n"
    "#@procsync={}\n#@runtime_type={}\n"
)
RAW = "{:>50} {:>10} {:>12} {:>14}"
LATE = "{:>50} {:>10} {:>12} {:>10} {:>14}"


def raw(*rows: tuple[object, ...], ranks: int = 4, sync: str = "MPI_Barrier", clock: str = "local") -> str:
    form, names = (LATE, ("errorcode",)) if len(rows[0]) == 5 else (RAW, ())
    lines = [form.format("test", "nrep", "count", *names, "runtime_sec"), *(form.format(*row) for row in rows)]
    return "\n".join([HEAD.format(ranks, sync, clock) + lines[0] + " ", *lines[1:], "# Execution time: 0s\n"])


def bcast(*times: str, count: int = 16) -> list[tuple[object, ...]]:
    return [("MPI_Bcast", number, count, time) for number, time in enumerate(times)]


def test_repetitions_are_the_samples_of_their_point() -> None:
    rows = [*bcast("0.0000030000", "0.0000010000", "0.0000020000"), *bcast("0.0000090000", count=1000)]
    imported = read_text(raw(*rows, ("Empty", 0, 16, "0.0000000300")))
    assert columns(imported, "operation", "bytes", "statistic", "value") == [
        ("bcast", 128, "max_over_ranks", pytest.approx(2e-6, rel=EXACT)),
        ("bcast", 8000, "max_over_ranks", pytest.approx(9e-6, rel=EXACT)),
    ]
    assert imported.records[0].samples == pytest.approx([3e-6, 1e-6, 2e-6], rel=EXACT)
    assert imported.metadata == {"clocksync": "HCA3", "procsync": "MPI_Barrier"}
    assert ["Empty is not imported" in text for text in imported.warnings] == [True]


def test_what_missed_its_window_does_not_count() -> None:
    rows = [
        ("MPI_Allreduce", number, 1, code, time) for number, (code, time) in enumerate([(0, 2e-6), (3, 9e-6)])
    ]
    (record,) = read_text(raw(*rows, sync="window", clock="global")).records
    assert (record.statistic, record.late, record.disturbed_at) == ("completion", 1, [1])
    assert record.value == pytest.approx(2e-6, rel=EXACT)


def test_a_summary_has_the_median_and_the_ends() -> None:
    text = HEAD.format(4, "MPI_Barrier", "local") + (
        "  test msize_bytes total_nrep valid_nrep       mean_sec     median_sec        min_sec        max_sec \n"
        "  MPI_Reduce_scatter_block   1000  10  8   0.0000719138   0.0000303395   0.0000269210   0.0004507860 \n"
    )
    (record,) = read_text(text).records
    assert (record.operation, record.bytes, record.late) == ("reduce_scatter", 1000, 2)
    assert record.value == pytest.approx(30.3395e-6, rel=EXACT)
    assert record.quantiles == pytest.approx({"0": 26.921e-6, "0.5": 30.3395e-6, "1": 450.786e-6}, rel=EXACT)


@pytest.mark.parametrize(("names", "cells"), [("", ""), ("total_nrep valid_nrep", "3 8"), ("total_nrep", "3")])
def test_a_summary_without_numbers_of_repetitions_has_none_that_were_late(names: str, cells: str) -> None:
    text = f"{HEAD.format(4, '', '')}test count {names} median_sec\nMPI_Bcast 16 {cells} 0.0000020\n"
    assert [record.late for record in read_text(text).records] == [0]


def test_a_point_whose_repetitions_all_missed_their_window_says_so() -> None:
    imported = read_text(raw(("MPI_Bcast", 0, 16, 1, "0.0000030000")))
    assert not imported.records
    (warning,) = imported.warnings
    assert "missed its window" in warning
    assert "zero" not in warning


def test_a_table_has_the_settings_above_it_alone() -> None:
    second = raw(*bcast("0.0000020000")).replace("#@runtime_type=local\n", "")
    imported = read_text(raw(*bcast("0.0000020000", count=2), clock="global") + second)
    assert columns(imported, "statistic") == [("completion",), ("max_over_ranks",)]
    unsized = second.replace("#@datatype_size_bytes=8\n", "")
    assert "datatype_size_bytes" in read_text(second + unsized).not_imported[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("process test nrep count loc_tstart_sec loc_tend_sec\n0 MPI_Bcast 0 1 1.0 2.0\n", "without --verbose"),
        ("test count total_nrep valid_nrep mean_sec\nMPI_Bcast 1 2 2 0.1\n", "no median"),
        ("test nrep count runtime_sec\nMPI_Bcast 0 1 0.1\n", "datatype_size_bytes"),
    ],
)
def test_what_is_not_imported_says_why(text: str, why: str) -> None:
    imported = read_text(text)
    assert imported.records == []
    assert why in imported.not_imported[0]


def test_ranks_come_from_the_header_and_other_settings_are_no_repetitions(tmp_path: Path) -> None:
    runs = [(4, "MPI_Barrier"), (4, "window"), (8, "window"), (4, "window")]
    for number, (ranks, sync) in enumerate(runs):
        text = raw(*bcast("0.0000020000", f"0.000003{number}"), ranks=ranks, sync=sync)
        (tmp_path / f"run{number}.txt").write_text(text)
    frame = _collect.collect([tmp_path], Given()).records.frame
    assert sorted(zip(frame["ranks"], frame["variant"], frame["repetition"], strict=True)) == [
        (4, "procsync=MPI_Barrier", 0),
        (4, "procsync=window", 0),
        (4, "procsync=window", 1),
        (8, "procsync=window", 0),
    ]
