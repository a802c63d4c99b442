"""`hockney measure` as a process of its own, to be killed, interrupted or starved while a test looks on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.campaign.fake_campaign import fake_launch
from tests.command_line import campaign_answer, run_hockney
from tests.processes import MARK, POLL_S, command_line, holding

from hockney.api import measuring
from hockney.records.answers import Measurement
from hockney.records.folder import JOURNALS
from hockney.runner.build import BINARY
from hockney.runner.session import Session
from hockney.runner.supervisor import segments
from hockney.terminal.signals import ENDING

EVENTS = "HOCKNEY_TEST_EVENTS"
"""Variable of the file that what a campaign's launches answer is noted in."""

SIZES_B = list(range(0, 320, 8))
OPTIONS = (
    *("--operation", "pingpong", "--bytes", ",".join(map(str, SIZES_B))),
    *("--budget", "0.02s", "--visits", "1"),
)
"""A campaign of forty points that takes a second or two, with what it takes to start."""

LIMIT_S = 300.0
"""Only a failing test reaches it: longer than a launch may say nothing (`Plan.time_limit_s`), for Open MPI 4.1's
`mpirun` may wait for a rank that was killed as it started."""

LEFT_S = 10.0
"""Time for what is left of a launch to end: two seconds of grace, and a machine that is busy."""


class Tool:
    """A campaign of `hockney measure` under way in `folder`.

    `fake`: its launches are the fake runner's, of that kind. `notes`: what they answer is noted (`events`).
    """

    def __init__(
        self,
        folder: Path,
        mark: str,
        *words: str,
        fake: str = "",
        notes: bool = False,
        resumes: bool = False,
        under: Sequence[str] = (),
        **streams: Any,
    ) -> None:
        self.folder = folder
        self.mark = mark
        self.fake = fake
        self.choices = ["--resume"] if resumes else ["--ranks", "2", *OPTIONS, *words]
        ours = [str(Path(__file__).with_name("program.py")), fake or "real"]
        program = ours if fake or notes else ["-m", "hockney"]
        self._events = folder.with_name(f"{folder.name}.events")
        # What runs in the background of a shell ignores SIGINT, and so would its children.
        listens = ["env", *(f"--default-signal={number.name[3:]}" for number in ENDING)]
        argv = [*listens, sys.executable, *program, "measure", "-o", str(folder), *self.choices]
        self.process = subprocess.Popen(
            [*under, *argv],
            env={
                **os.environ,
                "NO_COLOR": "1",
                "COLUMNS": "400",
                MARK: mark,
                **({EVENTS: str(self._events)} if notes else {}),
            },
            text=True,
            **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams),
        )

    @property
    def records(self) -> Path:
        """The file of records."""
        return self.folder / "records.jsonl"

    def whole_lines(self) -> bytes:
        """What is finished: the records up to the last end of a line."""
        try:
            return self.records.read_bytes().rpartition(b"\n")[0]
        except FileNotFoundError:
            return b""

    def records_kept(self) -> int:
        """How many records are finished."""
        return len(self.whole_lines().splitlines())

    @property
    def events(self) -> str:
        """`?` for each request to a launch and `!` for each measurement that came back, in order."""
        return self._events.read_text(encoding="ascii") if self._events.exists() else ""

    def wait_until(self, condition: Callable[[], Any]) -> Any:
        """What the condition comes to, once it is true; None where the tool ended before."""
        end = time.monotonic() + LIMIT_S
        while not (value := condition()):
            if self.process.poll() is not None:
                return None
            assert time.monotonic() < end, f"the instant never came: {self.folder}"
            time.sleep(POLL_S)
        return value

    def part(self, name: str) -> int | None:
        """Process id of a part of the campaign (tool, supervisor, launcher, rank); None where it is not there."""
        if name == "tool":
            return self.process.pid
        commands = {pid: command_line(pid) for pid in holding(self.mark)}
        supervisor = next((pid for pid, words in commands.items() if "supervisor.py" in words), None)
        if name == "supervisor" or supervisor is None:
            return supervisor
        if name == "launcher":
            return next((pid for pid in commands if _parent(pid) == supervisor), None)
        return next((pid for pid, words in commands.items() if Path(words.split(" ")[0]).name == BINARY), None)

    def ended(self) -> tuple[int, str]:
        """Exit code and standard error, once it has ended."""
        _, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, err or ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _note(event: str) -> None:
    with Path(os.environ[EVENTS]).open("a", encoding="ascii") as file:
        file.write(event)


@contextmanager
def noted() -> Iterator[None]:
    """Within, the file that `EVENTS` names grows as `Tool.events` has it, if the variable is set."""
    ask = Session.measure

    def measure(session: Session, time_limit_s: float, **request: object) -> Measurement:
        _note("?")
        answer = ask(session, time_limit_s, **request)
        _note("!")
        return answer

    with patch.object(Session, "measure", measure) if EVENTS in os.environ else nullcontext():
        yield


@contextmanager
def fake_launches(kind: str = "good") -> Iterator[None]:
    """Within, `hockney measure` launches the fake runner."""
    with patch.object(measuring, "prepare", lambda _: [fake_launch(kind)]):
        yield


ANOTHER_LEVEL = "were not met at the level asked for"
"""Said of points that are measured, at a level of the machine that did not come back (exit code 4)."""


def failures_of_the_rest(tool: Tool) -> list[str]:
    """What failed when the campaign is gone on with.

    A folder without a line of any kind has nothing to go on with: the campaign begins again.
    """
    begun = any((tool.folder / name).exists() for name in JOURNALS)
    how = ["--resume"] if begun else tool.choices
    with fake_launches(tool.fake) if tool.fake else nullcontext():
        answer = campaign_answer(run_hockney("measure", "-o", str(tool.folder), *how, "--json"))
    return [failure for failure in answer["failures"] if ANOTHER_LEVEL not in str(failure)]


def shared_memory(mark: str) -> set[str]:
    """Files of shared memory that marked processes have mapped."""
    return segments(holding(mark))
