"""nccl-tests and rccl-tests: printed tables of several releases, JSON, CSV; wrong results and damaged files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.importers import reading
from tests.importers.reading import DATA, EXACT, columns

from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers import nccl_tests as module
from hockney.importers.base import Given, load_text

read_text = partial(reading.read_text, module)

HEAD = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 2\n"
COLUMNS = f"#       size         count      type   redop    root{2 * '     time   algbw   busbw #wrong'}\n"
ROW = "1024  256  float  sum  -1  12.5  0.08  0.16  0  11.5  0.09  0.17  0\n"


def device(rank: int, host: str = "n1", group: int = 0) -> str:
    return f"#  Rank {rank:2} Group {group:2} Pid 77 on {host} device {rank} [0000:04:00] NVIDIA H100\n"


def devices(number: int) -> str:
    return "".join(device(rank) for rank in range(number))


def test_a_printed_table() -> None:
    path = DATA / "nccl_all_gather_2.19.txt"
    imported = module.read(path, load_text(path), Given())
    assert columns(imported, "bytes", "variant", "value") == [
        # Two nodes of two devices: the printed size is the whole vector of four blocks.
        (256, "", pytest.approx(10.11e-6, rel=EXACT)),
        (256, "in place", pytest.approx(10.02e-6, rel=EXACT)),
        (262144, "", pytest.approx(112.5e-6, rel=EXACT)),
        (262144, "in place", pytest.approx(1.2e-3, rel=EXACT)),
    ]
    assert {(r.operation, r.ranks, r.nodes, r.ppn) for r in imported.records} == {("allgather", 4, 2, 2)}
    assert {(r.source, r.mpi, r.statistic) for r in imported.records} == {
        ("nccl_tests", "NCCL 2.28.3", "mean_over_ranks")
    }
    assert {(r.batch, r.verified) for r in imported.records} == {(20, True)}
    lines = path.read_text().split("\n")
    assert lines[int(imported.records[-1].origin.rpartition(":")[2]) - 1].split()[0] == "1048576"
    assert imported.left_out() == []


@pytest.mark.parametrize(
    ("program", "operation", "size_B"),
    [
        ("all_reduce_perf", "allreduce", 1024),
        ("broadcast_perf", "bcast", 1024),
        ("reduce_perf", "reduce", 1024),
        ("sendrecv_perf", "sendrecv", 1024),
        ("all_gather_perf", "allgather", 256),
        ("reduce_scatter_perf_mpi", "reduce_scatter", 256),
        ("alltoall_perf", "alltoall", 256),
        ("gather_perf", "gather", 256),
        ("scatter_perf", "scatter", 256),
    ],
)
def test_whole_vectors_and_blocks(program: str, operation: str, size_B: int) -> None:
    """The printed size is the larger of both buffers; four ranks, 1,024 B, so blocks of 64 floats."""
    row = ROW if size_B == 1024 else ROW.replace("  256  ", "  64  ")
    text = f"+ mpirun -n 4 ./build/{program} -b 1K\n" + HEAD + devices(4) + COLUMNS + row
    assert {(r.operation, r.bytes, r.ranks) for r in read_text(text).records} == {(operation, size_B, 4)}


def test_ranks_that_contradict_the_sizes() -> None:
    text = HEAD + COLUMNS + ROW
    imported = read_text(text, Given(ranks=3), path="all_gather_perf.txt")
    assert imported.records == []
    assert "does not fit 3 ranks" in imported.warnings[0]
    # Without any ranks the elements of a block still say its size.
    assert {(r.bytes, r.ranks) for r in read_text(text, path="all_gather_perf.txt").records} == {(1024, None)}


def test_the_file_may_be_named_after_the_program() -> None:
    text = HEAD + COLUMNS + ROW
    records = read_text(text, Given(ranks=1), path="reduce-scatter_8gpu.log").records
    assert {r.operation for r in records} == {"reduce_scatter"}
    unknown = read_text(text, path="job.17.out")
    assert unknown.records == []
    assert "name the file after its program" in unknown.not_imported[0]
    assert "hypercube" in read_text(text, path="hypercube_perf.txt").not_imported[0]


def test_wrong_results_are_failures() -> None:
    text = HEAD + devices(2) + COLUMNS + ROW.replace("0.17  0", "0.17  1e+03")
    imported = read_text(text, path="all_reduce_perf.txt")
    assert [r.variant for r in imported.records] == [""]
    assert imported.warnings[0].startswith("all_reduce_perf.txt:5: left out")
    assert "1000 wrong elements" in imported.warnings[0]


def test_unchecked_results() -> None:
    text = HEAD + COLUMNS + ROW.replace("  0  11", "  N/A  11")
    assert [r.verified for r in read_text(text, path="all_reduce_perf.txt").records] == [None, True]


@pytest.mark.parametrize(("verdict", "verified"), [("0 OK", True), ("3 FAILED", False)])
def test_releases_that_print_the_largest_error(verdict: str, verified: bool) -> None:
    columns = COLUMNS.replace("#wrong", "error").replace("    root", "")
    row = "1024  256  float  sum  12.5  0.08  0.16  2e-07  11.5  0.09  0.17  4e-07\n"
    text = HEAD + columns + row + f"# Out of bounds values : {verdict}\n"
    imported = read_text(text, path="all_reduce_perf.txt")
    assert [r.verified for r in imported.records] == [verified] * 2
    assert (imported.warnings == []) == verified


def test_what_else_tells_points_apart() -> None:
    row = ROW.replace("float  sum  -1", "half  max  3").replace("  256  ", "  512  ")
    (first, second) = read_text(HEAD + COLUMNS + row, path="reduce_perf.txt").records
    assert (first.variant, second.variant) == ("half, max, root 3", "half, max, root 3, in place")


def test_groups_of_a_split_run() -> None:
    text = HEAD + "".join(device(rank, group=rank % 2) for rank in range(4)) + COLUMNS + ROW
    assert {(r.ranks, r.nodes, r.variant) for r in read_text(text, path="all_reduce_perf").records} == {
        (2, None, "2 groups at once"),
        (2, None, "2 groups at once, in place"),
    }


def test_aggregated_iterations_are_one_sample() -> None:
    assert {r.batch for r in read_text(HEAD + COLUMNS + ROW, path="all_reduce_perf").records} == {40}


def test_per_iteration_columns_and_time_stamps() -> None:
    part = "time   algbw   busbw #wrong i_min i_max i_p99 i_cv%"
    columns = f"#  size  count  type  redop  root  {part}  {part}  timestamp\n"
    row = "1024 256 float sum -1 12.5 0.1 0.2 0 12.0 13.0 13.0 1.5 11.5 0.1 0.2 0 11.0 12.0 12.0 1.4"
    row += " 2026-07-01 10:00:00\n"
    imported = read_text(HEAD + columns + row, path="all_reduce_perf")
    assert [r.value for r in imported.records] == pytest.approx([12.5e-6, 11.5e-6], rel=EXACT)
    assert imported.warnings == []


def test_a_short_row_before_a_time_stamp_is_named() -> None:
    columns = COLUMNS.replace("\n", "  timestamp\n")
    rows = ROW.replace("\n", " 2026-07-01 10:00:00\n") + "1024 256"
    imported = read_text(HEAD + columns + rows, path="all_reduce_perf")
    assert len(imported.records) == 2
    assert "the file ends inside this line" in imported.warnings[0]


def test_a_table_that_is_left_out_is_not_called_unverified() -> None:
    columns = COLUMNS.replace("#wrong", "error")
    imported = read_text(HEAD + columns + ROW + "# Out of bounds values : 3 FAILED\n", path="foo_perf.txt")
    assert imported.warnings == []
    assert "is not imported: it is an unknown program; known are " in imported.not_imported[0]


def test_time_of_the_launching_cpu_is_no_duration() -> None:
    imported = read_text(HEAD + COLUMNS.replace("    time", " cputime") + ROW, path="all_reduce_perf")
    assert imported.records == []
    assert "CPU that launches" in imported.not_imported[0]


def test_several_runs_in_one_file_with_prefixes() -> None:
    def run(program: str, ranks: int, prefix: str, end: str) -> str:
        text = f"# Collective test starting: {program}\n" + HEAD + devices(ranks) + COLUMNS
        text += ROW.replace("  256  ", "  64  ") + end
        return "".join(prefix + line + "\n" for line in text.splitlines())

    whole = "# Out of bounds values : 0 OK\n# Avg bus bandwidth : 0.16\n"
    text = run("all_gather_perf", 4, "[1,0]<stdout>:", whole) + "9 9 stray\n"
    # The second run broke off before its summary.
    text += run("alltoall_perf", 4, "", "") + run("gather_perf", 4, "", whole)
    imported = read_text(text)
    assert [(r.operation, r.ranks) for r in imported.records] == [
        (operation, 4) for operation in ("allgather", "alltoall", "gather") for _ in range(2)
    ]
    assert imported.warnings == []


@pytest.mark.parametrize(
    "row",
    [
        "2048  512  float  sum  -1  nan  0.08  0.16  0  11.5  0.09  0.17  0",
        "2048  512  float  sum  -1  -1.0  0.08  0.16  0  11.5  0.09  0.17  0",
        "2048  512  float  sum  -1  12.5  0.08",
        "2048  x  float  sum  -1  12.5  0.08  0.16  0  11.5  0.09  0.17  0",
        "9999999999999999999  1  float  sum  -1  12.5  0.08  0.16  0  11.5  0.09  0.17  0",
        "2048  512  float  sum  -1  1e90  0.08  0.16  0  1e91  0.09  0.17  0",
    ],
)
def test_a_damaged_row_is_named(row: str) -> None:
    imported = read_text(HEAD + COLUMNS + ROW + row + "\n", path="all_reduce_perf")
    assert {r.bytes for r in imported.records} == {1024}
    assert imported.warnings[0].startswith("all_reduce_perf:4: ")


def test_cut_ends() -> None:
    text = HEAD + COLUMNS + ROW + ROW.replace("1024", "2048").rstrip("\n")
    imported = read_text(text, path="all_reduce_perf")
    assert {r.bytes for r in imported.records} == {1024}
    assert "cut short" in imported.warnings[0]
    assert "no results" in read_text(HEAD + COLUMNS, path="all_reduce_perf").warnings[0]


def json_file(**changes: Any) -> dict[str, Any]:
    body = {"time": 12.5, "alg_bw": 0.08, "bus_bw": 0.16, "nwrong": 0.0}
    rows = {"skipped_iterations": 1, "times_us": [99.0, 12.0, 14.0, 13.0]}
    result = {"size": 1024, "count": 64, "type": "float", "redop": "none", "root": "    -1"}
    result |= {"out_of_place": body, "in_place": body | {"time": 11.5, "nwrong": None}}
    result |= {"out_of_place_per_iter": rows, "actual_iterations": 20}
    hosts = ["a", "a", "b", "b"]
    config = {
        "iterations": 20,
        "aggregated_iterations": 1,
        "devices": [{"rank": 0, "hostname": h} for h in hosts],
    }
    file = {"version": 3, "args": ["./build/all_gather_perf", "-b", "1K"], "env": ["SECRET=1"]}
    return file | {"nccl_version": 22803, "config": config, "results": [result]} | changes


def test_json() -> None:
    imported = read_text(json.dumps(json_file()))
    assert columns(imported, "statistic", "variant", "value") == [
        ("mean_over_ranks", "", pytest.approx(12.5e-6, rel=EXACT)),
        # The middle of 12, 14, 13; the first iteration is set aside.
        ("max_over_ranks", "", pytest.approx(13e-6, rel=EXACT)),
        ("mean_over_ranks", "in place", pytest.approx(11.5e-6, rel=EXACT)),
    ]
    assert imported.records[1].samples == pytest.approx([99e-6, 12e-6, 14e-6, 13e-6], rel=EXACT)
    assert imported.records[1].disturbed_at == [0]
    assert [r.verified for r in imported.records] == [True, True, None]
    assert {(r.operation, r.bytes, r.ranks, r.nodes, r.ppn, r.mpi) for r in imported.records} == {
        ("allgather", 256, 4, 2, 2, "NCCL 2.28.3")
    }
    assert "SECRET" not in str(imported)


@pytest.mark.parametrize(
    ("option", "statistics"),
    [
        (["-a", "3"], {"max_over_ranks"}),
        (["--average=2"], {"min_over_ranks", "max_over_ranks"}),
        (["-a0"], {"max_over_ranks"}),
    ],
)
def test_json_says_what_was_averaged(option: list[str], statistics: set[str]) -> None:
    imported = read_text(json.dumps(json_file(args=["all_gather_perf", *option])))
    assert {r.statistic for r in imported.records} == statistics
    assert (imported.warnings == []) == (option != ["-a0"])


def result(**changes: Any) -> list[dict[str, Any]]:
    return [json_file()["results"][0] | changes]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"results": result(size=-1)}, r"f: results\.0\.size"),
        ({"results": result(out_of_place={"time": -5})}, r"f: results\.0\.out_of_place\.time"),
        ({"results": "none"}, "f: results"),
    ],
)
def test_json_that_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read_text(json.dumps(json_file(**changes)))


def test_json_that_was_cut() -> None:
    text = json.dumps(json_file(), indent=1)
    with pytest.raises(RequestError, match=rf"f:{text.count(chr(10)) + 1}: damaged JSON"):
        read_text(text[:-1])


def test_wrong_results_in_json() -> None:
    imported = read_text(json.dumps(json_file(results=result(in_place={"time": 11.5, "nwrong": 4.0}))))
    assert {r.variant for r in imported.records} == {""}
    assert imported.warnings == ["f, result 1: left out: nccl-tests found 4 wrong elements in the result"]


CSV_HEAD = (
    "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inPlace,time,algBw,busBw,#wrong\n"
)
CSV_ROWS = '0,"AllGather",2,4,2,2,1024,"float","none",0,55.5,18.8,32.9,"0"\n' + (
    '0,"AllGather",2,4,2,2,1024,"float","none",1,54.5,18.8,32.9,"N/A"\n'
)


@pytest.mark.parametrize("head", [CSV_HEAD, CSV_HEAD.lower().replace("nodes,", "")])
def test_csv_of_rccl_tests(head: str) -> None:
    """Builds with MPI left `nodes` out of the header while their rows had it."""
    imported = read_text(head + CSV_ROWS)
    assert columns(imported, "value", "variant", "verified") == [
        (pytest.approx(55.5e-6, rel=EXACT), "", True),
        (pytest.approx(54.5e-6, rel=EXACT), "in place", None),
    ]
    # Four processes with two devices each: eight ranks, blocks of 128 B.
    assert {(r.operation, r.bytes, r.ranks, r.nodes, r.ppn) for r in imported.records} == {
        ("allgather", 128, 8, 2, 4)
    }


def rccl_line(**changes: Any) -> dict[str, Any]:
    line = {"#wrong": "0", "algBw": 0.1, "busBw": 0.1, "gpus": 4, "inPlace": 0, "name": "AllReduce"}
    return line | {"redop": "sum", "size": 1024, "time": 19.5, "type": "float"} | changes


@pytest.mark.parametrize("listed", [False, True])
def test_json_of_rccl_tests(listed: bool) -> None:
    lines = [rccl_line(), rccl_line(inPlace=1), rccl_line(**{"#wrong": "2"})]
    text = json.dumps(lines) if listed else "".join(json.dumps(line) + "\n" for line in lines)
    imported = read_text(text)
    assert [(r.operation, r.bytes, r.ranks, r.variant) for r in imported.records] == [
        ("allreduce", 1024, 4, ""),
        ("allreduce", 1024, 4, "in place"),
    ]
    (warning,) = imported.warnings
    assert warning.startswith("f, result 3" if listed else "f:3: ")
    assert "2 wrong elements" in warning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV_HEAD + CSV_ROWS.replace("55.5", "-1"), "f:2: time"),
        (CSV_HEAD + CSV_ROWS.replace(',"0"', ""), "f:2: 13 fields where the header has 14"),
        (CSV_HEAD + CSV_ROWS.replace('"0"', "few"), "f:2: #wrong 'few'"),
        (json.dumps([rccl_line(), 7]), "f, result 2"),
    ],
)
def test_a_wrong_line_is_named(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read_text(text)


def test_a_csv_is_not_taken_for_a_tidy_table(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(CSV_HEAD + CSV_ROWS)
    collection = _collect.collect([tmp_path], Given(algorithm="ring"))
    (file,) = collection.files
    assert (file.format, {r.algorithm for r in collection.records}) == ("nccl_tests", {"ring"})


@pytest.mark.parametrize(("unit", "time_s"), [("us", 12.5e-6), ("ms", 12.5e-3), ("s", 12.5), ("ns", 12.5e-9)])
def test_the_line_of_units_is_believed(unit: str, time_s: float) -> None:
    units = f"#   (B)    (elements)                ({unit})  (GB/s)  (GB/s)            ({unit})  (GB/s)  (GB/s)\n"
    text = HEAD + devices(2) + COLUMNS + units + ROW
    assert read_text(text, path="all_reduce_perf.txt").records[0].value == pytest.approx(time_s, rel=1e-12)
