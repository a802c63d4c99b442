"""From files to a campaign: which configuration, which repetition, what is left out, nothing half done."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from hockney.errors import HockneyError, RequestError
from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.records.folder import Campaign
from hockney.records.table import HEADER
from hockney.writing import NotWritten

DATA = Path(__file__).parent / "data"
NOTHING = Given()


def latency(folder: Path, name: str, value: str = "1.50", size: int = 8) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n{size}    {value}\n")
    return path


def allreduce(folder: Path, name: str, value: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n8    {value}\n")
    return path


def tidy(folder: Path, *rows: str) -> Path:
    (folder / "t.csv").write_text("\n".join([",".join(HEADER), *rows, ""]))
    return folder / "t.csv"


def series(paths: list[Path], given: Given = NOTHING) -> dict[tuple[str, int], list[float]]:
    """(variant, repetition) → values in µs."""
    found: dict[tuple[str, int], list[float]] = {}
    for record in _collect.collect(paths, given).records:
        found.setdefault((record.variant, record.repetition), []).append(round(record.value * 1e6, 2))
    return found


@pytest.mark.parametrize(
    ("values", "told"),
    [
        # Folders are configurations.
        (
            ("x/tcp/osu/latency/out.txt", "x/shm-xpmem/osu/latency/out.txt"),
            {("tcp", 0): [1], ("shm-xpmem", 0): [2]},
        ),
        # Names that differ by numbers are repetitions, by words configurations.
        (("imb/IMB_PingPong_2/job.out", "imb/IMB_PingPong__1/job.out"), {("", 0): [1], ("", 1): [2]}),
        (("latency_tcp.txt", "latency_shm.txt"), {("tcp", 0): [1], ("shm", 0): [2]}),
        (("latency.tcp.txt.gz", "latency.shm.o17"), {("tcp", 0): [1], ("shm", 0): [2]}),
    ],
)
def test_names_tell_configurations(
    tmp_path: Path, values: tuple[str, str], told: dict[tuple[str, int], list[float]]
) -> None:
    assert series([latency(tmp_path, name, f"{place}.00") for place, name in enumerate(values, 1)]) == told


def test_words_that_are_not_needed_are_left_out(tmp_path: Path) -> None:
    paths = [latency(tmp_path, "small.txt"), latency(tmp_path, "large.txt", size=65536)]
    assert set(series(paths)) == {("", 0)}


@pytest.mark.parametrize("name", ["osu_allreduce_{}", "osu_allreduce.{}"])
def test_numbers_count_where_ranks_are_unknown(tmp_path: Path, name: str) -> None:
    paths = [allreduce(tmp_path, f"results/out/{name.format(n)}.out.txt", f"{n}.00") for n in (64, 128)]
    assert series(paths) == {(name.format(n), 0): [n] for n in (64, 128)}
    assert series(paths, Given(ranks=64)) == {("", 0): [64.0], ("", 1): [128.0]}


def test_a_given_variant_wins(tmp_path: Path) -> None:
    paths = [latency(tmp_path, "tcp/a.txt", "1.00"), latency(tmp_path, "shm/a.txt", "2.00")]
    assert series(paths, Given(variant="v")) == {("v", 0): [1.0], ("v", 1): [2.0]}


def test_runs_in_one_file_are_repetitions(tmp_path: Path) -> None:
    path = latency(tmp_path, "a.txt", "1.00")
    path.write_text(path.read_text() + path.read_text().replace("1.00", "2.00"))
    assert series([path]) == {("", 0): [1.0], ("", 1): [2.0]}


def test_osu_and_imb_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "both.txt"
    path.write_text((DATA / "osu_latency_5.txt").read_text() + (DATA / "imb_rates.txt").read_text())
    collection = _collect.collect([path], Given())
    # 4 rows of OSU; IMB has 7 values as counted in test_imb.
    counts = {file.format: len(records) for file, records in collection.by_file()}
    assert counts == {"osu": 4, "imb": 7}
    assert [file.content.left_out() for file in collection.files] == [[], []]


def test_a_table_left_out_beside_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "both.txt"
    path.write_text((DATA / "osu_put_latency_5.txt").read_text() + (DATA / "imb_rates.txt").read_text())
    (file,) = _collect.collect([path], Given()).files
    assert file.format == "imb"
    assert ["one-sided" in text for text in file.content.left_out()] == [True]


def test_what_is_given_fills_but_never_overrides(tmp_path: Path) -> None:
    given = Given(system="s", mpi="m", nodes=2, ppn=4, ranks=99, mapping="core")
    (record,) = _collect.collect([latency(tmp_path, "a.txt")], given).records
    assert (record.system, record.mpi, record.mapping) == ("s", "m", "core")
    assert (record.nodes, record.ppn, record.ranks, record.locality) == (2, 4, 2, None)


def test_a_forced_algorithm_is_of_the_collectives(tmp_path: Path) -> None:
    paths = [latency(tmp_path, "a.txt"), allreduce(tmp_path, "b.txt", "5.00")]
    table = tidy(tmp_path, "s,m,bcast,default,core,1,2,2,8,mean_over_ranks,1.0,0")
    for algorithm, expected in (("tuned:ring", "tuned:ring"), ("", "default")):
        collection = _collect.collect([*paths, table], Given(algorithm=algorithm))
        found = {r.operation: r.algorithm for r in collection.records}
        # What a table says is not filled in.
        assert found == {"pingpong": "default", "allreduce": expected, "bcast": "default"}


def test_nodes_of_idle_ranks_are_not_guessed() -> None:
    records = _collect.collect([DATA / "imb_rates.txt"], Given(nodes=2, ppn=4)).records
    assert {(r.ranks, r.nodes, r.ppn) for r in records} == {(2, None, None), (8, 2, 4)}


def test_a_copy_is_no_repetition(tmp_path: Path) -> None:
    latency(tmp_path, "a/latency.txt")
    latency(tmp_path, "b/latency.txt")
    collection = _collect.collect([tmp_path], Given())
    assert len(collection.files) == 1
    assert "same content" in collection.skipped[0][1]


def test_rows_repeated_in_a_table_are_kept_and_named(tmp_path: Path) -> None:
    path = tidy(tmp_path, *(f"s,m,bcast,a,core,1,2,2,8,mean_over_ranks,{time_us},0" for time_us in (1.0, 2.0)))
    collection = _collect.collect([path], Given())
    (file,) = collection.files
    assert [(r.repetition, r.variant) for r in collection.records] == [(0, ""), (1, "")]
    assert "1 rows repeat" in file.content.warnings[0]


def test_a_repeated_row_takes_the_number_after_the_highest(tmp_path: Path) -> None:
    numbers = [(8, 0), (8, 0), (8, 1), (16, 0), (8, 7), (8, 7), (16, 1), (8, 3), (8, 3)]
    rows = [f"s,m,bcast,a,core,1,2,2,{size},mean_over_ranks,1.0,{number}" for size, number in numbers]
    collection = _collect.collect([tidy(tmp_path, *rows)], Given())
    # Of 8 B: 0, again 0 → 1, then 1 is taken → 2, 7, again 7 → 8, 3 is free, again 3 → 9; of 16 B none repeats.
    assert [record.repetition for record in collection.records] == [0, 1, 2, 0, 7, 8, 1, 3, 9]
    assert "4 rows repeat" in collection.files[0].content.warnings[0]


def bad_files(folder: Path) -> dict[str, str]:
    """Name → a word of its reason."""
    (folder / "empty.txt").write_text("")
    (folder / "blank.txt").write_text(" \n\n")
    (folder / "nul.txt").write_bytes(b"# OSU MPI Latency Test v5\0\1\2")
    (folder / "header.txt").write_text("# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n")
    (folder / "words.txt").write_text(
        "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec]\n8 out-of-mem.\n"
    )
    (folder / "other.md").write_text("# OSU\nsee there\n")
    (folder / "damaged.csv.gz").write_bytes(b"\x1f\x8b\x08 no more")
    (folder / "table.csv").write_text("bytes,time\n1,2\n")
    shutil.copy(DATA / "osu_put_latency_5.txt", folder / "put.txt")
    return {
        "empty.txt": "empty",
        "blank.txt": "empty",
        "nul.txt": "binary",
        "header.txt": "no result",
        "words.txt": "words.txt:4",
        "other.md": "no benchmark result",
        "damaged.csv.gz": "damaged",
        "table.csv": "not a tidy table",
        "put.txt": "one-sided",
    }


@pytest.mark.parametrize("name", ["empty.txt", "nul.txt", "header.txt", "words.txt", "damaged.csv.gz", "put.txt"])
def test_one_bad_file_is_an_error(tmp_path: Path, name: str) -> None:
    reasons = bad_files(tmp_path)
    with pytest.raises(RequestError, match=reasons[name]) as caught:
        _collect.collect([tmp_path / name], Given())
    assert name in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_bad_files_beside_a_good_one_are_skipped(tmp_path: Path) -> None:
    reasons = bad_files(tmp_path)
    good = latency(tmp_path, "good.txt")
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "void").mkdir()
    missing = tmp_path / "missing.txt"
    collection = _collect.collect([tmp_path, missing, tmp_path / "void"], Given())
    assert [file.path for file in collection.files] == [good]
    found = {Path(file).name: reason for file, reason in collection.skipped}
    expected = reasons | {"missing.txt": "does not exist", "void": "without files", ".hidden": "hidden"}
    assert set(found) == set(expected)
    for name, word in expected.items():
        assert word in found[name]


def test_nothing_at_all(tmp_path: Path) -> None:
    (tmp_path / "void").mkdir()
    with pytest.raises(RequestError, match="without files"):
        _collect.collect([tmp_path / "void"], Given())
    with pytest.raises(RequestError, match="does not exist"):
        _collect.collect([tmp_path / "a", tmp_path / "b"], Given())


def test_a_campaign_is_not_imported(tmp_path: Path) -> None:
    collection = _collect.collect([latency(tmp_path, "a.txt")], Given())
    _collect.write(collection, tmp_path / "c", Given())
    with pytest.raises(RequestError, match="hockney merge"):
        _collect.collect([tmp_path / "c"], Given())


def test_written_campaign(tmp_path: Path) -> None:
    given = Given(system="s")
    collection = _collect.collect([DATA / "imb_pingpong.txt", DATA / "osu_bw_7.1.txt"], given)
    campaign = Campaign.open(_collect.write(collection, tmp_path / "c", given).path)
    assert campaign.records() == [*collection.records]
    assert campaign.warnings == []
    launches = campaign.launches()
    assert [(x.tool, x.records) for x in launches] == [("IMB 2021.3", 4), ("OSU 7.1", 2)]
    assert {r.launch for r in campaign.records()} == {x.id for x in launches}
    assert campaign.plan().given == {"system": "s"}
    assert len((tmp_path / "c" / "samples.csv").read_text().splitlines()) == 1 + 6
    with pytest.raises(RequestError, match="already holds a campaign"):
        _collect.write(collection, tmp_path / "c", given)
    assert len(Campaign.open(tmp_path / "c").records()) == 6


@pytest.mark.parametrize("there_before", [False, True])
def test_a_failed_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there_before: bool
) -> None:
    target = tmp_path / "c"
    if there_before:
        target.mkdir()
        (target / "notes.txt").write_text("mine")
    collection = _collect.collect([DATA / "osu_bw_7.1.txt"], Given())

    def full(self: Campaign, _lines: Iterable[str]) -> None:
        (self.path / "records.jsonl").write_text("{")
        raise NotWritten("cannot write records.jsonl: No space left on device")

    monkeypatch.setattr(Campaign, "append_lines", full)
    with pytest.raises(HockneyError, match="No space left"):
        _collect.write(collection, target, Given())
    assert [p.name for p in target.iterdir()] == ["notes.txt"] if there_before else not target.exists()


def test_utf16_of_a_windows_shell(tmp_path: Path) -> None:
    path = latency(tmp_path, "a.txt")
    path.write_text(path.read_text(), encoding="utf-16")
    assert series([path]) == {("", 0): [1.5]}


def test_what_is_no_regular_file_is_skipped_and_no_link_leads_out(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    good = latency(folder, "a.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "out.txt").symlink_to(latency(tmp_path, "elsewhere.txt", "2.00"))
    (folder / "again.txt").symlink_to("a.txt")
    (folder / "above").symlink_to(tmp_path)
    (folder / "bomb.gz").write_bytes(gzip.compress(bytes(100 * 2**20), 1))
    (folder / os.fsdecode(b"\xff.txt")).write_bytes(good.read_bytes())
    collection = _collect.collect([folder], Given())
    assert [file.path.name for file in collection.files] == ["a.txt"]
    reasons = {Path(name).name: reason for name, reason in collection.skipped}
    expected = {
        "pipe.txt": "a pipe or a device", "loop": "symbolic links", "zero": "out of this one",
        "out.txt": "out of this one", "above": "a link to a folder", "bomb.gz": "unpacks to more than 64 MiB",
        "\\xff.txt": "not UTF-8",
    }  # fmt: skip
    assert reasons.keys() == expected.keys()
    for name, words in expected.items():
        assert words in reasons[name]


def test_a_number_that_no_record_holds_is_an_error_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "all_reduce_perf.json"
    result = {"size": 8, "count": 2, "type": "float", "out_of_place": {"time": 1e-12}}
    path.write_text(json.dumps({"nccl_version": 22803, "results": [result], "args": ["all_reduce_perf"]}))
    with pytest.raises(RequestError, match=r"all_reduce_perf\.json: value: Input should be greater than"):
        _collect.collect([path], Given(ranks=2))
