"""A machine file of one pair on one node: every verb that needs a network asks for it and says what was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import answered
from tests.factories import version_1

from hockney.machine.file import save

GIVEN = ("--network", "2us,100Gbit/s")
MACHINE = ("--machine", "pair.json")
JACOBI = ("predict", "jacobi", "--size", "64", "--grid", "4x2x1", "--cell-time", "1ns")
SIMULATE = ("simulate", "bcast", "--algorithm", "binomial", "--bytes", "8", "--ranks")
VERBS = (
    ("predict", "allreduce", "--ranks", "1048576", "--algorithm", "recursive_doubling"),
    JACOBI,
    ("predict", "cg", "--size", "64x64", "--grid", "4x2x1", "--cell-time", "1ns"),
    ("predict", "ring", "--ranks", "8"),
    ("predict", "sum3d", "240", "10", "10", "--ranks", "8", "--memory-bandwidth", "10GB/s"),
    (*SIMULATE, "64"),
    (*SIMULATE, "64", "--ppn", "8", "--node-bandwidth", "10GB/s"),
)
SPREAD = ("--system", "marenostrum5", "--ppn", "1")

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run with --json beside a machine file of one pair in one package of a node of two CPUs."""
    monkeypatch.chdir(tmp_path)
    machine = version_1()
    machine.point_to_point = [
        entry
        for entry in machine.point_to_point
        if entry.locality == "package" and entry.variant == "default" and entry.operation == "pingpong"
    ]
    save(machine, tmp_path / "pair.json")
    return answered


def said(answer: dict[str, Any]) -> str:
    """Warnings and notes of an answer, with ordinary blanks."""
    answer = answer.get("predictions", [answer])[0]
    return "; ".join([*answer.get("warnings", []), *answer.get("notes", [])]).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("words", VERBS)
def test_a_network_that_nobody_measured_is_asked_for_and_one_that_is_given_named(
    run: Run, words: tuple[str, ...]
) -> None:
    code, answer = run(*words, *MACHINE)
    assert code == 2
    assert "between nodes" in answer["error"]["message"]
    assert "--network" in answer["error"]["hint"]
    code, answer = run(*words, *MACHINE, *GIVEN)
    assert code == 0
    assert "assumed, not measured: 2 µs (the command line) and 12.5 GB/s (the command line)" in said(answer)


def test_a_given_network_is_what_messages_cost(run: Run) -> None:
    # Two ranks on two nodes: one message of 2 µs, and 8 B at 12.5 GB/s.
    _, answer = run(*SIMULATE, "2", *MACHINE, *GIVEN, "--ppn", "1", "--node-bandwidth", "1e6GB/s")
    assert answer["makespan_s"] == pytest.approx(2e-6 + 8 / 12.5e9, rel=1e-6)


def test_a_given_network_replaces_a_measured_one(run: Run) -> None:
    plain = run(*SIMULATE, "2", "--machine", "orfeo_thin")[1]
    given = run(*SIMULATE, "2", "--machine", "orfeo_thin", *GIVEN)[1]
    assert given["makespan_s"] == pytest.approx(2e-6 + 8 / 12.5e9, rel=1e-6)
    assert plain["makespan_s"] != pytest.approx(given["makespan_s"], rel=0.01)
    assert "2 µs (the command line)" in said(given)
    assert "the command line" not in said(plain)


def test_an_assumed_network_has_no_interval(run: Run) -> None:
    given = run(*JACOBI, *MACHINE, *GIVEN)[1]
    assert [given["low_s"], given["high_s"]] == [None, None]
    ring = run("predict", "ring", "--ranks", "2,8", *MACHINE, *GIVEN)[1]
    assert [point["low_s"] is None for point in ring["points"]] == [False, True]


@pytest.mark.parametrize("words", VERBS[:3])
def test_without_a_machine_no_cost_is_invented(run: Run, words: tuple[str, ...]) -> None:
    code, answer = run(*words)
    assert code == 2
    assert "orfeo_thin" in answer["error"]["hint"]


@pytest.mark.parametrize("machine", [(), MACHINE])
def test_published_figures_are_a_bound_and_a_latency_is_none_of_them(run: Run, machine: tuple[str, ...]) -> None:
    words = ("predict", "bcast", "--ranks", "256", "--algorithm", "binomial", *machine, *SPREAD)
    code, answer = run(*words)
    assert code == 2
    assert "latency is missing, and none is published for marenostrum5" in answer["error"]["hint"]
    code, answer = run(*words, "--network", "2us")
    assert code == 0
    assert "2 µs (the command line) and 25 GB/s (published for marenostrum5, a bound)" in said(answer)


def test_links_that_are_not_shared_are_named(run: Run) -> None:
    words = ("predict", "alltoall", "--bytes", "240KiB", "--machine", "bluegene_p", "--ranks")
    assert "share no link of the network" in said(run(*words, "4096")[1])
    assert "share no link" not in said(run(*words, "2")[1])


def test_ranks_of_one_node_go_on_and_say_what_stands_in(run: Run) -> None:
    code, answer = run("predict", "bcast", "--ranks", "2", "--algorithm", "binomial", *MACHINE)
    assert code == 0
    assert "all ranks are taken to be on one node, as far apart as package" in said(answer)
    on_node = ("--ranks", "64", "--algorithm", "binomial", "--system", "marenostrum5", "--ppn", "64")
    code, answer = run("predict", "bcast", *on_node, *MACHINE)
    assert code == 0
    assert "node: messages were not measured, those of package are taken" in said(answer)
    assert "package: messages" not in said(answer)


def test_simulated_parameters_bear_the_locality_they_were_measured_at(run: Run) -> None:
    assert list(run(*SIMULATE, "2", *MACHINE)[1]["parameters"]) == ["package"]


def test_a_locality_that_is_asked_for_needs_no_network(run: Run) -> None:
    words = ("predict", "sum3d", "240", "10", "10", "--ranks", "8", "--memory-bandwidth", "10GB/s", *MACHINE)
    assert run(*words, "--locality", "package")[0] == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((*VERBS[0], *MACHINE, "--network", "fast"), "fast"),
        ((*VERBS[0], *MACHINE, "--network", "2us,3us"), "says one thing twice"),
        ((*VERBS[0], *MACHINE, "--network", "0GB/s"), "moves nothing"),
        ((*VERBS[0], *MACHINE, "--network", "1us"), "bandwidth is missing"),
        ((*SIMULATE, "2", "--loggops", "L=1us", "--network", "2us"), "completes a --machine"),
        (("predict", "ring", "--ranks", "8", "--link", "1us", *GIVEN), "means nothing with --link"),
        (("predict", "ring", "--ranks", "8", *MACHINE, "--network", "1GB/s"), "needs a latency"),
        ((*VERBS[4], *MACHINE, *GIVEN, "--locality", "package"), "no message goes between nodes"),
    ],
)
def test_wrong_requests_are_refused(run: Run, words: tuple[str, ...], what: str) -> None:
    code, answer = run(*words)
    assert code == 2
    assert what in answer["error"]["message"] + answer["error"]["hint"]
