"""What texts say around their tables, in `data/around.txt`: logs of real forms, with what a reader sees there.

%%% name, name of the file
% ranks nodes ppn algorithm word-of-mapping-variant-or-mpi     a line for each table, in order; - unknown, * any
the text, in which @bcast*2@ stands for a table with twice the times
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.factories import refusing
from tests.importers.reading import DATA

from hockney.importers import _collect
from hockney.importers._summary import summary
from hockney.importers.base import Given

TEXTS = re.split(r"^%%% ", (DATA / "around.txt").read_text(), flags=re.MULTILINE)[1:]
CASES = {text.split(" ", 1)[0]: text for text in TEXTS}
ALIKE = (
    "osu_m_only", "sbatch_echoed", "timing", "date_output", "two_titles_noLaunch", "repeat", "repeat_echo",
    "repeat_dates", "repeat_comments", "repeat_entries", "container_repeat", "starter_repeat", "volume_repeat",
    "hosts_alone", "benchmarks_own_comments", "allocations",
)  # fmt: skip
"""Cases whose tables are repetitions; in all others no two tables of one operation share a point."""
TITLES = {
    "allreduce": "# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)",
    "alltoall": "# OSU MPI All-to-All Personalized Exchange Latency Test v5.9\n# Size       Avg Latency(us)",
    "bcast": "# OSU MPI Broadcast Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)",
    "bw": "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)",
    "latency": "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)",
    "latencycuda": "# OSU MPI-CUDA Latency Test v7.5\n# Size       Avg Latency(us)",
    "nccl": "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong",
    "reduce_scatter": "# OSU MPI Reduce_scatter Latency Test v7.5\n# Size       Avg Latency(us)",
}
CELLS = {"imb": "1000 {0} {0} {0}", "nccl": "4 float sum -1 {0} 1.00 1.00 0 {0} 1.00 1.00 0"}
IMB = "# Benchmarking {}\n# #processes = {}\n #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"


def table(match: re.Match[str]) -> str:
    name, factor = match[1], float(match[2] or 1)
    title = IMB.format(*name.removeprefix("imb:").split("_")) if name.startswith("imb") else TITLES[name]
    cells = CELLS.get(name.partition(":")[0], "{0}")
    return "\n".join(
        [title, *(f"{size} {cells.format(f'{factor * (5 + size / 1e3):.2f}')}" for size in (16, 4096))]
    )


def collected(folder: Path, text: str, given: Given, name: str = "slurm.out") -> _collect.Collection:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(re.sub(r"@([a-z_:A-Z0-9]+)(?:\*([\d.]+))?@", table, text))
    return _collect.collect([folder], given)


def subjects(collection: _collect.Collection) -> list[tuple[str, ...]]:
    """Of each table, and of its rows in place apart, what a case expects, and the operation."""
    names = ["ranks", "nodes", "ppn", "algorithm", "mapping", "variant", "mpi", "operation"]
    rows = collection.records.frame[names].astype(object).fillna("-").astype(str).assign(table=collection.table)
    return [tuple(row[:8]) for row in rows.drop_duplicates().to_numpy().tolist()]


@pytest.mark.parametrize("name", CASES)
def test_each_table_has_the_subject_that_a_reader_sees(tmp_path: Path, name: str) -> None:
    head, _, text = CASES[name].partition("\n")
    lines = text.split("\n")
    expected = [[*line[2:].split(" ", 4), ""][:5] for line in lines if line[:2] == "% "]
    log = "\n".join(line for line in lines if line[:2] != "% ")
    said = subjects(collected(tmp_path, log, Given(), head.split()[1]))
    assert len(said) == len(expected)
    for (*own, mapping, variant, mpi, _), (*wanted, words) in zip(said, expected, strict=True):
        assert [word if want != "*" else "*" for word, want in zip(own, wanted, strict=True)] == wanted
        assert words == "*" or words in f"{mapping} {variant} {mpi}"
    assert (len({*said}) == 1) if name in ALIKE else (len({*said}) == len(said))


def test_folders_and_names_say_mapping_algorithm_and_ranks(tmp_path: Path) -> None:
    for mapping in ("core", "node"):
        for number in (1, 6):
            for ranks in (12, 24):
                text = f"Ranks by {mapping}\n@bcast*{number * ranks}@"
                collected(tmp_path, text, Given(), f"osutree/{mapping}/bcast{number}/np{ranks}.txt")
    said = subjects(_collect.collect([tmp_path / "osutree"], Given(mpi="Open MPI 4.1.5")))
    names = {"1": "tuned:basic_linear", "6": "tuned:binomial"}
    assert {row[:6] for row in said} == {
        (ranks, "-", "-", names[number], mapping, "")
        for mapping in ("core", "node") for number in ("1", "6") for ranks in ("12", "24")
    }  # fmt: skip
    # Without a library nobody knows what a number names: it is no choice of the library either.
    assert {row[3] for row in subjects(_collect.collect([tmp_path / "osutree"], Given()))} == {"1", "6"}


LOOP = "+ mpirun -np 16 ./osu_bcast\n@bcast@\n+ mpirun -np 32 ./osu_bcast\n@bcast*2@"


def test_an_option_overrides_what_all_texts_say_alike_and_is_named(tmp_path: Path) -> None:
    loop = collected(tmp_path / "a", LOOP, Given(ranks=64))
    assert [row[0] for row in subjects(loop)] == ["16", "32"]
    assert "--ranks 64 is not taken for tables whose text says otherwise: -np 16" in loop.notes[0]
    single = collected(tmp_path / "b", "mpirun -np 16 ./osu_bcast\n@bcast@", Given(ranks=64))
    assert [row[0] for row in subjects(single)] == ["64"]
    assert "--ranks 64 overrides -np 16" in single.notes[0]


@pytest.mark.parametrize("rules", ["", "--mca coll_tuned_use_dynamic_rules 1 "])
def test_an_algorithm_that_the_library_may_not_heed_is_named(tmp_path: Path, rules: str) -> None:
    text = f"mpirun -np 4 {rules}--mca coll_tuned_bcast_algorithm 2 osu_bcast\n@bcast@"
    notes = collected(tmp_path, text, Given()).notes
    assert ["heeds coll_tuned_bcast_algorithm only with" in note for note in notes] == [True] * (rules == "")


def test_contradictions_are_named(tmp_path: Path) -> None:
    (file,) = collected(tmp_path, "### 16 ranks\n+ mpirun -np 8 ./osu_bcast\n@bcast@", Given()).files
    assert re.fullmatch(r"ranks 8 \(-np 8, .*:2\) is taken, against 16 ranks \(.*:1\)", file.content.warnings[0])


@pytest.mark.parametrize(("factor", "asks"), [("1.1", False), ("1.6", True)])
def test_tables_that_differ_without_a_word_are_asked_about(tmp_path: Path, factor: str, asks: bool) -> None:
    launch = "+ mpirun -np 8 ./osu_bcast\n"
    (file,) = collected(tmp_path, f"{launch}@bcast@\n{launch}@bcast*{factor}@", Given()).files
    assert ["import them apart, with --variant" in text for text in file.content.warnings] == [True] * asks


@pytest.mark.parametrize(
    ("word", "library", "name"),
    [
        ("3", "Open MPI 5.0.1", "tuned:pipeline"), ("knomial", "Open MPI 5.0.1", "tuned:knomial"),
        ("3", "Intel MPI 2021.9", "adjust:3"), ("binomial", "MPICH 4.1", "mpir:binomial"),
        ("tuned:chain", "", "tuned:chain"), ("binomial", "", "binomial"), ("0", "Open MPI 4.1", "default"),
    ],
)  # fmt: skip
def test_an_algorithm_may_be_written_as_users_know_it(tmp_path: Path, word: str, library: str, name: str) -> None:
    (row,) = subjects(collected(tmp_path, "@bcast@", Given(algorithm=word, mpi=library)))
    assert row[3] == name


@pytest.mark.parametrize(
    ("word", "library", "hint"),
    [
        ("tuned:knomal", "", "did you mean 'tuned:knomial'"), ("pipline", "", "did you mean 'pipeline'"),
        ("3", "", "give the library with --mpi"), ("12", "Open MPI 4.1.6", "known: tuned:basic_linear"),
    ],
)  # fmt: skip
def test_an_unknown_algorithm_is_asked_about(tmp_path: Path, word: str, library: str, hint: str) -> None:
    with refusing("", hint):
        collected(tmp_path, "@bcast@", Given(algorithm=word, mpi=library))


def test_the_import_ends_with_what_was_found_and_what_is_not_known(tmp_path: Path) -> None:
    answer = summary(collected(tmp_path, f"{LOOP}\n{LOOP}", Given(system="s")), tmp_path)
    (found,) = answer.found
    assert (found.operation, found.ranks, found.sizes, found.repetitions) == ("bcast", [16, 32], 2, [2])
    assert found.unknown == ["--mpi", "--mapping", "--nodes", "--ppn"]
    assert [(said.field, said.value, said.words, said.tables) for said in answer.said] == [
        ("ranks", 16, "-np 16", 2), ("ranks", 32, "-np 32", 2),
    ]  # fmt: skip
