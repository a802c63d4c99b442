"""`hockney schedule` through the command line: what it prints, writes and refuses."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from tests.command_line import answer, run_hockney

run, told = partial(run_hockney, "schedule"), partial(answer, "schedule")


@pytest.mark.parametrize(("ranks", "path", "messages"), [(8, 3, 7), (14, 4, 13), (28, 5, 27)])
def test_count_gives_the_critical_path_of_the_tree(ranks: int, path: int, messages: int) -> None:
    # Table 1, "Tree"; 15 messages at 14 ranks is a slip there: everybody but the root receives once.
    counts = told("count", "bcast", "--algorithm", "halving_tree", "--ranks", str(ranks), "--bytes", "16KiB")
    assert counts["critical_path"] == {"messages": path, "bytes": path * 16384}
    assert (counts["rounds"], counts["messages"], counts["bytes"]) == (path, messages, messages * 16384)


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
@pytest.mark.parametrize("style", ["tree", "steps", "space-time"])
def test_draw_writes_each_kind(name: str, style: str, tmp_path: Path) -> None:
    machine = ["--latency", "2us", "--overhead", "0.5us", "--gap", "1us", "--bandwidth", "10GB/s"]
    words = ["--algorithm", "binomial", "--ranks", "8", "--style", style, *machine]
    assert told("draw", "bcast", *words, "-o", str(tmp_path / name))["style"] == style
    start = {"a.svg": b"<?xml", "a.png": b"\x89PNG", "a.html": b"<!doctype html>"}[name]
    assert (tmp_path / name).read_bytes().startswith(start)


DRAW = ["draw", "reduce", "--algorithm", "linear", "--ranks", "4"]


def test_export_matches_every_send_with_a_receive(tmp_path: Path) -> None:
    path = tmp_path / "x.goal"
    told("export", "allreduce", "--algorithm", "ring", "--ranks", "5", "--bytes", "100", "-o", str(path))
    sends, receives, rank = [], [], -1
    known: set[str] = set()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "num_ranks 5"
    for line in lines[1:]:
        if started := re.fullmatch(r"rank (\d+) \{", line):
            assert int(started[1]) == rank + 1
            rank, known = int(started[1]), set()
        elif sent := re.fullmatch(r"(l\d+): send (\d+)b to (\d+) tag (\d+)", line):
            sends.append((rank, int(sent[3]), int(sent[2]), int(sent[4])))
            known.add(sent[1])
        elif got := re.fullmatch(r"(l\d+): recv (\d+)b from (\d+) tag (\d+)", line):
            receives.append((int(got[3]), rank, int(got[2]), int(got[4])))
            known.add(got[1])
        elif worked := re.fullmatch(r"(l\d+): calc \d+", line):
            known.add(worked[1])
        elif needs := re.fullmatch(r"(l\d+) requires (l\d+)", line):
            assert {needs[1], needs[2]} <= known
        else:
            assert line == "}"
    assert sorted(sends) == sorted(receives)
    # A ring's 2(P − 1) messages of each rank, all different in (from, to, tag).
    assert len({(a, b, tag) for a, b, _, tag in sends}) == len(sends) == 5 * 8


def test_a_reduction_costs_what_is_asked() -> None:
    words = ["reduce", "--algorithm", "linear", "--ranks", "2", "--bytes", "100", "--reduce-ns-per-byte", "0.5"]
    done = run("export", *words)
    assert done.stdout.count("calc 50\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("show", "bcast", "--algorithm", "circulant", "--ranks", "2147483647", "--rank", "0"),
            "at most 1073741824",
        ),
        (("count", "bcast", "--algorithm", "binomial", "--ranks", "9" * 20), "at most 1073741824"),
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
    done = run_hockney(*words, "--mpi", "MPICH 4.2", "--nodes", "8", "--json")
    assert done.returncode == 0, done.stderr
    (counted,) = json.loads(done.stdout)["algorithms"].values()
    assert (counted["messages"], counted["critical_path"]["messages"]) == (7, 3)
    unknown = run_hockney(*words, "--mpi", "MyMPI 1")
    assert unknown.returncode == 2
    assert "is not known" in unknown.stderr
    assert "needs --mpi" in run_hockney(*words).stderr
