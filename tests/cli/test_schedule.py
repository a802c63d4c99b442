"""`hockney schedule` through the command line: what it prints, writes and refuses."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from tests.command_line import answer, run_hockney

run, told = partial(run_hockney, "schedule"), partial(answer, "schedule")


def test_count_gives_the_critical_path_of_the_tree_on_each_number_of_ranks() -> None:
    # Table 1, "Tree"; 15 messages at 14 ranks is a slip there: everybody but the root receives once.
    words = ("bcast", "--algorithm", "halving_tree", "--bytes", "16KiB")
    several = told("count", *words, "--ranks", "8,14", "--ranks", "28")["ranks"]
    assert told("count", *words, "--ranks", "14") == several["14"]
    for (ranks, counts), path, messages in zip(several.items(), (3, 4, 5), (7, 13, 27), strict=True):
        assert counts["critical_path"] == {"messages": path, "bytes": path * 16384}
        assert (counts["rounds"], counts["messages"], counts["bytes"]) == (path, messages, messages * 16384)
        assert counts["ranks"] == int(ranks)


def test_count_from_another_root() -> None:
    for algorithm in (("linear,knomial:3",), ("default", "--mpi", "Open MPI 5.0")):
        words = ("count", "bcast", "--ranks", "5", "--root", "3", "--algorithm", *algorithm)
        assert {one["problem"]["root"] for one in told(*words)["algorithms"].values()} == {3}


def test_a_table_has_each_number_once() -> None:
    """The critical path has as many messages as there are rounds."""
    done = run("count", "bcast", "--algorithm", "halving_tree", "--ranks", "14", "--bytes", "16KiB")
    heading, row = filter(None, done.stdout.splitlines())
    assert "rounds" in heading
    assert row.split()[1:4] == ["4", "13", "212,992"]
    assert row.count(" 4 ") == 1


def test_count_of_many_says_what_it_leaves_out() -> None:
    done = run("count", "allgather", "--algorithm", "all", "--ranks", "5")
    assert done.returncode == 0
    assert "neighbor_exchange needs an even number of ranks, not 5" in done.stderr
    assert "circulant" in done.stdout


def test_list_and_show() -> None:
    listed = told("list", "allgather")["algorithms"]
    assert {one["algorithm"]: one["ranks"] for one in listed}["recursive_doubling"] == "powers of two"
    shown = told("show", "bcast", "--algorithm", "binomial", "--ranks", "4", "--rank", "1", "--bytes", "8")
    kinds = [(step["kind"], step["peer"], step["after"]) for step in shown["ranks"]["1"]["steps"]]
    assert kinds == [("receive", 0, []), ("send", 3, [0])]


def test_verify_counts_the_cases_it_proved() -> None:
    said = told("verify", "barrier", "--algorithm", "dissemination", "--ranks", "1-8")
    (one,) = said["algorithms"]
    assert one["complaints"] == []
    # Eight rank counts, in place and not.
    assert one["proved"] == said["proved"] == 16


def test_verify_says_what_it_could_not_prove() -> None:
    done = run("verify", "allgather", "--ranks", "7")
    assert done.returncode == 0
    assert "needs an even number of ranks, not 7" in " ".join(done.stdout.split())
    # Of the six allgathers of the issue two are not defined for seven ranks.
    assert done.stdout.rstrip().endswith("of 4 algorithms proved")


def test_count_says_what_was_rounded() -> None:
    words = ["count", "reduce", "--algorithm", "chain", "--ranks", "4", "--bytes", "5", "--segment", "3"]
    done = run(*words, "--json")
    # Elements of a reduction have 4 B: two of them, one in each segment.
    assert json.loads(done.stdout)["problem"] == {
        "asked": {"bytes": 5, "segment_bytes": 3},
        "bytes": 8,
        "element_bytes": 4,
        "segment_bytes": 4,
        "radix": 4,
        "root": 0,
    }
    assert "rounded to whole elements: 8 B, segments of 4 B" in done.stderr
    assert run("count", "barrier", "--algorithm", "linear", "--ranks", "4").stderr == ""


def test_blanks_around_a_name_are_no_part_of_it() -> None:
    words = ["count", "bcast", "--ranks", "8", "--algorithm"]
    assert told(*words, " binomial") == told(*words, "binomial")
    assert set(told(*words, "binomial, linear")["algorithms"]) == {"binomial", "linear"}


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.html"])
@pytest.mark.parametrize(
    ("collective", "algorithm", "style"), [("bcast", "binomial", "tree"), ("alltoall", "pairwise", "steps")]
)
def test_draw_writes_each_kind(name: str, collective: str, algorithm: str, style: str, tmp_path: Path) -> None:
    words = ["--algorithm", algorithm, "--ranks", "8"]
    assert told("draw", collective, *words, "-o", str(tmp_path / name))["style"] == style
    start = {"a.svg": b"<?xml", "a.png": b"\x89PNG", "a.html": b"<!doctype html>"}[name]
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_reduction_costs_what_is_asked() -> None:
    words = ["reduce", "--algorithm", "linear", "--ranks", "2", "--bytes", "100", "--reduction", "0.5ns"]
    done = run("export", *words)
    assert done.stdout.count("calc 50\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("show", "bcast", "--algorithm", "circulant", "--ranks", "2147483647", "--rank", "0"),
            "at most 1073741824",
        ),
        (("count", "bcast", "--algorithm", "binomial", "--ranks", "2" + "0" * 9), "at most 1073741824"),
        (("count", "bcast", "--algorithm", "binomial", "--ranks", "0"), "at least 1"),
        (("count", "bcast", "--algorithm", "binomial", "--ranks", "1000000000"), "--rank R"),
        (("show", "bcast", "--algorithm", "binomial", "--ranks", "1000000000"), "--rank R"),
        (
            (
                "count",
                "bcast",
                "--algorithm",
                "circulant",
                "--ranks",
                "3",
                "--bytes",
                "4294967297",
                "--segment",
                "1",
            ),
            "4294967297 segments",
        ),
    ],
)
def test_what_is_too_large_is_refused_in_words(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_count_of_what_a_library_chooses() -> None:
    """MPICH sends short vectors along a binomial tree (Thakur, Rabenseifner and Gropp 2005)."""
    words = ("schedule", "count", "bcast", "--ranks", "8", "--bytes", "1KiB", "--algorithm", "default")
    (counted,) = answer(*words, "--mpi", "MPICH 4.2", "--nodes", "8")["algorithms"].values()
    assert (counted["messages"], counted["critical_path"]["messages"]) == (7, 3)
    unknown = run_hockney(*words, "--mpi", "MyMPI 1")
    assert unknown.returncode == 2
    assert "is not known" in unknown.stderr
    assert "needs --mpi" in run_hockney(*words).stderr
