"""The study of a program: what it would do, what it refuses, and all of its steps on a real MPI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome, refused, succeeded
from tests.runner.preload.programs import compiled, launch_line, mpi_program

from hockney.api.programs import VerifiedRuns
from hockney.runner.mpi import Mpi

STEPS = """for (int step = 0; step < 200; ++step) {
  double mine = step, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}"""


def test_a_dry_run_launches_nothing(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = launch_line(mpi, 2, "/bin/false")
    said = succeeded("study", "program", "--dry-run", "-o", "app", "--", *line)
    assert "records" in said
    assert "app/profile.json" in said
    assert not (tmp_path / "app").exists()


def test_options_of_other_studies_are_refused(mpi: Mpi) -> None:
    line = launch_line(mpi, 2, "/bin/false")
    error = refused("study", "program", "--ranks", "4", "--", *line)
    assert "the study program does not take --ranks" in " ".join(error.split())
    error = refused("study", "program")
    assert "no command was given" in error


def test_a_program_that_fails_ends_the_study(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, mpi_program("", code="7"))
    code, _, error = outcome("study", "program", "-o", tmp_path / "app", "--", *launch_line(mpi, 2, program))
    assert code == 4
    assert "the program ended with exit code 7" in " ".join(error.split())


def test_the_verdict_on_rules_is_of_launches_that_differ() -> None:
    """Medians of 4 and 3 s: a quarter is saved, told only where no two launches cross."""
    apart = VerifiedRuns([4.0, 4.1, 3.9], [3.0, 3.1, 2.9])
    crossing = VerifiedRuns([4.0, 4.1, 2.95], [3.0, 3.1, 2.9])
    assert [apart.gain, crossing.gain] == pytest.approx([0.25, 0.25])
    assert apart.is_told
    assert not crossing.is_told


def test_a_folder_is_of_one_program(mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text("{}", encoding="utf-8")
    (tmp_path / "command").write_text("mpirun\n./other\n", encoding="utf-8")
    line = launch_line(mpi, 2, "/bin/false")
    error = refused("study", "program", "--resume", "-o", tmp_path, "--", *line)
    assert "is of `mpirun ./other`" in " ".join(error.split())


@pytest.mark.thorough
@pytest.mark.one_mpi
def test_every_step_is_kept_and_the_page_answers(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, mpi_program(STEPS))
    folder = tmp_path / "app"
    words = ("study", "program", "--quick", "-o", folder, "--json")
    said = succeeded(*words, "--", *launch_line(mpi, 2, program))
    answer = json.loads(said)
    assert {path.name for path in folder.iterdir()} >= {
        *("profile.json", "profile.trace", "campaign", "machine.json", "report.html", "findings.json")
    }
    assert [finding["text"] for finding in answer["findings"]] == [
        finding["text"] for finding in json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    ]
    assert answer["run_s"] > 0
    measured = (folder / "machine.json").stat().st_mtime_ns
    # Going on measures nothing again.
    succeeded(*words, "--resume", "--", *launch_line(mpi, 2, program))
    assert (folder / "machine.json").stat().st_mtime_ns == measured
    error = refused(*words[:-1], "--", *launch_line(mpi, 2, program))
    assert "--resume" in error
