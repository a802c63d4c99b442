"""`hockney predict` of a collective, as a user runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import answered, run_hockney, succeeded
from tests.factories import version_1

from hockney.machine.build import build
from hockney.machine.file import save
from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the verb in an empty folder with --json: exit code, the object."""
    monkeypatch.chdir(tmp_path)
    return partial(answered, "predict")


def test_a_million_ranks(run: Run) -> None:
    code, made = run("allreduce", "--ranks", "1048576", "--algorithm", "all", "--machine", "orfeo_thin")
    assert code == 0
    (one,) = made["predictions"]
    methods = {row["algorithm"]: row["method"] for row in one["algorithms"]}
    assert methods["recursive_doubling"] == "by_class"
    assert methods["ring"] == "closed_form"
    assert set(methods.values()) <= {"simulated", "by_class", "closed_form"}


def test_a_described_system_is_a_bound(run: Run) -> None:
    code, made = run("bcast", "--ranks", "128", "--bytes", "8", "--system", "orfeo-epyc", "--mapping", "core")
    assert code == 0
    (one,) = made["predictions"]
    assert "rough bound" in one["warnings"][0]
    assert all(row["low_s"] is None for row in one["algorithms"])


def test_best_is_the_first_of_all(run: Run) -> None:
    words = ("bcast", "--ranks", "32", "--bytes", "1MiB", "--machine", "orfeo_thin")
    everything = run(*words)[1]["predictions"][0]
    best = run(*words, "--algorithm", "best")[1]["predictions"][0]
    assert [row["algorithm"] for row in best["algorithms"]] == [everything["algorithms"][0]["algorithm"]]
    assert best["margin"] == everything["margin"]


def test_an_algorithm_of_a_library_takes_what_its_schedule_takes(run: Run) -> None:
    """Open MPI chains have a fan-out of 4, as `chain` has; its binary tree has another name here."""
    words = ("--ranks", "32", "--bytes", "1MiB", "--segment", "64KiB", "--machine", "orfeo_thin", "--algorithm")
    pairs = {"tuned:chain": "chain", "tuned:binary_tree": "binary", "mpir:binomial": "binomial"}
    (made,) = run("bcast", *words, ",".join([*pairs, *pairs.values()]))[1]["predictions"]
    time_s = {row["algorithm"]: row["time_s"] for row in made["algorithms"]}
    assert all(time_s[name] == time_s[pairs[name]] for name in pairs if name.startswith("tuned:"))
    # MPICH's takes no segments: it is what Hockney's takes without.
    (whole,) = run("bcast", *words[:4], *words[6:], "binomial")[1]["predictions"]
    assert time_s["mpir:binomial"] == whole["algorithms"][0]["time_s"]


HEAD = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition,source"


def measured(
    path: Path,
    *,
    ranks: Iterable[int] = (2, 4, 8, 16),
    sizes: Iterable[int] = (8, 512, 4096),
    factors: Sequence[int] = (1,),
    place: str = "",
    time_us: str = "",
    algorithm: str = "binomial",
) -> Path:
    """Broadcasts of log₂P messages of 1 µs + 1 ns a byte, a repetition for each factor."""
    rows = [HEAD]
    for count, size_B, (number, factor) in product(ranks, sizes, enumerate(factors)):
        where = place or f"node,{count},1"
        time = time_us or factor * (count.bit_length() - 1) * (1 + size_B / 1000)
        rows.append(f"s,,bcast,{algorithm},{where},{count},{size_B},completion,{time},{number},hockney")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_table_calibrates(run: Run, tmp_path: Path) -> None:
    # On nodes with one rank each.
    table = measured(tmp_path / "table.csv", ranks=(2, 4, 8, 16, 32), sizes=(8, 64, 512, 4096, 32768))
    words = ("bcast", "--ranks", "128", "--bytes", "512", "--table", str(table), "--ppn", "1")
    code, made = run(*words)
    assert code == 0
    (row,) = made["predictions"][0]["algorithms"]
    # Four times beyond training; the law is the model's own, so little is lost.
    assert row["time_s"] == pytest.approx(7 * 1.512e-6, rel=0.1)
    assert row["low_s"] < row["time_s"] < row["high_s"]
    assert any("extrapolated" in warning for warning in made["predictions"][0]["warnings"])


