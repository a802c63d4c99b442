"""A launch under way: lines to its standard input, lines from its standard output, and a complete end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from hockney import reading
from hockney.errors import EnvironmentLack, RequestError
from hockney.runner.supervisor import GIVE_UP_S, POLL_S, descendants, remove, segments, segments_present

SUPERVISOR = Path(__file__).with_name("supervisor.py")
STDERR_TAIL_B = 16384
LONGEST_LINE_B = 1 << 26
"""A launch that prints this much without a line end gets its output cut there instead of filling the memory."""
CHUNK_B = 1 << 16
GRACE_S = 2.0
SWEEP_LIMIT_S = 30.0
LAUNCH_VARIABLE = "HOCKNEY_LAUNCH"
"""Names the launch in the environment of all its processes on this host: orphans are found by it."""


class LaunchEnded(Exception):
    """The launch has ended and all its output has been read.

    `returncode` is the launcher's (negative: the signal that ended it; None where it is not known), `stderr_tail`
    the last of its standard error.
    """

    def __init__(self, returncode: int | None, stderr_tail: str) -> None:
        super().__init__(f"the launch ended with code {returncode}")
        self.returncode = returncode
        self.stderr_tail = stderr_tail


class Process:
    """A launcher and all it starts, run under a supervisor in a session of its own.

    Whatever happens to this object or this process, the launch ends as a whole: `kill`, `close`, leaving the
    context, an exception, our own death, or the supervisor's. Not thread-safe. EnvironmentLack where the program
    cannot be started.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path | None = None) -> None:
        self.argv = list(argv)
        self.returncode: int | None = None
        self._lines: deque[str] = deque()
        self._partial = bytearray()
        self._tail = bytearray()
        self._pending = bytearray()
        self._id = uuid.uuid4().hex
        self._mapped: set[str] = set()
        self._present = segments_present()
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        script = [sys.executable, "-I", "-S", str(SUPERVISOR), str(control_read), str(status_write)]
        try:
            self._supervisor = subprocess.Popen(
                [*script, *self.argv],
                env={**env, LAUNCH_VARIABLE: self._id},
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(control_read, status_write),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._control)
            os.close(self._status)
            raise EnvironmentLack(
                f"cannot start {self.argv[0]}: {error.strerror}", "see `hockney doctor`"
            ) from error
        finally:
            os.close(control_read)
            os.close(status_write)
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        assert self._supervisor.stderr is not None
        self._stdin: int | None = self._supervisor.stdin.fileno()
        self._stdout = self._supervisor.stdout.fileno()
        self._stderr = self._supervisor.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        try:
            self._started()
            self._selector.register(self._status, selectors.EVENT_READ)
        except BaseException:
            self.kill(0.0)
            raise

    def _started(self) -> None:
        answer = os.read(self._status, 4096).decode(errors="replace")
        if not answer.startswith("started"):
            reason = answer.removeprefix("failed").strip() or self.stderr_tail or "its supervisor ended"
            raise EnvironmentLack(f"cannot start the launch: {reason}", "see `hockney doctor`")
        # A launcher that ended at once may have reported its code in the same breath.
        self._note_code(answer.removeprefix("started"))

    def _note_code(self, text: str) -> None:
        if text.strip():
            self.returncode = int(text)

    @property
    def pid(self) -> int:
        """Process id of the supervisor, which leads the launch's session."""
        return self._supervisor.pid

    def note_shared_memory(self) -> None:
        """Note what the launch has mapped by now: should it be killed, that is removed once it has ended."""
        self._mapped |= segments(descendants(self.pid)) - self._present

    @property
    def stderr_tail(self) -> str:
        """The last of what the launch wrote to its standard error so far."""
        return bytes(self._tail).decode(errors="replace").strip()

    def send(self, line: str) -> None:
        """Queue one line for the launch's standard input; never blocks. The rest goes out while lines are read.

        Keep what the program has not read yet under 60 kB: Hydra ends a launch whose program reads more slowly.
        """
        self._pending += line.encode() + b"\n"
        self._write()

    def _write(self) -> None:
        if self._stdin is None:
            self._pending.clear()
            return
        try:
            while self._pending:
                del self._pending[: os.write(self._stdin, self._pending)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            # Why it went away is told by its output and return code, which are read to the end.
            self._pending.clear()
            self._close_stdin()
            return
        registered = self._stdin in self._selector.get_map()
        if self._pending and not registered:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        elif not self._pending and registered:
            self._selector.unregister(self._stdin)

    def _close_stdin(self) -> None:
        if self._stdin is None:
            return
        if self._stdin in self._selector.get_map():
            self._selector.unregister(self._stdin)
        self._stdin = None
        assert self._supervisor.stdin is not None
        with contextlib.suppress(OSError):
            self._supervisor.stdin.close()

    def lines(self, deadline: float) -> str:
        """The next line of standard output, without its end. `deadline` is a value of `time.monotonic()`.

        TimeoutError when the deadline passes first (the launch goes on), LaunchEnded when no more lines come.
        """
        while not self._lines:
            if not self._reading():
                self._finish(deadline)
                raise LaunchEnded(self.returncode, self.stderr_tail)
            self._pump(deadline)
        return self._lines.popleft()

    def _reading(self) -> bool:
        return self._stdout in self._selector.get_map() or self._stderr in self._selector.get_map()

    def _pump(self, deadline: float) -> None:
        """Move what can be moved now, waiting for it until the deadline at most."""
        ready = self._selector.select(max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(f"no line from {self.argv[0]} before the deadline")
        for key, _ in ready:
            if key.fd == self._stdin:
                self._write()
                continue
            if key.fd == self._status:
                self._read_status()
                continue
            data = os.read(key.fd, CHUNK_B)
            if not data:
                self._selector.unregister(key.fd)
            elif key.fd == self._stderr:
                self._tail += data
                del self._tail[:-STDERR_TAIL_B]
            if key.fd == self._stdout:
                self._take(data)

    def _read_status(self) -> None:
        """The launcher's code; or the end, where there was no code: the supervisor was killed."""
        text = os.read(self._status, 4096).decode()
        self._note_code(text)
        if not text:
            self._selector.unregister(self._status)
            if self.returncode is None:
                self._end_orphans()

    def _end_orphans(self) -> None:
        """End what is left of a launch without a supervisor."""
        name = f"{LAUNCH_VARIABLE}={self._id}".encode()
        end = time.monotonic() + GIVE_UP_S
        while (pids := _living_with(name)) and time.monotonic() < end:
            self._mapped |= segments(pids) - self._present
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(POLL_S)

    def _take(self, data: bytes) -> None:
        """Cut standard output into lines; no data: it has ended, and what is left is the last line."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._partial += part
            self._lines.append(self._partial.decode(errors="replace"))
            self._partial.clear()
        self._partial += rest
        if self._partial and (not data or len(self._partial) > LONGEST_LINE_B):
            self._lines.append(self._partial.decode(errors="replace"))
            self._partial.clear()

    def _finish(self, deadline: float) -> None:
        try:
            self._supervisor.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.argv[0]} closed its output and did not end") from None
        if self.returncode is None and self._status in self._selector.get_map():
            self._read_status()

    def kill(self, grace_s: float = GRACE_S) -> None:
        """End the launch: SIGTERM, `grace_s` seconds for the launcher to clean up, SIGKILL for all that is left.

        Returns when nothing of it is left. Safe to repeat.
        """
        if self._control < 0:
            return
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, f"{grace_s}".encode())
        self._release(time.monotonic() + grace_s + SWEEP_LIMIT_S)

    def close(self, grace_s: float = GRACE_S) -> None:
        """Wait `grace_s` seconds for the launch to end by itself, then `kill`; drops output still to come."""
        if self._control < 0:
            return
        deadline = time.monotonic() + grace_s
        try:
            with contextlib.suppress(TimeoutError, LaunchEnded):
                while True:
                    self.lines(deadline)
        finally:
            self.kill()

    def _release(self, deadline: float) -> None:
        """Read on so that no process blocks on a full pipe, wait for the supervisor, close everything."""
        with contextlib.suppress(TimeoutError):
            while self._reading():
                self._pump(deadline)
                self._lines.clear()
            self._finish(deadline)
        if self._supervisor.poll() is None:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode < 0:
            self._end_orphans()
        remove(self._mapped)
        self._close_stdin()
        self._selector.close()
        for stream in (self._supervisor.stdout, self._supervisor.stderr):
            assert stream is not None
            stream.close()
        os.close(self._control)
        os.close(self._status)
        self._control = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.kill()


def _living_with(variable: bytes) -> set[int]:
    """Processes of this host, without zombies, that have this variable in their environment."""
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(RequestError):
            # A zombie's environment is empty.
            if variable in reading.content(folder / "environ").split(b"\0"):
                pids.add(int(folder.name))
    return pids
