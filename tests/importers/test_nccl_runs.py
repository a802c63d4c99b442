"""nccl-tests: what a run says of itself, and what launchers and older releases do to its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.importers.reading import EXACT
from tests.importers.test_nccl_tests import COLUMNS, HEAD, ROW, device, devices, read_text

from hockney.importers._collect import collect
from hockney.importers.base import Given

TAG = "[1,0]<stdout>:"


def test_tags_inside_rows() -> None:
    """The program flushes a row in pieces, and mpirun puts its tag before each."""
    row = ROW.replace("  12.5", f"{TAG}  12.5").replace("  11.5", f"{TAG}  11.5")
    text = "".join(TAG + line + "\n" for line in (HEAD + devices(2) + COLUMNS + row).splitlines())
    imported = read_text(text, path="all_reduce_perf.log")
    assert [r.value for r in imported.records] == pytest.approx([12.5e-6, 11.5e-6], rel=EXACT)
    assert imported.left_out() == []


def test_a_reduction_that_older_releases_leave_blank() -> None:
    columns = COLUMNS.replace("    root", "").replace("#wrong", " error")
    row = "32   4   float           89.50   0.00   0.00   N/A    85.10   0.00   0.00   N/A\n"
    head = "# nThread: 1 nGpus: 2 minBytes: 1 warmup iters: 5 iters: 20 validation: 0\n"
    text = head + devices(2) + columns
    rooted = head + devices(2) + COLUMNS + row.replace("float  ", "float -1")
    for imported in (read_text(each, path="nccl_alltoall.log") for each in (text + row, rooted)):
        assert [(r.bytes, r.ranks, r.batch) for r in imported.records] == [(16, 2, 20)] * 2
        assert [r.value for r in imported.records] == pytest.approx([89.5e-6, 85.1e-6], rel=EXACT)


@pytest.mark.parametrize("end", ["", "# Out of bounds values : 0 OK\n# Avg bus bandwidth : 0.16\n"])
def test_commands_between_the_tables_name_the_programs(end: str) -> None:
    """Releases that do not print their name; the launch line of the second stands below the first table."""
    table = HEAD + COLUMNS + ROW + end
    text = "".join(f"+ mpirun -n 4 ./{name}_perf -b 1K\n{table}" for name in ("all_reduce", "broadcast"))
    imported = read_text(text + "# Collective test concluded: broadcast_perf\n" + table, path="job.out")
    assert [r.operation for r in imported.records] == ["allreduce"] * 2 + ["bcast"] * 2
    assert "name the file after its program" in imported.not_imported[0]


@pytest.mark.parametrize("dots", ["", "......\n", "# ...\n"])
def test_a_shortened_list_says_the_ranks_by_its_last_one(dots: str) -> None:
    shortened = devices(3) + dots + "".join(device(rank, "n8") for rank in (61, 62, 63))
    records = read_text(HEAD + shortened + COLUMNS + ROW, path="all_reduce_perf").records
    assert {(r.ranks, r.nodes, r.ppn) for r in records} == {(64, None, None)}
    # Where its end was cut, nothing is known.
    cut = read_text(HEAD + devices(2) + "...\n" + COLUMNS + ROW, path="reduce_perf").records
    assert {r.ranks for r in cut} == {None}


@pytest.mark.parametrize("lists", [[(2, 2)], [(2, 4)], [(2,), (4,)]])
def test_other_ranks_than_listed(tmp_path: Path, lists: list[tuple[int, ...]]) -> None:
    """They override what all lists say alike, in one file or in several."""
    for number, each in enumerate(lists):
        text = "".join(HEAD + devices(n) + COLUMNS + ROW for n in each)
        (tmp_path / f"all_reduce_perf.{number}").write_text(text)
    collection = collect([tmp_path], Given(ranks=8))
    ranks, words = ({8}, "overrides rank 1") if lists == [(2, 2)] else ({2, 4}, "is not taken for tables")
    assert {record.ranks for record in collection.records} == ranks
    assert collection.notes[0].startswith(f"--ranks 8 {words}")


def test_ranks_of_a_launch_line_are_processes() -> None:
    """Each has its devices, whose list is lost here."""
    text = "+ mpirun -np 2 ./all_reduce_perf -g 4\n" + HEAD + COLUMNS + ROW
    assert {r.ranks for r in read_text(text).records} == {8}
    listed = "".join(f"+ mpirun -np {n} ./all_reduce_perf\n{HEAD}{devices(n)}{COLUMNS}{ROW}" for n in (2, 4))
    for text in (listed, listed.replace("-np ", "")):
        assert {r.ranks for r in read_text(text, Given(ranks=64)).records} == {2, 4}


def test_runs_side_by_side_are_of_the_ranks_that_each_lists() -> None:
    """Built without MPI, each process that is launched runs alone."""
    text = "+ mpirun -np 2 ./all_reduce_perf\n" + HEAD + device(0, "a") + device(0, "b") + COLUMNS + ROW
    imported = read_text(text)
    assert {(r.ranks, r.nodes, r.ppn) for r in imported.records} == {(1, None, None)}
    assert {"2 groups at once" in r.variant for r in imported.records} == {True}


def test_the_program_is_that_of_a_line_or_of_a_folder() -> None:
    provider = "libfabric:7:core:ofi_register_provider():468<info> registering provider: ofi_hook_perf (115.20)\n"
    text = "+ ./reduce_perf\n" + provider + HEAD + devices(2) + COLUMNS + ROW
    assert {r.operation for r in read_text(text, path="job.out").records} == {"reduce"}
    for folder, operation in (("allreduce", "allreduce"), ("all_reduce", "allreduce"), ("reduced_power", None)):
        records = read_text(HEAD + COLUMNS + ROW, path=f"{folder}/nodes_2/job.out").records
        assert {r.operation for r in records} == {operation} - {None}