def test_two_rank_rows_of_nobody_knows_where_are_named_once(run: Run, tmp_path: Path) -> None:
    table = measured(tmp_path / "table.csv")
    pairs = "".join(f"s,,pingpong,default,,1,2,2,8,one_way,1,{number},own\n" for number in range(3))
    table.write_text(table.read_text(encoding="utf-8") + pairs, encoding="utf-8")
    for at in run(*ASKED, str(table), "--bytes", "8,512")[1]["predictions"]:
        assert sum("the two ranks of 3 records were is unknown" in said for said in at["warnings"]) == 1


def test_a_prediction_is_held_to_what_the_table_holds_there(run: Run, tmp_path: Path) -> None:
    table = measured(tmp_path / "table.csv", ranks=(2, 4, 8, 16, 32), sizes=(8, 64, 512, 4096))
    words = ("bcast", "--ranks", "8", "--table", str(table), "--ppn", "1", "--bytes")
    assert not any("was measured here" in text for text in run(*words, "512")[1]["predictions"][0]["warnings"])
    lines = table.read_text(encoding="utf-8").splitlines()
    wrong = [line.replace(f",{3 * 1.512},", ",90,") if ",8,512," in line else line for line in lines]
    assert wrong != lines
    table.write_text("\n".join(wrong) + "\n", encoding="utf-8")

    def asked(size_B: int) -> dict[str, Any]:
        answer = run(*words, str(size_B))[1]["predictions"][0]
        return {**answer["algorithms"][0], "warnings": answer["warnings"]}

    here = asked(512)
    # A time without an interval is taken as ±2 %.
    assert here["time_s"] == pytest.approx(90e-6, rel=0.02)
    assert here["low_s"] <= 90e-6 <= here["high_s"]
    assert "90 µs was measured here; the calibrated simulation alone says" in here["warnings"][-1].replace(
        "\N{NO-BREAK SPACE}", " "
    )
    # It goes on from there: a byte more is a thousandth of the way to the next size, in ln.
    assert asked(513)["time_s"] == pytest.approx(here["time_s"], rel=0.02)
    # The next sizes are what was measured there, too.
    assert asked(4096)["time_s"] == pytest.approx(3 * 5.096e-6, rel=0.1)


def test_a_table_of_several_conditions_asks_which(run: Run, tmp_path: Path) -> None:
    table = measured(tmp_path / "table.csv", ranks=(2, 4, 8), sizes=(8, 64, 512))
    rows = table.read_text(encoding="utf-8").splitlines()
    for old, new, option in ((",node,", ",core,", "--mapping"), ("s,,", "t,,", "--where system")):
        table.write_text("\n".join([*rows, *(row.replace(old, new) for row in rows[1:])]), encoding="utf-8")
        code, made = run("bcast", "--ranks", "4", "--bytes", "64", "--table", str(table))
        assert code == 2
        assert option in made["error"]["hint"]
    words = ("bcast", "--ranks", "4", "--bytes", "64", "--table", str(table), "--where")
    assert run(*words, "system=t")[0] == 0
    assert "'u'" in run(*words, "system=u")[1]["error"]["message"]
    assert "no column 'colour'" in run(*words, "colour=red")[1]["error"]["message"]


