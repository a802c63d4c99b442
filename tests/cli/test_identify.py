"""`hockney identify` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests import command_line
from tests.command_line import outcome, refused, succeeded
from tests.factories import written

from hockney.machine.shipped import located
from hockney.records import table

SWITCH_B = 4096
"""The planted library runs `binomial` below, `linear` from here on."""
SIZES = tuple(2**power for power in range(3, 19))


def law(algorithm: str, ranks: int, size_B: int) -> float:
    """Seconds: fewer rounds, or fewer bytes on the critical path; they cross far from the switch."""
    rounds = {"binomial": 1.0, "linear": 0.4, "chain": 3.0}[algorithm] * ranks
    return rounds * 1e-6 + size_B * 1e-9 * {"binomial": 0.3, "linear": 1.0, "chain": 0.5}[algorithm]


def planted(default: Callable[[int], str], noise: float = 0.03, sizes: tuple[int, ...] = SIZES) -> pd.DataFrame:
    """A library of named algorithms, all measured, and a `default` that is one of them."""
    generator = np.random.default_rng(3)
    rows = [
        {
            "system": "s", "mpi": "Brand MPI 1.0", "operation": "bcast", "algorithm": name, "mapping": "core",
            "nodes": 2, "ppn": 4, "ranks": 8, "bytes": size_B, "statistic": "max_over_ranks",
            "time_s": law(default(size_B) if name == "default" else name, 8, size_B)
            * float(np.exp(generator.normal(0, noise))),
            "repetition": 0,
        }
        for name in ("default", "binomial", "linear", "chain")
        for size_B in sizes
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[pd.DataFrame], Path]:
    """Writes a tidy table."""

    def write(frame: pd.DataFrame) -> Path:
        table.write(frame, tmp_path / "table.csv")
        return tmp_path / "table.csv"

    return write


answer = partial(command_line.answer, "identify")


Write = Callable[[pd.DataFrame], Path]


def test_calls_that_do_nothing_have_no_algorithm(file: Write) -> None:
    """IMB begins its tables with them."""
    (found,) = answer(file(planted(lambda _: "binomial", sizes=(0, *SIZES[::4]))))["answers"]
    assert found["n_cells"] == len(SIZES[::4])


def test_a_planted_decision_comes_back(file: Write) -> None:
    path = file(planted(lambda size_B: "binomial" if size_B < SWITCH_B else "linear"))
    (found,) = answer(path)["answers"]
    assert found["way"] == "times"
    assert {cell["way"] for cell in found["cells"]} == {"times"}
    assert found["n_cells"] == len(SIZES)
    for cell in found["cells"]:
        truth = "binomial" if cell["bytes"] < SWITCH_B else "linear"
        if (
            cell["names"] is not None
            and abs(np.log(law("binomial", 8, cell["bytes"]) / law("linear", 8, cell["bytes"]))) > 0.2
        ):
            assert any(truth in name["schedules"] for name in cell["names"]), cell
    assert found["n_cannot_be_told"] <= len(SIZES) / 3
    (switch,) = found["switches"]
    assert switch["last_bytes"] <= SWITCH_B <= 2 * switch["first_bytes"]
    assert (switch["before"], switch["after"]) == ("binomial", "linear")


def test_an_answer_from_times_says_of_which_variant_it_is(file: Write) -> None:
    path = file(planted(lambda _: "chain", sizes=SIZES[::4]).assign(variant="tcp"))
    (found,) = answer(path, "--evidence", "times")["answers"]
    assert found["variant"] == "tcp"
    out = succeeded("identify", path, "--evidence", "times")
    assert "times alone" in out
    assert "variant tcp: what default uses" in " ".join(out.split())
    assert "chain" in out
    assert f"{len(SIZES[::4])} cells (ranks and size)" in out


def test_a_version_answers_where_it_is_known(file: Write) -> None:
    frame = planted(lambda _: "binomial").assign(mpi="Open MPI 4.1.5")
    (found,) = answer(file(frame))["answers"]
    assert found["way"] == "version"
    # coll_tuned_decision_fixed.c of 4.1.5, bcast, 8 to 15 ranks: below 4096 knomial from 64 bytes on, then
    # binary tree.
    of_size = {cell["bytes"]: cell["names"][0]["schedules"][0] for cell in found["cells"]}
    assert of_size[1024] == "knomial, radix 4"
    assert of_size[8192] == "binary"


def test_a_machine_file_answers_by_version(tmp_path: Path) -> None:
    machine = json.loads(located(Path("ci_2core")).read_text(encoding="utf-8"))
    machine["mpi"] = [{"name": "Open MPI 5.0.11", "kind": "openmpi", "version": "5.0.11"}]
    path = written(tmp_path / "machine.json", json.dumps(machine))
    (found,) = answer(path, "--operation", "reduce", "--ranks", "64", "--nodes", "1")["answers"]
    assert {cell["names"][0]["schedules"][0] for cell in found["cells"]} == {"binomial"}
    err = refused("identify", path, "--evidence", "times")
    assert "no times of default" in err
    err = refused("identify", path, "--system", "orfeo-epyc")
    assert "--system means nothing for the machine file" in err


def test_a_setting_of_a_machine_file_goes_before_the_version(tmp_path: Path) -> None:
    machine = json.loads(located(Path("ci_2core")).read_text(encoding="utf-8"))
    settings = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_reduce_algorithm": "pipeline"}
    library = {"name": "Open MPI 5.0.11", "kind": "openmpi", "version": "5.0.11", "settings": settings}
    machine["mpi"] = [library]
    path = written(tmp_path / "machine.json", json.dumps(machine))
    words = ("--operation", "reduce", "--operation", "bcast", "--ranks", "8,64", "--nodes", "1")
    forced, shipped = answer(path, *words)["answers"]
    assert {name["schedules"][0] for cell in forced["cells"] for name in cell["names"]} == {"pipeline"}
    assert {(cell["way"], cell["why"]) for cell in forced["cells"]} == {
        ("setting", "forced by the setting coll_tuned_reduce_algorithm=pipeline")
    }
    assert {(cell["way"], cell["ranks"]) for cell in shipped["cells"]} == {("version", 8), ("version", 64)}
    out = succeeded("identify", path, "--operation", "reduce")
    assert "forced by the setting" in out


def test_a_word_that_is_no_collective_is_refused_of_a_machine_file() -> None:
    err = refused("identify", located(Path("ci_2core")), "--operation", "brodcast")
    assert "'brodcast' is not a collective" in err


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        (lambda frame: frame[frame["algorithm"] != "default"], (), "no collective with the algorithm default"),
        (
            lambda frame: frame[frame["algorithm"] != "default"],
            ("--operation", "bcast"),
            "has no default of bcast (max_over_ranks), only binomial, chain, linear",
        ),
        (lambda frame: frame[frame["algorithm"] == "default"], (), "nothing says what the candidates of bcast"),
        (lambda frame: frame, ("--evidence", "version"), "the version does not decide"),
        (lambda frame: frame, ("--evidence", "watching"), "nobody has watched these sizes of bcast"),
        (lambda frame: frame, ("--operation", "reduce"), "no 'reduce' in this table"),
        (lambda frame: frame, ("--operation", "pingpong"), "'pingpong' is not a collective"),
        (lambda frame: frame, ("--ranks", "4", "--bytes", "8"), "--ranks, --bytes means nothing for"),
    ],
)
def test_what_it_refuses(
    file: Write, change: Callable[[pd.DataFrame], pd.DataFrame], words: tuple[str, ...], said: str
) -> None:
    err = refused("identify", file(change(planted(lambda _: "chain"))), *words)
    assert said in " ".join(err.split())


def test_a_single_size_is_answered_with_a_warning(file: Write) -> None:
    found = answer(file(planted(lambda _: "chain", sizes=(65536,))))
    (one,) = found["answers"]
    assert one["switches"] == []
    assert any("no switch can be seen" in text for text in one["warnings"])


def test_times_of_an_unknown_algorithm_are_none_of_these(file: Write) -> None:
    frame = planted(lambda _: "chain")
    is_default = frame["algorithm"] == "default"
    frame.loc[is_default, "time_s"] = 2e-6 * frame.loc[is_default, "bytes"] ** 0.5
    (found,) = answer(file(frame))["answers"]
    # Where its curve crosses a candidate's, a size alone may be either.
    assert all(cell["names"] is None for cell in found["cells"])
    assert sum(cell["is_none"] for cell in found["cells"]) >= len(SIZES) - 3
    assert "none of these" in outcome("identify", file(frame))[1]


def doubled(mpi: str, nodes: int, locality: str) -> pd.DataFrame:
    """Ping-pongs of 1.2 µs + n / 10 GB/s; an allreduce on 128 ranks of 7 such messages, 1.9 times as long."""
    rows = [
        {
            "system": "s", "mpi": mpi, "operation": operation, "algorithm": "default", "mapping": "",
            "nodes": on_nodes, "ppn": ranks // on_nodes, "ranks": ranks, "bytes": size_B, "statistic": statistic,
            "locality": locality if ranks == 2 else "", "repetition": 0,
            "time_s": factor * (1.2e-6 + size_B * 1e-10),
        }
        for operation, statistic, ranks, on_nodes, factor in (
            ("pingpong", "one_way", 2, 2, 1.0),
            ("allreduce", "mean_over_ranks", 128, nodes, 1.9 * 7),
        )
        for size_B in (4**power for power in range(1, 8))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_network_that_doubles_times_leaves_the_truth_in_the_set(file: Write) -> None:
    (found,) = answer(file(doubled("Brand MPI 1.0", 128, "network")))["answers"]
    for cell in found["cells"]:
        names = {name for each in cell["names"] for name in each["schedules"]}
        assert "recursive_doubling" in names
        # 128 ranks need 128 elements of 4 B.
        assert cell["bytes"] >= 512 or not names & {"ring", "segmented_ring", "rabenseifner"}
    assert any("rabenseifner below 512 B" in warning for warning in found["warnings"])


def test_what_serves_in_place_of_all_candidates_is_named(file: Write) -> None:
    (found,) = answer(file(doubled("Open MPI 5.0.3", 16, "network")), "--evidence", "times")["answers"]
    assert all(cell["names"] is None for cell in found["cells"])
    assert any("component han serves allreduce" in warning for warning in found["warnings"])


def test_ping_pongs_without_a_locality_are_not_overlooked(file: Write) -> None:
    err = refused("identify", file(doubled("Brand MPI 1.0", 128, "").assign(nodes=np.nan, ppn=np.nan)))
    assert "7 rows of ping-pongs" in err
    assert "--locality network" in err
