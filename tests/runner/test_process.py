"""Launches that behave, hang, die, flood or leave children behind; afterwards nothing of them is left."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.factories import not_none, written
from tests.processes import MARK, holding

from hockney.errors import EnvironmentLack
from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.process import LaunchEnded, Process
from hockney.runner.session import LaunchFailed, Session
from hockney.runner.supervisor import descendants, segments

SOON_S = 20.0
Marked = Callable[..., Process]


def soon() -> float:
    """A deadline that only a failing test reaches."""
    return time.monotonic() + SOON_S


@pytest.fixture
def launch(tmp_path: Path, mark: str) -> Marked:
    """Start a Python program as if it were a launcher."""

    def start(code: str, *arguments: str) -> Process:
        program = written(tmp_path / "launcher.py", textwrap.dedent(code))
        return Process([sys.executable, "-S", str(program), *arguments], {**os.environ, MARK: mark})

    return start


ECHO = """
    import sys
    for line in sys.stdin:
        if line == "quit\\n":
            break
        print("got", len(line) - 1, flush=True)
"""
HANG = """
    import os, signal, subprocess, sys, time
    # A rank in a session of its own, whose parent is gone and which does not listen to SIGTERM.
    code = "import os, signal, time\\nos.setsid()\\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\\n" \\
           "print('child', os.getpid(), flush=True)\\ntime.sleep(1000)"
    if os.fork() == 0:
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-S", "-c", code])
        os._exit(0)
    os.wait()
    if sys.argv[1:] == ["deaf"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    if sys.argv[1:] == ["leaves"]:
        sys.exit(len(sys.stdin.readline()))
    time.sleep(1000)
"""

MAPS = """
    import mmap, os, sys, time
    file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, 4096)
    held = mmap.mmap(file, 4096)
    print("ready", flush=True)
    time.sleep(1000)
"""


def _ready(process: Process) -> int:
    """Wait until a hanging launch and its orphan are there; the orphan's process id."""
    words = [process.lines(soon()) for _ in range(2)]
    assert "ready" in words
    return next(int(word.split()[1]) for word in words if word.startswith("child"))


def test_a_conversation(launch: Marked) -> None:
    with launch(ECHO) as process:
        for length in (0, 1, 50_000):
            process.send("x" * length)
            assert process.lines(soon()) == f"got {length}"
        process.send("quit")
        with pytest.raises(LaunchEnded) as ended:
            process.lines(soon())
        assert ended.value.returncode == 0


def test_input_longer_than_a_pipe_goes_out_while_lines_are_read(launch: Marked) -> None:
    with launch(ECHO) as process:
        process.send("x" * 3_000_000)
        process.send("quit")
        assert process.lines(soon()) == "got 3000000"


def test_lines_of_a_megabyte(launch: Marked) -> None:
    with launch("print('a' * 1_000_000, flush=True); print('b')") as process:
        assert process.lines(soon()) == "a" * 1_000_000
        assert process.lines(soon()) == "b"


def test_a_deadline_leaves_the_launch_alive(launch: Marked) -> None:
    with launch(ECHO) as process:
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            process.lines(time.monotonic() + 0.2)
        assert 0.15 < time.monotonic() - started < 5
        process.send("abc")
        assert process.lines(soon()) == "got 3"
        process.send("quit")


def test_a_death_gives_its_last_words(launch: Marked) -> None:
    code = """
        import sys
        print('one')
        print('no')
        sys.stderr.write('x' * 100_000 + '\\nsegfault in rank 1\\n')
        sys.exit(7)
    """
    with launch(code) as process:
        assert [process.lines(soon()), process.lines(soon())] == ["one", "no"]
        with pytest.raises(LaunchEnded) as ended:
            process.lines(soon())
        assert ended.value.returncode == 7
        assert ended.value.stderr_tail.endswith("segfault in rank 1")
        assert len(ended.value.stderr_tail) <= 16384
        process.send("into the void")


def test_a_death_by_signal_is_a_negative_code(launch: Marked) -> None:
    with launch("import os; os.kill(os.getpid(), 11)") as process, pytest.raises(LaunchEnded) as ended:
        process.lines(soon())
    assert ended.value.returncode == -signal.SIGSEGV