def test_a_correction_is_stated_with_its_weight(run: Run, tmp_path: Path) -> None:
    table = measured(tmp_path / "table.csv", ranks=(2, 4, 8, 16, 32), sizes=(8, 64, 512, 4096, 32768))
    words = ("bcast", "--bytes", "512", "--table", str(table), "--ppn", "1")
    _, made = run(*words, "--ranks", "16")
    (row,) = made["predictions"][0]["algorithms"]
    assert row["time_s"] == pytest.approx(row["readable_s"] * (1 + row["correction"]), rel=1e-9)
    assert 0 <= row["weight"] <= 1
    out = succeeded("predict", *words, "--ranks", "64")
    (said,) = (
        line for line in out.splitlines() if "simulated" in line and "by neighbouring measurements" in line
    )
    assert "binomial" in said
    assert "weight" not in said, "a surface does not extrapolate"


ASKED = ("bcast", "--ranks", "64", "--bytes", "512", "--ppn", "1", "--table")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"place": ",,", "ranks": (8,), "algorithm": "own"}, "nothing in training shows how their times grow"),
        ({"time_us": "nan"}, "time_us"),
        ({"time_us": "0"}, "not a positive time"),
        ({"time_us": "-1"}, "not a positive time"),
    ],
)
def test_tables_that_cannot_be_used(run: Run, tmp_path: Path, held: dict[str, Any], said: str) -> None:
    code, made = run(*ASKED, str(measured(tmp_path / "table.csv", **held)))
    assert code == 2
    assert said in made["error"]["message"]
    assert made["error"]["hint"]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"sizes": (8,)}, "a single size (8 B)"),
        ({"sizes": (8,)}, "512 B, training ends at 8 B (64 times)"),
        ({"sizes": (1024,)}, "512 B, training begins at 1 KiB (2 times)"),
        ({"ranks": (8,)}, "a single number of ranks (8)"),
        ({}, "64 ranks, training ends at 16 ranks (4 times)"),
        ({"factors": (1, 10)}, "differ by more than a factor of 3"),
        ({"place": ",,"}, "does not say where its ranks were"),
        ({"place": ",,"}, "combination: beyond training in nodes or ranks"),
    ],
)
def test_limits_of_a_table_are_said(run: Run, tmp_path: Path, held: dict[str, Any], said: str) -> None:
    code, made = run(*ASKED, str(measured(tmp_path / "table.csv", **held)))
    assert code == 0
    assert any(said in warning for warning in made["predictions"][0]["warnings"])


@pytest.mark.parametrize("place", ["node,{},1", ",{},1", ",,"])
def test_an_algorithm_without_a_schedule_grows_as_its_own_times(run: Run, tmp_path: Path, place: str) -> None:
    rows = measured(tmp_path / "table.csv", algorithm="own").read_text(encoding="utf-8").splitlines()
    placed = [row.replace(f"node,{row.split(',')[6]},1", place.format(row.split(",")[6])) for row in rows]
    (tmp_path / "table.csv").write_text("\n".join(placed), encoding="utf-8")
    code, made = run(*ASKED, str(tmp_path / "table.csv"))
    assert code == 0
    (row,) = made["predictions"][0]["algorithms"]
    assert row["method"] == "combination"
    assert row["time_s"] == pytest.approx(6 * 1.512e-6, rel=0.1)
    assert row["low_s"] < row["time_s"] < row["high_s"]


def test_why_nothing_is_predicted_is_said_once(run: Run, tmp_path: Path) -> None:
    table = measured(tmp_path / "table.csv")
    _, made = run("bcast", "--ranks", "64", "--bytes", "0", "--table", str(table))
    assert made["error"]["message"] == "no algorithm could be predicted: binomial: 0 B are sent in no message"


def test_algorithms_that_take_the_same_are_not_ranked() -> None:
    done = run_hockney(*["predict", "allreduce", "--ranks", "8", "--bytes", "1MiB", "--machine", "bluegene_p"])
    first = done.stdout.splitlines()[0]
    assert first.startswith("Candidate: circulant")
    assert "as fast may be rabenseifner" in first
    assert "by 0%" not in done.stdout


