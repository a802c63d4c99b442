"""What a parser is to the fuzzer, and how an input of it is judged.

The contract: a parser returns or raises one of our errors, in bounded time and memory, and what it returns
survives the commands that come next. Warnings count as failures, because they end on the user's terminal.
"""

from __future__ import annotations

import hashlib
import re
import resource
import shlex
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

from tests.command_line import run_hockney
from tests.fuzz.mutation import Format

from hockney.errors import HockneyError
from hockney.registry import Registry

LONGEST_S = 20
"""Processor time of an input; those that are read take milliseconds."""
LONGEST_WAIT_S = 300
"""The same for the clock: a parser that waits for something uses no processor."""
TICKS = 30
"""Parts of that wait. One that is due while the process is stopped counts once, however long it is stopped."""
MOST_MEMORY_B = 4 * 2**30
"""Address space of a process that fuzzes."""
CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Parser:
    """`read` writes an input into an empty folder and reads it: the first check, which passes without an error.

    It returns the name of what it wrote. `commands` are what users do next with it: words after `hockney`, run in
    that folder, FILE in the place of the name, and `&&` before a further command. One of `each` inputs that pass
    gets to one of them. A turn has `turn` inputs: fewer where one takes long.
    """

    seeds: Callable[[], Sequence[bytes]]
    format: Format
    read: Callable[[bytes, Path], str]
    commands: Sequence[str] = ()
    each: int = 1
    turn: int = 20


parsers: Registry[Parser] = Registry("parser", "tests.fuzz.parsers", "")


def reading(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], str]:
    """A first check that reads an input from the file of this name."""

    def stored(data: bytes, folder: Path) -> str:
        (folder / name).write_bytes(data)
        read(folder / name)
        return name

    return stored


@dataclass(frozen=True)
class Failure:
    """`place`: the exception and the innermost line of ours, the same for all inputs that fail alike."""

    place: str
    trace: str


@dataclass(frozen=True)
class Judged:
    """What became of an input."""

    accepted: bool
    failure: Failure | None = None


class Endless(BaseException):
    """An input took longer than `LONGEST_S` or `LONGEST_WAIT_S`."""


@contextmanager
def bounded() -> Iterator[None]:
    """Endless where the block takes too long; the timers of the process serve for it."""

    left = TICKS

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Endless

    def tick(_signal: int, _frame: FrameType | None) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise Endless

    handlers = {signal.SIGPROF: stop, signal.SIGALRM: tick}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT_S / TICKS, LONGEST_WAIT_S / TICKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def limit_memory() -> None:
    """Hold this process to `MOST_MEMORY_B`."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_B, MOST_MEMORY_B))


def judged(parser: Parser, data: bytes, folder: Path, command: str = "") -> Judged:
    """Read an input and, where it passes, run a command on it; the folder is empty before and afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What the interpreter says when a file was left to it to close.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            with bounded():
                try:
                    file = parser.read(data, folder)
                except HockneyError as error:
                    return Judged(False, None if error.exit_code in (1, 2, 3, 4) else _failure(error))
                return Judged(True, _after(command.replace("FILE", file), folder) if command else None)
        except (Exception, Endless) as error:  # noqa: BLE001 - any other error is what is looked for
            return Judged(False, _failure(error))
        finally:
            for left in folder.iterdir():
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left)
                else:
                    left.unlink()


def _after(commands: str, folder: Path) -> Failure | None:
    for command in commands.split(" && "):
        done = run_hockney(*shlex.split(command), cwd=folder)
        if done.returncode not in range(5) or "Traceback" in done.stderr:
            lines = re.findall(r'/hockney/(\S+\.py)", line (\d+)', done.stderr)
            error = re.search(r"^(?:\w+\.)*(\w+): ", done.stderr, re.MULTILINE)
            place = f"{error[1] if error else done.returncode} {':'.join(lines[-1]) if lines else ''}"
            return Failure(place, f"hockney {command}\n{done.stderr}")
        if done.returncode:
            return None
    return None


def _failure(error: BaseException) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/hockney/" in frame.filename]
    # Where it was stopped is by chance.
    frame = (ours[:1] if isinstance(error, Endless) else ours[-1:]) or frames[-1:]
    place = "".join(f"{part.filename.rpartition('/hockney/')[2]}:{part.lineno}" for part in frame)
    return Failure(f"{type(error).__name__} {place}", "".join(traceback.format_exception(error)))


def minimised(
    parser: Parser, data: bytes, place: str, folder: Path, command: str = "", tries: int = 400
) -> bytes:
    """The input without parts that it can fail without."""
    again = True
    while again:
        again = False
        for less in parser.format.smaller(data):
            if (tries := tries - 1) < 0:
                return data
            failure = judged(parser, less, folder, command).failure
            if len(less) < len(data) and failure is not None and failure.place == place:
                data, again = less, True
                break
    return data


def written(command: str, data: bytes) -> bytes:
    """A file of the corpus: the command on a line of its own, empty where reading suffices, then the input."""
    return command.encode() + b"\n" + data


def keep(name: str, corpus_file: bytes) -> Path:
    """Put a failing input of that parser where the tests replay it."""
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(corpus_file).hexdigest()[:16]
    path.write_bytes(corpus_file)
    return path


def replayed(parser: Parser, corpus_file: bytes, folder: Path) -> Judged:
    """What becomes of a file of the corpus now."""
    command, _, data = corpus_file.partition(b"\n")
    return judged(parser, data, folder, command.decode())


def command_of(parser: Parser, chance: Random) -> str:
    """One of what comes next, or "" for most inputs of a parser whose commands take long."""
    if not parser.commands or chance.randrange(parser.each):
        return ""
    return chance.choice(parser.commands)
