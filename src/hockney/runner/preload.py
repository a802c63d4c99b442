"""Run a user's own launch line with the preloaded layer (cpp/preload) in front of its MPI.

    mpirun -n 4 ./app   →   mpirun -x LD_PRELOAD=…/libhockney-preload.so -n 4 ./app

Whatever keeps the layer from being there is said, and the program runs all the same, with the library's own code
and an exit code of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hockney import reading
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.preload_table import PreloadTable
from hockney.runner.cache import cache_root, make_private
from hockney.runner.find import find, find_all, inspect, wrappers_beside
from hockney.runner.launchers.base import launchers
from hockney.runner.mpi import Mpi
from hockney.runner.preload_build import preload_library

MOST_RULES_B = 100_000
"""Characters of the rules, which travel in one variable of the environment: Linux takes 128 KiB."""
LARGEST = 2**62
_EXAMPLE = "for example `hockney apply --table table.json -- mpirun -n 4 ./app`"


@dataclass(frozen=True)
class Launch:
    """A launch line of the user's, with what the layer needs to know of it."""

    words: tuple[str, ...]
    mpi: Mpi | None
    program: Path | None
    """The first word that names a program after the launcher; None where no word does."""
    lack: str = ""
    """Why there is no MPI to compile the layer for."""


def understand(words: Sequence[str], mpi: str | None = None) -> Launch:
    """The launch line `words`, of the MPI that the launcher belongs to, or of the one that `mpi` asks for.

    RequestError where there is no known launcher, or `mpi` names nothing.
    """
    if not words:
        raise RequestError("no command was given", _EXAMPLE)
    launcher = shutil.which(words[0])
    if launcher is None:
        raise RequestError(f"{words[0]!r} is no program here", _EXAMPLE)
    program = _program(words[1:])
    try:
        return Launch(tuple(words), _mpi(Path(launcher), mpi), program)
    except EnvironmentLack as lack:
        return Launch(tuple(words), None, program, f"{lack.message} ({lack.hint})")


def _mpi(launcher: Path, request: str | None) -> Mpi:
    if request is not None:
        return find(request)
    known = [program for _, unit in launchers for program in unit.programs]
    if launcher.name.partition(".")[0] not in {name.partition(".")[0] for name in known}:
        raise RequestError(
            f"{launcher.name} is no launcher that Hockney knows ({', '.join(sorted(set(known)))})", _EXAMPLE
        )
    suffix = "".join(s for s in launcher.suffixes if s not in (".hydra", ".gforker"))
    beside = wrappers_beside(launcher, suffix)
    for wrapper in beside:
        with suppress(EnvironmentLack):
            return inspect(wrapper, "launcher")
    for mpi in find_all():
        if isinstance(mpi, Mpi) and (launcher.name == "srun" or mpi.launcher.resolve() == launcher.resolve()):
            return mpi
    raise EnvironmentLack(
        f"no compiler wrapper (mpicc) belongs to the launcher {launcher}",
        "name the wrapper of the program's MPI: --mpi WRAPPER",
    )


def _program(words: Sequence[str]) -> Path | None:
    """The first word that names an executable file: numbers, options and host files are none."""
    for word in words:
        if word.startswith("-") or word.isdigit():
            continue
        if (found := shutil.which(word)) is not None:
            return Path(found)
    return None


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


@dataclass
class Outcome:
    """What came of a launch: the program's exit code, the layer's report or None, and what is to be said."""

    code: int
    report: str | None = None
    said: list[str] = field(default_factory=list)


def run(launch: Launch, variables: Mapping[str, str]) -> Outcome:
    """Run the launch line with the layer told what to do by `variables`; never fails for the layer's sake."""
    outcome = Outcome(0)
    with _folder() as folder:
        file = folder / "report.json"
        argv, environment = _with_layer(launch, {**variables, "HOCKNEY_PRELOAD_REPORT": str(file)}, outcome)
        outcome.code = _wait(argv, environment)
        if argv != [*launch.words]:
            if reading.is_file(file):
                outcome.report = reading.content(file).decode("utf-8", "replace")
            else:
                outcome.said.append(_why_unseen(launch, outcome.code))
    return outcome


def _with_layer(
    launch: Launch, variables: Mapping[str, str], outcome: Outcome
) -> tuple[list[str], dict[str, str]]:
    """The launch line and its environment; without the layer where that cannot be."""
    words, environment = list(launch.words), dict(os.environ)
    if launch.program is not None and is_static(launch.program):
        outcome.said.append(
            f"{launch.program} is statically linked, so nothing can be preloaded: the library's own code runs"
        )
        return words, environment
    try:
        if launch.mpi is None:
            raise EnvironmentLack(launch.lack)
        library = preload_library(launch.mpi)
        added = launchers.get(launch.mpi.launcher_kind).preload
        if added is None:
            raise EnvironmentLack(f"{launch.mpi.describe()} cannot preload anything")
    except EnvironmentLack as lack:
        outcome.said.append(f"{lack.message}: the library's own code runs")
        return words, environment
    preloaded = ":".join(filter(None, (str(library), environment.get("LD_PRELOAD"))))
    options = added({"LD_PRELOAD": preloaded}, tuple(variables))
    # Programs that are launched together are apart by colons.
    for place in [i for i, word in enumerate(words) if word == ":"][::-1]:
        words[place + 1 : place + 1] = options
    return [words[0], *options, *words[1:]], {**environment, **variables}


def _why_unseen(launch: Launch, code: int) -> str:
    ended = f"the program ended with exit code {code} before MPI_Finalize, or " if code else ""
    mpi = launch.mpi.describe() if launch.mpi else "that"
    return (
        f"the layer saw no MPI_Finalize: {ended}the program calls no MPI, has its MPI linked in statically, uses "
        f"another than {mpi}, or its rank 0 cannot write to {cache_root()}"
    )


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for the report in the cache, which the nodes of a cluster usually share."""
    parent = cache_root() / "reports"
    make_private(parent)
    with tempfile.TemporaryDirectory(prefix="run-", dir=parent) as name:
        yield Path(name)


def _wait(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code as a shell has it; a signal to us goes to the launcher, and its end is waited for."""
    with subprocess.Popen(argv, env=dict(environment)) as process:
        former = {
            number: signal.signal(number, lambda got, _: process.send_signal(got))
            for number in (signal.SIGTERM, signal.SIGHUP)
        }
        try:
            while True:
                # An interrupt from the terminal reaches the launcher too.
                with suppress(KeyboardInterrupt):
                    code = process.wait()
                    return code if code >= 0 else 128 - code
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