def test_what_only_ties_is_predicted_where_it_is_named() -> None:
    """orfeo_thin has no rendezvous size, so that calls that block would take as long as the pipeline."""
    words = ["predict", "bcast", "--ranks", "8", "--bytes", "1MiB", "--machine", "orfeo_thin"]
    assert "blocking_pipeline" not in run_hockney(*words).stdout
    assert "blocking_pipeline" in run_hockney(*words, "--algorithm", "blocking_pipeline").stdout


def test_one_rank_is_no_ranks() -> None:
    done = run_hockney(*["predict", "bcast", "--ranks", "1", "--bytes", "8", "--machine", "bluegene_p"])
    assert "bcast of 8 B on 1 rank, from" in done.stdout


def test_a_model_of_the_machine_file_stands_beside_the_algorithms(run: Run, tmp_path: Path) -> None:
    machine = version_1()
    machine.collectives = [
        CollectiveModel(
            operation="bcast",
            parameters={"start": Parameter(value=13e-6, unit="s"), "stage": Parameter(value=0.31e-6, unit="s")},
            regimes=[
                CollectiveRegime(
                    terms=[Term(parameter="start"), Term(parameter="stage", growth="log2(P)")], max_B=8
                )
            ],
            source="a paper",
        ),
        CollectiveModel(
            operation="barrier",
            parameters={"T": Parameter(value=0.95e-6, unit="s")},
            regimes=[CollectiveRegime(terms=[Term(parameter="T")])],
        ),
    ]
    save(machine, tmp_path / "machine.json")
    words = ("bcast", "--ranks", "1024", "--bytes", "8", "--bytes", "1KiB", "--algorithm", "library,binomial")
    code, made = run(*words, "--machine", "machine.json")
    assert code == 0
    small, large = ({row["algorithm"]: row for row in one["algorithms"]} for one in made["predictions"])
    assert [len(one["algorithms"]) for one in made["predictions"]] == [2, 2], (
        "the barrier's model is not of bcast"
    )
    # 13 µs + 0.31 µs · 10.
    assert small["library"]["time_s"] == pytest.approx(16.1e-6)
    assert (small["library"]["method"], small["library"]["note"]) == ("published", "a paper")
    assert small["binomial"]["method"] == "simulated"
    assert [any("not its own" in told for told in one["warnings"]) for one in made["predictions"]] == [
        True,
        False,
    ]
    assert large["library"]["time_s"] is None
    assert "other ranks or sizes" in large["library"]["note"]


def test_a_published_time_below_zero_is_none_and_wins_nothing(run: Run, tmp_path: Path) -> None:
    machine = version_1()
    fell = [CollectiveRegime(terms=[Term(parameter="T"), Term(parameter="T", factor=-1, growth="log2(P)")])]
    machine.collectives = [
        CollectiveModel(operation="bcast", parameters={"T": Parameter(value=1e-6, unit="s")}, regimes=fell)
    ]
    save(machine, tmp_path / "machine.json")
    words = ("bcast", "--ranks", "16", "--algorithm", "library,binomial", "--machine", "machine.json")
    code, made = run(*words)
    assert code == 0
    (made,) = made["predictions"]
    rows = {row["algorithm"]: row for row in made["algorithms"]}
    # 1 µs - 1 µs · 4.
    assert rows["library"]["time_s"] is None
    assert "negative" in rows["library"]["note"]
    assert made["best"] == "binomial"


def test_a_published_bound_is_no_time_and_wins_nothing(run: Run) -> None:
    # Hoefler et al. 2010: g·511 + S·G·max(511/6, 8⁴/8) = 0.84 µs · 511 + 2²⁰ · 2.67 ns · 512.
    words = ("alltoall", "--machine", "bluegene_p", "--ranks", "512", "--bytes", "1MiB")
    code, made = run(*words, "--algorithm", "library")
    assert code == 0
    (made,) = made["predictions"]
    (row,) = made["algorithms"]
    assert (row["method"], row["time_s"], made["best"]) == ("lower bound", None, None)
    assert row["low_s"] == pytest.approx(0.84e-6 * 511 + 2**20 * 2.67e-9 * 512, rel=1e-9)
    code, made = run(*words, "--algorithm", "library,pairwise")
    assert made["predictions"][0]["best"] == "pairwise"


