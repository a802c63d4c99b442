"""IMB text: every table kind, idle ranks, groups, defects, rows of words, cut ends."""

from __future__ import annotations

import os
import re
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import run_hockney
from tests.factories import written
from tests.importers import reading
from tests.importers.reading import DATA, EXACT, columns

from hockney.errors import RequestError
from hockney.importers import imb as module
from hockney.importers.base import Given, load_text
from hockney.machine.collectives import collectives_of
from hockney.records.contents import contents_of
from hockney.records.folder import Campaign

read_text = partial(reading.read_text, module)
read_file = partial(reading.read_file, module)


def test_pingpong_and_pingping() -> None:
    path = DATA / "imb_pingpong.txt"
    imported = read_file(path)
    assert columns(imported, "operation", "bytes", "value", "batch") == [
        ("pingpong", 0, pytest.approx(1.12e-6, rel=EXACT), 1000),
        ("pingpong", 8, pytest.approx(1.13e-6, rel=EXACT), 1000),
        ("pingpong", 4194304, pytest.approx(672.03e-6, rel=EXACT), 10),
        ("pingping", 8, pytest.approx(1.53e-6, rel=EXACT), 1000),
    ]
    said = {(r.statistic, r.ranks, r.pairs, r.pair, r.source) for r in imported.records}
    assert said == {("one_way", 2, 1, "0-1", "imb")}
    line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "672.03" in text)
    assert imported.records[2].origin == f"{path}:{line}"


def test_columns_may_stand_between_commas(tmp_path: Path) -> None:
    """Every run of blanks inside of a table's header and rows becomes a comma; titles stay."""
    text = (DATA / "imb_pingpong.txt").read_text(encoding="utf-8")
    rows = re.compile(r"(?m)^ +(#bytes .*\S|\d[\d. ]*\d) *$")
    commas = rows.sub(lambda row: re.sub(" +", ",", row[1]), text)
    assert commas.count(",") > 20
    path = written(tmp_path / "commas.txt", commas)
    told = [
        [(r.operation, r.bytes, r.value, r.batch, r.variant) for r in read_file(one).records]
        for one in (path, DATA / "imb_pingpong.txt")
    ]
    assert told[0] == told[1]
    assert told[0]


def test_idle_ranks_make_another_placement() -> None:
    records = read_file(DATA / "imb_pingpong.txt").records
    assert [r.variant for r in records] == ["2 of 64 ranks"] * 3 + [""]


def test_zero_time_is_named() -> None:
    (warning,) = read_file(DATA / "imb_pingpong.txt").warnings
    assert "PingPing" in warning
    assert "t[usec] 0.00 at 0 B" in warning


def test_header_block() -> None:
    imported = read_file(DATA / "imb_pingpong.txt")
    assert imported.tool == "IMB 2021.3"
    assert imported.metadata["Date"] == "Fri Sep 11 15:04:18 2020"
    assert imported.metadata["MPI Version"] == "3.1"
    assert imported.metadata["Version"] == "#1 SMP Tue May 12 16:57:42 UTC 2020"
    assert imported.metadata["command"] == "IMB-MPI1 -npmin 2 PingPong"
    assert {r.mpi for r in imported.records} == {""}


def test_three_times_per_row_and_defects() -> None:
    imported = read_file(DATA / "imb_parallel.txt")
    of_1KiB: dict[Any, Any] = {
        (r.operation, r.statistic): (r.value, r.verified) for r in imported.records if r.bytes == 1024
    }
    assert of_1KiB == {
        ("sendrecv", "min_over_ranks"): (pytest.approx(2.01e-6, rel=EXACT), True),
        ("sendrecv", "max_over_ranks"): (pytest.approx(2.20e-6, rel=EXACT), True),
        ("sendrecv", "mean_over_ranks"): (pytest.approx(2.10e-6, rel=EXACT), True),
        ("exchange", "min_over_ranks"): (pytest.approx(3.01e-6, rel=EXACT), True),
        ("exchange", "max_over_ranks"): (pytest.approx(3.20e-6, rel=EXACT), True),
        ("exchange", "mean_over_ranks"): (pytest.approx(3.10e-6, rel=EXACT), True),
    }
    assert {r.verified for r in imported.records if r.bytes == 1048576} == {False}
    assert {r.ranks for r in imported.records} == {4}
    assert any("wrong results" in warning for warning in imported.warnings)


def test_rows_of_words_are_named() -> None:
    path = DATA / "imb_parallel.txt"
    imported = read_file(path)
    assert {r.bytes for r in imported.records if r.operation == "exchange"} == {1024}
    lines = path.read_text().split("\n")
    for word in ("time-out.", "out-of-mem."):
        number = next(n for n, text in enumerate(lines, 1) if word in text)
        assert any(w.startswith(f"{path}:{number}: ") and word in w for w in imported.warnings)


