"""OSU text of every release, and what launchers and crashes do to it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from tests.importers import reading
from tests.importers.reading import DATA, EXACT, columns

from hockney.importers import osu as module
from hockney.importers.base import Given, Imported

read_text = partial(reading.read_text, module)
read_file = partial(reading.read_file, module)


def values(imported: Imported) -> dict[tuple[int, str], float]:
    return {(r.bytes, r.statistic): r.value for r in imported.records}


def test_latency_is_one_way_between_two_ranks() -> None:
    imported = read_file(DATA / "osu_latency_5.txt")
    assert columns(imported, "bytes", "value") == [
        (0, pytest.approx(1.50e-6, rel=EXACT)),
        (1, pytest.approx(1.51e-6, rel=EXACT)),
        (8, pytest.approx(1.50e-6, rel=EXACT)),
        (4194304, pytest.approx(642.53e-6, rel=EXACT)),
    ]
    first = imported.records[0]
    assert (first.source, first.operation, first.statistic) == ("osu", "pingpong", "one_way")
    assert (first.ranks, first.pairs, first.pair, first.variant) == (2, 1, "0-1", "")
    assert first.origin == f"{DATA / 'osu_latency_5.txt'}:3"
    assert imported.tool == "OSU 5.6.2"
    assert imported.warnings == []


def test_datatype_after_the_header() -> None:
    imported = read_file(DATA / "osu_bw_7.1.txt")
    assert values(imported) == {
        (1, "bandwidth_B_per_s"): pytest.approx(2.87e6, rel=EXACT),
        (1024, "bandwidth_B_per_s"): pytest.approx(2975.75e6, rel=EXACT),
    }
    assert {r.operation for r in imported.records} == {"bandwidth"}
    assert imported.metadata == {"datatype": ["MPI_CHAR"]}


def test_validation_column() -> None:
    imported = read_file(DATA / "osu_bibw_7.5_validated.txt")
    assert [(r.operation, r.verified) for r in imported.records] == [
        ("bidirectional", True),
        ("bidirectional", False),
    ]
    assert len(imported.warnings) == 1
    assert "osu_bibw_7.5_validated.txt:7" in imported.warnings[0]


def test_percentiles_become_quantiles() -> None:
    record = read_file(DATA / "osu_latency_7.4_percentiles.txt").records[1]
    assert record.value == pytest.approx(14.79e-6, rel=EXACT)
    assert record.quantiles == {
        "0.5": pytest.approx(14.50e-6, rel=EXACT),
        "0.9": pytest.approx(15.60e-6, rel=EXACT),
        "0.99": pytest.approx(22.19e-6, rel=EXACT),
    }


def test_message_rate_knows_pairs_and_window() -> None:
    imported = read_file(DATA / "osu_mbw_mr_7.4.txt")
    assert values(imported) == {
        (1, "bandwidth_B_per_s"): pytest.approx(10.25e6, rel=EXACT),
        (1, "message_rate_per_s"): 10250000.50,
        (4194304, "bandwidth_B_per_s"): pytest.approx(26903.29e6, rel=EXACT),
        (4194304, "message_rate_per_s"): 6414.24,
    }
    assert {(r.ranks, r.pairs, r.window, r.pair) for r in imported.records} == {(8, 4, 64, "")}


def test_full_collective_gives_three_statistics() -> None:
    imported = read_file(DATA / "osu_allreduce_7.4_full.txt", Given(ranks=64))
    assert values(imported) == {
        (4, "mean_over_ranks"): pytest.approx(2.81e-6, rel=EXACT),
        (4, "min_over_ranks"): pytest.approx(1.89e-6, rel=EXACT),
        (4, "max_over_ranks"): pytest.approx(3.73e-6, rel=EXACT),
        (1048576, "mean_over_ranks"): pytest.approx(104.30e-6, rel=EXACT),
        (1048576, "min_over_ranks"): pytest.approx(104.26e-6, rel=EXACT),
        (1048576, "max_over_ranks"): pytest.approx(104.33e-6, rel=EXACT),
    }
    assert {(r.operation, r.batch) for r in imported.records} == {("allreduce", 1000), ("allreduce", 100)}


def test_barrier_has_no_size() -> None:
    (record,) = read_file(DATA / "osu_barrier_5.txt").records
    assert (record.operation, record.bytes, record.statistic) == ("barrier", 0, "mean_over_ranks")
    assert record.value == pytest.approx(3.07e-6, rel=EXACT)


def test_reduce_scatter_prints_the_whole_vector() -> None:
    text = "# OSU MPI Reduce_scatter Latency Test v7.3\n# Size       Avg Latency(us)\n4   5.00\n1024   9.00\n"
    of_64 = read_text(text, Given(ranks=64))
    assert [r.bytes for r in of_64.records] == [16]
    assert of_64.warnings == ["f:3: left out: 4 B are no block for each of 64 ranks"]
    unknown = read_text(text)
    assert unknown.records == []
    assert "--ranks" in unknown.warnings[0]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    ("title", "operation"),
    [
        ("Broadcast", "bcast"),
        ("All-to-All Personalized Exchange", "alltoall"),
        *(
            (n.title(), n)
            for n in ["scatter", "gather", "reduce", "allreduce", "allgather", "barrier", "reduce_scatter"]
        ),
    ],
)
def test_every_collective_with_and_without_f(title: str, operation: str, full: bool) -> None:
    names = "Avg Latency(us)" + ("   Min Latency(us)   Max Latency(us)  Iterations" if full else "")
    sized = operation != "barrier"
    text = f"# OSU MPI {title} Latency Test v7.3\n# {'Size       ' if sized else ''}{names}\n"
    text += f"{'4096   ' if sized else ''}9.50{'   8.00   11.00   1000' if full else ''}\n"
    imported = read_text(text, Given(ranks=4))
    # Only reduce_scatter prints what is divided among the four ranks.
    expected = {"barrier": 0, "reduce_scatter": 1024}.get(operation, 4096)
    assert {(r.operation, r.bytes) for r in imported.records} == {(operation, expected)}
    times = {"mean_over_ranks": 9.5} | ({"min_over_ranks": 8.0, "max_over_ranks": 11.0} if full else {})
    found = {r.statistic: r.value * 1e6 for r in imported.records}
    assert found == pytest.approx(times, rel=EXACT)
    assert imported.left_out() == []


@pytest.mark.parametrize(
    ("name", "word"),
    [("osu_ibcast_7.2.txt", "non-blocking"), ("osu_put_latency_5.txt", "one-sided")],
)
def test_other_tests_are_named_not_misread(name: str, word: str) -> None:
    imported = read_file(DATA / name)
    assert imported.records == []
    assert len(imported.not_imported) == 1
    assert word in imported.not_imported[0]


def test_only_lines_with_the_prefix_of_the_title_are_rows() -> None:
    imported = read_file(DATA / "osu_tagged_concatenated.txt")
    assert columns(imported, "bytes", "value") == [
        (1, pytest.approx(0.21e-6, rel=EXACT)),
        (2, pytest.approx(0.22e-6, rel=EXACT)),
        (1, pytest.approx(0.23e-6, rel=EXACT)),
    ]


@pytest.mark.parametrize(
    "prefix", ["0: ", " 0: ", "[0] ", "Fri Sep 11 15:04:1{} 2020[1,0]<stdout>:", "15:04:0{}.250 n1| "]
)
def test_prefixes(prefix: str) -> None:
    lines = ["# OSU MPI Latency Test v5.9", "# Size          Latency (us)", "1     0.25", "2     0.50"]
    text = "".join(prefix.format(i) + line + "\n" for i, line in enumerate(lines))
    assert [r.bytes for r in read_text(text).records] == [1, 2]


def test_windows_of_several_sizes_are_not_misread() -> None:
    imported = read_file(DATA / "osu_mbw_mr_varied.txt")
    assert imported.records == []
    assert "no results" in imported.warnings[0]


def test_device_buffers_and_datatypes_are_variants() -> None:
    head = "# OSU MPI-CUDA Latency Test v7.4\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
    table = "# Datatype: {}.\n# Size       Avg Latency(us)\n8   9.00\n"
    text = head + table.format("MPI_CHAR") + table.format("MPI_FLOAT")
    assert [r.variant for r in read_text(text).records] == ["CUDA D-H", "CUDA D-H, MPI_FLOAT"]


def test_printed_zeros() -> None:
    text = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n0    0.00\n1    0.01\n"
    imported = read_text(text)
    assert [r.bytes for r in imported.records] == [1]
    assert "0.00 at 0 B" in imported.warnings[0]


@pytest.mark.parametrize(
    "cells", ["nan", "1e999", "9" * 400, "٣.٠٠", "1.0e", "1.05[n1:1] WARNING", "", "1.00   2.00", "-1.00"]
)
def test_a_damaged_row_is_named(cells: str) -> None:
    imported = read_text(f"# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n4   1.00\n8   {cells}\n")
    assert [r.bytes for r in imported.records] == [4]
    assert imported.warnings[0].startswith("f:4: ")


@pytest.mark.parametrize(
    ("last", "kept"),
    [("16    12.34", True), ("16    12.3", False), ("16    12", False), ("16", False)],
)
def test_last_line_without_its_end(last: str, kept: bool) -> None:
    imported = read_text(f"# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8   1.00\n{last}")
    assert [r.bytes for r in imported.records] == ([8, 16] if kept else [8])
    assert (imported.warnings == []) == kept


SIZES = st.lists(st.integers(0, 2**33), min_size=1, max_size=12, unique=True).map(sorted)
HUNDREDTHS = st.integers(1, 10**9)
NOISE = st.sampled_from(
    ["", "slurmstepd: warning: 4 7.00", "[n1:3] 2 more processes have sent help", "WARNING: 8 1.00", "libfoo"]
)
PREFIXES = st.sampled_from(["", "0: ", "[1,0]<stdout>:", "[0] ", "node-17: "])


@st.composite
def rendered(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """OSU text with noise between its lines, and the (size, hundredths of µs) it holds."""
    sizes = draw(SIZES)
    rows = [(size, draw(HUNDREDTHS)) for size in sizes]
    prefix = draw(PREFIXES)
    lines = ["# OSU MPI Latency Test v7.4", "# Datatype: MPI_CHAR.", "# Size       Avg Latency(us)"]
    lines += [f"{size:<10}{value // 100:>15}.{value % 100:02}" for size, value in rows]
    text = ""
    for line in lines:
        noise = draw(NOISE)
        text += (noise + "\n" if noise else "") + prefix + line + draw(st.sampled_from(["\n", "\r\n"]))
    return text, rows


@for_all(rendered())
def test_what_is_rendered_is_read_back(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, rows = case
    records = module.read(Path("f"), text, Given()).records
    assert [(r.bytes, round(r.value * 1e8)) for r in records] == rows


@for_all(rendered(), st.data())
def test_truncation_invents_nothing(case: tuple[str, list[tuple[int, int]]], choice: st.DataObject) -> None:
    text, rows = case
    cut = text[: choice.draw(st.integers(0, len(text)))]
    records = module.read(Path("f"), cut, Given()).records
    assert [(r.bytes, round(r.value * 1e8)) for r in records] == rows[: len(records)]
