"""`hockney apply` finds the launcher's MPI, says what keeps the layer away, and always runs the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.command_line import refused
from tests.conftest import Script
from tests.factories import not_none, written
from tests.processes import captured
from tests.runner.preload.programs import (
    answer,
    apply_words,
    compiled,
    every_schedule,
    hockney,
    launch_line,
    mpi_program,
)

from hockney.errors import RequestError
from hockney.records.preload_table import PreloadTable, load
from hockney.runner.launch_line import understand
from hockney.runner.launchers.base import launchers
from hockney.runner.mpi import Mpi

HELLO = mpi_program("MPI_Barrier(MPI_COMM_WORLD);", r'printf("hello %d\n", argc);', code="9")
WITHOUT_MPI = '#include <stdio.h>\nint main(void) {\n  puts("plain");\n  return 6;\n}\n'


def test_the_programs_exit_code_and_output_are_its_own(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, HELLO)
    words = [*apply_words(tmp_path, every_schedule(0), "--summary"), *launch_line(mpi, 2, program, "a", "--b")]
    done = hockney(*words)
    assert done.returncode == 9
    assert done.stdout.count("hello 3") == 2
    assert "barrier" in done.stdout
    quiet = hockney(*[word for word in words if word != "--summary"])
    assert quiet.returncode == 9
    assert "barrier" not in quiet.stdout


def test_several_programs_of_one_launch_all_have_the_layer(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, HELLO)
    line = launch_line(mpi, 1, program)
    both = [*line, ":", "-n", "1", str(program), "other"]
    done = hockney(*apply_words(tmp_path, every_schedule(0), "--json"), *both)
    assert done.returncode == 9
    (row,) = answer(done.stdout)["calls"]
    assert (row["operation"], row["rule"] >= 0, row["calls"]) == ("barrier", True, 2)


@pytest.mark.one_mpi
def test_a_static_program_runs_on_and_is_told_of(mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "plain.c").write_text(WITHOUT_MPI, encoding="utf-8")
    argv = ["cc", "-static", str(tmp_path / "plain.c"), "-o", str(tmp_path / "plain")]
    if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
        pytest.skip(lacking("static linking", "cc -static fails"))
    words = apply_words(tmp_path, every_schedule(0), "--summary")
    done = hockney(*words, *launch_line(mpi, 1, tmp_path / "plain"))
    assert done.returncode == 6
    assert "plain" in done.stdout
    assert f"{tmp_path / 'plain'} is statically linked" in done.stderr


@pytest.mark.one_mpi
def test_a_program_without_mpi_runs_on_and_is_told_of(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, WITHOUT_MPI)
    done = hockney(*apply_words(tmp_path, every_schedule(0), "--json"), *launch_line(mpi, 1, program))
    assert done.returncode == 6
    assert "the layer saw no MPI_Finalize" in done.stderr
    said = answer(done.stdout)
    assert (said["exit_code"], said["is_seen"], said["calls"]) == (6, False, [])


@pytest.mark.one_mpi
def test_a_table_for_another_library_is_told_of(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, HELLO)
    table = every_schedule(0).model_copy(update={"mpi": "Open MPI 1.6"})
    done = hockney(*apply_words(tmp_path, table), *launch_line(mpi, 1, program))
    assert done.returncode == 9
    assert f"is for Open MPI 1.6, and the program runs on {mpi.describe()}" in done.stderr


def test_the_launchers_own_mpi_is_found(mpi: Mpi) -> None:
    found = understand([str(mpi.launcher), "-n", "2", "true"])
    assert found.mpi is not None
    assert (found.mpi.wrapper, found.mpi.version) == (mpi.wrapper, mpi.version)
    assert [program.name for program in found.programs] == ["true"]


@pytest.mark.usefixtures("wide")
def test_without_a_compiler_wrapper_the_program_runs_on(script: Script, tmp_path: Path) -> None:
    launcher = script(tmp_path / "bin" / "mpiexec", "mpirun (Open MPI) 1.0 launched", code=4)
    words = [str(launcher), "-n", "1", "true"]
    done = hockney(*apply_words(tmp_path, every_schedule(0)), *words, PATH="/usr/bin:/bin")
    assert done.returncode == 4
    assert "launched" in done.stdout
    assert f"no compiler wrapper (mpicc) belongs to the launcher {launcher}" in done.stderr


def test_the_program_gets_the_users_environment(script: Script, tmp_path: Path) -> None:
    """Threads of linear algebra are limited in our process alone."""
    launcher = script(tmp_path / "bin" / "mpiexec", "")
    launcher.write_text('#!/bin/sh\necho "mpirun (Open MPI) 1.0\nthreads: $OPENBLAS_NUM_THREADS"\n')
    words = [sys.executable, "-m", "hockney", "profile", "--", str(launcher), "-n", "1", "true"]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for value, added in (("", {}), ("7", {"OPENBLAS_NUM_THREADS": "7"})):
        assert f"threads: {value}\n" in captured(words, cwd=tmp_path, env={**environment, **added}).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-launcher", "./app"], "'no-such-launcher' is no program here"),
        (["ls", "-l"], "ls is no launcher that Hockney knows"),
        ([], "no command was given"),
    ],
)
def test_what_is_no_launch_line_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        understand(words)


VARIABLES = {"LD_PRELOAD": "/l.so"}


@pytest.mark.parametrize(
    ("launcher", "options"),
    [
        ("openmpi", ["-x", "LD_PRELOAD=/l.so", "-x", "HOCKNEY_PRELOAD"]),
        ("hydra", ["-genv", "LD_PRELOAD", "/l.so"]),
        ("srun", ["--export=ALL,LD_PRELOAD=/l.so"]),
    ],
)
def test_each_launcher_sets_variables_in_its_own_words(launcher: str, options: list[str]) -> None:
    preload = not_none(launchers.get(launcher).preload)
    assert preload(VARIABLES, ["HOCKNEY_PRELOAD"]) == options


def test_a_simulation_takes_no_layer() -> None:
    assert launchers.get("smpi").preload is None


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"operation": "brodcast", "algorithm": "ring"}, "unknown operation 'brodcast'; did you mean 'bcast'?"),
        (
            {"operation": "bcast", "algorithm": "binomail"},
            "no schedule 'binomail' of bcast; did you mean 'binomial'?",
        ),
        ({"operation": "allgather", "algorithm": "ring", "radix": 3}, "ring takes no radix"),
        ({"operation": "allgather", "algorithm": "ring", "segment_bytes": 8}, "does not cut its messages"),
        (
            {"operation": "bcast", "algorithm": "binomial", "least_ranks": 9, "most_ranks": 8},
            "least_ranks 9 is more than most_ranks 8",
        ),
        ({"operation": "bcast", "algorithm": "binomial", "fanout": 4}, "unknown field rules.0.fanout"),
        ({"operation": "bcast"}, "rules.0.algorithm: Field required"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(tmp_path: Path, rule: dict[str, object], said: str) -> None:
    path = written(tmp_path / "table.json", json.dumps({"schema_version": 1, "mpi": "", "rules": [rule]}))
    error = refused("apply", "--rules", path, "--", "mpirun", "true")
    assert said in error


@pytest.mark.parametrize(
    ("text", "said"),
    [("[1]", "is no table"), ('{"schema_version": 2, "rules": []}', "schema version 2"), ("{", "damaged JSON")],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path / "table.json", text)
    with pytest.raises(RequestError, match=said):
        load(path)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rules: list[dict[str, object]] = [
        {"operation": "bcast", "algorithm": "binomial", "least_ranks": 3, "most_ranks": 5, "most_bytes": 100},
        {"operation": "bcast", "algorithm": "chain", "least_ranks": 5, "least_bytes": 10},
    ]
    table = PreloadTable.model_validate({"rules": rules})
    table.write(tmp_path / "table.json")
    assert load(tmp_path / "table.json") == table


SIZES = mpi_program(
    "int rank;  char data[101] = {0};  MPI_Comm two;",
    "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
    "MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &two);",
    "const int sizes[] = {9, 10, 100, 101};",
    "for (int i = 0; i < 4; ++i) {",
    "  MPI_Bcast(data, sizes[i], MPI_BYTE, 0, MPI_COMM_WORLD);",
    "  if (rank < 2) MPI_Bcast(data, sizes[i], MPI_BYTE, 0, two);",
    "}",
)


@pytest.mark.one_mpi
def test_the_first_rule_that_fits_counts(mpi: Mpi, tmp_path: Path) -> None:
    """Bounds are included: the first rule is for 9, 10, 100 B on three ranks, the second for 10, 100 B on two."""
    rules: list[dict[str, object]] = [
        {"operation": "bcast", "algorithm": "binomial", "least_ranks": 3, "most_ranks": 3, "most_bytes": 100},
        {"operation": "bcast", "algorithm": "chain", "least_bytes": 10, "most_bytes": 100},
    ]
    table = PreloadTable.model_validate({"rules": rules})
    program = compiled(mpi, tmp_path, SIZES)
    done = hockney(*apply_words(tmp_path, table, "--json"), *launch_line(mpi, 3, program))
    assert done.returncode == 0, done.stderr
    calls = {row["rule"]: row["calls"] for row in answer(done.stdout)["calls"] if row["operation"] == "bcast"}
    assert calls == {0: 3 * 3, 1: 2 * 2, -1: 3 + 2 * 2}