def test_rates() -> None:
    imported = read_file(DATA / "imb_rates.txt")
    assert columns(imported, "operation", "ranks", "pairs", "bytes", "statistic", "value") == [
        ("bandwidth", 2, 1, 0, "message_rate_per_s", 4390299),
        ("bandwidth", 2, 1, 8, "bandwidth_B_per_s", pytest.approx(35.12e6, rel=EXACT)),
        ("bandwidth", 2, 1, 8, "message_rate_per_s", 4390299),
        ("bandwidth", 8, 4, 8, "bandwidth_B_per_s", pytest.approx(105.36e6, rel=EXACT)),
        ("bandwidth", 8, 4, 8, "message_rate_per_s", 13170897),
        ("bidirectional", 8, 4, 8, "bandwidth_B_per_s", pytest.approx(200.0e6, rel=EXACT)),
        ("bidirectional", 8, 4, 8, "message_rate_per_s", 25000000),
    ]
    assert imported.warnings == []


def test_groups_at_once() -> None:
    imported = read_file(DATA / "imb_multi.txt")
    assert [(r.bytes, r.pair, r.ranks, r.pairs) for r in imported.records] == [
        (8, "0-1", 2, 2),
        (8, "2-3", 2, 2),
        (16, "0-1", 2, 2),
        (16, "2-3", 2, 2),
    ]
    assert {r.variant for r in imported.records} == {"2 groups at once, 4 of 5 ranks"}
    assert imported.tool == "IMB 3.2"


def test_collectives_and_what_is_not_imported() -> None:
    imported = read_file(DATA / "imb_collectives.txt")
    assert columns(imported, "operation", "bytes", "statistic", "value") == [
        ("bcast", 8, "max_over_ranks", pytest.approx(0.97e-6, rel=EXACT)),
        ("bcast", 8, "mean_over_ranks", pytest.approx(0.32e-6, rel=EXACT)),
        ("bcast", 8, "min_over_ranks", pytest.approx(0.07e-6, rel=EXACT)),
        ("barrier", 0, "max_over_ranks", pytest.approx(1.97e-6, rel=EXACT)),
        ("barrier", 0, "mean_over_ranks", pytest.approx(1.32e-6, rel=EXACT)),
        ("barrier", 0, "min_over_ranks", pytest.approx(1.07e-6, rel=EXACT)),
        ("reduce_scatter", 8, "max_over_ranks", pytest.approx(0.97e-6, rel=EXACT)),
        ("reduce_scatter", 8, "mean_over_ranks", pytest.approx(0.32e-6, rel=EXACT)),
        ("reduce_scatter", 8, "min_over_ranks", pytest.approx(0.07e-6, rel=EXACT)),
    ]
    (left_out,) = imported.not_imported
    assert "non-blocking" in left_out


@pytest.mark.parametrize(
    ("title", "size_B"),
    [
        # Read in the sources of these releases: the older ones divide the bytes among the ranks.
        ("Intel(R) MPI Benchmarks 2019 Update 1, MPI-1 part", 4096),
        ("Intel(R) MPI Benchmarks 2021.11, MPI-1 part (GPU)", 4096),
        ("Intel (R) MPI Benchmarks 2019, MPI-1 part", 1024),
        ("Intel (R) MPI Benchmarks 2018 Update 1, MPI-1 part", 1024),
        ("Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", 1024),
    ],
)
def test_reduce_scatter_changed_its_bytes(title: str, size_B: int) -> None:
    imported = read_text(
        f"#    {title}\n{collective('Reduce_scatter', 4096)}{collective('Reduce_scatter_block', 8)}"
    )
    assert {(r.operation, r.bytes, r.variant) for r in imported.records} == {
        ("reduce_scatter", size_B, ""),
        ("reduce_scatter", 8, "reduce_scatter_block"),
    }
    assert imported.left_out() == []


def collective(name: str, size_B: int, ranks: int = 4) -> str:
    return (
        f"# Benchmarking {name} \n# #processes = {ranks} \n"
        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        f"            {size_B}         1000         8.00        11.00         9.50\n"
    )


def test_reduce_scatter_that_cannot_be_converted() -> None:
    (warning,) = read_text(collective("Reduce_scatter", 4096)).warnings
    assert "f:4: left out: no release says whether" in warning
    text = "#    Intel (R) MPI Benchmarks 2018, MPI-1 part\n" + collective("Reduce_scatter", 4, 64)
    (warning,) = read_text(text).warnings
    assert warning == "f:5: left out: 4 B are no block for each of 64 ranks"


@pytest.mark.parametrize(
    "name",
    ["Bcast", "Allreduce", "Reduce", "Allgather", "Alltoall", "Gather", "Scatter", "Sendrecv", "Exchange"],
)
def test_sizes_as_printed(name: str) -> None:
    """In IMB's sources these are the bytes of one call's buffer, or of one block: what the tidy table wants."""
    imported = read_text(collective(name, 4096))
    times_us = {"min_over_ranks": 8.0, "max_over_ranks": 11.0, "mean_over_ranks": 9.5}
    assert {r.statistic: r.value * 1e6 for r in imported.records} == pytest.approx(times_us, rel=EXACT)
    assert {(r.operation, r.bytes) for r in imported.records} == {(name.lower(), 4096)}


