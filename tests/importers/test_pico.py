"""PICO's files: per iteration, aggregated, summaries of several runs; what is beside them; damaged ones."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers import pico as module
from hockney.importers.base import Given, Imported, load_text

# Decimals times a power of ten: equal up to one rounding.
EXACT = 1e-14
METADATA = (
    "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,gpu_awareness,gpu_lib,notes\n"
    "2025_01_01___10_00_00,0,2x2x2,1,ALLGATHER,FJMPI,4.0.1,no,null,null\n"
    "2025_01_01___10_00_00,1,4,2,ALLREDUCE,OMPI,4.1.5,no,null,RAILS=1\n"
    "2025_01_01___10_00_00,2,4,2,ALLREDUCE,MPICH,4.3.0,yes,CUDA,null\n"
)
SUMMARY = (
    "collective,algorithm_label,ranks,nodes,ppn,array_dim,buffer_bytes,n_iter,median_ns,mean_ns,min_ns,p10_ns,"
    "p25_ns,p75_ns,p90_ns,max_ns,mpi,origin\n"
)
ROW = "{},default_ompi,60,60,1,{},{},16,5000.5,9000.1,4000,4500,4900,5100,6000,70000,Open MPI 4.1.5,repository\n"
AGGREGATED = (
    "collective_type,array_dim,buffer_size,algo_name,datatype,median,min,max,nnodes,tasks_per_node,percentile_10,"
    "percentile_25,percentile_75,percentile_90,system,timestamp,test_id,notes,mpi_lib,mpi_lib_version\n"
)
AGGREGATED_ROW = "ALLREDUCE,64,256,ring_ompi,int32,300,100,900,4,2,150,200,400,500,s,t,1,,OMPI,4.1.5\n"


def tree(folder: Path, name: str, text: str, test: str = "1") -> Path:
    """A per-iteration file where PICO writes it, with the metadata of its system."""
    path = folder / "results" / "mare" / "2025_01_01___10_00_00" / test / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    (folder / "results" / "mare_metadata.csv").write_text(METADATA)
    return path


def read(path: Path, given: Given | None = None) -> Imported:
    text = load_text(path)
    assert module.recognises(path, text)
    return module.read(path, text, given or Given())


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_first_fifth_is_warm_up(tmp_path: Path) -> None:
    path = tree(tmp_path, "512_ring_ompi_int32.csv", "highest\n9000000\n0\n30\n10\n20\n50\n40\n60\n80\n70\n")
    imported = read(path)
    (record,) = imported.records
    # Ten iterations: two are set aside; the middle of 10 … 80 ns is 45.
    assert record.value == pytest.approx(45e-9, rel=EXACT)
    assert record.samples == pytest.approx([9e-3, 0, 3e-8, 1e-8, 2e-8, 5e-8, 4e-8, 6e-8, 8e-8, 7e-8], rel=EXACT)
    assert (record.disturbed, record.disturbed_at) == (2, [0, 1])
    assert (record.system, record.mpi, record.variant) == ("mare", "Open MPI 4.1.5", "RAILS=1")
    assert (record.operation, record.algorithm, record.bytes) == ("allreduce", "ring", 2048)
    assert (record.ranks, record.nodes, record.ppn, record.mapping) == (8, 4, 2, "")
    assert (record.statistic, record.source, imported.warnings) == ("max_over_ranks", "pico", [])


def test_a_program_that_warmed_up_says_so_at_its_end(tmp_path: Path) -> None:
    text = "highest\n" + "30\n10\n20\n50\n40\n" + "Average runtime: 0.000111\n"
    (record,) = read(tree(tmp_path, "4096_default-recursive-doubling_int32.csv", text, "0")).records
    assert record.value == pytest.approx(30e-9, rel=EXACT)
    assert record.disturbed_at == []
    # 4096 integers over 8 ranks of 2x2x2 nodes.
    assert (record.operation, record.bytes, record.ranks, record.nodes) == ("allgather", 2048, 8, 8)
    assert (record.algorithm, record.mpi, record.mapping) == ("recursive_doubling", "Fujitsu MPI 4.0.1", "node")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("default-default", "default"),
        ("default-3dtorus-sm", "3dtorus_sm"),
        ("default_ompi", "default"),
        ("default_mpich", "default"),
        ("k_bruck_over", "k_bruck_over"),
        ("BINE-VEC_DOUBLING-UTOFU-0-1", "BINE-VEC_DOUBLING-UTOFU-0-1"),
        ("bine_bdw_remap_segmented_over_131072", "bine_bdw_remap_segmented_over_131072"),
    ],
)
def test_names_of_algorithms(tmp_path: Path, label: str, name: str) -> None:
    for suffix in ("_int32", ""):
        (record,) = read(tree(tmp_path, f"8_{label}{suffix}.csv", "highest\n5\n")).records
        assert (record.algorithm, record.bytes) == (name, 32)


def test_other_types_and_device_buffers(tmp_path: Path) -> None:
    (record,) = read(tree(tmp_path, "8_ring_ompi_unsigned_char.csv", "highest\n5\n", "2")).records
    assert (record.bytes, record.algorithm) == (8, "ring")
    assert record.variant == "CUDA buffers, unsigned_char"


def test_the_allocation_knows_better_than_the_request(tmp_path: Path) -> None:
    """37 × 56 tasks may be asked for and 2,048 used."""
    path = tree(tmp_path, "8_ring_ompi_int32.csv", "highest\n5\n")
    (path.parents[1] / "alloc.csv").write_text("MPI_Rank,allocation\n0,a\n1,a\n2,b\n3,b\n4,b\n")
    (record,) = read(path).records
    assert (record.ranks, record.nodes, record.ppn) == (5, 2, 3)


def test_a_block_for_every_rank_or_none(tmp_path: Path) -> None:
    path = tree(tmp_path, "7_ring_ompi_int32.csv", "highest\n5\n", "0")
    imported = read(path)
    assert imported.records == []
    assert "7 elements are no block for each of 8 ranks" in imported.warnings[0]


def test_a_folder_of_pico(tmp_path: Path) -> None:
    """The summary of files that are there themselves is no second measurement."""
    path = tree(tmp_path, "64_ring_ompi_int32.csv", "highest\n300\n310\n320\n")
    rows = AGGREGATED_ROW + AGGREGATED_ROW.replace(",64,256,", ",512,2048,")
    (path.parents[1] / "aggregated_results_summary.csv").write_text(AGGREGATED + rows)
    collection = _collect.collect([tmp_path], Given())
    found = {(r.bytes, len(r.samples), r.repetition, r.variant) for r in collection.records}
    assert found == {(256, 3, 0, "RAILS=1"), (2048, 0, 0, "")}
    (left_out,) = [text for f in collection.files for text in f.content.left_out()]
    assert "1 rows summarise files" in left_out
    assert [(Path(file).name, "read together" in reason) for file, reason in collection.skipped] == [
        ("mare_metadata.csv", True)
    ]


def test_aggregated_alone(tmp_path: Path) -> None:
    (record,) = read(written(tmp_path / "aggregated_results_summary.csv", AGGREGATED + AGGREGATED_ROW)).records
    assert (record.system, record.mpi, record.algorithm, record.ranks) == ("s", "Open MPI 4.1.5", "ring", 8)
    assert record.value == pytest.approx(300e-9, rel=EXACT)
    assert record.quantiles == {
        quantile: pytest.approx(ns * 1e-9, rel=EXACT)
        for quantile, ns in {"0": 100, "0.1": 150, "0.25": 200, "0.75": 400, "0.9": 500, "1": 900}.items()
    }


def test_summary_of_several_runs(tmp_path: Path) -> None:
    text = SUMMARY + ROW.format("scatter", 64, 256) + ROW.format("bcast", 64, 256)
    scatter, bcast = read(written(tmp_path / "marenostrum5.csv", text)).records
    # 64 elements are 60 blocks of one element; the rest is not sent.
    assert (scatter.operation, scatter.bytes, scatter.ranks) == ("scatter", 4, 60)
    assert (bcast.operation, bcast.bytes, bcast.algorithm) == ("bcast", 256, "default")
    assert (bcast.system, bcast.mapping) == ("marenostrum5", "node")
    assert bcast.origin.endswith("marenostrum5.csv:3")
    assert [r.system for r in read(tmp_path / "marenostrum5.csv", Given(system="mn5")).records] == ["mn5"] * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5000.5", "-5000.5", r"s\.csv:3: median_ns '-5000.5'"),
        ("5000.5", "nan", r"s\.csv:3: median_ns 'nan'"),
        ("5000.5", "5e90", r"s\.csv:3: median_ns '5e90'"),
        ("5000.5", "80000", r"s\.csv:3: the quantiles"),
        (",6000,", ",5000,", r"s\.csv:3: the quantiles"),
        (",60,60,1,", ",0,60,1,", r"s\.csv:3: ranks '0'"),
        (",60,60,1,", ",60,60x,1,", r"s\.csv:3: nodes '60x'"),
        (",64,256,", ",64,250,", r"s\.csv:3: 250 bytes are no multiple"),
        (",64,256,", ",99999999999999999999,256,", r"s\.csv:3: array_dim '99999999999999999999'"),
        ("bcast,", "broadcast,", r"s\.csv:3: unknown collective 'broadcast'"),
        (",repository", "", r"s\.csv:3: 17 fields where the header has 18"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = SUMMARY + ROW.format("bcast", 64, 256) + ROW.format("bcast", 64, 256).replace(old, new)
    with pytest.raises(RequestError, match=message) as caught:
        read(written(tmp_path / "s.csv", text))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("8_ring_int32.csv", "highest\n5\n-7\n", r"8_ring_int32\.csv:3: '-7'"),
        ("8_ring_int32.csv", "highest\n5\n7,8\n", r":3: '7,8'"),
        ("8_ring_int32.csv", "highest\n5\n9999999999999999999\n", r":3: '9999999999999999999'"),
        ("8_ring_int32.csv", "highest\n5\nsrun: error\n", r":3: 'srun: error'"),
        ("results.csv", "highest\n5\n", r"results\.csv: PICO names its files"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read(tree(tmp_path, name, text))


def test_missing_metadata(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"no <system>_metadata\.csv"):
        read(written(tmp_path / "8_ring_int32.csv", "highest\n5\n"))
    with pytest.raises(RequestError, match="___10_00_00, test 7"):
        read(tree(tmp_path, "8_ring_int32.csv", "highest\n5\n", "7"))


def test_a_missing_column(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="column median_ns is missing"):
        read(written(tmp_path / "s.csv", SUMMARY.replace("median_ns", "median") + ROW.format("bcast", 64, 256)))


def test_a_cut_last_line_is_left_out(tmp_path: Path) -> None:
    imported = read(tree(tmp_path, "8_ring_int32.csv", "highest\n50\n60\n7"))
    assert imported.records[0].samples == pytest.approx([5e-8, 6e-8], rel=EXACT)
    assert "csv:4: the last line may be cut short" in imported.warnings[0]


def test_a_zero_is_no_time(tmp_path: Path) -> None:
    imported = read(tree(tmp_path, "8_ring_int32.csv", "highest\n10\n30\n0\n20\n"))
    # Four iterations, so no whole one is a fifth of them.
    assert imported.records[0].value == pytest.approx(20e-9, rel=EXACT)
    assert imported.records[0].disturbed_at == [2]
    assert "1 times of 0 ns" in imported.warnings[0]


def test_only_zeros(tmp_path: Path) -> None:
    imported = read(tree(tmp_path, "8_ring_int32.csv", "highest\n0\n0\n0\n0\n0\n"))
    assert imported.records == []
    assert imported.warnings[-1].endswith("nothing is imported")


def test_columns_of_single_ranks_are_named(tmp_path: Path) -> None:
    imported = read(tree(tmp_path, "8_ring_int32.csv", "highest,rank0,rank1\n9,9,5\n"))
    assert imported.records[0].samples == pytest.approx([9e-9], rel=EXACT)
    assert "single ranks" in imported.warnings[0]


def test_archives_as_published(tmp_path: Path) -> None:
    """`results/SYSTEM/DATE.tar.gz` beside `SYSTEM_metadata.csv`; zeros fill up the lines of the allocation."""
    path = tree(tmp_path, "64_ring_ompi_int32.csv", "highest\n300\n310\n320\n")
    job = path.parents[1]
    hosts = "MPI_Rank,allocation\n" + "".join(f"{rank},n{rank // 2}\n" + "\0" * 40 for rank in range(6))
    (job / "alloc.csv").write_text(hosts)
    rows = AGGREGATED_ROW + AGGREGATED_ROW.replace(",64,256,", ",512,2048,")
    (job / "aggregated_results_summary.csv").write_text(AGGREGATED + rows)
    with tarfile.open(job.with_name(f"{job.name}.tar.gz"), "w:gz") as archive:
        archive.add(job, job.name)
    shutil.rmtree(job)
    collection = _collect.collect([tmp_path / "results"], Given())
    records = {record.bytes: record for record in collection.records}
    assert records.keys() == {256, 2048}
    assert (records[256].ranks, records[256].nodes, records[256].ppn) == (6, 3, 2)
    assert records[256].system == "mare"
    assert records[256].origin.endswith("_00.tar.gz/2025_01_01___10_00_00/1/64_ring_ompi_int32.csv:2")


def test_results_without_their_metadata_say_what_is_missing(tmp_path: Path) -> None:
    path = tree(tmp_path, "64_ring_ompi_int32.csv", "highest\n300\n310\n320\n")
    (tmp_path / "results" / "mare_metadata.csv").unlink()
    for number in range(5):
        (path.parent / f"{number}.err").write_text("slurmstepd\n")
    with pytest.raises(RequestError, match=r"nothing to import .* no <system>_metadata\.csv above it"):
        _collect.collect([tmp_path / "results"], Given())