def test_garbage_is_still_lines(launch: Marked) -> None:
    code = "import os; os.write(1, bytes(range(256)) + b'\\n' + b'\\xff\\xfe' + b'no end')"
    with launch(code) as process:
        lines = [process.lines(soon()) for _ in range(3)]
        assert lines[2].endswith("no end")
        with pytest.raises(LaunchEnded):
            process.lines(soon())


@pytest.mark.parametrize("how", ["", "deaf"], ids=["launcher-listens", "launcher-deaf"])
def test_a_hang_is_ended_with_all_its_descendants(launch: Marked, mark: str, how: str) -> None:
    with launch(HANG, how) as process:
        child = _ready(process)
        assert os.getsid(child) == child, "the orphan is in a session of its own"
        assert child in holding(mark)
        started = time.monotonic()
        process.kill(0.5)
        assert time.monotonic() - started < 5
        assert not holding(mark)
        process.kill()  # a second time does nothing


def test_close_ends_what_does_not_end_by_itself(launch: Marked, mark: str) -> None:
    process = launch(HANG)
    _ready(process)
    process.close(0.2)
    assert not holding(mark)


def test_orphans_of_a_launch_that_ended_are_ended_too(launch: Marked, mark: str) -> None:
    with launch(HANG, "leaves") as process:
        child = _ready(process)
        process.send("go")
        with pytest.raises(LaunchEnded) as ended:
            process.lines(soon())
        assert ended.value.returncode == 3
        assert child not in holding(mark)