def test_a_table_of_an_unknown_kind_is_named() -> None:
    imported = read_text(
        "# Benchmarking Barrier \n# #processes = 2 \n #repetitions      t[usec]\n   1000    1.50\n"
    )
    assert imported.records == []
    assert "t[usec]" in imported.warnings[0]


def test_last_integer_column_cannot_be_trusted_without_line_end() -> None:
    text = (DATA / "imb_rates.txt").read_text().rstrip("\n")
    imported = read_text(text)
    assert {r.operation for r in imported.records} == {"bandwidth"}
    assert "cut short" in imported.warnings[0]


@pytest.mark.parametrize("name", ["imb_pingpong", "imb_rates", "imb_parallel", "imb_multi", "imb_collectives"])
@pytest.mark.parametrize("prefix", ["", "0: ", "[1,0]<stdout>:"])
def test_truncation_invents_nothing(name: str, prefix: str) -> None:
    """And lines of others between those of the benchmark do not, either."""
    lines = load_text(DATA / f"{name}.txt").split("\n")
    text = "".join(f"{prefix}{line}\nWARNING: 8 10 1.00 2.00\n" for line in lines)
    whole = [record.model_dump(exclude={"origin"}) for record in read_file(DATA / f"{name}.txt").records]
    step = 7 if "HOCKNEY_TEST_ALL" in os.environ else 23
    for cut in range(0, len(text) + 1, step):
        kept = module.read(Path("f"), text[:cut] + "\n" * (cut > len(text) - step), Given()).records
        assert [record.model_dump(exclude={"origin"}) for record in kept] == whole[: len(kept)]
    assert len(kept) == len(whole)


@pytest.mark.parametrize(
    ("part", "name", "columns_line", "reason"),
    [
        ("P2P", "PingPong", "Mbytes/sec Msg/sec", "a test of IMB-P2P, which prints rates"),
        ("", "PingPong", "Mbytes/sec Msg/sec", "a test of IMB-P2P, which prints rates"),
        ("", "Unirandom", "Mbytes/sec Msg/sec", "a test of IMB-P2P"),
        ("RMA", "Unidir_put", "t[usec] Mbytes/sec", "a one-sided operation"),
        ("", "One_put_all", "t[usec] Mbytes/sec", "a one-sided operation"),
        ("MT", "PingPongMT", "t[usec] Mbytes/sec", "several threads"),
        ("IO", "C_Write_shared", "t[usec] Mbytes/sec", "file input or output"),
    ],
)
def test_other_parts_of_the_suite_are_named(part: str, name: str, columns_line: str, reason: str) -> None:
    banner = f"#    Intel(R) MPI Benchmarks 2021.7, {part} part\n" if part else ""
    head = f"# Benchmarking {name} \n# #processes = 4 \n"
    table = f"{head}   #bytes #repetitions {columns_line}\n   8   1000   1.45   181000\n"
    imported = read_text(banner + table)
    assert imported.records == []
    assert reason in imported.left_out()[0]
    after = read_text(banner + table + "#  Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n" + collective("Bcast", 8))
    assert {r.operation for r in after.records} == {"bcast"}


def test_a_table_that_was_cut_out_is_of_the_test_that_its_name_says() -> None:
    text = "#bytes,#repetitions,t[usec],Mbytes/sec\n0,1000,0.20,0.00\n8,1000,0.25,32.00\n"
    imported = reading.read_text(module, text, path="core/PingPong_ucx.csv")
    rows = [("pingpong", 2, size, f"core/PingPong_ucx.csv:{line}") for size, line in ((0, 2), (8, 3))]
    assert columns(imported, "operation", "ranks", "bytes", "origin") == rows
    with pytest.raises(RequestError, match="of which benchmark"):
        reading.read_text(module, text, path="results.csv")
    told = reading.read_text(module, text, Given(operation="pingpong"), "results.csv")
    assert columns(told, "ranks") == [(2,), (2,)]


def test_calls_that_do_nothing_are_kept_and_never_fitted(tmp_path: Path) -> None:
    """IMB begins tables of collectives with 0 bytes; the other rows lie on 3 µs + n / 1 GB/s."""
    times_us = {0: 0.05, **{n: 3 + n / 1000 for n in (8, 64, 512, 4096, 65536)}}
    rows = "\n".join(f"{n} 1000 {t} {t} {t}" for n, t in times_us.items())
    header = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
    (tmp_path / "imb.txt").write_text(
        f"#{'-' * 64}\n# Benchmarking Allreduce\n# #processes = 4\n#{'-' * 64}\n{header}\n{rows}\n"
    )
    done = run_hockney("import", "imb.txt", "-o", "c", cwd=tmp_path)
    assert "of 0 bytes are calls that do nothing" in done.stdout + done.stderr
    assert min(Campaign.open(tmp_path / "c").records(), key=attrgetter("bytes")).bytes == 0
    (model,) = collectives_of(contents_of(Campaign.open(tmp_path / "c")))
    assert model.predicted(np.array([4.0]), np.array([8.0])).time_s[0] == pytest.approx(3.008e-6, rel=0.02)
