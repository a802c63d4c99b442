"""`hockney predict` of a recorded run: options, tables, rules, its graph for others, and what it refuses."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests import command_line
from tests.command_line import outcome, refused, succeeded
from tests.predict.replay.encoding import traces, write

from hockney.machine.file import load, save

answer = partial(command_line.answer, "predict")
MACHINE = ("--machine", "bluegene_p")
STEP, NORM = "heat.c:22 (step)", "heat.c:30 (norm)"


@pytest.fixture
def heat(tmp_path: Path) -> Path:
    """Four ranks in a ring that each add up 1 kB with all; the third takes longest."""
    ranks = traces(4)
    for _ in range(10):
        for one in ranks:
            one.compute(1e-3 if one.rank == 2 else 5e-4)
            get = one.irecv((one.rank - 1) % 4, 4096)
            put = one.isend((one.rank + 1) % 4, 4096, site=STEP)
            one.wait(get, put, site=STEP)
            one.compute(2e-4)
            one.collective("allreduce", 1024, element_B=8, site=NORM)
    return write(tmp_path / "heat.trace", ranks)


def test_the_path_adds_up_and_names_its_sites(heat: Path) -> None:
    said = answer(heat, *MACHINE)
    assert sum(said["critical_path"].values()) == pytest.approx(said["run_s"])
    assert said["measured_s"] == pytest.approx(12e-3)
    assert said["critical_path"]["computing_s"] == pytest.approx(12e-3)
    assert said["computing_s"] == pytest.approx((3 * 7e-3 + 12e-3) / 4)
    of_site = {row["name"]: row for row in said["by_site"]}
    assert of_site[NORM]["computing_s"] == pytest.approx(2e-3)
    # The others wait for the third in each iteration.
    assert said["late_s"] == pytest.approx(3 * 5e-3 / 4, rel=0.2)
    assert said["algorithms"] == {"allreduce": {"recursive_doubling": 40}}
    assert said["events"] == 4 * 41


@pytest.mark.parametrize(
    ("site", "shown"),
    [
        ("größe/世界/𝒽.c:1 (main)", "größe/世界/𝒽.c:1 (main)"),
        ("\x1b[1m\x85", "?[1m??"),
        ("a\udcffb\udce4", "a?b?"),
        ("\udcc0\udcaf \udced\udca0\udc80 \udcf4\udc90\udc80\udc80", "?? ??? ????"),
    ],
    ids=["letters", "controls", "no UTF-8", "overlong, half a pair, too large"],
)
def test_names_of_call_sites_keep_their_letters(tmp_path: Path, site: str, shown: str) -> None:
    (alone,) = traces(1)
    alone.compute(1e-3)
    alone.collective("barrier", 0, site=site)
    assert shown in {row["name"] for row in answer(write(tmp_path / "t.trace", [alone]), *MACHINE)["by_site"]}


def test_computing_is_scaled_all_of_it_or_before_a_call(heat: Path, tmp_path: Path) -> None:
    half = answer(heat, *MACHINE, "--compute", "0.5")
    assert half["critical_path"]["computing_s"] == pytest.approx(6e-3)
    table = tmp_path / "factors.json"
    table.write_text(json.dumps({"heat.c:30": 3.0}))
    assert answer(heat, *MACHINE, "--compute-of", table)["critical_path"]["computing_s"] == pytest.approx(16e-3)
    table.write_text(json.dumps({"cool.c": 3.0}))
    code, _, error = outcome("predict", heat, *MACHINE, "--compute-of", table)
    assert (code, "no call site of" in error) == (2, True)
    assert outcome("predict", heat, *MACHINE, "--compute", "1e300")[0] == 2
    table.write_text(json.dumps({"heat.c:30": 1e9}))
    code, _, error = outcome("predict", heat, *MACHINE, "--compute", "1e9", "--compute-of", table)
    assert (code, "computing would take 1e+18 times as long" in error) == (2, True)
    assert outcome("predict", heat, *MACHINE, "--compute", "1e9")[0] == 0


def test_algorithms_and_rules_say_what_collectives_are(heat: Path, tmp_path: Path) -> None:
    ring = answer(heat, *MACHINE, "--algorithm", "allreduce=ring")
    assert ring["algorithms"] == {"allreduce": {"ring": 40}}
    # Six steps of a quarter each in place of two of the whole.
    assert ring["critical_path"]["latency_s"] > 1.5 * answer(heat, *MACHINE)["critical_path"]["latency_s"]
    rules = tmp_path / "rules.json"
    rule = {"operation": "allreduce", "least_ranks": 4, "most_ranks": 4, "algorithm": "ring"}
    rules.write_text(json.dumps({"mpi": "Open MPI 4.1.4", "rules": [rule]}))
    by_rules = answer(heat, *MACHINE, "--rules", rules)
    assert by_rules["run_s"] == ring["run_s"]
    code, _, error = outcome("predict", heat, *MACHINE, "--algorithm", "allreduce=rign")
    assert (code, "did you mean 'ring'" in error) == (2, True)
    rules.write_text("nothing")
    code, _, error = outcome("predict", heat, *MACHINE, "--rules", rules)
    assert (code, "has no rules" in error) == (2, True)


def test_several_machines_are_a_table(heat: Path) -> None:
    runs = answer(heat, *MACHINE, "--machine", "orfeo_thin")["runs"]
    assert [run["machine"] for run in runs] == ["bluegene_p", "orfeo_thin"]
    assert runs[0]["run_s"] == answer(heat, *MACHINE)["run_s"]
    assert "orfeo_thin" in succeeded("predict", heat, *MACHINE, "--machine", "orfeo_thin")


@pytest.mark.parametrize("machine", [["bluegene_p"], ["orfeo_thin", "--ppn", "4"]], ids=["network", "one node"])
def test_its_graph_is_simulated_to_the_same_time(heat: Path, tmp_path: Path, machine: list[str]) -> None:
    file = tmp_path / "heat.goal"
    said = answer(heat, "--machine", machine[0], "--export", file)
    again: dict[str, Any] = command_line.answer("simulate", "--goal", file, "--machine", *machine)
    assert again["messages"] == said["messages"]
    # A tick is a nanosecond: each of the reductions on the path, two an iteration, is rounded to one.
    assert again["makespan_s"] == pytest.approx(said["run_s"], abs=20e-9)


def test_a_system_is_enough_and_places_make_a_table(heat: Path) -> None:
    runs = answer(heat, "--system", "orfeo-epyc", "--mapping", "core,node", "--network", "2us,10GB/s")["runs"]
    assert [run["mapping"] for run in runs] == ["core", "node"]
    assert ["network" in {row["locality"] for row in run["tolerance"]} for run in runs] == [False, True]
    assert runs[0]["run_s"] < runs[1]["run_s"]


def test_options_that_mean_nothing(heat: Path, tmp_path: Path) -> None:
    assert "--ranks means nothing with a trace" in refused("predict", heat, *MACHINE, "--ranks", "8")
    words = ("predict", heat, "--machine", "bluegene_p,orfeo_thin", "--export", tmp_path / "g")
    assert "--export is for one machine" in refused(*words)


def test_an_operator_of_an_order_of_its_own_goes_to_any_root(tmp_path: Path) -> None:
    """Where the library's choice is not known: the usual tree keeps rank order to the first rank alone."""
    ranks = traces(4)
    for root in (0, 2):
        for one in ranks:
            one.collective("reduce", 64, root=root, element_B=8, is_commutative=False)
    said = answer(write(tmp_path / "t.trace", ranks), *MACHINE)
    # Each time three other ranks have something to add.
    assert said["messages"] >= 2 * 3


def test_what_a_trace_lacks_is_said_first(tmp_path: Path) -> None:
    """The terminal shows a few warnings."""
    ranks = traces(2)
    ranks[0].send(1, 8)
    said = answer(write(tmp_path / "t.trace", ranks), *MACHINE)["warnings"]
    assert said[0].startswith("rank 0, event 1: a message of tag 0 to rank 1 that nobody receives")


def test_a_machine_without_messages_says_how_to_measure_them(heat: Path, tmp_path: Path) -> None:
    machine = load(Path("bluegene_p"))
    machine.point_to_point = []
    save(machine, tmp_path / "machine.json")
    error = refused("predict", heat, "--machine", tmp_path / "machine.json")
    assert "hint: measure one: `hockney measure --operation pingpong" in " ".join(error.split())
