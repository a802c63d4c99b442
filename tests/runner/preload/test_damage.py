"""Whatever comes of the layer and its report, the program runs, and its exit code is the command's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.command_line import outcome as typed
from tests.conftest import Script
from tests.factories import written
from tests.runner.preload.programs import (
    LIMIT_S,
    answer,
    apply_words,
    compiled,
    ends_after,
    every_schedule,
    hockney,
    launch_line,
)
from tests.runner.preload.test_profile import NOTES

from hockney.records.preload_table import PreloadTable
from hockney.runner.applied import applied
from hockney.runner.mpi import Mpi
from hockney.runner.preload import Damaged, PreloadedRun
from hockney.runner.profiled import profiled, watched

PLAIN = '#include <stdio.h>\nint main(void) {\n  puts("plain");\n  return 6;\n}\n'
BANNER = "mpirun (Open MPI) 1.0"
"""Of a launcher without a wrapper."""


def without_rights() -> list[str]:
    """What stands before a command so that files' modes hold for it, also where the tests run as root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip(lacking("giving up root's rights", "there is no setpriv"))
    return [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [*without_rights(), sys.executable, "-m", "hockney", *words]
    variables = {**os.environ, "COLUMNS": "400", **environment}
    return subprocess.run(argv, env=variables, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.one_mpi
@pytest.mark.parametrize("verb", ["apply", "profile"])
def test_a_program_that_cannot_be_read_runs_on(mpi: Mpi, tmp_path: Path, verb: str) -> None:
    program = compiled(mpi, tmp_path, PLAIN)
    program.chmod(0o111)
    words = apply_words(tmp_path, every_schedule(0))
    if verb == "profile":
        words = ["profile", "-o", str(tmp_path / "p.json"), "--"]
    done = run(*words, *launch_line(mpi, 1, program))
    assert done.returncode == 6, done.stderr
    assert "plain" in done.stdout
    assert f"{program}" in done.stderr
    assert "the library's own code runs" in done.stderr
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("kind", ["file", "read-only", "shared"])
def test_a_cache_that_cannot_be_used_runs_the_program(tmp_path: Path, script: Script, kind: str) -> None:
    cache = tmp_path / "cache"
    if kind == "file":
        cache.write_text("", encoding="utf-8")
    else:
        (cache / "reports").mkdir(parents=True)
        (cache / "reports").chmod(0o500 if kind == "read-only" else 0o777)
    launcher = script(tmp_path / "bin" / "mpirun", BANNER, code=4)
    words = [*apply_words(tmp_path, every_schedule(0)), str(launcher), "-n", "1", "true"]
    # Root may write to what is read-only.
    done = (run if kind == "read-only" else hockney)(*words, HOCKNEY_CACHE=str(cache))
    assert done.returncode == 4, done.stderr
    assert BANNER in done.stdout
    assert f"{cache / 'reports'}" in done.stderr
    assert "the library's own code runs" in done.stderr


SIGNALS = ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2")
WAITS = """\
#!/bin/sh
[ "$1" = --version ] && echo 'mpirun (Open MPI) 1.0' && exit 0
for name in HUP INT QUIT TERM USR1; do trap "echo got $name" $name; done
trap "echo got USR2; exit 7" USR2
echo ready
while :; do sleep 0.05; done
"""


def test_signals_go_to_the_launcher(tmp_path: Path) -> None:
    """Whose end is waited for, and whose exit code is the command's."""
    launcher = written(tmp_path / "mpirun", WAITS)
    launcher.chmod(0o755)
    words = [*apply_words(tmp_path, every_schedule(0)), str(launcher), "-n", "1", "true"]
    argv = [sys.executable, "-m", "hockney", *words]
    numbers = [signal.Signals[f"SIG{name}"] for name in SIGNALS]
    # Tests that run under nohup would hand on that it is ignored, and a shell cannot trap what is.
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        process = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    with process, ends_after(60.0):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            for name, number in zip(SIGNALS, numbers, strict=True):
                process.send_signal(number)
                assert process.stdout.readline() == f"got {name}\n"
            _, error = process.communicate(timeout=LIMIT_S)
        finally:
            # Its launcher, too, which would keep the pipes open.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 7, error


REPORT = {
    "library": "some MPI",
    "ranks": 2,
    "of_all_ranks": True,
    "unseen": "",
    "dropped": {"schedules": 0, "most": 512, "most_B": 67108864},
    "calls": [{"operation": "bcast", "rule": 0, "why": "", "calls": 2, "bytes": 8, "time_s": 0.5}],
}
ONE = PreloadTable.model_validate({"rules": [{"operation": "bcast", "algorithm": "binomial"}]})


def test_a_report_that_is_whole_is_read() -> None:
    done = applied(PreloadedRun(7, json.dumps(REPORT)), ONE)
    assert (done.is_seen, done.exit_code, done.warnings, done.calls[0].algorithm) == (True, 7, [], "binomial")


@pytest.mark.parametrize(
    "text",
    [
        "",
        json.dumps(REPORT)[:-20],
        json.dumps({**REPORT, "ranks": "two"}),
        json.dumps(REPORT).replace('"rule": 0', '"rule": 1'),
    ],
)
def test_a_damaged_report_is_told_of_and_is_none(text: str) -> None:
    done = applied(PreloadedRun(7, text), ONE)
    assert (done.is_seen, done.exit_code, done.calls) == (False, 7, [])
    (warning,) = done.warnings
    assert "the layer's report is damaged" in warning


LINES = NOTES.splitlines()
"""The last one says how many there are before it."""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "end\t0\n",
        "\n".join([*LINES[1:-1], f"end\t{len(LINES) - 2}"]),
        "\n".join(LINES[:-1]),
        NOTES[:-20],
        NOTES + "at\t2",
        NOTES.replace("call\t0\tallreduce\ta\t8\t2\t3", "call\t0\tallreduce\ta\t8\t-20\t3"),
        NOTES.replace("allreduce", "allreduced"),
        "\n".join([*LINES[:-1], f"end\t{len(LINES)}"]),
        f"{NOTES}rank\t2\t5\n",
    ],
)
def test_damaged_notes_are_told_of_and_make_no_profile(text: str) -> None:
    told = PreloadedRun(7, text)
    assert watched(told, "some MPI") is None
    (warning,) = told.said
    assert "the layer's notes are damaged" in warning
    with pytest.raises(Damaged):
        profiled(text, "some MPI")


