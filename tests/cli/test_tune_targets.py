"""`hockney tune … --for TARGET`: what is written for each library, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome, refused, succeeded
from tests.runner.preload.programs import answer, compiled, hockney, launch_line

from hockney.records import preload_table
from hockney.runner.mpi import Mpi

MACHINES = Path(__file__).parents[2] / "machines"
OPENMPI = "Open MPI 5.0.11"
SIZES = (1024, 16384, 262144)
COLUMNS = (
    "source,system,mpi,operation,algorithm,segment_bytes,radix,mapping,nodes,ppn,ranks,bytes,statistic,"
    "time_us,repetition,low_us,high_us"
)
Times = dict[tuple[str, int, int], tuple[float, ...]]
"""(algorithm, segment, radix) → µs at each of `SIZES`."""
TIMES: Times = {
    ("default", 0, 0): (100.0, 200.0, 3000.0),
    ("tuned:binomial", 0, 0): (101.0, 100.0, 1000.0),
    ("tuned:chain", 8192, 4): (300.0, 150.0, 500.0),
    ("binomial", 0, 0): (101.0, 50.0, 1000.0),
    ("chain", 8192, 4): (300.0, 150.0, 250.0),
}


def table(
    path: Path, times: Times = TIMES, mpi: str = OPENMPI, ranks: Iterable[int] = (8,), **other: str
) -> Path:
    """A table of a broadcast, in which intervals reach 1 % to each side."""
    fixed = {"operation": "bcast", "mapping": "node"} | other
    rows = [COLUMNS]
    for (name, segment_B, radix), of_it in times.items():
        for count in ranks:
            for size_B, time_us in zip(SIZES, of_it, strict=True):
                bounds = f"{time_us},0,{time_us * 0.99},{time_us * 1.01}"
                rows.append(
                    f"hockney,planted,{mpi},{fixed['operation']},{name},{segment_B or ''},{radix or ''},"
                    f"{fixed['mapping']},{count},1,{count},{size_B},completion,{bounds}"
                )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def told(*words: str | Path) -> Any:
    return json.loads(succeeded("tune", *words, "--json"))


def refusal(*words: str | Path) -> str:
    """What it says and advises, with exit code 2."""
    return " ".join(refused("tune", *words).split())


def test_rules_are_written_where_the_gain_is_beyond_its_interval(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    done = told(table(tmp_path / "t.csv"), "--for", "openmpi-classic", "-o", file)
    assert [cell["algorithm"] for cell in done["cells"]] == [
        None,
        "tuned:binomial",
        "tuned:chain, segments of 8 KiB, radix 4",
    ]
    assert {cell["origin"] for cell in done["cells"]} == {"measured"}
    # 200 µs by 100 µs, 3 ms by 500 µs.
    assert [round(cell["gain"], 6) for cell in done["cells"]] == [1, 2, 6]
    assert done["settings"]["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == str(file)
    # Bounds are geometric means of sizes: 4 KiB and 64 KiB; algorithms 6 and 2.
    rows = [line.partition("#")[0].split() for line in file.read_text().splitlines()]
    assert ["4097", "6", "0", "0"] in rows
    assert ["65537", "2", "4", "8192"] in rows
    assert ["262145", "0", "0", "0"] in rows


@pytest.mark.usefixtures("wide")
def test_each_rule_says_what_it_gains(tmp_path: Path) -> None:
    out = succeeded("tune", table(tmp_path / "t.csv"), "--for", "openmpi-v2", "-o", tmp_path / "rules")
    verdict, _, first, second, *_ = (" ".join(line.split()) for line in out.splitlines())
    # 3 ms by 500 µs, 200 µs by 100 µs; ends are 1 % away.
    assert verdict.startswith("2 rules for 2 of 3 calls. The largest gain: bcast of 256 KiB on 8 ranks")
    assert verdict.endswith("× 6.00.")
    assert "tuned:binomial × 2.00 1.96 to 2.04 measured" in first
    assert "radix 4 × 6.00 5.88 to 6.12 measured" in second


@pytest.mark.usefixtures("wide")
def test_without_a_rule_the_best_candidate_says_why(tmp_path: Path) -> None:
    times = {("default", 0, 0): TIMES["default", 0, 0], ("tuned:chain", 0, 0): (99.0, 201.0, 3100.0)}
    source = table(tmp_path / "t.csv", times)
    out = succeeded("tune", source, "--for", "openmpi-v2", "-o", tmp_path / "rules")
    first = " ".join(out.splitlines()[0].split())
    assert first.startswith("No rule: no algorithm that a rule can set is faster than the default")
    # 100 µs by 99 µs, whose ends are 1 % away: 99 / 99.99 to 101 / 98.01.
    assert first.endswith("tuned:chain for bcast of 1 KiB on 8 ranks, × 1.01 (0.99 to 1.03).")


def test_apply_takes_the_table_of_our_schedules(tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    told(table(tmp_path / "t.csv"), "--for", "hockney", "-o", file)
    found = preload_table.load(file)
    assert found.mpi == OPENMPI
    fitting = {
        (ranks, size_B): [
            rule
            for rule in found.rules
            if rule.operation == "bcast"
            and (rule.least_ranks or 0) <= ranks <= (rule.most_ranks or ranks)
            and (rule.least_bytes or 0) <= size_B <= (rule.most_bytes or size_B)
        ]
        for ranks, size_B in ((8, SIZES[0]), (8, SIZES[1]), (8, SIZES[2]), (9, SIZES[2]))
    }
    [rule] = fitting[8, SIZES[1]]
    # 200 µs by default, 50 µs so.
    assert (rule.algorithm, rule.basis) == ("binomial", "measurement")
    assert rule.gain == pytest.approx(4.0)
    [rule] = fitting[8, SIZES[2]]
    assert (rule.algorithm, rule.segment_bytes, rule.radix) == ("chain", 8192, 4)
    assert fitting[8, SIZES[0]] == fitting[9, SIZES[2]] == []


PROGRAM = f"""
#include <mpi.h>
int main(int argc, char** argv) {{
    static char data[{SIZES[2]}];
    MPI_Init(&argc, &argv);
    MPI_Bcast(data, {SIZES[2]}, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, {SIZES[0]}, MPI_CHAR, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}}
"""


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_apply_runs_a_program_by_the_table(mpi: Mpi, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    told(table(tmp_path / "t.csv", mpi=mpi.describe(), ranks=[2]), "--for", "hockney", "-o", file)
    line = launch_line(mpi, 2, compiled(mpi, tmp_path, PROGRAM))
    done = hockney("apply", "--rules", str(file), "--json", "--", *line)
    assert done.returncode == 0, done.stderr
    ran = {row["bytes"]: row["algorithm"] for row in answer(done.stdout)["calls"] if row["operation"] == "bcast"}
    # Bytes of both ranks' calls together.
    assert ran == {2 * SIZES[2]: "chain", 2 * SIZES[0]: ""}


@pytest.mark.parametrize(
    ("target", "library", "said", "others"),
    [
        (
            "openmpi-json",
            "Open MPI 5.0.11",
            "from 6 on, not by Open MPI 5.0.11",
            "hockney, openmpi-classic or openmpi-v2",
        ),
        ("openmpi-v2", "Open MPI 5.0.6", "from 5.0.7 on", "hockney or openmpi-classic"),
        ("openmpi-classic", "Open MPI 4.0.3", "from 4.1 on", "hockney"),
        ("openmpi-classic", "Open MPI 6.0.0", "from 4.1 on to before 6", "hockney or openmpi-json"),
        (
            "mpich-json",
            "Open MPI 5.0.11",
            "read by MPICH alone, the times are of Open MPI 5.0.11",
            "hockney, openmpi-classic or openmpi-v2",
        ),
        ("mpich-cvars", "MPICH 3.4.3", "from 4.0 on", "hockney"),
        ("intel-env", "", "the times are of no library", "hockney"),
    ],
)
def test_a_version_that_does_not_read_the_form(
    tmp_path: Path, target: str, library: str, said: str, others: str
) -> None:
    """What that library does read is named."""
    file = tmp_path / "rules"
    complaint = refusal(table(tmp_path / "t.csv", mpi=library), "--for", target, "-o", file)
    assert said in complaint
    assert complaint.endswith(f"--for {others}")
    assert not file.exists()


@pytest.mark.usefixtures("wide")
def test_a_rule_that_a_version_cannot_express_is_left_out_and_named(tmp_path: Path) -> None:
    times = {("default", 0, 0): TIMES["default", 0, 0], ("tuned:knomial", 0, 8): (50.0, 50.0, 50.0)}
    done = told(table(tmp_path / "t.csv", times), "--for", "openmpi-v2", "-o", tmp_path / "rules")
    assert done["rules"] == []
    assert "cannot say the radix of knomial" in done["refused"][0]
    assert {cell["algorithm"] for cell in done["cells"]} == {None}
    assert (
        "without a rule, it leaves every choice"
        in outcome("tune", tmp_path / "t.csv", "--for", "openmpi-v2", "-o", tmp_path / "r")[1]
    )
    old = {("default", 0, 0): TIMES["default", 0, 0], ("tuned:sparbit", 0, 0): (50.0, 50.0, 50.0)}
    source = table(tmp_path / "t.csv", old, "Open MPI 4.1.5", operation="allgather")
    assert "an algorithm that rules of Open MPI's tuned" in refusal(
        source, "--for", "openmpi-classic", "-o", tmp_path / "rules"
    )


UNKNOWN: Times = {("default", 0, 0): (100.0, 200.0, 3000.0), ("adjust:1", 0, 0): (50.0, 50.0, 50.0)}
"""Of a library of which nobody here knows what it chooses by itself."""


@pytest.mark.parametrize(("measured", "asked"), [([8], "5,8"), ([4, 8], "16")])
def test_a_campaign_without_the_ranks_that_the_rules_would_cover(
    tmp_path: Path, measured: list[int], asked: str
) -> None:
    source = table(tmp_path / "t.csv", UNKNOWN, "Intel MPI 2021.18", measured)
    said = refusal(source, "--for", "intel-env", "-o", tmp_path / "rules", "--ranks", asked)
    assert f"bcast on {asked.partition(',')[0]} ranks was not measured, and cannot be predicted" in said
    assert "--rank-counts" in said
    assert not (tmp_path / "rules").exists()


def test_between_measured_ranks_the_default_that_nobody_knows_is_read_off(tmp_path: Path) -> None:
    """The same times on 4 and on 8 ranks: the same on 6."""
    source = table(tmp_path / "t.csv", UNKNOWN, "Intel MPI 2021.18", [4, 8])
    done = told(source, "--for", "intel-env", "-o", tmp_path / "rules", "--ranks", "6")
    cells = {cell["bytes"]: cell for cell in done["cells"]}
    assert {cell["origin"] for cell in cells.values()} == {"model"}
    assert [cells[size]["gain"] for size in SIZES] == pytest.approx([2.0, 4.0, 60.0])
    assert [rule["algorithm"] for rule in done["rules"]] == ["adjust:1"]


def test_ranks_that_were_not_measured_are_chosen_by_the_model(tmp_path: Path) -> None:
    """Times of a network of 100 µs and 10 MB/s: what the simulation can explain."""

    def of(rounds: float, share: float) -> tuple[float, ...]:
        return tuple(100 * rounds + share * size_B / 10 for size_B in SIZES)

    rows: list[str] = []
    for ranks, depth in ((4, 2), (8, 3)):
        times = {
            ("default", 0, 0): of(depth, depth),
            ("tuned:binomial", 0, 0): of(depth, depth),
            ("tuned:scatter_allgather_ring", 0, 0): of(depth + ranks - 1, 2 * (ranks - 1) / ranks),
            ("tuned:basic_linear", 0, 0): of(1, ranks - 1),
        }
        path = table(tmp_path / f"{ranks}.csv", times, "Open MPI 4.1.5", [ranks])
        rows += path.read_text().splitlines()[1 if rows else 0 :]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    done = told(tmp_path / "t.csv", "--for", "openmpi-classic", "-o", tmp_path / "rules", "--ranks", "5,8")
    origins = {cell["ranks"]: cell["origin"] for cell in done["cells"]}
    assert origins == {5: "model", 8: "measured"}
    assert "measured, 3 by the model" in (tmp_path / "rules").read_text()


def test_a_machine_file_needs_ranks_and_a_library_whose_choice_is_known(tmp_path: Path) -> None:
    thin, file = MACHINES / "orfeo_thin.json", tmp_path / "rules"
    assert "choose one: --where mpi=" in refusal(thin, "--for", "openmpi-classic", "-o", file, "--ranks", "4")
    where = ("--where", "mpi=Open MPI 4.1.1")
    assert "--ranks 4,8" in refusal(thin, "--for", "openmpi-classic", "-o", file, *where)
    assert "by itself is not known" in refusal(
        thin, "--for", "hockney", "-o", file, "--ranks", "4", "--where", "mpi=Intel MPI"
    )
    two = MACHINES / "ci_2core.json"
    assert "no messages between nodes" in refusal(two, "--for", "hockney", "-o", file, "--ranks", "4")
    assert not file.exists()


def test_from_a_machine_file_the_model_chooses_in_every_cell(tmp_path: Path) -> None:
    words = ("--ranks", "8", "--operation", "bcast", "--bytes", "1KiB,1MiB", "--where", "mpi=Open MPI 4.1.1")
    thin = MACHINES / "orfeo_thin.json"
    for target in ("openmpi-classic", "hockney"):
        done = told(thin, "--for", target, "-o", tmp_path / "rules", *words)
        assert [(cell["bytes"], cell["origin"]) for cell in done["cells"]] == [
            (1024, "model"),
            (2**20, "model"),
        ]
        # Seven messages of the whole vector, one after another, against less than two.
        assert done["cells"][1]["gain"] > 2
    assert {rule.basis for rule in preload_table.load(tmp_path / "rules").rules} == {"model"}
    # `predict --system` may know better where the ranks are.
    code, _, err = outcome("tune", thin, "--for", "hockney", "-o", tmp_path / "rules", *words)
    assert (
        code,
        "no placement is known: each rank was taken to have a node of its own" in " ".join(err.split()),
    ) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--for", "mpich-xml"), "unknown tuning target 'mpich-xml'"),
        (("--for", "openmpi_v3"), "did you mean 'openmpi-v2'? known: hockney, intel-env"),
        (("--for", "openmpi-v2", "--ranks", "0,4"), "0 is no number of ranks to tune for"),
        (("--for", "openmpi-v2", "--operation", "reduce"), "no times of reduce"),
        (("--for", "openmpi-v2", "--where", "mpi=MPICH"), "no row with mpi 'MPICH'"),
        (("--for", "openmpi-v2", "--where", "colour=red"), "no column 'colour'"),
        (("--for", "intel-env", "--ranks", "x"), "x"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refusal(table(tmp_path / "t.csv"), *words, "-o", tmp_path / "rules")


def test_times_under_several_settings_are_not_mixed(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv")
    more = table(tmp_path / "u.csv", mapping="core").read_text().splitlines()[1:]
    with source.open("a") as file:
        file.write("\n".join(more) + "\n")
    said = refusal(source, "--for", "openmpi-v2", "-o", tmp_path / "rules")
    assert "was measured with mapping" in said
    assert told(source, "--for", "openmpi-v2", "-o", tmp_path / "rules", "--where", "mapping=core")["rules"]


def test_times_without_a_default_or_a_rival_say_what_to_measure(tmp_path: Path) -> None:
    for kept in ("default", "tuned:binomial"):
        times = {name: of_it for name, of_it in TIMES.items() if name[0] == kept}
        source = table(tmp_path / "t.csv", times)
        assert "measure both" in refusal(source, "--for", "openmpi-v2", "-o", tmp_path / "rules")


def test_mpich_that_is_not_here_cannot_be_asked_for_its_selection(tmp_path: Path) -> None:
    times = {("default", 0, 0): TIMES["default", 0, 0], ("mpir:binomial", 0, 0): (50.0, 50.0, 50.0)}
    source = table(tmp_path / "t.csv", times, "MPICH 4.2.1")
    err = refused("tune", source, "--for", "mpich-json", "-o", tmp_path / "rules", code=3)
    assert "where MPICH 4.2.1 is, the times do not say" in " ".join(err.split())


@pytest.mark.mpi
def test_mpich_writes_the_selection_of_the_library_that_is_named(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind != "mpich":
        pytest.skip("of MPICH alone")
    times = {("default", 0, 0): TIMES["default", 0, 0], ("mpir:binomial", 0, 0): (50.0, 50.0, 50.0)}
    times["mpir:tree_of_another_version", 0, 0] = (40.0, 40.0, 40.0)
    source = table(tmp_path / "t.csv", times, mpi.describe())
    file = tmp_path / "rules"
    done = told(source, "--for", "mpich-json", "-o", file, "--mpi", str(mpi.wrapper))
    assert "has no MPIR_Bcast_intra_tree_of_another_version" in done["refused"][0]
    tree = json.loads(file.read_text())
    assert {"collective=bcast", "collective=iallreduce", "collective=neighbor_alltoall"} <= tree.keys()


@pytest.mark.parametrize(
    ("target", "library", "word", "said"),
    [
        ("openmpi-classic", OPENMPI, "tuned:ring", "matters where an operator is not commutative"),
        ("openmpi-v2", OPENMPI, "tuned:ring", "matters where an operator is not commutative"),
        ("mpich-cvars", "MPICH 5.0.2", "mpir:recursive_doubling", "holds for all ranks and sizes"),
        ("openmpi-v2", OPENMPI, "tuned:ring", "not tried yet, see `hockney tune --verify`"),
        ("openmpi-json", "Open MPI 6.0.0", "tuned:ring", "not tried on a library"),
        ("intel-env", "Intel MPI 2021.18", "adjust:3", "not tried on a library"),
        ("hockney", OPENMPI, "ring", "not tried yet, see `hockney tune --verify`"),
    ],
)
def test_what_a_user_must_know_stands_in_the_file_too(
    tmp_path: Path, target: str, library: str, word: str, said: str
) -> None:
    times = {("default", 0, 0): TIMES["default", 0, 0], (word, 0, 0): (50.0, 50.0, 50.0)}
    source, file = table(tmp_path / "t.csv", times, library, operation="allreduce"), tmp_path / "rules"
    out = succeeded("tune", source, "--for", target, "-o", file)
    assert said in " ".join(out.split())
    # JSON has no comments.
    if target not in ("openmpi-json", "hockney"):
        lines = [line for line in file.read_text().splitlines() if line.startswith("#")]
        assert said in " ".join(line.removeprefix("# ") for line in lines)
