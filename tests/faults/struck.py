"""`hockney …` that a signal meets at a step of writing a folder, as `Strikes` asks for on standard input.

A step is a file of the folder that is made or moved, or its mark that is removed, from 1; where there are fewer
steps nothing happens. Each line, of JSON, is a run in a process of its own: the step, the signal, the folder and
the words. It is answered by the exit code, as subprocess has it, and what was written to standard error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from tests.docs.page import ROOT
from tests.docs.warm import code_of, load_everything
from tests.factories import not_none

from hockney.cli import main
from hockney.records.folder import UNFINISHED
from hockney.terminal.signals import ENDING


class Strikes:
    """One interpreter, whose imports cost a second, for as many runs as there are."""

    def __init__(self) -> None:
        # What runs in the background of a shell ignores SIGINT, and so would its children.
        listens = ["env", *(f"--default-signal={one.name[3:]}" for one in ENDING)]
        argv = [*listens, sys.executable, "-m", "tests.faults.struck"]
        self.process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def strike(self, step: int, number: int, folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
        """What has become of `hockney WORDS -o FOLDER`."""
        argv = ["hockney", *words, "-o", str(folder)]
        print(json.dumps([step, int(number), str(folder), argv]), file=not_none(self.process.stdin), flush=True)
        code, said = json.loads(not_none(self.process.stdout).readline())
        return subprocess.CompletedProcess(argv, code, stderr=said)

    def end(self) -> None:
        """Nothing more is asked for."""
        self.process.communicate()


def _is_step(folder: Path, event: str, arguments: tuple[Any, ...]) -> bool:
    if event not in ("open", "os.rename", "os.remove") or not isinstance(arguments[0], (str, os.PathLike)):
        return False
    path = Path(arguments[0]).absolute()
    if path.parent != folder:
        return False
    makes, removes = event == "open" and arguments[-1] & os.O_CREAT, event == "os.remove"
    return bool(makes) or event == "os.rename" or (removes and path.name == UNFINISHED)


def _run(step: int, number: int, folder: str, argv: list[str]) -> NoReturn:
    """Ends this process as the program ends, but for what an interpreter tidies up, which takes as long."""
    steps, place = count(1), Path(folder).resolve()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if _is_step(place, event, arguments) and next(steps) == step:
            os.kill(os.getpid(), number)

    sys.argv = argv
    sys.addaudithook(watch)
    os._exit(code_of(main))


def _serve() -> None:
    load_everything()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if not child:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(said.fileno(), 2)
                _run(*json.loads(line))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            print(json.dumps([code, said.read().decode()]), flush=True)


if __name__ == "__main__":
    _serve()