def test_one_time_among_models_of_other_sizes_is_no_contest(tmp_path: Path) -> None:
    machine = version_1()
    machine.collectives = [CollectiveModel(operation="bcast", source="a paper")]
    save(machine, tmp_path / "machine.json")
    words = ("bcast", "--ranks", "8", "--algorithm", "library,binomial", "--machine", tmp_path / "machine.json")
    assert succeeded("predict", *words).startswith("Only binomial, ")


def test_what_messages_lack_is_said_where_the_model_is_silent(run: Run, tmp_path: Path) -> None:
    machine = version_1()
    machine.point_to_point = []
    machine.collectives = [CollectiveModel(operation="bcast", source="a paper")]
    save(machine, tmp_path / "machine.json")
    code, made = run("bcast", "--ranks", "8", "--machine", "machine.json")
    assert code == 2
    assert "has no ping-pong" in made["error"]["message"]


def test_a_name_that_is_neither_is_refused_beside_a_published_model(run: Run) -> None:
    code, made = run("bcast", "--ranks", "8", "--algorithm", "library", "--machine", "orfeo_thin")
    assert code == 2
    assert "unknown algorithm of bcast: 'library'" in made["error"]["message"]
    # One mistake of two is one.
    code, made = run("bcast", "--ranks", "8", "--algorithm", "chain,binomail", "--machine", "orfeo_thin")
    assert (code, made["error"]["hint"].partition("? ")[0]) == (2, "did you mean 'binomial'")


@pytest.fixture
def allreduces(tmp_path: Path) -> Path:
    """A machine of measured allreduces alone, 8 to 64 ranks and 8 B to 1 MiB, three equal times each."""
    rows = ["system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"]
    for ranks, size_B, repetition in product((8, 16, 32, 64), (8, 64, 4096, 65536, 2**20), range(3)):
        time_us = (ranks.bit_length() - 1) * (2 + size_B / 1000)
        rows.append(f"s,m,allreduce,default,core,1,{ranks},{ranks},{size_B},completion,{time_us},{repetition}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    save(build(tmp_path / "t.csv"), tmp_path / "m.json")
    return tmp_path / "m.json"


@pytest.mark.parametrize(
    ("ranks", "size_B"), [(128, 65536), (64, 2**21), (512, 2**23), (4, 8)], ids=["P", "n", "both", "below"]
)
def test_measured_collectives_alone_answer_beyond_their_range(
    run: Run, allreduces: Path, ranks: int, size_B: int
) -> None:
    _, made = run("allreduce", "--machine", str(allreduces), "--ranks", str(ranks), "--bytes", str(size_B))
    (row,) = made["predictions"][0]["algorithms"]
    assert row["method"] == "extrapolated"
    assert row["note"] == "fitted to 8 to 64 ranks and 8 B to 1 MiB"
    law_s = (ranks.bit_length() - 1) * (2 + size_B / 1000) * 1e-6
    assert row["time_s"] == pytest.approx(law_s, rel=0.01)
    assert 0 < row["low_s"] < law_s < row["high_s"]
    assert any("extrapolated" in warning for warning in made["predictions"][0]["warnings"])


def test_a_measured_point_of_equal_times_has_no_width(run: Run, allreduces: Path) -> None:
    _, made = run("allreduce", "--machine", str(allreduces), "--ranks", "16", "--bytes", "64")
    (row,) = made["predictions"][0]["algorithms"]
    assert row["method"] == "measured"
    assert [row["low_s"], row["high_s"]] == pytest.approx([row["time_s"]] * 2, rel=1e-12)