def test_an_interrupt_while_a_launch_is_closed_ends_it_at_once(
    launch: Marked, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    process = launch(HANG)
    _ready(process)
    monkeypatch.setattr(Process, "lines", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.close()
    assert not holding(mark)


def test_an_interrupt_ends_the_launch(launch: Marked, mark: str) -> None:
    def interrupted() -> None:
        with launch(HANG) as process:
            _ready(process)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not holding(mark)


def test_our_own_death_ends_the_launch(tmp_path: Path, mark: str) -> None:
    """SIGKILL leaves no time for anything: the supervisor sees the control pipe close."""
    (tmp_path / "hang.py").write_text(textwrap.dedent(HANG), encoding="utf-8")
    code = """
        import os, sys, time
        from hockney.runner.process import Process
        with Process([sys.executable, sys.argv[1]], dict(os.environ)) as process:
            print(process.lines(time.monotonic() + 20), process.lines(time.monotonic() + 20), flush=True)
            time.sleep(1000)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "hang.py")],
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
    ) as ours:
        assert b"ready" in not_none(ours.stdout).readline()
        assert len(holding(mark)) >= 4  # ourselves, supervisor, launcher, orphan
        ours.kill()
    end = time.monotonic() + 15
    while holding(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert not holding(mark)


@pytest.mark.parametrize("how", ["", "deaf"], ids=["launcher-listens", "launcher-deaf"])
def test_the_death_of_the_supervisor_ends_the_launch(launch: Marked, mark: str, how: str) -> None:
    """Also the orphan in a session of its own, which nothing else would end."""
    with launch(HANG, how) as process:
        _ready(process)
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(LaunchEnded) as ended:
            process.lines(soon())
        assert ended.value.returncode is None
        assert not holding(mark)


RANK_MAPS = """
    import mmap, os, sys, time
    print("ready", flush=True)
    sys.stdin.readline()
    if os.fork() == 0:
        file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
        os.ftruncate(file, 4096)
        held = mmap.mmap(file, 4096)
        print("mapped", flush=True)
        time.sleep(1000)
    sys.stdin.readline()
"""
"""A rank maps what it is given, on a word; on another the launcher ends and leaves the rank."""
ENDINGS = ["killed", "noted and killed", "by itself"]


def _end(process: Process, how: str) -> None:
    """End a launch of RANK_MAPS in one of these ways."""
    if how == "by itself":
        process.send("end")
        with pytest.raises(LaunchEnded):
            process.lines(soon())
        return
    if how == "noted and killed":
        process.note_shared_memory()
    process.kill(0.1)


@pytest.mark.parametrize("how", ENDINGS)
def test_shared_memory_of_ranks_that_were_ended_is_removed(launch: Marked, tmp_path: Path, how: str) -> None:
    name = Path(f"/dev/shm/hockney-test-{os.getpid()}-{tmp_path.name}")
    with launch(RANK_MAPS, str(name)) as process:
        process.send("map")
        assert [process.lines(soon()), process.lines(soon())] == ["ready", "mapped"]
        assert name.exists()
        _end(process, how)
    assert not name.exists()


def test_shared_memory_of_a_launch_that_was_killed_is_removed(launch: Marked, tmp_path: Path) -> None:
    """By what was noted of it: afterwards nothing tells whose it was."""
    name = Path(f"/dev/shm/hockney-test-{os.getpid()}-{tmp_path.name}")
    with launch(MAPS, str(name)) as process:
        assert process.lines(soon()) == "ready"
        process.note_shared_memory()
        (launcher,) = descendants(process.pid)
        os.kill(launcher, signal.SIGKILL)
        with pytest.raises(LaunchEnded):
            process.lines(soon())
        assert name.exists()
    assert not name.exists()


def test_shared_memory_of_a_launch_that_was_killed_before_its_hello_is_removed(tmp_path: Path) -> None:
    """Its ranks are gone before anybody can ask them."""
    name = Path(f"/dev/shm/hockney-test-{os.getpid()}-{tmp_path.name}")
    program = tmp_path / "launcher.py"
    ending = MAPS.replace("time.sleep(1000)", "time.sleep(2)\n    os.kill(os.getpid(), 9)")
    program.write_text(textwrap.dedent(ending), encoding="utf-8")
    with pytest.raises(LaunchFailed, match="exit code -9"):
        Session([sys.executable, "-S", str(program), str(name)], {}, SOON_S)
    assert not name.exists()


@pytest.mark.parametrize("how", ENDINGS)
def test_a_segment_that_another_program_has_mapped_is_left(launch: Marked, tmp_path: Path, how: str) -> None:
    name = Path(f"/dev/shm/hockney-test-{os.getpid()}-{tmp_path.name}")
    with launch(RANK_MAPS, str(name)) as process:
        assert process.lines(soon()) == "ready"
        name.write_bytes(b"\0" * 4096)
        with name.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            process.send("map")
            assert process.lines(soon()) == "mapped"
            _end(process, how)
            process.close()
            assert name.exists()
    name.unlink()


def test_a_segment_that_was_there_before_is_left(launch: Marked, tmp_path: Path) -> None:
    name = Path(f"/dev/shm/hockney-test-{os.getpid()}-{tmp_path.name}")
    name.write_bytes(b"\0" * 4096)
    try:
        code = """
            import mmap, os, sys, time
            held = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 4096)
            print("ready", flush=True)
            time.sleep(1000)
        """
        with launch(code, str(name)) as process:
            assert process.lines(soon()) == "ready"
            process.kill(0.1)
        assert name.exists()
    finally:
        name.unlink()


def test_a_program_that_cannot_start() -> None:
    with pytest.raises(EnvironmentLack, match="/no/such/mpirun"):
        Process(["/no/such/mpirun", "-n", "2"], dict(os.environ))


def test_no_descriptor_is_left_open(launch: Marked) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    for _ in range(3):
        with launch(ECHO) as process:
            process.send("quit")
        with pytest.raises(EnvironmentLack):
            Process(["/no/such/mpirun"], dict(os.environ))
        with pytest.raises(EnvironmentLack):
            Process([sys.executable], dict(os.environ), cwd=Path("/no/such/folder"))
    assert count() == before


def test_a_real_launch_that_hangs_leaves_nothing(mpi: Mpi, mark: str) -> None:
    """The runner waits for a request that never comes."""
    argv, environment = command(mpi, LaunchRequest(2, oversubscribe=len(os.sched_getaffinity(0)) < 2))
    process = Process([*argv, str(runner_binary(mpi))], {**os.environ, **environment, MARK: mark})
    with process:
        while "@hockney" not in process.lines(time.monotonic() + 60):
            pass
        assert len(descendants(process.pid)) >= 3, "the launcher and two ranks"
        with pytest.raises(TimeoutError):
            process.lines(time.monotonic() + 0.2)
        mapped = segments(descendants(process.pid))
        process.kill()
        assert not holding(mark)
    assert not [path for path in mapped if Path(path).exists()]