def test_after_damage_the_exit_code_is_the_programs(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a profile that was there before is left as it is."""
    former = written(tmp_path / "p.json", "former")
    for home in ("api.applied", "api.profiled"):
        monkeypatch.setattr(f"hockney.{home}.run", lambda *_, **__: PreloadedRun(7, '{"ranks'))
    words = [str(script(tmp_path / "bin" / "mpirun", BANNER)), "-n", "1", "true"]
    code, out, error = typed("profile", "-o", former, "--json", "--", *words)
    assert (code, answer(out)["output"], former.read_text(encoding="utf-8")) == (7, None, "former")
    assert "damaged" in error
    code, _, error = typed(*apply_words(tmp_path, ONE), *words)
    assert code == 7
    assert "damaged" in error


def test_of_compared_calls_the_schedules_half_alone_is_saved() -> None:
    """2 s of the schedule at a gain of 1.5 saved 1 s, whatever the library's half took."""
    table = PreloadTable.model_validate(
        {"rules": [{"operation": "bcast", "algorithm": "binomial", "gain": 1.5, "basis": "model"}]}
    )
    row = {**REPORT["calls"][0], "time_s": 6.0, "compared_s": 2.0, "library_s": 4.0}  # type: ignore[index]
    told = json.dumps({**REPORT, "calls": [row]})
    assert applied(PreloadedRun(0, told), table, compare=True).saved_s == 1.0
    assert applied(PreloadedRun(0, told), table).saved_s == 3.0
