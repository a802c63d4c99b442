"""Run a user's own launch line with the preloaded layer (cpp/preload) in front of its MPI.

    mpirun -n 4 ./app   →   mpirun -x LD_PRELOAD=…/libhockney-preload.so -n 4 ./app

Whatever keeps the layer from being there is said, and the program runs all the same, with the library's own code
and an exit code of its own.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hockney import reading
from hockney.errors import EnvironmentLack, HockneyError, RequestError
from hockney.records.preload_table import PreloadTable
from hockney.runner.cache import cache_root, make_private
from hockney.runner.launch_line import APART, UserLaunch
from hockney.runner.launchers.base import AS_ROOT, launchers
from hockney.runner.other_tools import other_tools
from hockney.runner.preload_build import preload_library

MOST_RULES_B = 100_000
"""Characters of the rules, which travel in one variable of the environment: Linux takes 128 KiB."""
LARGEST = 2**62
_FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
_BY_THE_KERNEL = 128
"""si_code of a signal that a terminal sends to all of its foreground (sigaction(2): SI_KERNEL)."""


def is_static(program: Path) -> bool:
    """Whether a file is an ELF program without a dynamic loader: nothing can be preloaded into it."""
    head = reading.beginning(program, 64)
    if head[:4] != b"\x7fELF" or len(head) < 64:
        return False
    wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
    # e_phoff, e_phentsize and e_phnum of the two classes (elf(5)).
    offset = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    table = reading.beginning(program, offset + size * count)[offset:]
    interpreter = 3
    return all(
        struct.unpack_from(order + "I", table, at)[0] != interpreter
        for at in range(0, min(len(table), size * count) - 3, size)
    )


def rules_text(table: PreloadTable) -> str:
    """The rules as the layer reads them; RequestError where they are too many for a variable."""
    text = ";".join(
        f"{rule.operation} {rule.algorithm} {rule.least_ranks or 1} {rule.most_ranks or 2**30} "
        f"{rule.least_bytes or 0} {LARGEST if rule.most_bytes is None else rule.most_bytes} "
        f"{rule.segment_bytes} {rule.radix}"
        for rule in table.rules
    )
    if len(text) > MOST_RULES_B:
        raise RequestError(
            f"{len(table.rules)} rules are too many ({len(text)} characters of at most {MOST_RULES_B})",
            "merge thresholds: `hockney tune` does, with the regret that it costs",
        )
    return text


class Damaged(HockneyError):
    """The layer's report is not as the layer writes it: it was cut, or something else was written into it."""


@dataclass
class PreloadedRun:
    """What came of a launch: its exit code, the layer's report, or why there is none, and what is to be said."""

    code: int
    report: str | None = None
    unseen: str = ""
    said: list[str] = field(default_factory=list)


def run(launch: UserLaunch, variables: Mapping[str, str], *, quiet: bool = False) -> PreloadedRun:
    """Run the launch line with the layer told what to do by `variables`; never fails for the layer's sake.

    `quiet`: what it prints goes to standard error, where our own output is read by a program.
    """
    outcome = PreloadedRun(0)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(_folder()) / "report.json"
            argv, environment = with_layer(launch, {**variables, "HOCKNEY_PRELOAD_REPORT": str(file)})
        except (EnvironmentLack, RequestError) as lack:
            outcome.said.append(f"{lack.message}: the library's own code runs")
            outcome.code = _wait(launch.words, os.environ, quiet=quiet)
            return outcome
        outcome.said += other_tools(launch)
        outcome.code = _wait(argv, environment, quiet=quiet)
        try:
            outcome.report = reading.content(file).decode("utf-8", "replace")
        except RequestError as error:
            absent = isinstance(error, reading.Absent)
            outcome.unseen = _why_unseen(launch, outcome.code) if absent else error.message
    return outcome


def with_layer(launch: UserLaunch, variables: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The launch line with the layer, and its environment.

    EnvironmentLack where there can be no layer, RequestError where a program of the line cannot be read.
    """
    words, environment = list(launch.words), dict(os.environ)
    if launch.mpi is None or launch.lack:
        raise EnvironmentLack(launch.lack)
    # Ranks with the layer would wait for those without it.
    if static := next((program for program in launch.programs if is_static(program)), None):
        raise EnvironmentLack(f"{static} is statically linked, so nothing can be preloaded into it")
    library = preload_library(launch.mpi)
    unit = launchers.get(launch.mpi.launcher_kind)
    if unit.preload is None:
        raise EnvironmentLack(f"{launch.mpi.describe()} cannot preload anything")
    preloaded = ":".join(filter(None, (str(library), environment.get("LD_PRELOAD"))))
    options = unit.preload({"LD_PRELOAD": preloaded}, tuple(variables))
    for place in [i for i, word in enumerate(words) if word == APART][::-1]:
        words[place + 1 : place + 1] = options
    return [*words[: unit.words], *options, *words[unit.words :]], {**environment, **variables}


def _why_unseen(launch: UserLaunch, code: int) -> str:
    ended = f"the program ended with exit code {code} before MPI_Finalize, or " if code else ""
    mpi = launch.mpi.describe() if launch.mpi else "that"
    return (
        f"the layer saw no MPI_Finalize: {ended}the program calls no MPI, or begins it by MPI_Session_init alone."
        f" Or it links it statically, uses another MPI than {mpi}, or its rank 0 cannot write to {cache_root()}"
    )


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for the report in the cache, which the nodes of a cluster usually share.

    EnvironmentLack where it cannot be made, or others may write there.
    """
    parent = cache_root() / "reports"
    try:
        make_private(parent)
        folder = tempfile.TemporaryDirectory(prefix="run-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        message = f"no report can be written to {parent}: {error.strerror}"
        raise EnvironmentLack(message, "set HOCKNEY_CACHE to a writable folder") from error
    with folder as name:
        yield Path(name)


def _wait(argv: Sequence[str], environment: Mapping[str, str], *, quiet: bool) -> int:
    """The exit code as a shell has it; a signal to us goes to the launcher, and its end is waited for.

    Those of the terminal (an interrupt) reach the launcher by themselves.
    """
    forwarded = {number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN}
    waited = forwarded | {signal.SIGCHLD}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, waited)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)

    try:
        # The launcher would inherit what is blocked; no other thread of ours runs meanwhile.
        allowed = AS_ROOT if os.geteuid() == 0 else {}
        with subprocess.Popen(
            argv, env={**allowed, **environment}, stdout=2 if quiet else None, preexec_fn=unblock
        ) as process:
            while (code := process.poll()) is None:
                got = signal.sigwaitinfo(waited)
                if got.si_signo in forwarded and got.si_code != _BY_THE_KERNEL:
                    process.send_signal(got.si_signo)
        # What came when the launcher had ended is for nobody.
        while signal.sigtimedwait(forwarded, 0) is not None:
            pass
    finally:
        unblock()
    return code if code >= 0 else 128 - code
