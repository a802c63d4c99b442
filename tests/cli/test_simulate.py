"""`hockney simulate` through the command line: what it prints, writes and refuses."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pytest
from tests.command_line import answer, refused, run_hockney

LOGGP = ["--loggops", "L=2.5us,o=1.5us,g=1us,G=6ns"]


run, told = partial(run_hockney, "simulate"), partial(answer, "simulate")


def test_a_million_ranks_as_the_project_promises() -> None:
    asked = ["bcast", "--algorithm", "binomial", "--ranks", "1048576", "--bytes", "1024"]
    outcome = told(*asked, *LOGGP, "--critical-path")
    assert outcome["makespan_s"] == pytest.approx(20 * 11.638e-6, rel=1e-9)
    assert outcome["messages"] == 2**20 - 1
    assert outcome["method"] == "simulated"
    assert outcome["min_over_ranks_s"] == pytest.approx(20 * 1.5e-6)
    assert outcome["min_over_ranks_s"] < outcome["mean_over_ranks_s"] < outcome["makespan_s"]
    assert outcome["engine_s"] > 0
    assert outcome["critical_path"]["latencies"] == 20
    assert sum(outcome["critical_path"]["terms_s"].values()) == pytest.approx(outcome["makespan_s"])


def test_ranks_that_are_alike(tmp_path: Path) -> None:
    asked = ["allgather", "--algorithm", "ring", "--ranks", "64", "--bytes", "1KiB", *LOGGP]
    one, all_ = told(*asked), told(*asked, "--csv", str(tmp_path / "ranks.csv"))
    assert (one["method"], all_["method"]) == ("by_class", "simulated")
    assert one["makespan_s"] == pytest.approx(all_["makespan_s"])
    assert one["messages"] == all_["messages"] == 64 * 63


def test_files(tmp_path: Path) -> None:
    asked = ["barrier", "--algorithm", "dissemination", "--ranks", "8", *LOGGP]
    ranks, steps, picture = tmp_path / "ranks.csv", tmp_path / "steps.csv", tmp_path / "steps.svg"
    outcome = told(*asked, "--csv", str(ranks), "--trace", str(steps))
    assert (outcome["per_rank"], outcome["trace"]) == (str(ranks), str(steps))
    with ranks.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["rank"]) for row in rows] == list(range(8))
    assert [float(row["finish_s"]) for row in rows] == pytest.approx([3 * 5.5e-6] * 8)
    with steps.open(encoding="utf-8") as file:
        acts = list(csv.DictReader(file))
    assert len(acts) == 8 * 6
    assert max(float(act["end_s"]) for act in acts) == pytest.approx(outcome["makespan_s"])
    told(*asked, "--trace", str(picture))
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_noise_is_seeded() -> None:
    asked = ["bcast", "--algorithm", "binomial", "--ranks", "64", *LOGGP, "--noise", "1us"]
    first, again, other = told(*asked), told(*asked), told(*asked, "--seed", "1")
    assert first["makespan_s"] == again["makespan_s"] != other["makespan_s"]
    assert (first["seed"], other["seed"]) == (0, 1)


@pytest.mark.parametrize("network", ["torus:4x2", "tree:4:1,2:1"])
def test_shared_links_take_longer(network: str) -> None:
    asked = ["alltoall", "--algorithm", "pairwise", "--ranks", "16", "--bytes", "64KiB", *LOGGP]
    free = told(*asked)
    nodes = told(*asked, "--ppn", "2", "--node-bandwidth", "100MB/s")
    links = told(*asked, "--ppn", "2", "--topology", f"{network},link=50MB/s")
    assert free["makespan_s"] < nodes["makespan_s"] < links["makespan_s"]


def test_words_for_people() -> None:
    done = run("bcast", "--algorithm", "binomial", "--ranks", "8", "--bytes", "1KiB", *LOGGP, "--critical-path")
    assert done.returncode == 0
    assert "34.9 µs" in done.stdout, "3 × 11.638"
    assert "latency" in done.stdout
    assert "21 %" in done.stdout, "2.5 of 11.638"
    assert "assumed" not in done.stdout


def test_what_nobody_gave_is_said() -> None:
    done = run("bcast", "--algorithm", "binomial", "--ranks", "8", "--loggops", "L=1us,g=1us")
    assert "assumed, not given: o = 0, G = 0, 1 KiB\n" in done.stdout


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fitted to messages of 1 µs + 1 ns a byte inside a package, 5 µs + 0.1 ns a byte between nodes."""
    folder = tmp_path_factory.mktemp("machine")
    rows = ["system,mpi,operation,algorithm,mapping,locality,nodes,ppn,ranks,bytes,statistic,time_us,repetition"]
    for locality, empty_us, us_per_B in (("package", 1.0, 1e-3), ("network", 5.0, 1e-4)):
        for size_B in (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144):
            time_us = empty_us + us_per_B * size_B
            rows.append(f"s,m,pingpong,default,{locality},{locality},1,2,2,{size_B},one_way,{time_us},0")
    (folder / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ["fit", str(folder / "table.csv"), "-o", str(folder / "machine.json")]
    assert run_hockney(*words).returncode == 0
    return folder / "machine.json"


PAIR = ("bcast", "--algorithm", "binomial", "--ranks", "2", "--bytes", "1000")


def test_parameters_of_a_machine_file(machine: Path) -> None:
    outcome = told(*PAIR, "--machine", str(machine), "--critical-path")
    # Without a system the farthest pair; the fit of a straight line has its rounding.
    assert outcome["makespan_s"] == pytest.approx(5.1e-6, rel=1e-6)
    assert sum(outcome["critical_path"]["terms_s"].values()) == pytest.approx(5.1e-6, rel=1e-6)
    (known,) = outcome["parameters"].values()
    assert "network: piecewise" in known["latency_s"]["from"]
    assert known["latency_s"]["value"] == pytest.approx(5e-6 * (1 - 2 * 0.35), rel=1e-6)
    assert "assumed" in known["overhead_s"]["from"]


def test_what_is_given_overrides_the_machine(machine: Path) -> None:
    given = ("--loggops", "L=3us,o=1us,G=2ns")
    outcome = told(*PAIR, "--machine", str(machine), *given)
    assert outcome["makespan_s"] == pytest.approx(2 * 1e-6 + 3e-6 + 999 * 2e-9, rel=1e-9)
    (known,) = outcome["parameters"].values()
    told_here = [name for name, one in known.items() if one["from"] == "the command line"]
    assert sorted(told_here) == ["gap_s_per_B", "latency_s", "overhead_s", "receive_overhead_s"]


def test_localities_by_placement(machine: Path) -> None:
    # On two nodes of one core each other ranks are far, on one node of orfeo near.
    near = told(*PAIR, "--machine", str(machine), "--system", "orfeo-epyc", "--mapping", "core")
    far = told(*PAIR, "--machine", str(machine), "--system", "orfeo-epyc", "--mapping", "node")
    assert near["makespan_s"] == pytest.approx(1e-6 + 1000e-9, rel=1e-6)
    # The link between the nodes is as fast as 12.5 GB/s at most, and has room.
    assert far["makespan_s"] == pytest.approx(5.1e-6, rel=1e-6)
    assert list(near["parameters"]) == ["cache", "numa", "package", "node", "network"]


def test_messages_larger_than_the_measured_ones_are_said(machine: Path) -> None:
    far = told("bcast", "--algorithm", "binomial", "--ranks", "2", "--bytes", "1MiB", "--machine", str(machine))
    assert any("256 KiB (4 times): extrapolated" in warning for warning in far["warnings"])
    near = told(*PAIR, "--machine", str(machine))
    assert not any("extrapolated" in warning for warning in near["warnings"])


def test_parameters_that_are_given_are_told_as_such() -> None:
    (known,) = told(*PAIR, "--loggops", "L=1us")["parameters"].values()
    assert known["latency_s"] == {"value": 1e-6, "from": "the command line"}
    assert known["overhead_s"] == {"value": 0.0, "from": "default"}


def test_what_takes_days_is_refused() -> None:
    words = ["simulate", "allreduce", "--algorithm", "ring", "--ranks", "2000000", "--bytes", "1GiB"]
    assert "hours" in refused(*words, "--loggops", "L=1us")


def test_more_than_the_memory_is_refused() -> None:
    done = run(
        "alltoall", "--algorithm", "linear", "--ranks", "100000000", "--bytes", "8", "--csv", "x.csv", *LOGGP
    )
    assert done.returncode == 3
    assert "of memory" in done.stderr


def test_a_graph_of_ones_own(tmp_path: Path) -> None:
    """A broadcast as GOAL takes what it does by itself, 3 · 11.638 µs; a tick is a nanosecond."""
    path = tmp_path / "b.goal"
    asked = ["bcast", "--algorithm", "binomial", "--ranks", "8", "--bytes", "1024"]
    assert run_hockney("schedule", "export", *asked, "-o", str(path)).returncode == 0
    outcome = told("--goal", str(path), *LOGGP, "--critical-path")
    assert outcome["makespan_s"] == pytest.approx(3 * 11.638e-6)
    assert (outcome["ranks"], outcome["messages"]) == (8, 7)
    path.write_text("num_ranks 1 rank 0 { calc 500 }")
    assert told("--goal", str(path), *LOGGP)["makespan_s"] == pytest.approx(500e-9)
